// Package benchtest collects the figures of a bench: it prints them as a table and
// adds them to build/bench.json, in the place of what an earlier run said. It
// measures nothing and judges nothing but whether a target is met; only packages of
// benches import it.
package benchtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// Figure is one line of build/bench.json.
type Figure struct {
	Figure string  `json:"figure"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	// Target is what is aimed at, 0 for nothing; Met whether it is reached.
	Target float64 `json:"target,omitempty"`
	Met    bool    `json:"met"`
	// Peer is what ran beside it in the same run, Ratio ours in its measure.
	Peer  string  `json:"peer,omitempty"`
	Ratio float64 `json:"ratio,omitempty"`
}

var (
	mu      sync.Mutex
	figures []Figure
	skipped []string
)

// Report adds a figure. A target below zero means "at least its absolute value",
// above "at most", zero none.
func Report(name string, value float64, unit string, target float64) {
	add(Figure{
		Figure: name, Value: value, Unit: unit, Target: target,
		Met: target == 0 || (target > 0 && value <= target) || (target < 0 && value >= -target),
	})
}

// Beside adds what a peer reached in the same run, and ours in its measure.
func Beside(name string, ours, theirs float64, unit, peer string) {
	add(Figure{Figure: name, Value: theirs, Unit: unit, Met: true, Peer: peer, Ratio: ours / max(theirs, 1e-9)})
}

// Skipped says that a peer is not there: no figure, and never a pass.
func Skipped(name, why string) {
	mu.Lock()
	defer mu.Unlock()
	skipped = append(skipped, fmt.Sprintf("%-64s skipped: %s", name, why))
}

func add(f Figure) {
	mu.Lock()
	defer mu.Unlock()
	figures = append(figures, f)
}

// Main runs the tests of a bench, prints its figures and keeps them below root, the
// top folder of the checkout.
func Main(m *testing.M, root string) {
	code := m.Run()
	if err := Keep(root); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// Keep prints the figures and keeps them below root.
func Keep(root string) error {
	path := filepath.Join(root, "build", "bench.json")
	var all []Figure
	if data, err := os.ReadFile(path); err == nil {
		_ = json.Unmarshal(data, &all)
	}
	for _, f := range figures {
		all = slices.DeleteFunc(all, func(old Figure) bool { return old.Figure == f.Figure && old.Peer == f.Peer })
		line := fmt.Sprintf("%-64s %12.3f %-14s", f.Figure, f.Value, f.Unit)
		switch {
		case f.Peer != "":
			line += fmt.Sprintf(" is %s's; ours is %.2f of it", f.Peer, f.Ratio)
		case f.Target != 0:
			line += fmt.Sprintf(" target %10.3f met %v", f.Target, f.Met)
		}
		fmt.Println(line)
	}
	for _, line := range skipped {
		fmt.Println(line)
	}
	data, err := json.MarshalIndent(append(all, figures...), "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	return err
}
