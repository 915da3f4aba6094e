package lane

import (
	"testing"
	"testing/synctest"
	"time"

	"mangrove/scraper/internal/source"
)

func TestRateIsWhatWasSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewSlots(source.Site{Pacing: 2 * time.Second}, open, 0)
		ask := func(n int) {
			t.Helper()
			for range n {
				release, err := s.Acquire(t.Context(), source.WantHTML)
				if err != nil {
					t.Fatal(err)
				}
				release()
			}
		}
		if got := s.Rate(); got != 0 {
			t.Errorf("before the first request: %v a minute", got)
		}
		ask(30)
		// Thirty starts two seconds apart take less than a minute: it counts as one.
		if got := s.Rate(); got != 30 {
			t.Errorf("after a busy minute: %v a minute, want 30", got)
		}
		time.Sleep(9 * time.Minute)
		if got := s.Rate(); got < 2.9 || got > 3.1 {
			t.Errorf("nine quiet minutes later: %v a minute, want about 3", got)
		}
		time.Sleep(2 * time.Minute)
		if got := s.Rate(); got != 0 {
			t.Errorf("what is older than ten minutes still counts: %v", got)
		}
		time.Sleep(48 * time.Hour)
		ask(1)
		if got := s.Rate(); got != 0.1 {
			t.Errorf("one request in the last ten minutes: %v a minute, want 0.1", got)
		}
	})
}

func TestSetPacingHoldsFromTheNextRequestOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewSlots(source.Site{Pacing: time.Second}, open, 0)
		ask := func() time.Time {
			t.Helper()
			release, err := s.Acquire(t.Context(), source.WantHTML)
			if err != nil {
				t.Fatal(err)
			}
			release()
			return time.Now()
		}
		first := ask()
		s.SetPacing(5 * time.Second)
		second := ask()
		if got := second.Sub(first); got != 5*time.Second {
			t.Errorf("the request after the change came %v later, want 5s", got)
		}
		s.SetPacing(2 * time.Second)
		third := ask()
		if got := third.Sub(second); got != 5*time.Second {
			t.Errorf("what was granted at 5s is followed after %v", got)
		}
		if got := ask().Sub(third); got != 2*time.Second {
			t.Errorf("then after %v, want 2s", got)
		}
	})
}
