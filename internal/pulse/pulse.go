// Package pulse tells whether a program's own work loops turn. Each loop beats as
// it goes; one that has not for too long is stuck, and the program's liveness goes,
// whatever another thread would still answer (S-092). The package knows no database,
// Site or file: what may wait for one of those must be bounded, or not watched.
package pulse

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	// Limit is how old the last beat of a loop may be.
	Limit = 30 * time.Second
	// every is how often the beats are looked at.
	every = time.Second
	// standstill is a gap between two looks after which it was the whole process, or
	// the machine, that did not run: no loop is to blame for that.
	standstill = 5 * time.Second
	// stackBytes bounds what is logged of where the goroutines stand.
	stackBytes = 48 << 10
)

// Pulse is the loops that must turn. The zero value has none.
type Pulse struct {
	mu    sync.Mutex
	beats map[string]time.Time
}

// Beat says that the loop of that name turns now. From then on it must.
func (p *Pulse) Beat(loop string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.beats == nil {
		p.beats = map[string]time.Time{}
	}
	p.beats[loop] = time.Now()
}

// Rest says that the loop of that name need not turn until its next Beat: it has
// ended, or does something that may take as long as it takes.
func (p *Pulse) Rest(loop string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.beats, loop)
}

// Stuck names the loops whose last beat is older than Limit, sorted.
func (p *Pulse) Stuck() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, loop := range slices.Sorted(maps.Keys(p.beats)) {
		if time.Since(p.beats[loop]) > Limit {
			out = append(out, loop)
		}
	}
	return out
}

// forgive takes every loop as having beaten just now.
func (p *Pulse) forgive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for loop := range p.beats {
		p.beats[loop] = time.Now()
	}
}

// Watch calls alive with true at once and then at each change, until ctx ends. When a
// loop is stuck the log says which, and where every goroutine stands.
func (p *Pulse) Watch(ctx context.Context, alive func(bool), log *zap.Logger) {
	well, last := true, time.Now()
	alive(true)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if time.Since(last) > standstill {
			p.forgive()
		}
		last = time.Now()
		stuck := p.Stuck()
		if now := len(stuck) == 0; now != well {
			well = now
			if well {
				log.Info("every loop turns again")
			} else {
				log.Error("a loop does not turn", zap.Strings("loops", stuck), zap.ByteString("stacks", stacks()))
			}
			alive(well)
		}
	}
}

// stacks are where the goroutines stand: names of functions and numbers, and none of
// the program's texts.
func stacks() []byte {
	buf := make([]byte, stackBytes)
	return buf[:runtime.Stack(buf, true)]
}
