package fakesite

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func get(t testing.TB, address string) (*http.Response, []byte, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true // one connection each, so that nothing is retried silently
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return resp, body, err
}

func TestScriptAndLedger(t *testing.T) {
	t.Parallel()
	site := Start(t)
	site.On("/a", Status(503), HTML("<p>one"), HTML("<p>two"))
	site.On("/a?page=2", JSON(`{"page":2}`))
	site.On("/img/*", Bytes("image/png", []byte("near")))
	site.On("/*", Answer{Status: 410})
	site.Handle("/real", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "real") }))
	type seen struct {
		Status     int
		Type, Body string
	}
	var got []seen
	for _, address := range []string{"/a", "/a?page=2", "/a", "/a", "/a?page=3", "/img/9.png", "/else", "/real"} {
		resp, body, err := get(t, site.URL+address)
		if err != nil {
			t.Fatalf("GET %s: %v", address, err)
		}
		got = append(got, seen{resp.StatusCode, resp.Header.Get("Content-Type"), string(body)})
	}
	const html = "text/html; charset=utf-8"
	want := []seen{
		{503, "text/plain; charset=utf-8", "Service Unavailable\n"}, {200, "application/json", `{"page":2}`},
		{200, html, "<p>one"}, {200, html, "<p>two"}, {200, html, "<p>two"},
		{200, "image/png", "near"}, {410, "", ""}, {200, "text/plain; charset=utf-8", "real"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	ledger := site.Ledger()
	if diff := cmp.Diff([]string{"/a", "/a?page=2", "/a", "/a", "/a?page=3", "/img/9.png", "/else", "/real"}, ledger.Paths()); diff != "" {
		t.Errorf("ledger (-want +got):\n%s", diff)
	}
	if site.Count("/a") != 5 || ledger.Peak != 1 || ledger.Connections != 8 || site.Between(0, 7) <= 0 {
		t.Errorf("count %d, peak %d, connections %d, span %v", site.Count("/a"), ledger.Peak, ledger.Connections, site.Between(0, 7))
	}
	if r := ledger.Requests[0]; r.Method != "GET" || r.Header.Get("User-Agent") == "" || r.Host == "" || r.At.IsZero() || r.InFlight != 1 {
		t.Errorf("first request %+v", r)
	}
	site.Forget()
	if n := len(site.Ledger().Requests); n != 0 {
		t.Errorf("%d requests after Forget", n)
	}
}

func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	body := bytes.Repeat([]byte("x"), 1000)
	for _, tt := range []struct {
		name   string
		answer Answer
		want   error
		got    int
	}{
		{"cut", Answer{Body: body, CutAfter: 400}, io.ErrUnexpectedEOF, 400},
		{"cut in a chunk", Answer{Body: body, CutAfter: 400, Chunked: true}, io.ErrUnexpectedEOF, 400},
		{"cut at its end", Answer{Body: body, CutAfter: 1000, Chunked: true}, io.ErrUnexpectedEOF, 1000},
		{"says more", Answer{Body: body, ContentLength: 2000}, io.ErrUnexpectedEOF, 1000},
		{"says less", Answer{Body: body, ContentLength: 10}, nil, 10},
		{"drips", Answer{Body: body, DripEvery: time.Microsecond, DripBytes: 100}, nil, 1000},
		{"no length", Answer{Body: body, Chunked: true}, nil, 1000},
		{"nothing at all", Answer{Raw: []byte{}}, io.EOF, 0},
		{"reset", Answer{Reset: true}, syscall.ECONNRESET, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			site := Start(t)
			site.On("/x", tt.answer)
			_, got, err := get(t, site.URL+"/x")
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if len(got) != tt.got {
				t.Errorf("%d bytes, want %d", len(got), tt.got)
			}
		})
	}
	t.Run("raw", func(t *testing.T) {
		t.Parallel()
		site := Start(t)
		site.On("/x", Answer{Raw: []byte("nonsense\r\n\r\n")})
		if _, _, err := get(t, site.URL+"/x"); err == nil || !strings.Contains(err.Error(), "malformed") {
			t.Errorf("error %v, want a malformed answer", err)
		}
	})
}

func TestHoldAndPeak(t *testing.T) {
	t.Parallel()
	site := Start(t)
	release := make(chan struct{})
	site.On("/slow", Answer{Body: []byte("done"), Hold: release})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if _, body, err := get(t, site.URL+"/slow"); err != nil || string(body) != "done" {
				t.Errorf("held answer: %q, %v", body, err)
			}
		})
	}
	if err := site.WaitCount(t.Context(), "/slow", 3); err != nil {
		t.Fatal(err)
	}
	if peak := site.Ledger().Peak; peak != 3 {
		t.Errorf("peak %d, want 3", peak)
	}
	close(release)
	wg.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := site.WaitCount(ctx, "/slow", 4); !errors.Is(err, context.Canceled) {
		t.Errorf("WaitCount: %v, want %v", err, context.Canceled)
	}
}

func TestHoldInTheBody(t *testing.T) {
	t.Parallel()
	site := Start(t)
	release := make(chan struct{})
	site.On("/x", Answer{Body: []byte("abcdef"), Hold: release, HoldAfter: 2})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, site.URL+"/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	head := make([]byte, 2)
	if _, err := io.ReadFull(resp.Body, head); err != nil || string(head) != "ab" {
		t.Fatalf("first bytes %q, %v", head, err)
	}
	close(release)
	if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != "cdef" {
		t.Errorf("rest %q, %v", rest, err)
	}
}

func TestCloseLetsGo(t *testing.T) {
	t.Parallel()
	site := New()
	srv, err := site.Listen()
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	if ip := net.ParseIP(u.Hostname()); !ip.IsLoopback() {
		t.Errorf("it listens on %s, want loopback", ip)
	}
	site.On("/never", Answer{Hold: make(chan struct{})})
	failed := make(chan error, 1)
	go func() {
		_, _, err := get(t, srv.URL+"/never")
		failed <- err
	}()
	if err := site.WaitCount(t.Context(), "/never", 1); err != nil {
		t.Fatal(err)
	}
	srv.Close()
	if err := <-failed; err == nil {
		t.Error("a held request ends without an error")
	}
	srv.Close() // twice is fine
}
