package job

import (
	"context"
	"strconv"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/sidecar"
	"mangrove/scraper/internal/source"
)

// Recorder keeps incidents (OBS-2). It never fails the work it is told of.
type Recorder interface {
	Record(ctx context.Context, h incident.Happening)
	End(ctx context.Context, e incident.End)
}

// record tells what a failure has made of j, which has moved. A Job that waits
// for its Site, for the disk or for its one retry is no incident of its own: the
// pause, the Hold or the outage is, and names the Job.
func (r *Runner) record(ctx context.Context, j Job, cause error) {
	decided := incident.Decision{What: "job", ID: strconv.FormatInt(j.ID, 10), To: string(j.State), Reason: string(j.Class)}
	if r.Incidents == nil {
		return
	}
	if j.State == Quarantined || j.Class == fault.Stall {
		r.Incidents.Record(ctx, incident.Happening{
			Kind: j.Class, About: incident.AboutJob, Key: j.Key, JobID: j.ID, Cause: cause, Decided: []incident.Decision{decided},
		})
		return
	}
	incident.Decide(ctx, decided)
}

// setAside records a chapter that the Job goes on without.
func (r *Runner) setAside(ctx context.Context, j Job, chapterID string, class fault.Class, cause error) error {
	err := r.Store.SetAside(ctx, j, chapterID, class, Reason(cause))
	if err == nil && r.Incidents != nil {
		r.Incidents.Record(ctx, incident.Happening{
			Kind: class, About: incident.AboutChapter, Key: j.Key, JobID: j.ID, ChapterID: chapterID, Cause: cause,
			Decided: []incident.Decision{{What: "chapter", ID: chapterID, To: string(ChapterSetAside), Reason: string(class)}},
		})
	}
	return err
}

// keepSidecar keeps what is known of the Series beside its chapters. The chapter is
// published by then: what stands in the way of this is told and stops nothing.
func (r *Runner) keepSidecar(ctx context.Context, t Target) {
	files := func() (map[string]string, error) { return r.Store.FileNames(ctx, t.Key, t.Folder) }
	if err := sidecar.Keep(r.Library, t.Folder, sidecar.Of(t.Key, t.Series), files); err != nil && r.Log != nil {
		r.Log.Warn("what is known of the Series could not be kept beside its chapters", zap.Stringer("series", t.Key), zap.Error(err))
	}
}

// published ends what stood against a chapter that is visible now, whichever Job
// brought it.
func (r *Runner) published(ctx context.Context, j Job, chapterID string) {
	if r.Incidents != nil {
		r.Incidents.End(ctx, incident.End{
			About: []incident.About{incident.AboutChapter, incident.AboutJob, incident.AboutFile}, Key: j.Key, ChapterID: chapterID, Resolution: incident.GoodRead,
		})
	}
}

// spoiled notes an answer that should have been a page and is no whole image.
// What was read before is named in the reason; the image itself says the rest.
func spoiled(ctx context.Context, resp *source.Response) {
	source.Note(ctx, source.Seen{At: time.Now(), URL: resp.URL, Status: 200, MediaType: resp.MediaType, Body: resp.Body})
}
