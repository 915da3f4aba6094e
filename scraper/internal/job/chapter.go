package job

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"mangrove/internal/cbz"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/checkpoint"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/publish"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/staging"
)

// pageTries is how often one page is asked for before its chapter is set aside.
const pageTries = 3

// chapter fetches one chapter and publishes it: page list, missing pages into
// staging, one rename, one commit. Whatever it was doing when it stopped, the
// next call goes on from what is on disk.
func (r *Runner) chapter(ctx context.Context, j Job, ch source.Chapter) error {
	if err := r.Store.StartChapter(ctx, j, ch.ID); err != nil {
		return err
	}
	t, err := r.Store.Target(ctx, j.Key)
	if err != nil {
		return err
	}
	pages, err := r.pages(ctx, j.Key, ch)
	if err != nil {
		return err
	}
	manifest, err := staging.NewManifest(j.Key, ch.ID, pages)
	if err != nil {
		return err
	}
	if t.Folder == "" {
		t.Folder, err = r.Store.NameFolder(ctx, j.Key, cbz.FolderName(t.Series.Title, j.Key.Site+"\x00"+j.Key.SeriesID))
		if err != nil {
			return err
		}
	}
	name := cbz.ChapterName(t.Series.Title, ch.Number, ch.Volume, ch.Title, j.Key.Site+"\x00"+j.Key.SeriesID+"\x00"+ch.ID)
	if !publish.LocalName(t.Folder) || !publish.LocalName(name) {
		return fault.Newf(fault.Unknown, "name", j.Key.String(), "%q is no file name", t.Folder+"/"+name)
	}
	if err := r.Marker.Check(ctx); err != nil {
		return err
	}
	fingerprint := manifest.Fingerprint()
	file, found, err := publish.Adopt(r.Library, t.Folder, name, fingerprint)
	if err != nil {
		return err
	}
	if !found {
		stage, err := staging.Open(r.Library, manifest)
		if err != nil {
			return err
		}
		defer func() { _ = stage.Close() }()
		if err := r.fetchPages(ctx, j, ch, pages, stage); err != nil {
			return err
		}
		// The library may have been unmounted while pages came.
		if err := r.Marker.Check(ctx); err != nil {
			return err
		}
		archive, _ := stage.Manifest()
		file, err = publish.Publish(ctx, r.Library, t.Folder, name, comicInfo(t, ch, archive, r.Generator), stage)
		if err != nil {
			return err
		}
	}
	err = r.Store.Commit(ctx, j, Publication{Chapter: ch, SeriesTitle: t.Series.Title, File: file, Fingerprint: fingerprint})
	if err != nil {
		return err
	}
	r.Hub.SetProgress(j.Key, live.Progress{})
	r.Hub.LibraryChanged()
	if err := r.checkpointPublished(j, ch.ID); err != nil {
		return err
	}
	return staging.Remove(r.Library, fingerprint)
}

// fetchPages fetches what the stage misses, the declared number at a time. The
// first failure that is about more than its page ends the rest.
func (r *Runner) fetchPages(ctx context.Context, j Job, ch source.Chapter, pages []source.Page, stage *staging.Stage) error {
	path := checkpoint.Path(r.Library, r.Adapter.Site(), j.Key)
	var mu sync.Mutex // one writer of the checkpoint at a time
	note := func() error {
		mu.Lock()
		defer mu.Unlock()
		c, _ := checkpoint.Load(path)
		if c.JobID != j.ID {
			c = checkpoint.Checkpoint{JobID: j.ID, Site: j.Key.Site, SeriesID: j.Key.SeriesID}
		}
		c.Chapter, c.Staging, c.PagesDone, c.PagesTotal = ch.ID, stageName(stage), stage.Done(), len(pages)
		r.Hub.SetProgress(j.Key, live.Progress{ChapterID: ch.ID, Done: c.PagesDone, Total: c.PagesTotal})
		return checkpoint.Save(path, c)
	}
	if err := note(); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(r.Adapter.Site().ImagesInFlight, 1))
	var bad sync.Map
	for _, i := range stage.Missing() {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			err := r.fetchPage(ctx, pages[i], i, ch, stage)
			if fault.Is(err, fault.Page) {
				bad.Store(i, err)
				return nil
			}
			if err != nil {
				return err
			}
			return note()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	var names []string
	var why error
	for i := range pages {
		if err, ok := bad.Load(i); ok {
			names = append(names, fmt.Sprint(i+1))
			why = err.(error)
		}
	}
	if why != nil {
		return fault.Newf(fault.Page, "fetch", fmt.Sprintf("page %s of %d", strings.Join(names, ", "), len(pages)), "%s", causeOf(why))
	}
	return nil
}

// fetchPage asks for one page until it is a whole image, a few times at most.
func (r *Runner) fetchPage(ctx context.Context, p source.Page, i int, ch source.Chapter, stage *staging.Stage) error {
	var err error
	for range pageTries {
		var resp *source.Response
		resp, err = r.Fetcher.Get(ctx, source.Request{URL: p.URL, Want: source.WantImage, Referer: ch.URL})
		if err == nil {
			err = stage.Accept(i, resp.Body)
		}
		switch fault.Of(err) {
		case "":
			return nil
		case fault.NotFound:
			return fault.New(fault.Page, "fetch", "a page", errors.New(causeOf(err)))
		case fault.Page:
			continue
		}
		return err
	}
	return err
}

func (r *Runner) checkpointPublished(j Job, chapterID string) error {
	path := checkpoint.Path(r.Library, r.Adapter.Site(), j.Key)
	c, _ := checkpoint.Load(path)
	if c.JobID != j.ID {
		c = checkpoint.Checkpoint{JobID: j.ID, Site: j.Key.Site, SeriesID: j.Key.SeriesID}
	}
	c.Published = append(c.Published, chapterID)
	c.Chapter, c.Staging, c.PagesDone, c.PagesTotal = "", "", 0, 0
	return checkpoint.Save(path, c)
}

func (r *Runner) forgetCheckpoint(j Job) error {
	return checkpoint.Remove(checkpoint.Path(r.Library, r.Adapter.Site(), j.Key))
}

func stageName(s *staging.Stage) string {
	dir := s.Dir()
	return dir[strings.LastIndexByte(dir, '/')+1:]
}

func causeOf(err error) string {
	var f *fault.Error
	if errors.As(err, &f) && f.Err != nil {
		return f.Err.Error()
	}
	return err.Error()
}

// comicInfo says what the chapter is, for every program that reads comics.
func comicInfo(t Target, ch source.Chapter, m cbz.Manifest, generator string) cbz.ComicInfo {
	c := cbz.ComicInfo{
		Title: ch.Title, Series: t.Series.Title, Number: ch.Number, Summary: t.Series.Description,
		Writer: strings.Join(t.Series.Authors, ", "), Translator: strings.Join(ch.Groups, ", "),
		Tags: strings.Join(t.Series.Tags, ", "), Web: ch.URL, PageCount: len(m.Pages), LanguageISO: ch.Language,
		ScanInformation: strings.Join(ch.Groups, ", "), Notes: strings.TrimSpace("Published by " + generator + ". " + t.Series.License),
	}
	if v, err := fmt.Sscan(ch.Volume, &c.Volume); err != nil || v != 1 {
		c.Volume = 0
	}
	if !ch.Published.IsZero() {
		c.Year, c.Month, c.Day = ch.Published.Year(), int(ch.Published.Month()), ch.Published.Day()
	}
	if t.Series.Direction == "rtl" {
		c.Manga = cbz.MangaRightToLeft
	}
	for i, p := range m.Pages {
		c.Pages = append(c.Pages, cbz.InfoPage{Image: i, ImageSize: p.Size, ImageWidth: p.Width, ImageHeight: p.Height})
	}
	return c
}
