package soak

import (
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A Lane that hangs in our own code, in no request, is its own: the watchdog sees that
// its Job does not move, requeues it once and leaves an incident; the other Lane goes
// on; and once the code comes back the Job ends as if nothing had been.
func TestALaneThatHangsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	address := prepared(t)
	library, data := filepath.Join(t.TempDir(), "library"), t.TempDir()
	now := time.Now().Round(0)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(now))
		m := &month{t: t, library: library, data: data, start: time.Now(), image: make(chan struct{}, 1)}
		for _, key := range []string{"hangs", "other"} {
			m.stands = append(m.stands, &stand{image: m.image, key: key, start: m.start, calm: m.start.Add(100 * day), series: 2, whole: map[string]time.Time{}, rng: rand.New(rand.NewPCG(1, 1))})
		}
		m.open(address)
		defer m.pool.Close()
		m.follow()
		back := make(chan struct{})
		var n atomic.Int64
		m.staged = func(site string) {
			// The fifth page: a chapter is published, and another is under way.
			if site == "hangs" && n.Add(1) == pages+2 {
				<-back
			}
		}
		m.begin(false)
		time.Sleep(14 * time.Minute)
		if got := m.rows("SELECT kind FROM incidents"); len(got) != 0 {
			t.Errorf("within a quarter of an hour: %v", got)
		}
		time.Sleep(20 * time.Hour)
		if got := m.rows("SELECT j.site || ' ' || j.state || ' ' || j.stalls FROM jobs j JOIN incidents i ON i.job_id = j.id AND i.kind = 'stall'"); len(got) != 1 || got[0] != "hangs queued 1" {
			t.Errorf("what the watchdog made of it: %v", got)
		}
		if got := m.rows("SELECT site FROM series GROUP BY site HAVING max(last_good_read_at) > $1", m.start.Add(8*time.Hour)); len(got) != 1 || got[0] != "other" {
			t.Errorf("these Lanes went on: %v", got)
		}
		close(back)
		time.Sleep(2 * time.Hour)
		m.end()
		for _, s := range m.stands {
			for _, id := range []string{"a", "b"} {
				have := m.rows("SELECT chapter_id FROM library_files WHERE site = $1 AND series_id = $2 AND state = 'published'", s.key, id)
				if len(have) < 2 {
					t.Errorf("%s/%s has %v in the end", s.key, id, have)
				}
			}
			if len(s.again) > 0 || s.hasty > 0 {
				t.Errorf("%s delivered %v again, %d too soon", s.key, s.again, s.hasty)
			}
		}
	})
}
