package web

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/jackc/pgx/v5/pgxpool"

	"mangrove/internal/pgtest"
	"mangrove/internal/picture"
	"mangrove/internal/standing"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/follow"
	"mangrove/reader/internal/moving"
	"mangrove/reader/internal/notify"
	"mangrove/reader/internal/pages"
	"mangrove/reader/internal/pages/pagestest"
	"mangrove/reader/internal/scraperclient"
	"mangrove/reader/internal/scraperclient/scrapertest"
	"mangrove/reader/internal/store"
)

// up is a Database that always answers, or never.
type up struct{ down bool }

func (u *up) Down() (time.Time, bool) { return time.Date(2026, 8, 12, 14, 2, 0, 0, time.UTC), u.down }

const (
	code     = "ABCD-EFGH-JKLM"
	password = "a good sentence"
)

// site is the whole reader with a real database and a scripted scraper.
type site struct {
	t        *testing.T
	pool     *pgxpool.Pool
	store    *store.Store
	scraper  *scrapertest.Scraper
	library  string
	follower *catalog.Follower
	database *up
	web      *Server
	standing atomic.Pointer[standing.Report]
	url      string
	// anyone is a browser without a sign-in.
	anyone *http.Client
}

func newSite(t *testing.T) *site {
	t.Helper()
	return newSiteWith(t, Options{})
}

// newSiteWith is newSite with what an operator sets about the way to it.
func newSiteWith(t *testing.T, o Options) *site {
	t.Helper()
	ctx := t.Context()
	pool := pgtest.Pool(t, pgtest.Numbered(t, pgtest.New(t)).Reader, "reader", nil)
	s := &site{t: t, pool: pool, store: store.New(pool), scraper: scrapertest.New(t), library: t.TempDir(), database: &up{}}
	s.scraper.Start(t)
	client, err := scraperclient.New(s.scraper.Socket(), zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if _, err := client.Status(ctx); err != nil {
		t.Fatal(err)
	}
	accounts, err := account.New(ctx, s.store, account.NewArgon(), o.BasePath)
	if err != nil {
		t.Fatal(err)
	}
	files := pages.NewLibrary(s.library)
	s.follower = catalog.NewFollower(s.store, client, files, zap.NewNop())
	stopping := make(chan struct{})
	follows := follow.New(s.store, client, zap.NewNop())
	s.web, err = New(Options{
		Accounts: accounts, Shelves: s.store, Scraper: client,
		Follows: follows, Moving: moving.New(s.store, client, follows), Notify: notify.New(s.store, client, filepath.Join(t.TempDir(), "parked.json"), zap.NewNop()), Catalog: s.follower, Database: s.database, Files: files,
		Uploads: pages.NewUploads(filepath.Join(t.TempDir(), "uploads"), picture.NewDecoder(1)),
		Covers:  pages.NewCovers(filepath.Join(t.TempDir(), "covers"), 0, picture.NewDecoder(1)),
		Standing: func() (standing.Report, error) {
			if r := s.standing.Load(); r != nil {
				return *r, nil
			}
			return standing.Report{}, fs.ErrNotExist
		},
		Hosts: []string{"manga.example"}, Log: zap.NewNop(), Stopping: stopping,
		BasePath: o.BasePath, TrustedProxies: o.TrustedProxies, PlainHTTP: o.PlainHTTP, ClaimFrom: o.ClaimFrom, Issuer: o.Issuer, AdmitMembers: o.AdmitMembers,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.web.Handler())
	t.Cleanup(func() { close(stopping); server.Close() })
	s.url, s.anyone = server.URL, browser(t)
	if _, err := s.store.SetClaimCode(ctx, account.HashCode(code), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	return s
}

// loopback is where the tests' requests come from.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// browser keeps cookies and follows no redirect by itself.
func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// claim makes Mo the administrator, signed in.
func (s *site) claim() *http.Client {
	s.t.Helper()
	b := browser(s.t)
	resp, _ := s.post(b, s.web.BasePath+"/claim", url.Values{"code": {code}, "name": {"Mo"}, "password": {password}})
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != s.web.BasePath+"/library" {
		s.t.Fatalf("claim: %d to %q", resp.StatusCode, resp.Header.Get("Location"))
	}
	return b
}

// person is somebody who was invited by Mo and chose the usual password, signed in.
func (s *site) person(name, role string) *http.Client {
	s.t.Helper()
	in, err := s.web.Accounts.Invite(context.Background(), name, role)
	if err != nil {
		s.t.Fatal(err)
	}
	b := browser(s.t)
	resp, body := s.post(b, s.web.BasePath+"/join", url.Values{"code": {in.Code}, "name": {name}, "password": {password}})
	if resp.StatusCode != http.StatusSeeOther {
		s.t.Fatalf("%s could not join: %d %.200q", name, resp.StatusCode, body)
	}
	return b
}

// key is a new key of somebody.
func (s *site) key(person, scope string) string {
	s.t.Helper()
	people, err := s.web.Accounts.People(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range people {
		if p.Name == person {
			_, secret, err := s.web.Accounts.NewKey(context.Background(), p.ID, "of "+scope, scope)
			if err != nil {
				s.t.Fatal(err)
			}
			return secret
		}
	}
	s.t.Fatal("there is no " + person)
	return ""
}

func (s *site) do(b *http.Client, r *http.Request) (*http.Response, string) {
	s.t.Helper()
	resp, err := b.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp, string(body)
}

func (s *site) request(method, path, body string, headers ...string) *http.Request {
	s.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func (s *site) get(b *http.Client, path string) (*http.Response, string) {
	s.t.Helper()
	return s.do(b, s.request(http.MethodGet, path, ""))
}

func (s *site) post(b *http.Client, path string, form url.Values) (*http.Response, string) {
	s.t.Helper()
	return s.do(b, s.request(http.MethodPost, path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded"))
}

var sampleKey = &scraperv1.SeriesKey{Site: "sample", SeriesId: "s"}

// series tells the scraper of one Series with two chapters, none here.
func (s *site) series(change func(*scraperv1.SeriesState)) {
	st := &scraperv1.SeriesState{
		Series: &scraperv1.Series{
			Key: sampleKey, Title: "Pepper", Authors: []string{"David"}, SiteName: "Sample", License: "CC BY 4.0", Origin: "listed",
			HasCover: true, Url: "https://sample.example/s", Description: "A witch and a cat.",
		},
		Chapters: []*scraperv1.Chapter{
			{ChapterId: "c2", Number: "2", Title: "Rainbow", Language: "en"}, {ChapterId: "c1", Number: "1", Title: "Flight", Language: "en", SourceOrder: 1},
		},
		Lane: &scraperv1.Lane{Site: "sample", Circuit: "closed", IntervalSeconds: 12 * 3600}, Polled: true, LastGoodRead: timestamppb.Now(),
	}
	if change != nil {
		change(st)
	}
	s.scraper.SetState(st)
	s.scraper.SetCover("sample", "s", pagestest.Page(s.t, 3, 60, 90))
}

// publish puts a chapter into the library and lets the catalog hear of it.
func (s *site) publish(id, number string, count int) int64 {
	s.t.Helper()
	path := "Pepper/" + id + ".cbz"
	fingerprint, size := pagestest.Book(s.t, s.library, path, count)
	s.scraper.Publish(&scraperv1.LibraryChange{
		Path: path, Key: sampleKey, SeriesTitle: "Pepper",
		Series:  &scraperv1.Series{Title: "Pepper", Key: sampleKey, Authors: []string{"David"}, License: "CC BY 4.0", SiteName: "Sample"},
		Chapter: &scraperv1.Chapter{ChapterId: id, Number: number, Language: "en"}, Pages: int32(count), Size: size,
		Fingerprint: fingerprint, PublishedAt: timestamppb.New(time.Unix(1, 0)),
	})
	if err := s.follower.CatchUp(context.Background()); err != nil {
		s.t.Fatal(err)
	}
	var book int64
	if err := s.pool.QueryRow(context.Background(), "SELECT id FROM books WHERE chapter_id = $1", id).Scan(&book); err != nil {
		s.t.Fatal(err)
	}
	return book
}

func has(t *testing.T, body string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func hasNot(t *testing.T, body string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if strings.Contains(body, want) {
			t.Errorf("the page says %q", want)
		}
	}
}
