package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/source"
)

// ListedJob is a Job as the pages show it.
type ListedJob struct {
	queue.Acted
	Requested time.Time
	// Title is its Series', or its id when the Series is known no longer.
	Title    string
	HasCover bool
	// Total counts the chapters it is for, of which some are published, set aside.
	Total, Published, SetAside int
	// Counted are the pages known of the chapters to come, Uncounted those
	// chapters of which none are known.
	Counted, Uncounted int
	// Own is what the library holds of the Series.
	Own queue.Files
	// Current is the chapter under way; its ID is "" when there is none.
	Current source.Chapter
}

// ListJobs lists Jobs in any of the states, those next to be worked first and
// ended ones newest first. Of those set aside only the newest of a Series is
// listed. site "" keeps all.
func (s *Store) ListJobs(ctx context.Context, states []job.State, site string, offset, limit int) ([]ListedJob, error) {
	return s.listJobs(ctx, states, site, offset, limit, 0)
}

// ListedJobByID is one Job as it is listed, whatever its state; class not-found if there is none.
func (s *Store) ListedJobByID(ctx context.Context, id int64) (ListedJob, error) {
	list, err := s.listJobs(ctx, job.States(), "", 0, 1, id)
	if err == nil && len(list) == 0 || id == 0 {
		return ListedJob{}, fault.Newf(fault.NotFound, "find", "a Job", "there is no Job %d", id)
	}
	if err != nil {
		return ListedJob{}, err
	}
	return list[0], nil
}

func (s *Store) listJobs(ctx context.Context, states []job.State, site string, offset, limit int, id int64) ([]ListedJob, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("ListJobs"), states, site, offset, limit, id)
	if err != nil {
		return nil, classify("ListJobs", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l ListedJob, err error) {
		var retryAt *time.Time
		err = row.Scan(&l.ID, &l.Key.Site, &l.Key.SeriesID, &l.State, &l.Unattended, &l.Class, &l.Reason, &l.Retries, &l.Stalls, &retryAt, &l.ChangedAt,
			&l.ResumeTo, &l.Priority, &l.Requested, &l.Title, &l.HasCover, &l.Total, &l.Published, &l.SetAside, &l.Counted, &l.Uncounted,
			&l.Own.Chapters, &l.Own.Pages, &l.Own.Bytes, &l.Current.ID, &l.Current.Number, &l.Current.Title)
		l.RetryAt = orZero(retryAt)
		return l, err
	})
	return out, classify("ListJobs", err)
}

// JobCount is how many Jobs are in a state, and how many chapters they still want.
type JobCount struct{ Jobs, Chapters int }

// CountJobs counts Jobs by state; done and cancelled ones are not counted.
func (s *Store) CountJobs(ctx context.Context, site string) (map[job.State]JobCount, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("CountJobs"), site)
	if err != nil {
		return nil, classify("CountJobs", err)
	}
	out := map[job.State]JobCount{}
	var state job.State
	var n JobCount
	_, err = pgx.ForEachRow(rows, []any{&state, &n.Jobs, &n.Chapters}, func() error {
		out[state] = n
		return nil
	})
	return out, classify("CountJobs", err)
}

// SiteFiles is what the library holds of each of the Sites.
func (s *Store) SiteFiles(ctx context.Context, sites []string) (map[string]queue.Files, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("SiteFiles"), sites)
	if err != nil {
		return nil, classify("SiteFiles", err)
	}
	out := map[string]queue.Files{}
	var site string
	var f queue.Files
	_, err = pgx.ForEachRow(rows, []any{&site, &f.Chapters, &f.Pages, &f.Bytes}, func() error {
		out[site] = f
		return nil
	})
	return out, classify("SiteFiles", err)
}

// DetailedChapter is one chapter of a Job with what its Site says of it.
type DetailedChapter struct {
	source.Chapter
	State  job.ChapterState
	Pages  int
	Class  fault.Class
	Reason string
}

// JobDetail lists the first limit chapters of a Job, in its order.
func (s *Store) JobDetail(ctx context.Context, id int64, limit int) ([]DetailedChapter, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("JobDetail"), id, limit)
	if err != nil {
		return nil, classify("JobDetail", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c DetailedChapter, err error) {
		err = row.Scan(&c.ID, &c.State, &c.Pages, &c.Class, &c.Reason, &c.Number, &c.Volume, &c.Title, &c.Language)
		return c, err
	})
	return out, classify("JobDetail", err)
}
