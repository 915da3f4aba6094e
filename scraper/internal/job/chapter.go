package job

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mangrove/internal/cbz"
	"mangrove/internal/failpoint"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/checkpoint"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/publish"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/staging"
)

// maxFetches is how often all pages of one chapter are fetched within
// fetchesWithin before a person is asked what goes wrong.
const (
	maxFetches    = 2
	fetchesWithin = 24 * time.Hour
)

// chapter fetches one chapter and publishes it: page list, missing pages into
// staging, one rename, one commit. Whatever it was doing when it stopped, the
// next call goes on from what is on disk.
func (r *Runner) chapter(ctx context.Context, j Job, ch source.Chapter, stop <-chan struct{}) error {
	start, err := r.Store.StartChapter(ctx, j, ch.ID, time.Now().Add(-fetchesWithin))
	if err != nil {
		return err
	}
	failpoint.Reach(failpoint.ChapterStarted)
	if start.Fetched >= maxFetches {
		// Something keeps it from being known as done. Asking for it once more
		// would only cost the Site (S-055).
		return fault.Newf(fault.Page, "fetch", j.Key.String()+"/"+ch.ID, "it was fetched %d times within a day and is still not in the library", start.Fetched)
	}
	t, err := r.Store.Target(ctx, j.Key)
	if err != nil {
		return err
	}
	if err := r.room(ctx, nil); err != nil {
		return err
	}
	l, err := r.list(ctx, j.Key, ch)
	if err != nil {
		return err
	}
	p := Publication{Chapter: ch, SeriesTitle: t.Series.Title, Replaces: start.Replaces}
	for again := false; ; again = true {
		if len(l.pages) == 0 {
			return r.Store.RecordExternal(ctx, j, ch.ID)
		}
		changed, err := r.gather(ctx, j, &t, start, &l, stop, &p)
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
	if err := r.Store.Commit(ctx, j, p); err != nil {
		return err
	}
	failpoint.Reach(failpoint.ChapterCommitted)
	r.Hub.SetProgress(j.Key, live.Progress{})
	r.Hub.LibraryChanged()
	r.Inventory.Invalidate()
	r.published(ctx, j, ch.ID)
	r.keepSidecar(ctx, t)
	if err := r.checkpointPublished(j, ch.ID); err != nil {
		return err
	}
	if p.Replaces != "" && p.Replaces != p.File.Path {
		if err := Retire(ctx, r.Library, p.Replaces, r.Store); err != nil {
			return err
		}
	}
	return staging.Remove(r.Library, p.Staged)
}

// Retire removes a file whose replacement is published and committed, and records
// that it is gone. A kill before leaves the file for the next start.
func Retire(ctx context.Context, library, path string, db interface {
	FileGone(ctx context.Context, path string) error
}) error {
	if err := publish.Remove(library, path); err != nil {
		return err
	}
	return db.FileGone(ctx, path)
}

// RetireLeftovers removes the replaced files that a killed process left behind.
func RetireLeftovers(ctx context.Context, library string, db interface {
	ReplacedFiles(ctx context.Context) ([]string, error)
	FileGone(ctx context.Context, path string) error
}) error {
	paths, err := db.ReplacedFiles(ctx)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := Retire(ctx, library, path, db); err != nil {
			return err
		}
	}
	return nil
}

// gather fetches the pages of the list in hand into their stage and publishes
// them as p. It returns with changed when a fresh list was of other pages: l is
// then that one, and the stage begun is left as it is.
func (r *Runner) gather(ctx context.Context, j Job, t *Target, start Start, l *list, stop <-chan struct{}, p *Publication) (changed bool, err error) {
	ch := p.Chapter
	manifest, err := staging.NewManifest(j.Key, ch.ID, l.pages)
	if err != nil {
		return false, err
	}
	if t.Folder == "" {
		t.Folder, err = r.Store.NameFolder(ctx, j.Key, cbz.FolderName(t.Series.Title, j.Key.Site+"\x00"+j.Key.SeriesID))
		if err != nil {
			return false, err
		}
	}
	p.Staged = manifest.Fingerprint()
	p.Fingerprint = p.Staged
	name := cbz.ChapterName(t.Series.Title, ch.Number, ch.Volume, ch.Title, j.Key.Site+"\x00"+j.Key.SeriesID+"\x00"+ch.ID)
	if t.Folder+"/"+name == start.Replaces {
		// The same chapter once more: both stand side by side until this one is committed.
		name = cbz.ChapterName(t.Series.Title, ch.Number, ch.Volume, ch.Title, j.Key.Site+"\x00"+j.Key.SeriesID+"\x00"+ch.ID+"\x00"+start.Replaces)
	}
	if !publish.LocalName(t.Folder) || !publish.LocalName(name) {
		return false, fault.Newf(fault.Unknown, "name", j.Key.String(), "%q is no file name", t.Folder+"/"+name)
	}
	if err := r.Marker.Check(ctx); err != nil {
		return false, err
	}
	// Without all its pages it is recognised once they have been asked for.
	if !start.AcceptMissing {
		file, found, err := publish.Adopt(r.Library, t.Folder, name, p.Fingerprint)
		if err != nil || found {
			p.File = file
			return false, err
		}
	}
	stage, err := staging.Open(r.Library, manifest)
	if err != nil {
		return false, err
	}
	defer func() { _ = stage.Close() }()
	if err := r.room(ctx, stage); err != nil {
		return false, err
	}
	kept := stage.Done()
	changed, err = r.fetchPages(ctx, j, ch, l, stage, stop)
	switch {
	case changed:
		return true, nil
	case fault.Is(err, fault.Page) && start.AcceptMissing && stage.Done() > 0 && ctx.Err() == nil && !stopped(stop):
		for _, i := range stage.Missing() {
			p.Missing = append(p.Missing, i+1)
		}
	case err != nil:
		return false, err
	}
	if stage.Done() > kept {
		if err := r.Store.RecordFetched(ctx, j.Key, ch.ID, time.Now()); err != nil {
			return false, err
		}
	}
	// The library may have been unmounted while pages came.
	if err := r.Marker.Check(ctx); err != nil {
		return false, err
	}
	pages, err := publish.Pages(stage, len(p.Missing) > 0)
	if err != nil {
		return false, err
	}
	archive, _ := pages.Manifest()
	p.Fingerprint = archive.Fingerprint
	p.File, err = publish.Publish(ctx, r.Library, t.Folder, name, comicInfo(*t, ch, p.Missing, r.Generator), pages)
	return false, err
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

// numbers words page numbers.
func numbers(pages []int) string {
	var out []string
	for _, n := range pages {
		out = append(out, fmt.Sprint(n))
	}
	return strings.Join(out, ", ")
}

// comicInfo says what the chapter is, for every program that reads comics.
func comicInfo(t Target, ch source.Chapter, missing []int, generator string) cbz.ComicInfo {
	c := cbz.ComicInfo{
		Title: ch.Title, Series: t.Series.Title, Number: ch.Number, Summary: t.Series.Description,
		Writer: strings.Join(t.Series.Authors, ", "), Translator: strings.Join(ch.Groups, ", "),
		Tags: strings.Join(t.Series.Tags, ", "), Web: ch.URL, LanguageISO: ch.Language,
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
	if len(missing) > 0 {
		c.Notes += " Incomplete: the Site gave no whole image for page " + numbers(missing) + "."
	}
	return c
}
