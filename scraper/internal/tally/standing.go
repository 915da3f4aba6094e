package tally

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"mangrove/internal/metrics"
	"mangrove/scraper/internal/canary"
	"mangrove/scraper/internal/store"
)

const (
	// freshFor is how long what was read is told again without reading.
	freshFor = 15 * time.Second
	// readLimit bounds one reading: less than a scrape is waited for.
	readLimit = 2 * time.Second
	// lookLimit bounds a look at the folders.
	lookLimit = 500 * time.Millisecond
)

// Standing tells how things stand in the database and on the disks.
type Standing struct {
	// Figures reads the database.
	Figures func(ctx context.Context, now time.Time) (store.Figures, error)
	// Room are the bytes that are free in a folder; Folders are looked at, by the word
	// they are told as.
	Room    func(path string) (int64, error)
	Folders map[string]string
	Log     *zap.Logger

	mu      sync.Mutex
	read    time.Time
	figures store.Figures
	away    bool

	// looks lets one caller look at the folders; looking are those whose look has not
	// come back.
	looks   sync.Mutex
	looking sync.Map
}

type desc = *prometheus.Desc

func newDesc(name, help string, labels ...string) desc {
	return prometheus.NewDesc(prometheus.BuildFQName(metrics.Namespace, "", name), help, labels, nil)
}

// What is told.
var (
	databaseUp   = newDesc("database_up", "Whether the database answered when it was last asked.")
	failing      = newDesc("series_failing", "Series that stopped reading, by their word and how long ago that was.", "site", "word", "age", "muted")
	jobs         = newDesc("jobs", "Jobs by state; those that are done or cancelled are not counted.", "site", "state")
	circuitState = newDesc("circuit", "1 for the state in which a Site's circuit is, with the reason.", "site", "state", "reason")
	circuitSince = newDesc("circuit_since_timestamp_seconds", "When a Site's circuit came into its state.", "site")
	troubleSince = newDesc("lane_trouble_since_timestamp_seconds", "Since when a whole Site is refused or unreachable; there while it is.", "site", "trouble")
	canaryFails  = newDesc("canary_failing", "Whether a Site's known Series was not understood twice in a row.", "site")
	canaryGood   = newDesc("canary_good_timestamp_seconds", "When a Site's known Series was last read well; there once it was.", "site")
	hold         = newDesc("hold", "Whether a Hold stops all downloads.", "kind")
	free         = newDesc("disk_free_bytes", "Bytes that are free where the folder lies.", "folder")
	floor        = newDesc("disk_floor_bytes", "Bytes that must stay free for downloads to go on.")
)

// Describe names what is told.
func (s *Standing) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []desc{databaseUp, failing, jobs, circuitState, circuitSince, troubleSince, canaryFails, canaryGood, hold, free, floor} {
		ch <- d
	}
}

// Collect tells it.
func (s *Standing) Collect(ch chan<- prometheus.Metric) {
	tell := func(d desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for folder, n := range s.room() {
		tell(free, float64(n), folder)
	}
	f, ok := s.fresh()
	tell(databaseUp, oneIf(ok))
	if !ok {
		return
	}
	for _, n := range f.Failing {
		tell(failing, float64(n.N), n.Site, string(n.Outcome), n.Age, yesIf(n.Muted))
	}
	for _, n := range f.Jobs {
		tell(jobs, float64(n.N), n.Site, string(n.State))
	}
	for _, c := range f.Circuits {
		tell(circuitState, 1, c.Site, string(c.State), string(c.Reason))
		tell(circuitSince, seconds(c.Since), c.Site)
		if c.TroubleSince != nil {
			tell(troubleSince, seconds(*c.TroubleSince), c.Site, string(c.Trouble))
		}
	}
	for _, c := range f.Canaries {
		tell(canaryFails, oneIf(c.State == canary.Failing), c.Site)
		if !c.Good.IsZero() {
			tell(canaryGood, seconds(c.Good), c.Site)
		}
	}
	held := map[string]bool{}
	for _, h := range f.Holds {
		held[h.Kind] = true
	}
	for _, kind := range []string{"queue", "storage"} {
		tell(hold, oneIf(held[kind]), kind)
	}
	tell(floor, float64(f.Floor))
}

// fresh is what the database says now, or said a moment ago; ok is false when it does
// not answer. Whoever asks meanwhile waits for the one reading.
func (s *Standing) fresh() (f store.Figures, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.read.IsZero() && time.Since(s.read) < freshFor {
		return s.figures, !s.away
	}
	ctx, cancel := context.WithTimeout(context.Background(), readLimit)
	defer cancel()
	f, err := s.Figures(ctx, time.Now())
	if away := err != nil; away != s.away {
		s.away = away
		s.Log.Info("the figures for the metrics", zap.Bool("read", !away), zap.NamedError("why", err))
	}
	s.figures, s.read = f, time.Now()
	return f, !s.away
}

// room looks at each folder beside everything else and tells what it found within a
// moment: a folder whose mount hangs is left out, and is not looked at again before
// that look comes back.
func (s *Standing) room() map[string]int64 {
	type sight struct {
		folder string
		n      int64
		err    error
	}
	s.looks.Lock()
	defer s.looks.Unlock()
	seen := make(chan sight, len(s.Folders))
	waiting := 0
	for folder, path := range s.Folders {
		if _, under := s.looking.LoadOrStore(folder, true); under {
			continue
		}
		waiting++
		go func() {
			n, err := s.Room(path)
			s.looking.Delete(folder)
			seen <- sight{folder, n, err}
		}()
	}
	out := map[string]int64{}
	late := time.NewTimer(lookLimit)
	defer late.Stop()
	for ; waiting > 0; waiting-- {
		select {
		case at := <-seen:
			if at.err == nil {
				out[at.folder] = at.n
			}
		case <-late.C:
			return out
		}
	}
	return out
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1e3 }

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func yesIf(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
