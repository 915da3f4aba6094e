package job

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mangrove/internal/cbz"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/checkpoint"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/publish"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/staging"
)

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
	l, err := r.list(ctx, j.Key, ch)
	if err != nil {
		return err
	}
	var file publish.File
	var fingerprint string
	for again := false; ; again = true {
		if len(l.pages) == 0 {
			return r.Store.RecordExternal(ctx, j, ch.ID)
		}
		var changed bool
		file, fingerprint, changed, err = r.gather(ctx, j, &t, ch, &l)
		if err != nil {
			return err
		}
		if !changed {
			break
		}
		if again {
			// Each fresh list is of other pages: its identities are none.
			return fault.Newf(fault.Page, "fetch", j.Key.String()+"/"+ch.ID, "the Site lists other pages each time it is asked")
		}
	}
	err = r.Store.Commit(ctx, j, Publication{Chapter: ch, SeriesTitle: t.Series.Title, File: file, Fingerprint: fingerprint})
	if err != nil {
		return err
	}
	r.Hub.SetProgress(j.Key, live.Progress{})
	r.Hub.LibraryChanged()
	r.published(ctx, j, ch.ID)
	if err := r.checkpointPublished(j, ch.ID); err != nil {
		return err
	}
	return staging.Remove(r.Library, fingerprint)
}

// gather fetches the pages of the list in hand into their stage and publishes
// them. It returns with changed when a fresh list was of other pages: l is then
// that one, and the stage begun is left as it is.
func (r *Runner) gather(ctx context.Context, j Job, t *Target, ch source.Chapter, l *list) (file publish.File, fingerprint string, changed bool, err error) {
	manifest, err := staging.NewManifest(j.Key, ch.ID, l.pages)
	if err != nil {
		return file, "", false, err
	}
	if t.Folder == "" {
		t.Folder, err = r.Store.NameFolder(ctx, j.Key, cbz.FolderName(t.Series.Title, j.Key.Site+"\x00"+j.Key.SeriesID))
		if err != nil {
			return file, "", false, err
		}
	}
	name := cbz.ChapterName(t.Series.Title, ch.Number, ch.Volume, ch.Title, j.Key.Site+"\x00"+j.Key.SeriesID+"\x00"+ch.ID)
	if !publish.LocalName(t.Folder) || !publish.LocalName(name) {
		return file, "", false, fault.Newf(fault.Unknown, "name", j.Key.String(), "%q is no file name", t.Folder+"/"+name)
	}
	if err := r.Marker.Check(ctx); err != nil {
		return file, "", false, err
	}
	fingerprint = manifest.Fingerprint()
	file, found, err := publish.Adopt(r.Library, t.Folder, name, fingerprint)
	if err != nil || found {
		return file, fingerprint, false, err
	}
	stage, err := staging.Open(r.Library, manifest)
	if err != nil {
		return file, "", false, err
	}
	defer func() { _ = stage.Close() }()
	if changed, err := r.fetchPages(ctx, j, ch, l, stage); err != nil || changed {
		return file, "", changed, err
	}
	// The library may have been unmounted while pages came.
	if err := r.Marker.Check(ctx); err != nil {
		return file, "", false, err
	}
	archive, _ := stage.Manifest()
	file, err = publish.Publish(ctx, r.Library, t.Folder, name, comicInfo(*t, ch, archive, r.Generator), stage)
	return file, fingerprint, false, err
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
