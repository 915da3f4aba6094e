package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/config"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/sidecar"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
	"mangrove/scraper/internal/verify"
)

// libraryActs chooses what is asked of the library's files; nil for a usage error.
func libraryActs(cfg config.Config, args []string) operation {
	switch {
	case len(args) == 1 && args[0] == "rebuild":
		return func(ctx context.Context, db *store.Store, r *incident.Recorder) (string, error) {
			return rebuild(ctx, cfg, db, r)
		}
	case len(args) == 1 && args[0] == "verify", len(args) == 2 && args[0] == "verify" && args[1] == "--due":
		before := time.Now()
		if len(args) == 2 {
			before = before.Add(-verify.Every)
		}
		return func(ctx context.Context, db *store.Store, r *incident.Recorder) (string, error) {
			return verifyLibrary(ctx, cfg, db, r, before, os.Stdout)
		}
	case len(args) == 4 && args[0] == "fetch-again":
		key := source.Key{Site: args[1], SeriesID: args[2]}
		return func(ctx context.Context, db *store.Store, r *incident.Recorder) (string, error) {
			return fetchAgain(ctx, db, r, key, args[3])
		}
	}
	return nil
}

// rebuild makes the database know again what the library's folder holds: its files,
// of which each of ours says what it is, and the Series, by their sidecars. Nothing
// in the folder is changed, and what is known already stays.
func rebuild(ctx context.Context, cfg config.Config, db *store.Store, r *incident.Recorder) (string, error) {
	marker := inventory.NewMarker(cfg.LibraryDir, db)
	if err := marker.Establish(ctx); err != nil {
		return "", err
	}
	counts, changed, err := inventory.NewLibrary(cfg.LibraryDir, marker, db).Scan(ctx, true)
	if err != nil {
		return "", err
	}
	folders, err := db.SeriesFolders(ctx)
	if err != nil {
		return "", err
	}
	restored, untold := 0, 0
	for _, f := range folders {
		told, ok := sidecar.Load(cfg.LibraryDir, f.Folder)
		if !ok || (told.Key() != f.Key && len(told.Files) == 0) {
			// Its files' own words are all there is.
			untold++
			continue
		}
		did, err := db.RestoreSeries(ctx, told.Key(), told.Series(), f.Folder, told.Files)
		if err != nil {
			return "", err
		}
		if did {
			restored++
		}
	}
	adopted, err := adoptAgain(ctx, cfg, db)
	if err != nil {
		return "", err
	}
	if restored > 0 || changed > 0 || adopted > 0 {
		tell(ctx, db, r, store.Told{})
	}
	said := fmt.Sprintf("the library holds %d chapters; %d entries were new or changed; %d Series were restored", counts.Files, changed, restored)
	if adopted > 0 {
		said += fmt.Sprintf("; %d files of other programs are chapters again", adopted)
	}
	if untold > 0 {
		said += fmt.Sprintf("; %d folders have no %s, and their Series are known by their files alone", untold, sidecar.Name)
	}
	return said, nil
}

// adoptAgain makes files of other programs once more the chapters that somebody made
// them, and returns how many.
func adoptAgain(ctx context.Context, cfg config.Config, db *store.Store) (n int, err error) {
	told, _ := sidecar.LoadAdopted(cfg.LibraryDir)
	for _, s := range told.Series {
		if _, err := db.RestoreSeries(ctx, s.Key(), s.Series(), "", nil); err != nil {
			return n, err
		}
	}
	for _, f := range told.Files {
		did, err := db.AdoptAgain(ctx, f, time.Now())
		if err != nil {
			return n, err
		}
		if did {
			n++
		}
	}
	return n, nil
}

// keepAdopted keeps what was adopted, and what is known of its Series, in the
// library's own folder.
func keepAdopted(ctx context.Context, cfg config.Config, db *store.Store) error {
	files, err := db.Adopted(ctx)
	if err != nil {
		return err
	}
	a := sidecar.Adopted{Series: []sidecar.Sidecar{}, Files: files}
	seen := map[source.Key]bool{}
	for _, f := range files {
		if key := f.Key(); !seen[key] {
			seen[key] = true
			row, err := db.Series(ctx, key)
			if fault.Is(err, fault.NotFound) {
				continue
			}
			if err != nil {
				return err
			}
			a.Series = append(a.Series, sidecar.Of(key, row.Series))
		}
	}
	return sidecar.KeepAdopted(cfg.LibraryDir, a)
}

// verifyLibrary reads files whole and prints which are not what was published.
func verifyLibrary(ctx context.Context, cfg config.Config, db *store.Store, r *incident.Recorder, before time.Time, out io.Writer) (string, error) {
	v := &verify.Verifier{
		Library: cfg.LibraryDir, There: inventory.NewMarker(cfg.LibraryDir, db).Check, Store: db, Record: r, Log: r.Log,
		Found: func(f verify.Finding) {
			for _, line := range f.What {
				_, _ = fmt.Fprintf(out, "%s: %s\n", clipped(f.File.Path, 300), line)
			}
		},
	}
	got, err := v.Run(ctx, before)
	if err != nil {
		return "", err
	}
	said := fmt.Sprintf("%d files with %d pages were read (%d MB)", got.Files, got.Pages, got.Bytes/1e6)
	if got.Gone > 0 {
		said += fmt.Sprintf("; %d are not there any more", got.Gone)
	}
	if len(got.Rotten) > 0 {
		return "", fmt.Errorf("%s; %d do not hold what was published. Nothing was deleted; mangrove incident list names them, and mangrove library fetch-again fetches one anew", said, len(got.Rotten))
	}
	return said + "; all are well", nil
}

// fetchAgain has one chapter fetched once more, in place of the file that is there.
func fetchAgain(ctx context.Context, db *store.Store, r *incident.Recorder, key source.Key, chapterID string) (string, error) {
	if err := queue.FetchAgain(ctx, db, key, chapterID); err != nil {
		return "", err
	}
	r.Acted("fetch again", key)
	tell(ctx, db, r, store.Told{Site: key.Site})
	return fmt.Sprintf("chapter %s of %s is fetched once more; the file that is there goes when the new one is published", chapterID, key), nil
}

// keepSidecars keeps what is known of each Series beside its chapters.
func keepSidecars(ctx context.Context, cfg config.Config, db *store.Store, log *zap.Logger) error {
	folders, err := db.SeriesFolders(ctx)
	if err != nil {
		return err
	}
	failed := 0
	for _, f := range folders {
		if ctx.Err() != nil || strings.Contains(f.Folder, "/") {
			continue
		}
		row, err := db.Series(ctx, f.Key)
		if fault.Is(err, fault.NotFound) || (err == nil && row.Folder != f.Folder) {
			continue
		}
		if err != nil {
			return err
		}
		files := func() (map[string]string, error) { return db.FileNames(ctx, f.Key, f.Folder) }
		if err := sidecar.Keep(cfg.LibraryDir, f.Folder, sidecar.Of(f.Key, row.Series), files); err != nil {
			if failed++; failed == 1 {
				log.Warn("what is known of a Series could not be kept beside its chapters", zap.Stringer("series", f.Key), zap.String("reason", job.Reason(err)))
			}
		}
	}
	if err := keepAdopted(ctx, cfg, db); err != nil && ctx.Err() == nil {
		log.Warn("what was adopted could not be kept in the library", zap.String("reason", job.Reason(err)))
	}
	return ctx.Err()
}
