package lane_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/source"
)

// answering is a Site's side of the wire: it answers each request, or not.
type answering struct{ err error }

func (a answering) Get(context.Context, source.Request) (*source.Response, error) {
	if a.err != nil {
		return nil, a.err
	}
	return &source.Response{}, nil
}

// downloads is a queue with one Job and its runner: each step sends requests, one
// for each entry of script, and ends as it says.
type downloads struct {
	*memory
	fetcher source.Fetcher
	asks    int
	end     error
}

func (*downloads) Stop(int64) {}
func (*downloads) PageList(context.Context, source.Key, source.Chapter) ([]source.Page, error) {
	return nil, nil
}

func (d *downloads) Next(context.Context, string, time.Time) (job.Job, bool, error) {
	return job.Job{ID: 1, State: job.Downloading}, true, nil
}
func (d *downloads) Inspect(ctx context.Context, j job.Job) error { return d.Step(ctx, j) }
func (d *downloads) Step(ctx context.Context, _ job.Job) error {
	for range d.asks {
		if _, err := d.fetcher.Get(ctx, source.Request{}); err != nil {
			return err
		}
	}
	return d.end
}

// Whatever was asked for, an answer of the Site ends the trouble of its Lane
// (POLL-8); work that asked nothing says nothing of the Site.
func TestAnyAnswerEndsTheTrouble(t *testing.T) {
	t.Parallel()
	refused := fault.Newf(fault.Access, "get", "u", "status 403").WithEvidence(fault.Answered)
	gone := fault.Newf(fault.Network, "get", "u", "reset").WithEvidence(fault.NoRead)
	for _, tt := range []struct {
		name    string
		asks    int
		answer  error
		end     error
		trouble lane.Trouble
	}{
		{"a chapter was fetched", 3, nil, nil, lane.NoTrouble},
		{"a chapter of which a page was broken", 3, nil, fault.Newf(fault.Page, "read", "a page", "not whole"), lane.NoTrouble},
		{"the Site's page was not understood", 1, nil, source.Unparsed("u", "scripted"), lane.NoTrouble},
		{"nothing was asked for", 0, nil, nil, lane.TroubleUnreachable},
		{"nothing came", 1, gone, nil, lane.TroubleUnreachable},
		{"it answered, and then broke off", 2, nil, gone, lane.TroubleUnreachable},
		{"it answered, and then refused", 2, nil, refused, lane.TroubleRefused},
		{"our own database was away", 0, nil, fault.Newf(fault.Away, "reach", "the database", "scripted"), lane.TroubleUnreachable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gate := &lane.Gate{}
			m := &memory{trouble: lane.TroubleUnreachable, circuit: circuit.Circuit{Site: "t", State: circuit.Closed, Since: time.Now()}}
			d := &downloads{memory: m, fetcher: gate.Listen(answering{tt.answer}), asks: tt.asks, end: tt.end}
			l := lane.New(lane.Options{Adapter: &calendar{}, Store: m, Queue: d, Runner: d, Hub: live.NewHub(), Gate: gate, Log: zap.NewNop()})
			for range 2 {
				// The second looks at what the first has heard.
				if _, err := l.Turn(t.Context()); err != nil && fault.Of(err) != fault.Away {
					t.Fatal(err)
				}
				d.asks, d.end = 0, nil
				// An operator resumes it, if need be.
				m.circuit = circuit.Circuit{Site: "t", State: circuit.Closed, Since: time.Now()}
			}
			if m.trouble != tt.trouble {
				t.Errorf("the trouble is %q, want %q", m.trouble, tt.trouble)
			}
		})
	}
}
