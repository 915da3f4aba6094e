package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"mangrove/internal/config"
	"mangrove/internal/durable"
	"mangrove/internal/pg"
	"mangrove/migrations"
	"mangrove/scraper/internal/checkpoint"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
)

// progressListed bounds how many Jobs progress tells of.
const progressListed = 1000

// standing is how far the downloads are. The supervisor's upgrade command reads it,
// before a new version is put in place and after it (features H14).
type standing struct {
	Version string `json:"version"`
	// Database is the version the database is migrated to, Program the one that this
	// program migrates to.
	Database int64 `json:"database"`
	Program  int64 `json:"program"`
	// Holds are the kinds of those that are set.
	Holds []string `json:"holds"`
}

// jobStanding is how far one Job is.
type jobStanding struct {
	Job    int64  `json:"job"`
	Site   string `json:"site"`
	Series string `json:"series"`
	State  string `json:"state"`
	Class  string `json:"class,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Circuit is the Site's.
	Circuit string `json:"circuit,omitempty"`
	// Fingerprint is that of the Job's checkpoint, "" where none is readable.
	Fingerprint string `json:"fingerprint,omitempty"`
	Published   int    `json:"published"`
	Chapter     string `json:"chapter,omitempty"`
	PagesDone   int    `json:"pages_done"`
}

// progress prints how far the Jobs are that are under way or wait, and those named by
// number whatever became of them, as one JSON object. It writes nothing anywhere, and
// reads the database of an older version too.
func progress(ctx context.Context, cfg config.Config, args []string, out io.Writer) error {
	var also []int64
	for _, arg := range args {
		id, err := strconv.ParseInt(arg, 10, 64)
		if err != nil || id < 1 || len(also) == progressListed {
			return &exit{config.ExitSettings, errUsage}
		}
		also = append(also, id)
	}
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	address, err := cfg.RoleURL("scraper")
	if err != nil {
		return noAddress(cfg, err)
	}
	pool, err := pg.Open(ctx, address.Reveal(), pg.Options{Schema: store.Schema, MaxConns: 1, ReadOnly: true})
	if err != nil {
		return &exit{config.ExitConfig, err}
	}
	defer pool.Close()
	s := standing{Version: version, Program: migrations.Latest(), Holds: []string{}}
	if s.Database, err = migrations.Version(ctx, pool); err != nil {
		return &exit{config.ExitDatabase, fmt.Errorf("the database does not answer: %s", connectReason(err))}
	}
	db := store.New(pool)
	holds, err := db.Holds(ctx)
	if err != nil {
		return err
	}
	for _, h := range holds {
		s.Holds = append(s.Holds, h.Kind)
	}
	sites, err := workPrefixes(cfg)
	if err != nil {
		return err
	}
	jobs, err := db.Progress(ctx, also, progressListed)
	if err != nil {
		return err
	}
	encode := json.NewEncoder(out)
	if err := encode.Encode(s); err != nil {
		return durable.Classify("write", "standard output", err)
	}
	for _, j := range jobs {
		row := jobStanding{Job: j.ID, Site: j.Key.Site, Series: j.Key.SeriesID, State: string(j.State), Class: string(j.Class), Reason: j.Reason, Circuit: string(j.Circuit)}
		// A checkpoint that an earlier Job of the Series left is none of this one's.
		if c, ok := checkpoint.Load(checkpoint.Path(cfg.LibraryDir, sites[j.Key.Site], j.Key)); ok && c.JobID == j.ID {
			row.Fingerprint, row.Published, row.Chapter, row.PagesDone = c.Fingerprint(), len(c.Published), c.Chapter, c.PagesDone
		}
		if err := encode.Encode(row); err != nil {
			return durable.Classify("write", "standard output", err)
		}
	}
	return nil
}

// workPrefixes are the Sites by key: where a checkpoint lies is for its Site to say.
func workPrefixes(cfg config.Config) (map[string]source.Site, error) {
	adapters, _, end, err := everyAdapter(cfg)
	if err != nil {
		return nil, err
	}
	defer end()
	sites := map[string]source.Site{}
	for _, a := range adapters {
		sites[a.Site().Key] = a.Site()
	}
	return sites, nil
}
