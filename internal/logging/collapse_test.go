package logging

import (
	"bytes"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
)

// TestALoopThatFailsDoesNotFillTheDisk: every ten milliseconds for ten minutes, and the
// log says how many it left out and when the last was (S-096). Other lines go through.
func TestALoopThatFailsDoesNotFillTheDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var buf bytes.Buffer
		log := New(&buf, "scraper", "info")
		began := time.Now()
		const n = 60_000
		for i := range n {
			log.With(zap.Int("job", i)).Error("the adapter failed", zap.Int("i", i))
			if i%1000 == 0 {
				log.Info("going on", zap.Int("i", i))
			}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		log.Warn("another")
		failed, leftOut, going, another := 0, 0, 0, 0
		var last time.Time
		for line := range bytes.Lines(buf.Bytes()) {
			var l struct {
				Msg, Said string
				LeftOut   int `json:"left_out"`
				Last      time.Time
			}
			if err := json.Unmarshal(line, &l); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			switch l.Msg {
			case "the adapter failed":
				failed++
			case "lines that are alike were left out":
				if l.Said != "the adapter failed" || l.LeftOut < 1 {
					t.Errorf("it says %s", line)
				}
				leftOut, last = leftOut+l.LeftOut, l.Last
			case "going on":
				going++
			case "another":
				another++
			}
		}
		if failed > 10*alikeEach+alikeEach || failed+leftOut != n || going != n/1000 || another != 1 {
			t.Errorf("%d written and %d left out of %d; %d and %d others; %d bytes", failed, leftOut, n, going, another, buf.Len())
		}
		if at := last.Sub(began); at < 9*time.Minute || at > 11*time.Minute {
			t.Errorf("the last was left out after %s", at)
		}
	})
}
