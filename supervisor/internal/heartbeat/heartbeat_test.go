package heartbeat

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// stand is something outside that listens, without a network.
type stand struct {
	beats  atomic.Int32
	status atomic.Int32
}

func (s *stand) RoundTrip(r *http.Request) (*http.Response, error) {
	s.beats.Add(1)
	w := httptest.NewRecorder()
	w.WriteHeader(int(s.status.Load()))
	_, _ = w.WriteString(strings.Repeat("x", 1<<20))
	return w.Result(), nil
}

// It beats while all is well and falls silent when it is not; what goes wrong is
// said once, and never with the address.
// It shows SUP-10.
func TestItFallsSilentWhenSomethingIsWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outside := &stand{}
		outside.status.Store(200)
		transport := http.DefaultTransport
		http.DefaultTransport = outside
		defer func() { http.DefaultTransport = transport }()
		core, logs := observer.New(zap.DebugLevel)
		var well atomic.Bool
		well.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			Heartbeat{Address: "https://hc.example/s3cr3t", Every: 5 * time.Minute, Well: well.Load, Version: "1", Log: zap.New(core)}.Run(ctx)
		}()
		time.Sleep(time.Hour)
		if n := outside.beats.Load(); n != 12 && n != 13 {
			t.Errorf("%d beats in an hour, want one each five minutes", n)
		}
		well.Store(false)
		time.Sleep(6 * time.Minute)
		before := outside.beats.Load()
		time.Sleep(3 * time.Hour)
		if n := outside.beats.Load(); n != before {
			t.Errorf("%d beats while something is wrong", n-before)
		}
		well.Store(true)
		outside.status.Store(500)
		time.Sleep(time.Hour)
		outside.status.Store(200)
		time.Sleep(time.Hour)
		cancel()
		<-done
		if said := logs.All(); len(said) != 2 {
			t.Errorf("said %d times, want once that it is not taken and once that it is: %v", len(said), said)
		}
		for _, e := range logs.All() {
			for k, v := range e.ContextMap() {
				if strings.Contains(k, "s3cr3t") || strings.Contains(e.Message, "s3cr3t") || strings.Contains(toString(v), "s3cr3t") {
					t.Errorf("the address is logged: %v", e)
				}
			}
		}
	})
}

func toString(v any) string {
	s, _ := v.(string)
	return s
}

// Nothing that an answer says leads elsewhere.
// It shows features G7.
func TestItAsksNobodyElse(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("somebody else was asked") }))
	defer elsewhere.Close()
	s := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusFound))
	defer s.Close()
	h := Heartbeat{Address: s.URL, Version: "1"}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if err := h.beat(t.Context(), client); err != nil {
		t.Error(err)
	}
	h.Address = "http://127.0.0.1:1/s3cr3t"
	if err := h.beat(t.Context(), client); err == nil || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("nobody listens: %v", err)
	}
}
