package web

import (
	"net/http"
	"net/url"
	"testing"

	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// TestFetchAgain: a file that is gone is fetched again on the word of those who run
// Mangrove, and by nobody else (F89).
// It shows S-059.
func TestFetchAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.series(func(st *scraperv1.SeriesState) {
		st.Chapters = []*scraperv1.Chapter{{ChapterId: "a", Number: "1", LibraryState: "missing"}, {ChapterId: "b", Number: "2"}}
	})
	_, body := s.get(mo, "/sites/sample/s")
	has(t, body, "File is gone", `action="/sites/sample/s/again"`, `name="chapter" value="a"`)
	hasNot(t, body, `name="chapter" value="b"`)
	resp, _ := s.post(mo, "/sites/sample/s/again", url.Values{"chapter": {"a"}})
	if to := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || to != "/sites/sample/s" {
		t.Errorf("the form answers %d and leads to %q", resp.StatusCode, to)
	}
	_, body = s.get(mo, "/sites/sample/s")
	has(t, body, "Queued")
	hasNot(t, body, `action="/sites/sample/s/again"`)
	for chapter, want := range map[string]int{"a": http.StatusConflict, "nosuch": http.StatusNotFound, "": http.StatusBadRequest} {
		if resp, _ := s.post(mo, "/sites/sample/s/again", url.Values{"chapter": {chapter}}); resp.StatusCode != want {
			t.Errorf("chapter %q: %d, want %d", chapter, resp.StatusCode, want)
		}
	}
	s.scraper.SetIncidents(incident(7, func(in *scraperv1.GetIncidentResponse) {
		in.Incident.Kind, in.Incident.About, in.Incident.ChapterId, in.Incident.JobId = "page", "file", "a", 0
		in.Incident.Decided = nil
		in.Incident.Reason, in.Evidence = "page 2 (0002.png): its bytes have changed", nil
	}))
	_, body = s.get(mo, "/incidents/7")
	has(t, body, "<h1>A file in the library is damaged</h1>", "page 2 (0002.png): its bytes have changed", "Nothing was removed and nothing fetched", "about a file on the disk",
		`action="/sites/sample/s/again"`, `name="chapter" value="a"`, "Fetch again", "mangrove library verify")
	if _, err := s.pool.Exec(t.Context(), "UPDATE users SET role = 'member'"); err != nil {
		t.Fatal(err)
	}
	_, body = s.get(mo, "/sites/sample/s")
	hasNot(t, body, "/again")
	if resp, _ := s.post(mo, "/sites/sample/s/again", url.Values{"chapter": {"a"}}); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a member fetches again: %d", resp.StatusCode)
	}
}
