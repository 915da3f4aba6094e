package tally

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	"go.uber.org/zap"

	"mangrove/scraper/internal/canary"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/store"
)

// shows fails unless reg tells each of lines, after the HELP and TYPE lines of its
// metric.
func shows(t *testing.T, reg *prometheus.Registry, lines ...string) {
	t.Helper()
	text := told(t, reg)
	for _, line := range lines {
		if !slices.Contains(strings.Split(text, "\n"), line) {
			t.Errorf("%s is not told:\n%s", line, text)
		}
	}
}

func told(t *testing.T, reg *prometheus.Registry) string {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range families {
		names = append(names, f.GetName())
	}
	text, err := testutil.CollectAndFormat(reg, expfmt.TypeTextPlain, names...)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWhatHappensIsCounted(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	n := New(reg)
	n.Open("sample")
	shows(t, reg, `mangrove_passes_total{outcome="complete",site="sample"} 0`, `mangrove_polls_total{site="sample",word="not_found"} 0`, `mangrove_pages_total{site="sample"} 0`)
	n.Pass(lane.Pass{Site: "sample", EndReason: lane.EndOutage, Counts: map[poll.Outcome]int{poll.OK: 3, poll.NotFound: 2}, NewChapters: 4})
	n.Page("sample")
	n.Page("sample")
	n.Publication("sample")
	n.Stall("sample", job.Quarantined)
	shows(t, reg,
		`mangrove_passes_total{outcome="outage",site="sample"} 1`, `mangrove_passes_total{outcome="complete",site="sample"} 0`,
		`mangrove_polls_total{site="sample",word="ok"} 3`, `mangrove_polls_total{site="sample",word="not_found"} 2`,
		`mangrove_new_chapters_total{site="sample"} 4`, `mangrove_pages_total{site="sample"} 2`, `mangrove_publications_total{site="sample"} 1`,
		`mangrove_stalls_total{site="sample",state="quarantined"} 1`, `mangrove_stalls_total{site="sample",state="queued"} 0`,
	)
}

// TestFiguresAreReadNowAndThen: fifteen seconds apart whoever asks, and an old figure
// is not told as a new one.
func TestFiguresAreReadNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		var failure error
		reg := prometheus.NewRegistry()
		since := time.Unix(100, 0)
		reg.MustRegister(&Standing{
			Figures: func(context.Context, time.Time) (store.Figures, error) {
				reads++
				return store.Figures{
					Failing:  []store.FailingFigure{{Site: "sample", Outcome: poll.Errors, Age: "under_1h", N: reads}},
					Jobs:     []store.JobFigure{{Site: "sample", State: job.Queued, N: 2}},
					Circuits: []store.CircuitFigure{{Site: "sample", State: circuit.Paused, Reason: circuit.Access, Since: since, Trouble: lane.TroubleRefused, TroubleSince: &since}},
					Holds:    []store.Hold{{Kind: "storage"}}, Floor: 7,
					Canaries: []store.CanaryRow{
						{Canary: canary.Canary{Site: "sample", State: canary.Failing, Good: since}}, {Canary: canary.Canary{Site: "new", State: canary.Untried}},
					},
				}, failure
			},
			Room: func(string) (int64, error) { return 9, nil }, Folders: map[string]string{"library": "/library"}, Log: zap.NewNop(),
		})
		for range 3 {
			shows(t, reg,
				`mangrove_series_failing{age="under_1h",muted="no",site="sample",word="errors"} 1`, `mangrove_jobs{site="sample",state="queued"} 2`,
				`mangrove_circuit{reason="access",site="sample",state="paused"} 1`, `mangrove_circuit_since_timestamp_seconds{site="sample"} 100`,
				`mangrove_lane_trouble_since_timestamp_seconds{site="sample",trouble="refused"} 100`,
				`mangrove_canary_failing{site="sample"} 1`, `mangrove_canary_failing{site="new"} 0`, `mangrove_canary_good_timestamp_seconds{site="sample"} 100`,
				`mangrove_hold{kind="storage"} 1`, `mangrove_hold{kind="queue"} 0`,
				`mangrove_disk_free_bytes{folder="library"} 9`, `mangrove_disk_floor_bytes 7`, `mangrove_database_up 1`,
			)
		}
		if reads != 1 {
			t.Errorf("read %d times at once", reads)
		}
		time.Sleep(freshFor)
		failure = errors.New("the database is down")
		if text := told(t, reg); !strings.Contains(text, "\nmangrove_database_up 0\n") || strings.Contains(text, "mangrove_series_failing") || !strings.Contains(text, "mangrove_disk_free_bytes") {
			t.Errorf("with the database away:\n%s", text)
		}
		time.Sleep(freshFor)
		failure = nil
		shows(t, reg, `mangrove_series_failing{age="under_1h",muted="no",site="sample",word="errors"} 3`, `mangrove_database_up 1`)
	})
}

// TestNothingHangs: a database that does not answer and a mount that hangs cost a
// moment, and the mount is not looked at by a crowd.
func TestNothingHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := prometheus.NewRegistry()
		back, looks := make(chan struct{}), 0
		reg.MustRegister(&Standing{
			Figures: func(ctx context.Context, _ time.Time) (store.Figures, error) {
				<-ctx.Done()
				return store.Figures{}, ctx.Err()
			},
			Room: func(path string) (int64, error) {
				if path == "/hangs" {
					looks++
					<-back
				}
				return 9, nil
			},
			Folders: map[string]string{"library": "/hangs", "data": "/data"}, Log: zap.NewNop(),
		})
		for range 3 {
			began := time.Now()
			families, err := reg.Gather()
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("it took %s", took)
			}
			for _, f := range families {
				if f.GetName() == "mangrove_disk_free_bytes" && len(f.GetMetric()) != 1 {
					t.Errorf("room of %v", f.GetMetric())
				}
			}
			time.Sleep(freshFor)
		}
		if looks != 1 {
			t.Errorf("%d looks at a mount that hangs", looks)
		}
		close(back)
		synctest.Wait()
		shows(t, reg, `mangrove_disk_free_bytes{folder="library"} 9`)
	})
}
