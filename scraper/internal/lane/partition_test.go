package lane_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/store"
)

// effects names the statements that change poll_failures, as they are sent.
type effects struct {
	mu   sync.Mutex
	sent []string
}

func (e *effects) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case strings.Contains(d.SQL, "INSERT INTO poll_failures"):
		e.sent = append(e.sent, "write")
	case strings.Contains(d.SQL, "DELETE FROM poll_failures"):
		e.sent = append(e.sent, "delete")
	}
	return ctx
}

func (*effects) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// Each of the seven words does exactly one of three things, in one statement or
// none (A10, B20): whether the Series failed before or not.
func TestEachWordSendsItsOneStatement(t *testing.T) {
	t.Parallel()
	for _, o := range poll.Outcomes() {
		for _, before := range []string{"", "errors"} {
			t.Run(string(o)+" after "+before, func(t *testing.T) {
				t.Parallel()
				b := setup(t, map[string][]string{"a": {string(o)}})
				seen := &effects{}
				b.rewire(t, store.New(pgtest.Pool(t, b.scraper, store.Schema, seen)))
				if before != "" {
					b.exec(t, "INSERT INTO scraper.poll_failures VALUES ('t', 'a', $1, now())", before)
				}
				b.turn(t)
				var want []string
				if e := o.Effect(); e != poll.Nothing {
					want = []string{string(e)}
				}
				if d := cmp.Diff(want, seen.sent); d != "" {
					t.Errorf("statements (-want +got):\n%s", d)
				}
			})
		}
	}
}

// Reads that changed nothing are written together, a hundred at most, and always
// before the failure that came after them (POLL-3).
func TestUnchangedReadsAreWrittenBeforeTheFailureAfterThem(t *testing.T) {
	t.Parallel()
	scripts := map[string][]string{"z": {"errors"}}
	for i := range 130 {
		scripts[fmt.Sprintf("s%03d", i)] = []string{"same"}
	}
	b := setup(t, scripts)
	seen := &effects{}
	b.rewire(t, store.New(pgtest.Pool(t, b.scraper, store.Schema, seen)))
	b.turn(t)
	n := len(seen.sent)
	if n < 3 || n > 10 || seen.sent[n-1] != "write" || slices.Contains(seen.sent[:n-1], "write") {
		t.Errorf("statements %v, want the good reads in a few, and then the failure", seen.sent)
	}
	if got, want := b.lastPass(t), "complete ok=130 not_found=0 no_chapter=0 unfetchable=0 errors=1 refused=0 unreachable=0"; got != want {
		t.Errorf("Pass row\n got %s\nwant %s", got, want)
	}
}

// No sequence of refused and unreachable reads, of rests, probes and Resumes,
// ever changes a failure row, by a bit (B19).
func TestNoTroubleOfASiteChangesARow(t *testing.T) {
	b := setup(t, map[string][]string{"a": {"errors"}, "b": {"not_found"}, "c": {"no_chapter"}, "d": {"ok"}})
	b.turn(t)
	before := b.rows(t)
	if len(before) != 3 {
		t.Fatalf("%d rows to begin with", len(before))
	}
	ctx := context.Background()
	checks(t, "25")
	rapid.Check(t, func(rt *rapid.T) {
		for range rapid.IntRange(1, 6).Draw(rt, "turns") {
			word := rapid.SampledFrom([]string{"refused", "unreachable"}).Draw(rt, "word")
			for id := range b.site.scripts {
				b.site.scripts[id] = []string{word}
			}
			switch rapid.SampledFrom([]string{"resume", "expire", "wait"}).Draw(rt, "then") {
			case "resume":
				c, err := b.db.Circuit(ctx, "t")
				if err != nil {
					rt.Fatal(err)
				}
				if next, ok := c.Next(circuit.Resume, c.Since, "", c.RetryAfter); ok {
					if _, err := b.db.MoveCircuit(ctx, c, next); err != nil {
						rt.Fatal(err)
					}
				}
			case "expire":
				b.exec(t, `UPDATE scraper.circuits SET until = now() - interval '1 second' WHERE state IN ('open', 'probing')`)
			}
			b.turn(t)
		}
		if d := cmp.Diff(before, b.rows(t)); d != "" {
			rt.Fatalf("a row changed:\n%s", d)
		}
	})
}

// What says nothing about a page sends no statement about one (POLL-3): the table
// is byte for byte as it was.
func TestRefusedAndUnreachableSendNothing(t *testing.T) {
	for _, word := range []string{"refused", "unreachable"} {
		t.Run(word, func(t *testing.T) {
			scripts := map[string][]string{}
			for i := range 20 {
				scripts[fmt.Sprintf("s%02d", i)] = []string{"errors", word}
			}
			b := setup(t, scripts)
			b.turn(t)
			before := b.rows(t)
			sent := b.seen.failures.Load()
			b.turn(t)
			b.turn(t)
			if n := b.seen.failures.Load() - sent; n != 0 {
				t.Errorf("%d statements on poll_failures, want 0", n)
			}
			if d := cmp.Diff(before, b.rows(t)); d != "" || len(before) != 20 {
				t.Errorf("%d rows before; after:\n%s", len(before), d)
			}
		})
	}
}
