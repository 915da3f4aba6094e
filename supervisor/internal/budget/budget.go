// Package budget is the crash budget of one service: three failures within a
// rolling hour park it (SUP-2). It is counted by time stamps, kept in
// runtime-<service>.json and written before the restart it allows (SUP-4). It
// starts and stops nothing, and forgives nothing by itself: what it cannot read
// counts as spent.
package budget

import (
	"slices"
	"time"
)

// Limit failures within Window park a service.
const (
	Limit  = 3
	Window = time.Hour
)

// kept is how many failures are remembered beyond the window, for an operator.
const kept = 3

// maxLines and maxLine bound what is kept of a service's last words.
const (
	maxLines = 10
	maxLine  = 500
)

// Moment is a point in time by two clocks: the wall's, which may be set, and the
// machine's own since it booted, which may not. Within one boot only the second
// counts, so that a clock that steps forgives nothing and condemns nothing.
type Moment struct {
	Wall time.Time     `json:"at"`
	Boot string        `json:"boot,omitempty"`
	Up   time.Duration `json:"up_ns,omitempty"`
}

// Since is how long before m another moment was; negative if it was after.
func (m Moment) Since(before Moment) time.Duration {
	if m.Boot != "" && m.Boot == before.Boot {
		return m.Up - before.Up
	}
	return m.Wall.Sub(before.Wall)
}

// Failure is one exit nobody asked for, or its like (SUP-2).
type Failure struct {
	Moment
	// What describes it: "exit code 1", "signal: killed".
	What string `json:"what"`
	// LastLines are the last lines the service printed before it.
	LastLines []string `json:"last_lines,omitempty"`
}

// Ledger is the failures of one service, oldest first. The zero value is a full budget.
type Ledger struct {
	Failures []Failure `json:"failures"`
}

// Record adds a failure and forgets those that no longer count, but for the last few.
func (l *Ledger) Record(f Failure) {
	if len(f.LastLines) > maxLines {
		f.LastLines = f.LastLines[len(f.LastLines)-maxLines:]
	}
	f.LastLines = slices.Clone(f.LastLines)
	for i, line := range f.LastLines {
		if r := []rune(line); len(r) > maxLine {
			f.LastLines[i] = string(r[:maxLine]) + "…"
		}
	}
	l.Failures = append(l.Failures, f)
	for len(l.Failures) > max(kept, l.counting(f.Moment)) {
		l.Failures = l.Failures[1:]
	}
}

// counting is how many failures count at now: those of the last hour, and those
// that seem to lie ahead, because nothing is forgiven for a clock's sake.
func (l Ledger) counting(now Moment) (n int) {
	for _, f := range l.Failures {
		if now.Since(f.Moment) < Window {
			n++
		}
	}
	return n
}

// Left is how many failures the service may still have before it is parked.
func (l Ledger) Left(now Moment) int { return max(Limit-l.counting(now), 0) }

// Spent reports whether the service may not be started.
func (l Ledger) Spent(now Moment) bool { return l.Left(now) == 0 }

// FreesIn is how long until the budget is no longer spent, 0 when it is not.
func (l Ledger) FreesIn(now Moment) time.Duration {
	var ages []time.Duration
	for _, f := range l.Failures {
		if age := now.Since(f.Moment); age < Window {
			ages = append(ages, age)
		}
	}
	if len(ages) < Limit {
		return 0
	}
	// The oldest that must leave for fewer than Limit to remain.
	slices.SortFunc(ages, func(a, b time.Duration) int { return int(b - a) })
	return Window - ages[len(ages)-Limit]
}
