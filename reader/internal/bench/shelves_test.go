//go:build bench

package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/launcher"
	"github.com/go-rod/rod/lib/proto"
	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"mangrove/internal/benchtest"
	"mangrove/internal/pgtest"
	"mangrove/internal/picture"
	"mangrove/internal/standing"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/follow"
	"mangrove/reader/internal/notify"
	pagefiles "mangrove/reader/internal/pages"
	"mangrove/reader/internal/scraperclient"
	"mangrove/reader/internal/store"
	"mangrove/reader/internal/web"
)

// titles and books are how large the library is.
const (
	titles = 10_000
	books  = 500_000
	asked  = 60
)

// always is a database that answers.
type always struct{}

func (always) Down() (time.Time, bool) { return time.Time{}, false }

// filled makes a library of made-up titles, a third of which one person follows and reads.
const filled = `
INSERT INTO titles (site, series_id, title, authors, tags, status, site_name, added_at)
SELECT 's' || n % 7, n::text, initcap(string_agg(w, ' ' ORDER BY k)), ARRAY['author ' || n % 900], ARRAY['tag' || n % 40, 'tag' || n % 17], 'ongoing', 'Site ' || n % 7, now() - n * interval '1 minute'
FROM generate_series(1, $1::int) n, LATERAL (
	SELECT k, string_agg(chr(97 + (abs(hashint4(n * 131 + k * 17 + j * 7)) % 26)), '' ORDER BY j) w FROM generate_series(1, 3) k, generate_series(1, 4 + n % 4) j GROUP BY k) x
GROUP BY n;`

func fill(t *testing.T, admin string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), admin)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	for _, statement := range []struct {
		sql  string
		args []any
	}{
		{"SET search_path = reader", nil},
		{filled, []any{titles}},
		{`INSERT INTO books (title_id, chapter_id, path, number, language, page_count, size, fingerprint, published_at)
			SELECT t.id, 'c' || n, t.id || '/' || n, n, 'en', 20, 1000, 'title-' || t.id, now() - (t.id % 977) * interval '1 hour' FROM titles t, generate_series(1, $1::int) n`, []any{books / titles}},
		{"INSERT INTO progress (user_id, book_id, page, finished) SELECT 1, id, 19, true FROM books WHERE title_id % 3 = 0 AND number <= title_id % 50", nil},
		{"INSERT INTO progress (user_id, book_id, page) SELECT 1, id, 5 FROM books WHERE title_id % 9 = 0 AND number = title_id % 50 + 1 ON CONFLICT DO NOTHING", nil},
		{"INSERT INTO bookmarks (user_id, site, series_id, title) SELECT 1, site, series_id, title FROM titles WHERE id % 3 = 0", nil},
		{"ANALYZE", nil},
	} {
		if _, err := c.Exec(t.Context(), statement.sql, statement.args...); err != nil {
			t.Fatal(statement.sql, err)
		}
	}
}

// shelves serves a library of 10,000 titles and 500,000 books to one person.
func shelves(t *testing.T) (base string, client *http.Client) {
	t.Helper()
	ctx := t.Context()
	// The covers that are made beforehand are named by small ids.
	urls := pgtest.Numbered(t, pgtest.New(t))
	pool := pgtest.Pool(t, urls.Reader, "reader", nil)
	st, dir := store.New(pool), t.TempDir()
	scraper, err := scraperclient.New(filepath.Join(dir, "nobody.sock"), zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = scraper.Close() })
	accounts, err := account.New(ctx, st, account.NewArgon(), "")
	if err != nil {
		t.Fatal(err)
	}
	files := pagefiles.NewLibrary(dir)
	covers := filepath.Join(dir, "covers")
	stopping := make(chan struct{})
	site, err := web.New(web.Options{
		Accounts: accounts, Shelves: st, Scraper: scraper, Follows: follow.New(st, scraper, zap.NewNop()),
		Notify: notify.New(st, scraper, filepath.Join(dir, "parked.json"), zap.NewNop()), Catalog: catalog.NewFollower(st, scraper, files, zap.NewNop()), Database: always{}, Files: files,
		Covers: pagefiles.NewCovers(covers, 0, picture.NewDecoder(1)), Uploads: pagefiles.NewUploads(dir, picture.NewDecoder(1)),
		Standing: func() (standing.Report, error) { return standing.Report{}, fs.ErrNotExist }, Log: zap.NewNop(), Stopping: stopping,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(site.Handler())
	t.Cleanup(func() { close(stopping); server.Close() })
	if _, err := st.SetClaimCode(ctx, account.HashCode("ABCD-EFGH-JKLM"), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client = &http.Client{Jar: jar}
	resp, err := client.PostForm(server.URL+"/claim", url.Values{"code": {"ABCD-EFGH-JKLM"}, "name": {"bench"}, "password": {"a bench reads all night"}})
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	fill(t, urls.Admin)
	coverAll(t, covers)
	return server.URL, client
}

// coverAll gives every title the same cover, made beforehand.
func coverAll(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{pagefiles.SmallCover, pagefiles.LargeCover} {
		var out bytes.Buffer
		if err := jpeg.Encode(&out, image.NewRGBA(image.Rect(0, 0, width, width*3/2)), nil); err != nil {
			t.Fatal(err)
		}
		first := filepath.Join(dir, fmt.Sprint("one-", width))
		if err := os.WriteFile(first, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		for n := range titles {
			sum := sha256.Sum256([]byte(fmt.Sprint("page title-", n+1)))
			if err := os.Link(first, filepath.Join(dir, hex.EncodeToString(sum[:])+fmt.Sprintf("-%d.jpg", width))); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestShelves measures the library page and the search of a large library.
func TestShelves(t *testing.T) {
	base, client := shelves(t)
	get := func(path string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Requested-With", "mangrove")
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s answers %d, %v", path, resp.StatusCode, err)
		}
		return string(body)
	}
	body := get("/library")
	if !strings.Contains(body, "10,000 titles") {
		t.Fatal("the library is not filled")
	}
	title := regexp.MustCompile(`class="item-title">([^<]+)<`).FindStringSubmatch(body)[1]
	wrong := []byte(title)
	for i := 2; i < len(wrong); i += 5 {
		wrong[i] = 'q'
	}
	fetch := regexp.MustCompile(`data-fetch="([^"]+)"`)
	deep := body
	for range 20 {
		deep = get(strings.ReplaceAll(fetch.FindStringSubmatch(deep)[1], "&amp;", "&"))
	}
	for _, one := range []struct{ name, path string }{
		{"the first page", "/library"},
		{"a block further on", strings.ReplaceAll(fetch.FindStringSubmatch(deep)[1], "&amp;", "&")},
		{"by last read", "/library?sort=read"},
		{"in progress, most unread first", "/library?state=reading&sort=unread"},
		{"search, the title", "/search?q=" + url.QueryEscape(title)},
		{"search, a wrong letter in five", "/search?q=" + url.QueryEscape(string(wrong))},
		{"search, three letters", "/search?q=" + url.QueryEscape(title[:3])},
	} {
		var took []float64
		for range asked {
			began := time.Now()
			get(one.path)
			took = append(took, time.Since(began).Seconds()*1000)
		}
		slices.Sort(took)
		benchtest.Report("library of 10,000 titles and 500,000 books: "+one.name+", median", took[len(took)/2], "ms", 0)
		benchtest.Report("library of 10,000 titles and 500,000 books: "+one.name+", 95th percentile", took[len(took)*95/100], "ms", 0)
	}
	frames(t, base)
}

// frames scrolls through all of it in Chromium and looks at each frame.
func frames(t *testing.T, base string) {
	t.Helper()
	bin, err := exec.LookPath("chromium")
	if err != nil {
		benchtest.Skipped("frames while scrolling 10,000 titles", "chromium is not installed")
		return
	}
	control, err := launcher.New().Bin(bin).NoSandbox(os.Geteuid() == 0).UserDataDir(t.TempDir()).Launch()
	if err != nil {
		t.Fatal(err)
	}
	browser := rod.New().ControlURL(control).NoDefaultDevice()
	if err := browser.Connect(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = browser.Close() }()
	page, err := browser.Page(proto.TargetCreateTarget{URL: base + "/sign-in"})
	if err != nil {
		t.Fatal(err)
	}
	if err := (proto.EmulationSetDeviceMetricsOverride{Width: 1280, Height: 800, DeviceScaleFactor: 1}).Call(page); err != nil {
		t.Fatal(err)
	}
	run := func(js string) *proto.RuntimeRemoteObject {
		t.Helper()
		out, err := page.Timeout(5 * time.Minute).Eval(js)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if err := page.WaitLoad(); err != nil {
		t.Fatal(err)
	}
	loaded := page.WaitNavigation(proto.PageLifecycleEventNameLoad)
	run(`() => { document.querySelector('input[name=name]').value = 'bench'; document.querySelector('input[name=password]').value = 'a bench reads all night'; document.querySelector('form[action="/sign-in"]').requestSubmit() }`)
	loaded()
	loaded = page.WaitNavigation(proto.PageLifecycleEventNameLoad)
	run(`() => { location.assign('/library') }`)
	loaded()
	out := run(`async () => {
		await new Promise((done) => setTimeout(done, 1000)); // the page has come to rest
		const frames = [];
		let last = await new Promise(requestAnimationFrame);
		const met = new Set();
		while (true) {
			scrollBy(0, 240);
			const now = await new Promise(requestAnimationFrame);
			frames.push(now - last);
			last = now;
			for (const b of document.querySelectorAll('.block')) met.add(b.id);
			if (!document.querySelector('#more') && innerHeight + scrollY >= document.documentElement.scrollHeight - 2) break;
		}
		const long = frames.filter((f) => f > 50).length;
		frames.sort((a, b) => a - b);
		return { n: frames.length, long, worst: frames[frames.length - 1], most: frames[Math.floor(frames.length * .99)], blocks: met.size };
	}`).Value
	if got := out.Get("blocks").Int(); got != (titles+47)/48 {
		t.Errorf("scrolled past %d blocks", got)
	}
	benchtest.Report("scrolling 10,000 titles: frames", out.Get("n").Num(), "frames", 0)
	benchtest.Report("scrolling 10,000 titles: 99th percentile of a frame", out.Get("most").Num(), "ms", 0)
	benchtest.Report("scrolling 10,000 titles: the longest frame", out.Get("worst").Num(), "ms", 50)
	benchtest.Report("scrolling 10,000 titles: frames over 50 ms", out.Get("long").Num(), "frames", 0)
}
