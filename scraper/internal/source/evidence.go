package source

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Bounds of what is kept of a unit's answers.
const (
	// MaxSeen is how many answers are kept, the last ones.
	MaxSeen = 3
	// MaxBody is how much of one answer is kept, in bytes.
	MaxBody = 256 << 10
)

// Seen is one answer of a Site as it came: nothing is taken out of it yet, so it
// never leaves the process as it is (package incident redacts it).
type Seen struct {
	At time.Time
	// URL is where the answer came from.
	URL    string
	Status int
	// Headers are those of the answer that tell something about it, lower case.
	Headers   []Header
	MediaType string
	// Body is its beginning, at most MaxBody; Size is of the whole.
	Body []byte
	Size int64
	// Secrets are values that are known to be secret, wherever they stand: the
	// cookies that were sent and set.
	Secrets []string
}

// Header is one header of an answer.
type Header struct{ Name, Value string }

// Evidence is what a unit of work was answered: the last few answers, so that
// whoever finds that a page cannot be understood can show the page.
type Evidence struct {
	mu   sync.Mutex
	seen []Seen
}

type evidenceKey struct{}

// WithEvidence begins the evidence of one unit of work. What is fetched in the
// returned context is noted in it.
func WithEvidence(ctx context.Context) context.Context {
	return context.WithValue(ctx, evidenceKey{}, &Evidence{})
}

// Note keeps an answer as evidence of the unit of work that ctx belongs to, if
// it belongs to one. It copies no more than it keeps.
func Note(ctx context.Context, s Seen) {
	e, ok := ctx.Value(evidenceKey{}).(*Evidence)
	if !ok {
		return
	}
	if s.Size < int64(len(s.Body)) {
		s.Size = int64(len(s.Body))
	}
	s.Body = slices.Clone(s.Body[:min(len(s.Body), MaxBody)])
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.seen) == MaxSeen {
		e.seen = slices.Delete(e.seen, 0, 1)
	}
	e.seen = append(e.seen, s)
}

// SeenIn returns the answers of the unit of work that ctx belongs to, the last last.
func SeenIn(ctx context.Context) []Seen {
	e, ok := ctx.Value(evidenceKey{}).(*Evidence)
	if !ok {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.seen)
}
