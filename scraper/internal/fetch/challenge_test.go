package fetch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOrdinaryPagesAreNoChallenge(t *testing.T) {
	for name, page := range map[string]string{
		"speaks of them":       "<html><title>The challenge</title><body>Just a moment... said the captcha to Cloudflare: window._cf_chl_opt, jschl_vc, sucuri_cloudproxy_js</body></html>",
		"quotes the script":    "<html><body><pre>&lt;script&gt;window._cf_chl_opt={}&lt;/script&gt;</pre></body></html>",
		"a title alone":        "<html><title>Just a moment...</title><body><h1>Chapter 1</h1></body></html>",
		"access in a title":    "<html><title>Access Denied, chapter 4</title><body>It was.</body></html>",
		"a guard's own script": "<html><body><h1>Chapter 1</h1><script>window['__CF$cv$params']={r:'1'}</script></body></html>",
		"a login with captcha": `<html><body><form><div class="g-recaptcha" data-sitekey="x"></div></form><ol class="chapters"></ol></body></html>`,
		"nothing":              "",
		"broken":               "<html><title>x</title><script>",
	} {
		if isChallenge([]byte(page)) {
			t.Errorf("%s is taken for a challenge", name)
		}
	}
}

func TestChallengesAreRecognised(t *testing.T) {
	for name, page := range map[string]string{
		"managed":      "<html><title>Just a moment...</title><script>window._cf_chl_opt={cType:'managed'}</script></html>",
		"a form":       `<html><title>Please wait</title><form id="challenge-form"><input name="jschl_vc" value="x"></form></html>`,
		"a redirect":   "<html><title>You are being redirected...</title><script>var s={},sucuri_cloudproxy_js='';</script></html>",
		"only a check": "<html><head><script src='/cdn-cgi/bm/cv/1/api.js'></script></head><body><script>window['__CF$cv$params']={}</script></body></html>",
		"another":      "<html><title>DDoS-Guard</title><body>Checking your browser</body></html>",
	} {
		if !isChallenge([]byte(page)) {
			t.Errorf("%s is not recognised", name)
		}
	}
}

// Real pages of many years, read where they lie.
func TestRecordedChallenges(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..", "shared", "data", "sites", "challenge-pages")
	if _, err := os.Stat(root); err != nil {
		t.Skip("the recorded pages are not here")
	}
	// What is no challenge by itself: pages that came through, and those whose
	// status says what they are.
	ordinary := []string{"requested_page.html", "page_with_emails.html", "page_with_recaptcha.html", "404_", "403_open.spotify.com"}
	seen := 0
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".html" {
			return err
		}
		seen++
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		want := true
		for _, o := range ordinary {
			want = want && !strings.HasPrefix(d.Name(), o)
		}
		if got := isChallenge(data); got != want {
			t.Errorf("%s: taken for a challenge is %v, want %v", strings.TrimPrefix(path, root), got, want)
		}
		return nil
	})
	if err != nil || seen < 25 {
		t.Errorf("%d pages were read, %v", seen, err)
	}
	// Ordinary pages of Sites are none.
	for _, folder := range []string{"dosage-webcomics_MIT", "rod-fixtures_MIT"} {
		pages, err := filepath.Glob(filepath.Join(root, "..", folder, "*.html"))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pages {
			data, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			if isChallenge(data) {
				t.Errorf("%s is taken for a challenge", filepath.Base(p))
			}
		}
	}
}

func FuzzChallenge(f *testing.F) {
	f.Add([]byte("<html><title>Just a moment...</title><script>window._cf_chl_opt"))
	f.Fuzz(func(_ *testing.T, page []byte) { isChallenge(page) })
}
