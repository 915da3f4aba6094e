package job

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/failpoint"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/publish"
	"mangrove/scraper/internal/source"
)

// Target is the Series a Job is for, as the store knows it.
type Target struct {
	Key    source.Key
	Series source.Series
	// Languages are those wanted; empty takes the Site's.
	Languages []string
	// Folder is its folder in the library, "" before the first publication.
	Folder string
	// LastGoodRead is zero before the first.
	LastGoodRead time.Time
}

// Publication is one chapter that has become visible.
type Publication struct {
	Chapter     source.Chapter
	SeriesTitle string
	File        publish.File
	// Fingerprint is the archive's, Staged that of the page list it was gathered for:
	// they differ only when pages are missing.
	Fingerprint, Staged string
	// Missing are the numbers, from 1, of the Site's pages that the file is without.
	Missing []int
	// Replaces is the path of the file whose place it takes, or "".
	Replaces string
}

// Start is what is known of a chapter when its work begins.
type Start struct {
	// Fetched is how often all its pages were fetched lately.
	Fetched int
	// AcceptMissing is true when an operator takes the chapter without the pages
	// that are no whole images (C19).
	AcceptMissing bool
	// Replaces is the path of the file that goes once it is published, or "".
	Replaces string
}

// Store keeps Jobs. Every state change is committed before it returns (JOB-6),
// and is compare-and-set: a Job that has moved meanwhile is of class stale.
type Store interface {
	// Move changes the state of j, if it is still the one j holds.
	Move(ctx context.Context, j Job, c Change) (Job, error)
	// Plan records the chapters a Job is for and moves it, in one transaction.
	Plan(ctx context.Context, j Job, chapters []Planned, c Change) (Job, error)
	// PreferredGroups are those whose releases of a Series are wanted, best first.
	PreferredGroups(ctx context.Context, key source.Key) ([]string, error)
	// InLibrary lists the releases of a Series that the library has.
	InLibrary(ctx context.Context, key source.Key) ([]Held, error)
	// Lacking lists the chapters a Series has and the library, as it was looked at
	// for this, lacks, in reading order.
	Lacking(ctx context.Context, at inventory.Snapshot, key source.Key) ([]source.Chapter, error)
	// Languages lists those of the chapters the Site lists now, external ones left out.
	Languages(ctx context.Context, key source.Key) ([]string, error)
	// DefaultLanguages are those a Follow wants when it names none; may be none.
	DefaultLanguages(ctx context.Context) ([]string, error)
	// NextChapter returns the next chapter of j still to be fetched.
	NextChapter(ctx context.Context, j Job) (ch source.Chapter, ok bool, err error)
	// StartChapter marks the chapter under way; since bounds Start.Fetched.
	StartChapter(ctx context.Context, j Job, chapterID string, since time.Time) (Start, error)
	// RecordFetched records that all pages of a chapter have been fetched.
	RecordFetched(ctx context.Context, key source.Key, chapterID string, now time.Time) error
	// SetAside records a chapter that the Job goes on without.
	SetAside(ctx context.Context, j Job, chapterID string, class fault.Class, reason string) error
	// RecordExternal records that a chapter of j can only be read elsewhere: it
	// leaves the Job and is no failure (JOB-10).
	RecordExternal(ctx context.Context, j Job, chapterID string) error
	// Commit records a publication in the library's change log and in j, and the
	// removal of the file it replaces.
	Commit(ctx context.Context, j Job, p Publication) error
	// FileGone records that a replaced file is no longer in the folder.
	FileGone(ctx context.Context, path string) error
	// Target reads the Series of a Job.
	Target(ctx context.Context, key source.Key) (Target, error)
	// NameFolder gives the Series its folder if it has none and returns the one it has.
	NameFolder(ctx context.Context, key source.Key, folder string) (string, error)
	// FileNames are the chapters' ids by file name, of a Series in its folder.
	FileNames(ctx context.Context, key source.Key, folder string) (map[string]string, error)
	// SaveReading stores what a good read of the Series page said.
	SaveReading(ctx context.Context, key source.Key, r source.Reading, now time.Time) error
}

// Marker looks at the library's marker file, before each publication (INV-5).
type Marker interface {
	Check(ctx context.Context) error
}

// Inventory is what the library holds.
type Inventory interface {
	// Current waits for a look at the library that begins after it was asked for.
	Current(ctx context.Context) (inventory.Snapshot, error)
	// Invalidate says that the library has changed.
	Invalidate()
}

// Runner does the work of Jobs of one Site.
type Runner struct {
	Library string
	Store   Store
	Marker  Marker
	// Inventory says what the library holds before it is decided what it lacks.
	Inventory Inventory
	Hub       *live.Hub
	Adapter   source.Adapter
	Fetcher   source.Fetcher
	// Incidents takes what was decided about failures; nil takes nothing.
	Incidents Recorder
	// Log is told what stops nothing; nil is told nothing.
	Log *zap.Logger
	// Generator names this program in what it writes.
	Generator string
	// Floor is how many bytes of the library's file system are left free; nil
	// takes DefaultFloor.
	Floor func(ctx context.Context) (int64, error)

	lists pacer
	unit  stopper
}

// freshRead is how old a good read may be for an inspection to rely on it
// instead of asking the Site for the same page again.
const freshRead = 10 * time.Minute

// Inspect lists what a requested Job would fetch (JOB-3). It asks for no image.
// The returned error is about the Job or its Site and is already recorded in
// the Job; a stop leaves the Job inspecting, to be inspected anew.
func (r *Runner) Inspect(ctx context.Context, j Job) error {
	at, notThere := r.current(ctx)
	if notThere != nil && !inventory.NotThere(notThere) {
		// What the library lacks is not known now, and nothing is wrong with the Job,
		// its Site or the disk: it stays requested until it is.
		return fault.New(fault.Away, "inspect", j.Key.String(), notThere)
	}
	j, err := r.Store.Move(ctx, j, Change{To: Inspecting, Retries: j.Retries})
	if err != nil {
		return err
	}
	r.Hub.Changed(j.Key)
	stop := r.unit.begin(j.ID)
	defer r.unit.end()
	chapters, err := []Planned(nil), notThere
	if err == nil {
		chapters, err = r.inspect(ctx, j, at)
	}
	if stopped(stop) {
		return errStopped(j)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	defer r.Hub.Changed(j.Key)
	if err != nil {
		return r.fail(ctx, j, err)
	}
	if len(chapters) == 0 {
		_, err := r.Store.Move(ctx, j, Change{To: Done, Retries: j.Retries})
		return err
	}
	j, err = r.Store.Plan(ctx, j, chapters, Change{To: Ready, Retries: j.Retries})
	if err != nil || !j.Unattended {
		return err
	}
	_, err = r.Store.Move(ctx, j, Change{To: Queued, Retries: j.Retries})
	return err
}

// inventoryPatience bounds the wait of a Lane for a look at the library; the Lane's
// Polls wait as long.
const inventoryPatience = 15 * time.Second

func (r *Runner) current(ctx context.Context) (inventory.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, inventoryPatience)
	defer cancel()
	return r.Inventory.Current(ctx)
}

func (r *Runner) inspect(ctx context.Context, j Job, at inventory.Snapshot) ([]Planned, error) {
	t, err := r.Store.Target(ctx, j.Key)
	if err != nil {
		return nil, err
	}
	if time.Since(t.LastGoodRead) > freshRead {
		got := poll.Check(ctx, r.Adapter, r.Fetcher, source.Ask{SeriesID: j.Key.SeriesID, URL: t.Series.URL})
		switch got.Outcome {
		case poll.OK:
			if err := r.Store.SaveReading(ctx, j.Key, got.Reading, time.Now()); err != nil {
				return nil, err
			}
		case poll.NoChapter:
			return nil, fault.New(fault.Unavailable, "inspect", j.Key.String(), got.Err)
		default:
			return nil, got.Err
		}
	}
	lacking, err := r.Store.Lacking(ctx, at, j.Key)
	if err != nil {
		return nil, err
	}
	listed, err := r.Store.Languages(ctx, j.Key)
	if err != nil {
		return nil, err
	}
	wanted := t.Languages
	if len(wanted) == 0 {
		chosen, err := r.Store.DefaultLanguages(ctx)
		if err != nil {
			return nil, err
		}
		wanted = ByDefault(chosen, listed, r.Adapter.Site().Languages)
	}
	if out := Wanted(lacking, wanted); len(out) > 0 {
		preferred, err := r.Store.PreferredGroups(ctx, j.Key)
		if err != nil {
			return nil, err
		}
		held, err := r.Store.InLibrary(ctx, j.Key)
		return Choose(out, held, preferred), err
	}
	if len(listed) == 0 {
		return nil, nil
	}
	for _, l := range listed {
		if speaks(wanted, l) {
			// There are wanted ones, and the library has them all.
			return nil, nil
		}
	}
	return nil, fault.Newf(fault.Unavailable, "inspect", j.Key.String(), "no chapter in %s; the Site lists %s", strings.Join(wanted, ", "), strings.Join(listed, ", "))
}

// ByDefault are the languages of a Follow that names none (POLL-13): those chosen
// in the settings, if the Site lists a chapter in one of them, and else the Site's
// own. A Series followed on a Site of one other language is not left without
// chapters by a choice that was not made for it.
func ByDefault(chosen, listed, own []string) []string {
	for _, l := range listed {
		if len(chosen) > 0 && l != "" && speaks(chosen, l) {
			return chosen
		}
	}
	return own
}

// Wanted are those of the chapters that a Job would fetch: in a wanted language,
// and readable on the Site itself (JOB-10).
func Wanted(chapters []source.Chapter, languages []string) (out []source.Chapter) {
	for _, ch := range chapters {
		if !ch.External && speaks(languages, ch.Language) {
			out = append(out, ch)
		}
	}
	return out
}

// speaks reports whether a chapter's language is wanted: "en" takes "en-GB",
// a chapter of unknown language is always taken.
func speaks(wanted []string, language string) bool {
	if len(wanted) == 0 || language == "" {
		return true
	}
	for _, w := range wanted {
		if strings.EqualFold(w, language) || strings.HasPrefix(strings.ToLower(language), strings.ToLower(w)+"-") {
			return true
		}
	}
	return false
}

// Step does the next unit of a queued or downloading Job: one chapter, or the
// end of the Job. A failure is recorded in the Job and returned for the Lane,
// which judges what it means for the Site.
func (r *Runner) Step(ctx context.Context, j Job) error {
	if j.State == Queued {
		var err error
		if j, err = r.Store.Move(ctx, j, Change{To: Downloading, Retries: j.Retries}); err != nil {
			return err
		}
	}
	failpoint.Reach(failpoint.JobClaimed)
	defer r.Hub.Changed(j.Key)
	ch, ok, err := r.Store.NextChapter(ctx, j)
	if err != nil {
		return err
	}
	if !ok {
		_, err := r.Store.Move(ctx, j, Change{To: Done, Retries: j.Retries})
		if err == nil {
			err = r.forgetCheckpoint(j)
		}
		return err
	}
	incident.Reading(ctx, ch.ID)
	stop := r.unit.begin(j.ID)
	defer r.unit.end()
	err = r.chapter(ctx, j, ch, stop)
	if err != nil && stopped(stop) {
		// Whoever moved the Job knows why; what the unit met meanwhile says nothing.
		return errStopped(j)
	}
	switch class := fault.Of(err); {
	case err == nil:
		failpoint.Reach(failpoint.ChapterDone)
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case class == fault.Stale, class == fault.Away:
		// Lost to another writer, or our own database is down: nothing is known
		// of the chapter, and nothing is said of it.
		return err
	case class == fault.Page, class == fault.Conflict:
		// The Job goes on; the Site is untouched (JOB-4).
		return r.setAside(ctx, j, ch.ID, class, err)
	}
	return r.fail(ctx, j, err)
}

// fail records what a failure makes of j and returns the failure.
func (r *Runner) fail(ctx context.Context, j Job, cause error) error {
	class := fault.Of(cause)
	if class == fault.Away || class == fault.Stale {
		return cause
	}
	if !fault.Lookup(class).Job && class != fault.NotFound {
		class = fault.Unknown
	}
	failpoint.Reach(failpoint.JobFailing)
	moved, err := r.Store.Move(ctx, j, j.AfterFailure(class, Reason(cause), time.Now()))
	if err != nil {
		return errors.Join(cause, err)
	}
	failpoint.Reach(failpoint.JobFailed)
	r.record(ctx, moved, cause)
	return cause
}

// Reason words a failure in one line for the Job's row.
func Reason(err error) string { return fault.Line(err) }
