//go:build faults

package faults

import (
	"flag"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
)

var (
	kills = flag.Int("kills", 60, "how often the scraper is killed at random moments")
	seed  = flag.Uint64("seed", 1, "seed of the moments")
)

// TestRandomKills kills it at seeded moments, as a machine that loses its power
// does: nobody tells the next one (F20).
func TestRandomKills(t *testing.T) {
	t.Parallel()
	const chapters = 12
	w := newWorld(t, chapters, 8)
	w.plant()
	r := rand.New(rand.NewPCG(*seed, 0))
	w.start("")
	w.follow()
	killed := 0
	for whole := 0; killed < *kills && whole < chapters; killed++ {
		time.Sleep(time.Duration(100+r.IntN(1500)) * time.Millisecond)
		if err := w.cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-w.exited
		note(func(s *score) { s.kills++ })
		whole, _ = w.eye.look()
		w.start("")
	}
	w.done(images * killed)
}
