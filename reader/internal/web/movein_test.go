package web

import (
	"bytes"
	"context"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/backup"
	"mangrove/reader/internal/backup/backuptest"
)

// sendBackup sends a file the way a form does.
func (s *site) sendBackup(b *http.Client, name string, data []byte) (*http.Response, string) {
	s.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	w, err := form.CreateFormFile("file", name)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		s.t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		s.t.Fatal(err)
	}
	return s.do(b, s.request(http.MethodPost, "/move-in", body.String(), "Content-Type", form.FormDataContentType()))
}

const somewhere = 77

// mihonBackup has a Series that is read here, one that is not, and two that fit nothing.
func (s *site) mihonBackup() []byte {
	s.scraper.Recognise("/title/pepper", &scraperv1.RecognisedSeries{Word: "read", Key: sampleKey, Url: "https://sample.example/s", SiteName: "Sample"})
	s.scraper.Recognise("/odd", &scraperv1.RecognisedSeries{Word: "unread", SiteName: "Sample"})
	return backuptest.Mihon(s.t, []backuptest.Manga{
		{Source: 5, URL: "/title/pepper", Title: "Pepper", Categories: []int64{0}, Chapters: []backuptest.Chapter{{URL: "/c/c1", Number: 1, Read: true}, {URL: "/c/c2", Number: 2}}},
		{Source: somewhere, URL: "/m/1", Title: "Nowhere <b>Else</b>"},
		{Source: 5, URL: "/odd", Title: "Odd"},
		{Source: 0, URL: "x", Title: "Of my own"},
	}, []string{"Best"}, map[int64]string{5: "Sample", somewhere: "Some Site"})
}

func TestMovingIn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	mo := s.claim()
	book := s.publish("c1", "1", 3)
	_, body := s.get(mo, "/move-in")
	has(t, body, "Nothing was moved in yet", `enctype="multipart/form-data"`)

	resp, _ := s.sendBackup(mo, `C:\backups\my library.tachibk`, s.mihonBackup())
	address := resp.Header.Get("Location")
	if resp.StatusCode != http.StatusSeeOther || address != "/move-in/1" {
		t.Fatalf("a backup leads to %d %q", resp.StatusCode, address)
	}
	_, body = s.get(mo, address)
	has(t, body, "Move in: my library.tachibk", "This is a dry run: nothing has been changed", "Sample reads its address.", "2 chapters · 1 read · in Best",
		"Nothing here reads Some Site.", "Nowhere &lt;b&gt;Else&lt;/b&gt;", "Sample is read here, but not by this address: /odd.",
		"no title of this name is here", "Adopt 2 Series")
	if cards, err := s.store.Shelf(context.Background(), 1); err != nil || len(cards) != 1 || cards[0].Following {
		t.Errorf("a dry run changed the library: %+v, %v", cards, err)
	}

	s.post(mo, address+"/items/1", url.Values{"act": {"leave"}, "back": {address}})
	_, body = s.get(mo, address)
	has(t, body, "Adopt 1 Series", "Take in")
	s.post(mo, address+"/items/1", url.Values{"act": {"take"}})

	resp, _ = s.post(mo, address+"/adopt", nil)
	if to := resp.Header.Get("Location"); to != address+"?said=adopted" {
		t.Errorf("adopting leads to %d %q", resp.StatusCode, to)
	}
	_, body = s.get(mo, address+"?said=adopted")
	has(t, body, "Adopted. What is not here yet", "2 of 4 Series adopted", `href="/sites/sample/s"`, "Undo")
	hasNot(t, body, "Leave out", "Adopt 2")
	_, body = s.get(mo, "/library")
	has(t, body, "No adapter", "Nowhere &lt;b&gt;Else&lt;/b&gt;")
	_, body = s.get(mo, "/sites/mihon:Some%20Site/%2Fm%2F1")
	has(t, body, "No adapter: nothing here reads Some Site", "Search the Sites for it", "Following", "so no chapter is known")
	hasNot(t, body, "Poll now", "Move it", "Last Poll")
	if places, err := s.store.Shelved(context.Background(), 1, 1); err != nil || len(places) != 1 || places[0].ID != book || !places[0].Place.Finished {
		t.Errorf("read are %+v, %v", places, err)
	}

	// A second press, and a change of what is adopted, do nothing twice.
	resp, _ = s.post(mo, address+"/adopt", nil)
	if to := resp.Header.Get("Location"); to != address+"?said=stale" {
		t.Errorf("a second press leads to %q", to)
	}
	resp, _ = s.post(mo, address+"/items/0", url.Values{"act": {"leave"}})
	if to := resp.Header.Get("Location"); to != address+"?said=stale" {
		t.Errorf("leaving out what is adopted leads to %q", to)
	}

	mia := s.person("Mia", account.Member)
	for _, path := range []string{address + "/undo", address + "/adopt", address + "/forget"} {
		s.post(mia, path, nil)
	}
	if resp, _ := s.get(mia, address); resp.StatusCode != http.StatusNotFound {
		t.Errorf("somebody else's report answers %d", resp.StatusCode)
	}
	_, body = s.get(mo, "/move-in")
	has(t, body, "undo until", "my library.tachibk")
	s.post(mo, address+"/undo", nil)
	_, body = s.get(mo, "/move-in")
	has(t, body, "adopted and undone")
	_, body = s.get(mo, "/library")
	hasNot(t, body, "No adapter")
}

func TestChoosingAnAmbiguousOne(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	for _, site := range []string{"a", "b"} {
		if _, err := s.pool.Exec(context.Background(), "INSERT INTO titles (site, series_id, title, site_name) VALUES ($1, 'x', 'Twice', $2)", site, "Site "+site); err != nil {
			t.Fatal(err)
		}
	}
	s.sendBackup(mo, "b.tachibk", backuptest.Mihon(t, []backuptest.Manga{{Source: somewhere, URL: "/t", Title: "TWICE!"}}, nil, map[int64]string{somewhere: "Some Site"}))
	_, body := s.get(mo, "/move-in/1")
	has(t, body, "2 titles of this name are here.", "Site a", "Site b", "None of these", "Nothing to adopt")
	s.post(mo, "/move-in/1/items/0", url.Values{"act": {"choose"}, "candidate": {"1"}})
	_, body = s.get(mo, "/move-in/1")
	has(t, body, "Adopt 1 Series", `value="1" checked`)
	s.post(mo, "/move-in/1/items/0", url.Values{"act": {"choose"}, "candidate": {"-1"}})
	_, body = s.get(mo, "/move-in/1")
	has(t, body, `value="-1" checked`)
	s.post(mo, "/move-in/1/items/0", url.Values{"act": {"choose"}, "candidate": {"0"}})
	s.post(mo, "/move-in/1/adopt", nil)
	follows := s.scraper.Follows()
	if len(follows) != 1 || follows[0].GetFollows()[0].GetKey().GetSite() != "a" {
		t.Errorf("the scraper heard of %v", follows)
	}
}

func TestWhatCannotBeMovedIn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	for name, c := range map[string]struct {
		data []byte
		code int
		says string
	}{
		"a picture": {[]byte("\x89PNG"), http.StatusUnprocessableEntity, "This is no backup that is known here."},
		"empty":     {nil, http.StatusUnprocessableEntity, "The file is empty."},
		"too large": {bytes.Repeat([]byte{0x1f, 0x8b}, backup.MaxFile/2+1), http.StatusUnprocessableEntity, "The file is larger than 64 MiB."},
		"far too":   {make([]byte, maxUpload+1), http.StatusRequestEntityTooLarge, "That is too large."},
	} {
		resp, body := s.sendBackup(mo, "x", c.data)
		if resp.StatusCode != c.code || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d, want %d and %q", name, resp.StatusCode, c.code, c.says)
		}
	}
	if resp, body := s.post(mo, "/move-in", url.Values{"file": {"x"}}); resp.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "Choose a file first") {
		t.Errorf("no file: %d", resp.StatusCode)
	}
	// Every other route is as narrow as before.
	if resp, _ := s.post(mo, "/me/name", url.Values{"name": {strings.Repeat("x", maxBody+1)}}); resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a large form elsewhere: %d", resp.StatusCode)
	}
	s.scraper.Stop()
	resp, body := s.sendBackup(mo, "b.tachibk", s.mihonBackup())
	if resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "The scraper does not answer") {
		t.Errorf("without the scraper: %d", resp.StatusCode)
	}
}

func TestMovingOut(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	mo := s.claim()
	s.publish("c1", "1", 3)
	s.sendBackup(mo, "b.tachibk", s.mihonBackup())
	s.post(mo, "/move-in/1/adopt", nil)
	resp, body := s.get(mo, "/move-out")
	if got := resp.Header.Get("Content-Disposition"); got != `attachment; filename="mangrove-Mo-`+time.Now().Format("2006-01-02")+`.json"` {
		t.Errorf("the file is called %s", got)
	}
	has(t, body, `"name": "Mo"`, `"chapter_id": "c1"`, `"series_id": "/m/1"`)
	mia := s.person("Mia", account.Member)
	_, body = s.get(mia, "/move-out")
	has(t, body, `"name": "Mia"`)
	hasNot(t, body, "c1")
	if resp, _ := s.get(mia, "/move-out/everybody"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("everybody's for a member: %d", resp.StatusCode)
	}
	_, body = s.get(mo, "/move-out/everybody")
	has(t, body, `"name": "Mo"`)
	// And in again, for somebody else: the only person of the file is meant.
	resp, _ = s.sendBackup(mia, "mo.json", []byte(body))
	s.post(mia, resp.Header.Get("Location")+"/adopt", nil)
	_, body = s.get(mia, "/move-out")
	has(t, body, `"chapter_id": "c1"`, `"series_id": "/m/1"`)
}

func TestFoldersBesideWhatIsFollowed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	resp, _ := s.post(mo, "/move-in/folders", nil)
	if to := resp.Header.Get("Location"); to != "/move-in?said=no-folders" {
		t.Errorf("without a folder it leads to %q", to)
	}
	_, body := s.get(mo, "/move-in?said=no-folders")
	has(t, body, "The library folder holds no files of other programs")
	if _, err := s.pool.Exec(context.Background(), `INSERT INTO titles (site, series_id, title, site_name) VALUES ('local', 'Old/Pepper', 'Pepper', 'Library folder'), ('local', 'Alone', 'Alone', 'Library folder'), ('a', 'x', 'Pepper', 'Site a');
		INSERT INTO books (title_id, chapter_id, path, page_count, size, fingerprint, published_at) SELECT id, 'h', series_id || '/1.cbz', 3, 1, 'f', now() FROM titles WHERE site = 'local'`); err != nil {
		t.Fatal(err)
	}
	resp, _ = s.post(mo, "/move-in/folders", nil)
	address := resp.Header.Get("Location")
	_, body = s.get(mo, address)
	has(t, body, "Library folder", "The only title of this name here: Site a. Files in “Old/Pepper”.", "No Series of this name is followed or in the library.", "Adopt 1 Series",
		"They become chapters of the Series")
	s.scraper.RefuseFolders(fault.Newf(fault.Conflict, "adopt", "it", "a download is under way"))
	resp, _ = s.post(mo, address+"/adopt", nil)
	if to := resp.Header.Get("Location"); to != address+"?said=busy" {
		t.Errorf("while a download is under way it leads to %q", to)
	}
	_, body = s.get(mo, address+"?said=busy")
	has(t, body, "A download of one of the Series is under way", "Adopt 1 Series")
	s.scraper.RefuseFolders(nil)
	s.post(mo, address+"/adopt", nil)
	if folders := s.scraper.Folders(); folders["Old/Pepper"].GetSite() != "a" {
		t.Errorf("the scraper adopted %v", folders)
	}
	// Whoever does not run Mangrove any more does not undo it either.
	if _, err := s.pool.Exec(context.Background(), "UPDATE users SET role = 'member'"); err != nil {
		t.Fatal(err)
	}
	if resp, _ := s.post(mo, address+"/undo", nil); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a member undoes it: %d", resp.StatusCode)
	}
	if _, err := s.pool.Exec(context.Background(), "UPDATE users SET role = 'administrator'"); err != nil {
		t.Fatal(err)
	}
	s.post(mo, address+"/undo", nil)
	if folders := s.scraper.Folders(); len(folders) != 0 {
		t.Errorf("after undoing %v is adopted", folders)
	}
}
