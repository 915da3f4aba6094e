package verify

import (
	"context"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
)

const (
	// waiting is how many files wait to be looked at on somebody's word; more are
	// dropped, the next night reads them.
	waiting = 32
	// again is how soon a file is looked at once more on the same word.
	again = time.Hour
)

// Ear hears of files that somebody could not read (F73). Whoever tells is not
// believed: the file is read whole, and what is so is recorded.
type Ear struct {
	v    *Verifier
	told chan string
}

// NewEar makes the Ear of a Verifier; Hear works it.
func NewEar(v *Verifier) *Ear { return &Ear{v, make(chan string, waiting)} }

// Tell says that a file could not be read. It never waits.
func (e *Ear) Tell(path string) {
	select {
	case e.told <- path:
	default:
	}
}

// Hear reads the files it is told of, one at a time, until ctx ends.
func (e *Ear) Hear(ctx context.Context) {
	looked := map[string]time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case path := <-e.told:
			now := time.Now()
			for p, at := range looked {
				if now.Sub(at) >= again {
					delete(looked, p)
				}
			}
			if _, just := looked[path]; just || len(looked) >= 1000 {
				continue
			}
			looked[path] = now
			if err := e.look(ctx, path); err != nil && ctx.Err() == nil {
				e.v.Log.Warn("a file that could not be read could not be verified", zap.Error(err))
			}
		}
	}
}

// look reads one file whole; one that the library does not know is nobody's.
func (e *Ear) look(ctx context.Context, path string) error {
	if err := e.v.There(ctx); err != nil {
		return err
	}
	f, err := e.v.Store.KnownFile(ctx, path)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var r Report
	return e.v.file(ctx, f, &r)
}
