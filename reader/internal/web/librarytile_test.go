package web

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/scraperclient"
)

func TestTheLibraryTile(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.scraper.SetLibrary(&scraperv1.LibraryState{Status: "updated", Files: 1204, Missing: 3, LookedAt: timestamppb.New(time.Now().Add(-2*time.Minute - time.Second))})
	_, body := s.get(mo, "/settings/scraper")
	has(t, body, "<dt>Library</dt><dd>1,204<small>chapters, 3 missing · looked at 2 min ago</small>", "Changes taken in", "updated")
	s.scraper.SetLibrary(&scraperv1.LibraryState{
		Status: "error", Files: 1, LookedAt: timestamppb.Now(), Why: "look at /l: <b>is the library mounted?", AgainAt: timestamppb.New(time.Now().Add(4*time.Minute + time.Second)),
	})
	_, body = s.get(mo, "/settings/scraper")
	has(t, body, "chapter · looked at just now", "Could not be looked at, again in 4 min: look at /l: &lt;b&gt;is the library mounted?")
	hasNot(t, body, "missing ·")
}

// Each word of INV-2 is worded, and another is not taken for one of them.
func TestLibraryWords(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, status := range []string{"ready", "refreshing", "stale", "updated", "error", "", "new"} {
		p := libraryWord(scraperclient.Library{Status: status, Why: "w"}, time.Now())
		if other, ok := seen[p.Word]; ok && status != "new" || p.Exact != status {
			t.Errorf("%q reads %+v, as %q does", status, p, other)
		}
		seen[p.Word] = status
	}
}
