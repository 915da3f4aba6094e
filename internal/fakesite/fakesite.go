// Package fakesite is a stand-in for a Site: a test writes down what each
// address answers, request by request, and afterwards reads in the ledger what
// was asked, when, and how much of it at once. Two faces answer for many addresses
// at once: MangaDex in the shape of that API, Comic in HTML. It serves on loopback
// only, keeps a bounded ledger, and refuses to judge: what should have been asked
// is the test's to say.
package fakesite

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// maxRequests bounds the ledger; later requests are answered and counted
	// in Ledger.Dropped.
	maxRequests = 100_000
	// maxBody bounds the request body that the ledger keeps.
	maxBody = 64 << 10
)

// Site is one stand-in. Its methods may be called at any time, also while it
// serves. It is an http.Handler for HTTP/1.
type Site struct {
	mu       sync.Mutex
	routes   map[string]*route
	ledger   Ledger
	epoch    int // how often Forget was called
	inFlight int
	conns    map[string]bool // by remote address
	arrived  chan struct{}   // closed and replaced at every arrival
	closing  chan struct{}
}

// route is the script of one address.
type route struct {
	answers []Answer
	next    int
	handler http.Handler
}

// New returns a Site that answers 404 to everything.
func New() *Site {
	return &Site{
		routes:  map[string]*route{},
		conns:   map[string]bool{},
		arrived: make(chan struct{}),
		closing: make(chan struct{}),
	}
}

// On sets the script of an address: the first request gets the first answer and
// so on; the last repeats. An address is a path ("/series/1"), a path with a
// query ("/series/1?page=2"), or a beginning ("/images/*"); the more exact one
// wins. Setting an address again starts its script anew.
func (s *Site) On(address string, answers ...Answer) {
	if len(answers) == 0 {
		panic("fakesite: On needs an answer") // a mistake in a test, at its first run
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.routes[address] = &route{answers: answers}
}

// Handle lets h answer an address, with its requests in the ledger.
func (s *Site) Handle(address string, h http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.routes[address] = &route{handler: h}
}

// ServeHTTP answers as the script says and writes the ledger.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxBody)) // a client that breaks off is in the ledger all the same
	done := s.enter(r, body)
	defer done()
	answer, handler := s.pick(r)
	if handler != nil {
		handler.ServeHTTP(w, r)
		return
	}
	answer.serve(w, r, s.closing)
}

// pick takes the next answer for r.
func (s *Site) pick(r *http.Request) (Answer, http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.routes[r.URL.Path+"?"+r.URL.RawQuery]
	if found == nil {
		found = s.routes[r.URL.Path]
	}
	longest := -1
	if found == nil {
		for address, candidate := range s.routes {
			start, ok := strings.CutSuffix(address, "*")
			if ok && strings.HasPrefix(r.URL.Path, start) && len(start) > longest {
				found, longest = candidate, len(start)
			}
		}
	}
	if found == nil {
		return Answer{Status: http.StatusNotFound, ContentType: "text/plain", Body: []byte("fakesite: no such address\n")}, nil
	}
	if found.handler != nil {
		return Answer{}, found.handler
	}
	answer := found.answers[found.next]
	found.next = min(found.next+1, len(found.answers)-1)
	return answer, nil
}

// enter writes the arrival of r and returns what writes its end.
func (s *Site) enter(r *http.Request, body []byte) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight++
	s.ledger.Peak = max(s.ledger.Peak, s.inFlight)
	s.conns[r.RemoteAddr] = true
	index, epoch := len(s.ledger.Requests), s.epoch
	if index < maxRequests {
		s.ledger.Requests = append(s.ledger.Requests, Request{
			At: time.Now(), Method: r.Method, Host: r.Host, Path: r.URL.Path, Query: r.URL.RawQuery,
			Header: r.Header.Clone(), Body: body, Remote: r.RemoteAddr, InFlight: s.inFlight,
		})
	} else {
		s.ledger.Dropped++
	}
	close(s.arrived)
	s.arrived = make(chan struct{})
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inFlight--
		if epoch == s.epoch && index < len(s.ledger.Requests) {
			s.ledger.Requests[index].Done = time.Now()
		}
	}
}

// Server is a Site on a loopback port.
type Server struct {
	*Site
	// URL is its root without a slash at the end: "http://127.0.0.1:40123".
	URL    string
	server *http.Server
	ended  chan struct{}
}

// Listen serves s on a free port of 127.0.0.1 until Close.
func (s *Site) Listen() (*Server, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("fakesite: %w", err)
	}
	srv := &Server{
		Site: s, URL: "http://" + l.Addr().String(), ended: make(chan struct{}),
		server: &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second},
	}
	go func() {
		defer close(srv.ended)
		_ = srv.server.Serve(l) // always ErrServerClosed
	}()
	return srv, nil
}

// Close lets go of held answers and ends the server with its connections.
func (s *Server) Close() {
	s.mu.Lock()
	select {
	case <-s.closing:
	default:
		close(s.closing)
	}
	s.mu.Unlock()
	_ = s.server.Close()
	<-s.ended
}

// TB is the part of testing.TB that Start needs.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// Start serves a new Site for the length of a test.
func Start(t TB) *Server {
	t.Helper()
	srv, err := New().Listen()
	if err != nil {
		t.Fatalf("start a fake Site: %v", err)
	}
	t.Cleanup(srv.Close)
	return srv
}
