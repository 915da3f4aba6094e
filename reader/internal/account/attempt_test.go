package account

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mangrove/reader/internal/issuer"
)

func TestAnAttemptIsOverAfterTenMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &Service{limits: NewLimits(), cookiePath: "/"}
		begin := func() *http.Request {
			w := httptest.NewRecorder()
			if err := s.Await(w, httptest.NewRequest(http.MethodPost, "/", nil), Attempt{Question: issuer.Question{State: "s"}}); err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.AddCookie(w.Result().Cookies()[0])
			return r
		}
		early, late := begin(), begin()
		time.Sleep(attemptLife - time.Second)
		if _, err := s.Awaited(httptest.NewRecorder(), early, "s"); err != nil {
			t.Errorf("before ten minutes: %v", err)
		}
		// Not even a browser that keeps its cookie comes with it twice.
		if _, err := s.Awaited(httptest.NewRecorder(), early, "s"); err == nil {
			t.Error("an answer counts twice")
		}
		time.Sleep(time.Second)
		if _, err := s.Awaited(httptest.NewRecorder(), late, "s"); err == nil {
			t.Error("after ten minutes an answer counts")
		}
	})
}

func TestAttemptsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var as attempts
		add := func(n int) {
			as.add(fmt.Sprint(n), Attempt{Question: issuer.Question{State: "s"}})
			time.Sleep(time.Millisecond)
		}
		for n := range maxAttempts + 2 {
			add(n)
		}
		if len(as.by) != maxAttempts {
			t.Errorf("%d wait", len(as.by))
		}
		for n, want := range map[int]bool{0: false, 1: false, 2: true, maxAttempts + 1: true} {
			if _, ok := as.take(fmt.Sprint(n), "s"); ok != want {
				t.Errorf("attempt %d waits: %v", n, ok)
			}
		}
		time.Sleep(attemptLife)
		add(-1)
		add(-2)
		add(-3)
		if len(as.by) > 3 {
			t.Errorf("those that are over are kept: %d", len(as.by))
		}
	})
}

func TestProposals(t *testing.T) {
	t.Parallel()
	for proposed, want := range map[string]string{
		"kim": "kim", " Kim  the  Otter ": "Kim the Otter", "kim@manga.example": "kim", "": "Reader", "@x": "Reader", "a\u202eb": "Reader", strings.Repeat("x", 60): strings.Repeat("x", 37),
	} {
		got := proposals(proposed)
		if got[0] != want || got[1] != want+" 2" {
			t.Errorf("%q: got %q", proposed, got[:2])
		}
		for _, name := range got {
			if _, _, err := FoldName(name); err != nil {
				t.Errorf("%q: %q is no name", proposed, name)
			}
		}
	}
}
