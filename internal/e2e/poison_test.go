package e2e

import (
	"context"
	"syscall"
	"testing"
)

// TestAJobThatKillsTheScraperTwice: the second crash at the same place quarantines
// the Job, so that one chapter cannot park the scraper (JOB-12, F19). Nothing it
// had is lost, and a person's Retry goes on with it.
func TestAJobThatKillsTheScraperTwice(t *testing.T) {
	turn(t)
	site := startShelf(t, shipped(t))
	middle := site.chapters[1]
	gate := make(chan struct{})
	for _, n := range []int{3, 4} {
		held := site.image(middle, n)
		held.Hold, held.HoldAfter = gate, len(held.Body)/2
		site.On(imagePath(middle, n), held)
	}
	m := newMangrove(t, site.settings()...)
	m.start()
	ada := m.visit("ada", desktop)
	ada.claim()
	ada.followTheSample()
	wait := func(times int) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		// A resumed chapter asks for the first page it lacks alone.
		if err := site.WaitCount(ctx, imagePath(middle, 3), times); err != nil {
			t.Fatalf("page 4 was not asked for %d times: %v", times, err)
		}
	}
	// What is completed between two crashes is progress.
	wait(1)
	ada.until("three pages of chapter 2 are there", threeOfEight)
	for crash := range 2 {
		wait(crash + 1)
		if err := syscall.Kill(m.serving()["scraper"].pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	ada.until("the Job is quarantined and says why", `() => {
		const said = document.querySelector('#series-following dl')?.textContent || '';
		return said.includes('Quarantined') && said.includes('crashed twice within an hour');
	}`)
	ada.stayed()
	before := m.serving()
	if before["scraper"].failures != 2 {
		t.Errorf("the scraper is %+v, want two failures and no third", before["scraper"])
	}
	asked := site.Ledger().Count(imagePath(middle, 3))
	close(gate)
	if out, err := m.run("retry", "sample", "pepper-and-carrot"); err != nil {
		t.Fatalf("retry: %v\n%s", err, out)
	}
	ada.chaptersHere(3)
	ada.jobDone("Done, 3 chapters")
	m.holds(site.chapters)
	if again := site.Ledger().Count(imagePath(middle, 3)) - asked; again != 1 {
		t.Errorf("a held page was asked for %d times after Retry, want once", again)
	}
	if after := m.serving(); after["scraper"] != before["scraper"] {
		t.Errorf("the scraper is %+v, was %+v", after["scraper"], before["scraper"])
	}
	ada.contented(false)
}
