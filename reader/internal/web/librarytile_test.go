package web

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/pages/pagestest"
	"mangrove/reader/internal/scraperclient"
)

func TestTheLibraryTile(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.scraper.SetLibrary(&scraperv1.LibraryState{Status: "updated", Files: 1204, Missing: 3, LookedAt: timestamppb.New(time.Now().Add(-2*time.Minute - time.Second))})
	_, body := s.get(mo, "/settings/scraper")
	has(t, body, "<dt>Library</dt><dd>1,204<small>chapters, 3 missing · looked at 2 min ago</small>", "Just updated", "updated")
	s.scraper.SetLibrary(&scraperv1.LibraryState{
		Status: "error", Files: 1, LookedAt: timestamppb.Now(), Why: "look at /l: <b>is the library mounted?", AgainAt: timestamppb.New(time.Now().Add(4*time.Minute + time.Second)),
	})
	_, body = s.get(mo, "/settings/scraper")
	has(t, body, "chapter · looked at just now", "Could not be looked at, again in 4 min", "Look at /l: &lt;b&gt;is the library mounted?. Nothing was removed", "The next look is in 4 min.")
	hasNot(t, body, "missing ·", `value="library"`)
	// A Hold says the same, and how it ends.
	s.scraper.SetHolds(&scraperv1.Hold{Kind: "storage", Since: timestamppb.Now(), Detail: "is the library mounted?"})
	_, body = s.get(mo, "/settings/scraper")
	has(t, body, "It is mended, go on")
	hasNot(t, body, "The next look is in")
}

// Before the first look there is nothing to count, and all that is done with the queue
// can be done (INV-4, features F9).
func TestALibraryThatWasNotLookedAtYet(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.scraper.SetLibrary(&scraperv1.LibraryState{Status: "refreshing"})
	_, body := s.get(mo, "/settings/scraper")
	has(t, body, `action="/settings/scraper/hold"`, `action="/settings/scraper/discovery"`)
	hasNot(t, body, " disabled", "looked at just now")
	if resp, _ := s.post(mo, "/settings/scraper/hold", url.Values{}); resp.StatusCode >= 400 {
		t.Errorf("downloads cannot be held: %d", resp.StatusCode)
	}
}

// Each word of INV-2 is worded, and another is not taken for one of them.
// It shows features F5.
func TestLibraryWords(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, status := range []string{"ready", "refreshing", "stale", "updated", "error", "", "new"} {
		p := english.libraryWord(scraperclient.Library{Status: status, Why: "w"}, time.Now())
		if other, ok := seen[p.Word]; ok && status != "new" || p.Exact != status {
			t.Errorf("%q reads %+v, as %q does", status, p, other)
		}
		seen[p.Word] = status
	}
}

// Files of another program belong to no Site: there is nothing to follow or to move.
func TestFilesInTheLibraryFolder(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	key := &scraperv1.SeriesKey{Site: "local", SeriesId: "Harbour Lights"}
	fingerprint, size := pagestest.Book(t, s.library, "Harbour Lights/1.cbz", 3)
	s.scraper.Publish(&scraperv1.LibraryChange{
		Path: "Harbour Lights/1.cbz", Key: key, SeriesTitle: "Harbour Lights", Series: &scraperv1.Series{Title: "Harbour Lights", Key: key, SiteName: "Library folder"},
		Chapter: &scraperv1.Chapter{ChapterId: "x", Number: "1"}, Pages: 3, Size: size, Fingerprint: fingerprint, PublishedAt: timestamppb.New(time.Unix(1, 0)),
	})
	if err := s.follower.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	var title int64
	if err := s.pool.QueryRow(t.Context(), "SELECT id FROM titles WHERE site = 'local'").Scan(&title); err != nil {
		t.Fatal(err)
	}
	_, body := s.get(mo, fmt.Sprint("/series/", title))
	has(t, body, "Harbour Lights", "On Library folder", "Another program put them there", "Start reading")
	hasNot(t, body, "/follow", "/move", "The Site lists", "Next Poll")
}
