package web

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// A page that cannot be read fails by itself, and the scraper hears of its file (F73).
func TestAPageThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	book, other := s.publish("a", "1", 3), s.publish("b", "2", 3)
	var path string
	var last int64
	if err := s.pool.QueryRow(t.Context(), "SELECT b.path, p.byte_offset FROM books b JOIN pages p ON p.book_id = b.id WHERE b.id = $1 ORDER BY p.position DESC LIMIT 1", book).Scan(&path, &last); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(s.library, filepath.FromSlash(path)), last); err != nil {
		t.Fatal(err)
	}
	page := func(book int64, n int) int {
		resp, _ := s.get(mo, fmt.Sprintf("/read/%d/pages/%d", book, n))
		return resp.StatusCode
	}
	if got := []int{page(book, 1), page(book, 2), page(other, 3)}; !slices.Equal(got, []int{200, 200, 200}) {
		t.Errorf("the other pages are answered with %v", got)
	}
	if got := s.scraper.Reported(); len(got) != 0 {
		t.Errorf("reported: %q, and nothing has failed", got)
	}
	if got := page(book, 3); got < http.StatusBadRequest {
		t.Errorf("the page that is gone is answered with %d", got)
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(10 * time.Second)
	for !slices.Equal(s.scraper.Reported(), []string{path}) {
		select {
		case <-late:
			t.Fatalf("reported: %q, want %q", s.scraper.Reported(), path)
		case <-tick.C:
		}
	}
}
