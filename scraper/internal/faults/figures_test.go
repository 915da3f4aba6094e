//go:build faults

package faults

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"mangrove/internal/failpoint"
)

// figure is one line of build/faults.json.
type figure struct {
	Figure string  `json:"figure"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Target float64 `json:"target"`
	Met    bool    `json:"met"`
}

// score is what all tests of a run come to.
type score struct {
	hit                    map[string]bool
	kills, faults          int
	half, lost             int
	again, inFlight, rude  int
	twice                  int
	nearest                time.Duration
	commits                float64
	held, heldWithRequests int
	skipped                []string
	built                  []string // folders to remove at the end
}

var (
	scoring sync.Mutex
	total   = score{hit: map[string]bool{}, nearest: time.Hour}
)

func note(do func(*score)) {
	scoring.Lock()
	defer scoring.Unlock()
	do(&total)
}

// TestMain prints the table when every test has run.
func TestMain(m *testing.M) {
	code := m.Run()
	for _, dir := range total.built {
		_ = os.RemoveAll(dir)
	}
	if err := report(); err != nil {
		fmt.Println(err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func report() error {
	s := total
	missing := 0
	for _, p := range failpoint.Points() {
		if !s.hit[p] {
			missing++
			fmt.Printf("not reached: %s\n", p)
		}
	}
	atMost := func(name string, v float64, unit string, target float64) figure {
		return figure{name, v, unit, target, v <= target}
	}
	atLeast := func(name string, v float64, unit string, target float64) figure {
		return figure{name, v, unit, target, v >= target}
	}
	figures := []figure{
		atLeast("kills", float64(s.kills), "kill -9", 1),
		atLeast("declared points at which it was killed", float64(len(failpoint.Points())-missing), "points", float64(len(failpoint.Points()))),
		atMost("chapters unreadable, short, wrong or gone, ever visible", float64(s.half), "chapters", 0),
		atMost("chapters lost at the end", float64(s.lost), "chapters", 0),
		atMost("pages fetched again after kills", float64(s.again), "pages", float64(s.inFlight)),
		atMost("requests too near, too many at once, or by another name", float64(s.rude), "requests", 0),
		atLeast("least time between two requests, as they arrived", float64(s.nearest.Milliseconds()), "ms", float64((pacing - slack).Milliseconds())),
		atLeast("storage faults met with a Hold", float64(s.held), "faults", float64(s.faults)),
		atMost("pages asked for while downloads were on Hold", float64(s.heldWithRequests), "requests", 0),
		atMost("pages fetched twice for a storage fault, beyond those it ate", float64(s.twice), "pages", 0),
	}
	if s.commits > 0 {
		figures = append(figures, atMost("transactions that write a chapter, with the Lane's words beside it", s.commits, "commits", 5))
	}
	var bad error
	for _, f := range figures {
		fmt.Printf("%-64s %8.1f %-9s target %6.0f met %v\n", f.Figure, f.Value, f.Unit, f.Target, f.Met)
		if !f.Met {
			bad = fmt.Errorf("a figure is not met")
		}
	}
	for _, why := range s.skipped {
		fmt.Println("skipped:", why)
	}
	out, err := json.MarshalIndent(figures, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Join("..", "..", "..", "build")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "faults.json"), out, 0o644); err != nil {
		return err
	}
	return bad
}
