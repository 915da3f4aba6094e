package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"mangrove/internal/config"
	"mangrove/internal/durable"
	"mangrove/internal/pg"
	"mangrove/migrations"
	"mangrove/scraper/internal/browser"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/all"
	"mangrove/scraper/internal/source/declared"
	"mangrove/scraper/internal/store"
)

// part is one part of the installation, whether it is well, and what was seen, in one
// line. The supervisor's check command reads it.
type part struct {
	Part string `json:"part"`
	Well bool   `json:"well"`
	Said string `json:"said"`
}

// checkLimit bounds what is asked of the database.
const checkLimit = 10 * time.Second

// check looks at what only this program knows: the database, the library, what Sites
// need. It prints one JSON object a part and writes nothing anywhere (OBS-4).
func check(ctx context.Context, cfg config.Config, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	db, database, done := checkDatabase(ctx, cfg)
	defer done()
	parts := []part{database}
	floor := int64(job.DefaultFloor)
	if database.Well {
		if n, err := db.FreeSpaceFloor(ctx); err == nil {
			floor = n
		}
	}
	parts = append(parts, checkLibrary(ctx, cfg.LibraryDir, db, database.Well), checkRoom(cfg.LibraryDir, floor))
	sites, err := checkSites(cfg)
	if err != nil {
		return err
	}
	encode := json.NewEncoder(out)
	for _, p := range append(parts, sites...) {
		if err := encode.Encode(p); err != nil {
			return err
		}
	}
	return nil
}

// checkDatabase asks the database, in sessions that may only read, whether it is of
// this program's version. done closes them.
func checkDatabase(ctx context.Context, cfg config.Config) (_ *store.Store, _ part, done func()) {
	p := part{Part: "database"}
	address, err := cfg.RoleURL("scraper")
	if err != nil {
		p.Said = "it has no address yet: " + oneLine(err)
		return nil, p, func() {}
	}
	pool, err := pg.Open(ctx, address.Reveal(), pg.Options{Schema: store.Schema, MaxConns: 1, ReadOnly: true})
	if err != nil {
		p.Said = oneLine(err)
		return nil, p, func() {}
	}
	switch err := migrations.Check(ctx, pool); {
	case err == nil:
		p.Well, p.Said = true, fmt.Sprintf("answers, migrated to version %d", migrations.Latest())
	case errors.Is(err, migrations.ErrOlder), errors.Is(err, migrations.ErrNewer):
		p.Said = oneLine(err)
	default:
		p.Said = "does not answer: " + connectReason(err)
	}
	return store.New(pool), p, pool.Close
}

// checkLibrary looks at the library's marker and whether it may be written into.
func checkLibrary(ctx context.Context, dir string, db *store.Store, compare bool) part {
	p := part{Part: "library"}
	if compare {
		if err := inventory.NewMarker(dir, db).Check(ctx); err != nil {
			p.Said = job.Reason(err)
			return p
		}
	} else if _, err := os.Stat(filepath.Join(dir, inventory.MarkerName)); errors.Is(err, fs.ErrNotExist) {
		p.Said = fmt.Sprintf("%s has no marker file %s: is the library mounted?", dir, inventory.MarkerName)
		return p
	} else if err != nil {
		p.Said = fmt.Sprintf("%s cannot be looked at: %s", dir, durable.Reason(err))
		return p
	}
	if err := unix.Access(dir, unix.W_OK); err != nil {
		p.Said = fmt.Sprintf("%s cannot be written into: %s", dir, durable.Reason(err))
		return p
	}
	p.Well, p.Said = true, dir+" is marked and can be written into"
	if !compare {
		p.Said = dir + " is marked, by which library only the database knows, and can be written into"
	}
	return p
}

// checkRoom compares what is free with the floor under which downloads stop.
func checkRoom(dir string, floor int64) part {
	p := part{Part: "space"}
	free, err := durable.Room(dir)
	if err != nil {
		p.Said = fmt.Sprintf("%s cannot be looked at: %s", dir, durable.Reason(err))
		return p
	}
	p.Well, p.Said = free >= floor, fmt.Sprintf("%.1f GiB are free for the library; downloads stop under %.1f GiB", gib(free), gib(floor))
	return p
}

func gib(n int64) float64 { return float64(n) / (1 << 30) }

// everyAdapter are the adapters that Mangrove brings and those of the folder of
// descriptions, which has been looked at once. end releases them.
func everyAdapter(cfg config.Config) (adapters []source.Adapter, folder *declared.Folder, end func(), err error) {
	adapters, end, err = all.Adapters(all.Options{SampleURL: cfg.SampleURL})
	if err != nil {
		return nil, nil, nil, err
	}
	var taken []string
	for _, a := range adapters {
		taken = append(taken, a.Site().Key)
	}
	folder = declared.NewFolder(sitesDir(cfg), taken...)
	return append(adapters, declared.Adapters(folder.Look().Started)...), folder, end, nil
}

// checkSites looks at the descriptions of Sites, and for Chromium if a Site needs it.
func checkSites(cfg config.Config) ([]part, error) {
	adapters, folder, end, err := everyAdapter(cfg)
	if err != nil {
		return nil, err
	}
	defer end()
	sites := part{Part: "sites", Well: true, Said: fmt.Sprintf("%d are read", len(adapters))}
	if unread := folder.Unread(); len(unread) > 0 {
		var names []string
		for _, u := range unread[:min(len(unread), shownProblems)] {
			names = append(names, filepath.Base(u.File))
		}
		sites.Well, sites.Said = false, fmt.Sprintf("%d descriptions are not read: %s; see mangrove site check", len(unread), strings.Join(names, ", "))
		if len(unread) == 1 {
			sites.Said = fmt.Sprintf("one description is not read: %s; see mangrove site check", names[0])
		}
	}
	return []part{checkChromium(cfg, adapters), sites}, nil
}

func checkChromium(cfg config.Config, adapters []source.Adapter) part {
	p := part{Part: "chromium", Well: true}
	var needed []string
	for _, a := range adapters {
		if a.Site().Browser {
			needed = append(needed, a.Site().Key)
		}
	}
	path, err := browser.Installed(cfg.Chromium)
	switch {
	case err == nil:
		p.Said = "is at " + path
	case len(needed) == 0:
		p.Said = "is not there, and no Site needs it"
	default:
		p.Well, p.Said = false, fmt.Sprintf("%s; needed by %s", oneLine(err), strings.Join(needed[:min(len(needed), shownProblems)], ", "))
	}
	return p
}

// noAddress turns the address that a first start has yet to write into a database
// that does not answer; a wrong setting stays one.
func noAddress(cfg config.Config, err error) error {
	if cfg.DatabaseURLFile == "" {
		return &exit{config.ExitConfig, err}
	}
	if _, serr := os.Stat(cfg.DatabaseURLFile); errors.Is(serr, fs.ErrNotExist) {
		return &exit{config.ExitDatabase, fmt.Errorf("the database does not answer: %s holds none yet; start Mangrove first: mangrove up", cfg.DataDir)}
	}
	return &exit{config.ExitConfig, err}
}
