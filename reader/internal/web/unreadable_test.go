package web

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"mangrove/internal/unreadable"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/pages/pagestest"
)

// TestEveryReasonIsWorded: each reason has words of its own, and says what to do.
func TestEveryReasonIsWorded(t *testing.T) {
	t.Parallel()
	seen := map[string]unreadable.Reason{}
	for _, why := range unreadable.Reasons() {
		got := english.refusalOf(why)
		if other, twice := seen[got.Word]; twice {
			t.Errorf("%s and %s are both %q", why, other, got.Word)
		}
		seen[got.Word] = why
		if !strings.HasSuffix(got.Text, ".") || !strings.HasSuffix(got.Next, ".") || got.Icon == "" {
			t.Errorf("%s: %+v", why, got)
		}
	}
}

// TestWhatCannotBeReadStandsBesideTheRest: an unreadable file is a row of its Series
// with the reason and what to do next, and one on a page of its own. Nothing leads
// into it, and what was read of it is kept until it can be read again.
func TestWhatCannotBeReadStandsBesideTheRest(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	_, body := s.get(mo, "/settings/scraper/unreadable")
	has(t, body, "Every file can be read.")
	_, body = s.get(mo, "/settings/scraper")
	hasNot(t, body, "cannot be read")
	s.publish("c1", "1", 3)
	book := s.publish("c2", "2", 3)
	address := fmt.Sprintf("/read/%d", book)
	if resp, _ := s.do(mo, s.request(http.MethodPost, address+"/progress", `{"page":2}`, "Content-Type", "application/json")); resp.StatusCode != http.StatusOK {
		t.Fatalf("progress: %d", resp.StatusCode)
	}
	change := func(why, fingerprint string, pages int32) {
		t.Helper()
		s.scraper.Publish(&scraperv1.LibraryChange{
			Path: "Pepper/c2.cbz", Key: sampleKey, SeriesTitle: "Pepper", Chapter: &scraperv1.Chapter{ChapterId: "c2", Number: "2"}, Size: 9, Pages: pages,
			Fingerprint: fingerprint, Unreadable: why, Kind: "zip", PublishedAt: timestamppb.New(time.Unix(1, 0)),
		})
		if err := s.follower.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	change("corrupt", "damaged", 0)
	_, body = s.get(mo, "/settings/scraper/unreadable")
	has(t, body, "Pepper", "Chapter 2", "Damaged", "is damaged or cut short. Copy it", "Pepper/c2.cbz")
	_, body = s.get(mo, "/settings/scraper")
	has(t, body, "1 file cannot be read", `href="/settings/scraper/unreadable"`)
	_, body = s.get(mo, "/series/1")
	has(t, body, "Damaged", "is damaged or cut short. Copy it", `href="/read/1"`)
	hasNot(t, body, fmt.Sprintf(`href="%s"`, address))
	_, body = s.get(mo, address)
	has(t, body, "cannot be shown", "is damaged or cut short. Copy it", "Your place in it is kept")
	if resp, _ := s.get(mo, address+"/pages/1"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a page of it answers %d", resp.StatusCode)
	}
	// A word of a newer scraper says that much too.
	change("cursed", "damaged again", 0)
	_, body = s.get(mo, "/settings/scraper/unreadable")
	has(t, body, "Damaged")

	fingerprint, _ := pagestest.Book(t, s.library, "Pepper/c2.cbz", 3)
	change("", fingerprint, 3)
	_, body = s.get(mo, "/settings/scraper/unreadable")
	has(t, body, "Every file can be read.")
	_, body = s.get(mo, "/series/1")
	has(t, body, fmt.Sprintf(`href="%s"`, address))
	hasNot(t, body, "Damaged")
	var kept int
	if err := s.pool.QueryRow(t.Context(), "SELECT page FROM progress WHERE book_id = $1", book).Scan(&kept); err != nil || kept != 2 {
		t.Errorf("the place is page %d, %v; want 2", kept, err)
	}
}

// TestTheReaderFindsWhatTheListDidNotShow: an archive whose list is good and whose
// pages are not has its reason from the reader's own look.
func TestTheReaderFindsWhatTheListDidNotShow(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	if err := os.WriteFile(filepath.Join(s.library, "x.cbz"), []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.scraper.Publish(&scraperv1.LibraryChange{
		Path: "x.cbz", Key: sampleKey, SeriesTitle: "Pepper", Chapter: &scraperv1.Chapter{ChapterId: "c1", Number: "1"}, Size: 9, Pages: 3, Fingerprint: "x",
		PublishedAt: timestamppb.New(time.Unix(1, 0)),
	})
	if err := s.follower.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, body := s.get(mo, "/settings/scraper/unreadable")
	has(t, body, "Not an archive", "x.cbz")
}
