package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/config"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/declared"
	"mangrove/scraper/internal/store"
)

// lookEvery is how often the folder of descriptions is looked at: a person who
// has just saved a file sees it work within a breath.
const lookEvery = 3 * time.Second

// sitesDir is where people describe Sites.
func sitesDir(cfg config.Config) string { return filepath.Join(cfg.DataDir, "sites") }

// described takes over what people change in the folder of descriptions while
// the scraper runs.
type described struct {
	dataDir  string
	folder   *declared.Folder
	registry *source.Registry
	log      *zap.Logger
	// unlisted are Sites whose Series offered from the start could not be stored
	// yet; they are not worked before.
	unlisted []source.Adapter
	// wrong is what is wrong now, for those who ask while the folder is looked at.
	wrong atomic.Pointer[[]*scraperv1.UnreadDescription]
}

// shownFiles and shownProblems bound what is told of files that are not read.
const (
	shownFiles    = 50
	shownProblems = 5
)

// unread are the descriptions that are not read now.
func (d *described) unread() []*scraperv1.UnreadDescription {
	if wrong := d.wrong.Load(); wrong != nil {
		return *wrong
	}
	return nil
}

// note keeps what is wrong now. Files are named below the data folder.
func (d *described) note() {
	var out []*scraperv1.UnreadDescription
	for _, u := range d.folder.Unread() {
		if len(out) == shownFiles {
			break
		}
		one := &scraperv1.UnreadDescription{File: d.below(u.File), Kept: u.Kept}
		for _, p := range u.Problems[:min(len(u.Problems), shownProblems)] {
			one.Problems = append(one.Problems, &scraperv1.DescriptionProblem{Line: int32(p.Line), Column: int32(p.Column), Message: plainLine(p.Message)})
		}
		out = append(out, one)
	}
	d.wrong.Store(&out)
}

func (d *described) below(file string) string {
	if name, err := filepath.Rel(d.dataDir, file); err == nil {
		return strings.ToValidUTF8(name, "?")
	}
	return strings.ToValidUTF8(file, "?")
}

func newDescribed(cfg config.Config, shipped []source.Adapter, registry *source.Registry, log *zap.Logger) *described {
	var taken []string
	for _, a := range shipped {
		taken = append(taken, a.Site().Key)
	}
	return &described{dataDir: cfg.DataDir, folder: declared.NewFolder(sitesDir(cfg), taken...), registry: registry, log: log}
}

// first is what the folder describes when the scraper starts.
func (d *described) first() []source.Adapter {
	c := d.folder.Look()
	d.note()
	d.say(c)
	adapters := declared.Adapters(c.Started)
	for _, a := range adapters {
		d.registry.Put(a)
	}
	return adapters
}

// watch follows the folder until ctx ends.
func (d *described) watch(ctx context.Context, db *store.Store, lanes *lanes) {
	for pause(ctx, lookEvery); ctx.Err() == nil; pause(ctx, lookEvery) {
		d.look(ctx, db, lanes)
	}
}

// look takes over what changed since the last look. A Site is registered before
// its Lane starts and taken out before it ends, so that nobody is led to a Lane
// that will not come.
func (d *described) look(ctx context.Context, db *store.Store, lanes *lanes) {
	c := d.folder.Look()
	d.note()
	d.say(c)
	for _, site := range c.Ended {
		d.registry.Remove(site)
		d.unlisted = slices.DeleteFunc(d.unlisted, func(a source.Adapter) bool { return a.Site().Key == site })
		lanes.end(site)
	}
	// What a changed description lists is made known by the Lane that works with it:
	// the one before would read it by the old description.
	for _, a := range declared.Adapters(c.Replaced) {
		d.unlisted = slices.DeleteFunc(d.unlisted, func(old source.Adapter) bool { return old.Site().Key == a.Site().Key })
		d.registry.Put(a)
		// Before the start, so that the Lane that works with it finds it due.
		if err := db.HastenCanary(ctx, a.Site().Key, time.Now()); err != nil && ctx.Err() == nil {
			d.log.Warn("whether a description is mended is seen only later", zap.String("site", a.Site().Key), zap.Error(err))
		}
		lanes.start(ctx, a)
	}
	fresh := declared.Adapters(c.Started)
	d.unlisted = slices.DeleteFunc(d.unlisted, func(old source.Adapter) bool {
		return slices.ContainsFunc(fresh, func(a source.Adapter) bool { return a.Site().Key == old.Site().Key })
	})
	var left []source.Adapter
	for _, a := range append(d.unlisted, fresh...) {
		if err := ensureListed(ctx, db, a); err != nil {
			if ctx.Err() == nil {
				d.log.Warn("a Site's Series could not be stored; it is tried again", zap.String("site", a.Site().Key), zap.Error(err))
			}
			left = append(left, a)
			continue
		}
		d.registry.Put(a)
		lanes.start(ctx, a)
	}
	d.unlisted = left
}

// say logs what changed, once.
func (d *described) say(c declared.Change) {
	for _, p := range c.Problems {
		d.log.Error("a Site's description is wrong", zap.String("where", p.String()))
	}
	for _, file := range c.Mended {
		d.log.Info("a Site's description is right again", zap.String("file", file))
	}
	for _, s := range c.Started {
		d.log.Info("a Site is described", zap.String("site", s.Site().Key), zap.String("file", s.File()))
	}
	for _, s := range c.Replaced {
		d.log.Info("a Site is described anew", zap.String("site", s.Site().Key), zap.String("file", s.File()))
	}
	for _, site := range c.Ended {
		d.log.Warn("a Site's description is gone; its Series stay known and are asked no longer", zap.String("site", site))
	}
}

// ensureListed makes known what a Site offers from the start.
func ensureListed(ctx context.Context, db *store.Store, a source.Adapter) error {
	for _, s := range a.Listed() {
		if err := db.EnsureListed(ctx, a.Site().Key, s); err != nil {
			return err
		}
	}
	return nil
}
