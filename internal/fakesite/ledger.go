package fakesite

import (
	"context"
	"net/http"
	"slices"
	"time"
)

// Request is one request as it came in.
type Request struct {
	// At is its arrival, Done the end of its answer (zero while it runs).
	At, Done time.Time
	Method   string
	Host     string
	Path     string
	// Query is the raw query without its question mark.
	Query  string
	Header http.Header
	// Body is at most its first 64 KiB.
	Body []byte
	// Remote is the address of the connection.
	Remote string
	// InFlight counts the requests being answered at its arrival, itself included.
	InFlight int
}

// Ledger is what a Site was asked.
type Ledger struct {
	// Requests are in order of arrival.
	Requests []Request
	// Peak is the largest number of requests being answered at once.
	Peak int
	// Connections counts the connections that carried a request.
	Connections int
	// Dropped counts requests beyond the room of the ledger.
	Dropped int
}

// Ledger returns a copy of the ledger so far.
func (s *Site) Ledger() Ledger {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.ledger
	l.Requests = slices.Clone(l.Requests)
	l.Connections = len(s.conns)
	return l
}

// Count returns how often a path was asked for, whatever the query.
func (s *Site) Count(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger.Count(path)
}

// Between returns the time from the arrival of request i to that of request j,
// from zero, in order of arrival. It panics when there are not so many.
func (s *Site) Between(i, j int) time.Duration { return s.Ledger().Between(i, j) }

// Forget empties the ledger; scripts go on where they are.
func (s *Site) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger = Ledger{}
	s.epoch++
	clear(s.conns)
}

// WaitCount returns once a path was asked for n times, counted at arrival, or
// with the error of ctx: a test waits for what happens, not for time.
func (s *Site) WaitCount(ctx context.Context, path string, n int) error {
	for {
		s.mu.Lock()
		count, arrived := s.ledger.Count(path), s.arrived
		s.mu.Unlock()
		if count >= n {
			return nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Count returns how often a path was asked for, whatever the query.
func (l Ledger) Count(path string) int {
	n := 0
	for _, r := range l.Requests {
		if r.Path == path {
			n++
		}
	}
	return n
}

// Between returns the time from the arrival of request i to that of request j.
func (l Ledger) Between(i, j int) time.Duration {
	return l.Requests[j].At.Sub(l.Requests[i].At)
}

// Paths returns the paths in order, with their queries.
func (l Ledger) Paths() []string {
	out := make([]string, 0, len(l.Requests))
	for _, r := range l.Requests {
		p := r.Path
		if r.Query != "" {
			p += "?" + r.Query
		}
		out = append(out, p)
	}
	return out
}
