package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	scraperv1 "mangrove/proto/gen/scraper/v1"
)

func TestSettingsOfTheScraper(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.scraper.SetSettings(&scraperv1.GetSettingsResponse{Sites: []*scraperv1.SiteSettings{
		{Site: "alpha", SiteName: "Alpha", DefaultIntervalSeconds: 12 * 3600}, {Site: "beta", SiteName: "Beta", DefaultIntervalSeconds: 3 * 24 * 3600, IntervalHours: 6},
	}})
	_, body := s.get(mo, "/settings/scraper")
	has(t, body, "Poll quiet Series less often", "Whether a Series fails changes nothing", "Every 12 hours, the Site&#39;s own", "Every 6 hours, chosen here; its own is every 3 days",
		`placeholder="12"`, `value="6" placeholder="72"`, `href="/settings/scraper" aria-current="page"`)
	hasNot(t, body, `adaptive-says" checked`, "field-problem", " style=")

	s.post(mo, "/settings/scraper/adaptive", url.Values{"on": {"1"}})
	_, body = s.get(mo, "/settings/scraper")
	has(t, body, `name="on" value="1" aria-describedby="adaptive-says" checked`)
	s.post(mo, "/settings/scraper/adaptive", nil)
	_, body = s.get(mo, "/settings/scraper")
	hasNot(t, body, `adaptive-says" checked`)

	resp, _ := s.post(mo, "/settings/scraper/sites/alpha/interval", url.Values{"hours": {" 24 "}})
	if to := resp.Header.Get("Location"); to != "/settings/scraper#"+settingID("alpha") {
		t.Errorf("the form leads to %q", to)
	}
	_, body = s.get(mo, "/settings/scraper")
	has(t, body, "Every 24 hours, chosen here; its own is every 12 hours")
	for _, hours := range []string{"0", "-1", "169", "1.5", "x", "99999999999999999999"} {
		resp, body := s.post(mo, "/settings/scraper/sites/alpha/interval", url.Values{"hours": {hours}})
		if resp.StatusCode != http.StatusBadRequest || strings.Count(body, "Hours are a whole number from 1 to 168. Nothing was changed.") != 1 {
			t.Errorf("%q hours: %d", hours, resp.StatusCode)
		}
		has(t, body, "Every 24 hours, chosen here", `aria-invalid="true"`)
	}
	s.post(mo, "/settings/scraper/sites/alpha/interval", url.Values{"hours": {""}})
	_, body = s.get(mo, "/settings/scraper")
	has(t, body, "Every 12 hours, the Site&#39;s own")
	if resp, _ := s.post(mo, "/settings/scraper/sites/nosuch/interval", url.Values{"hours": {"5"}}); resp.StatusCode != http.StatusNotFound {
		t.Errorf("no such Site: %d", resp.StatusCode)
	}

	has(t, body, "Whether Sites are still understood", `<option value="0" selected>Never</option>`, `<option value="24">Every 24 hours</option>`)
	resp, _ = s.post(mo, "/settings/scraper/canary", url.Values{"hours": {"72"}})
	if to := resp.Header.Get("Location"); to != "/settings/scraper#canary" {
		t.Errorf("the choice leads to %q", to)
	}
	_, body = s.get(mo, "/settings/scraper")
	has(t, body, `<option value="72" selected>Every 3 days</option>`)
	for _, hours := range []string{"", "5", "-1", "169", "x"} {
		if resp, _ := s.post(mo, "/settings/scraper/canary", url.Values{"hours": {hours}}); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("known Series every %q hours: %d", hours, resp.StatusCode)
		}
	}

	_, body = s.get(mo, "/settings/scraper")
	has(t, body, "<strong>Each Site&#39;s own</strong>")
	s.post(mo, "/settings/scraper/languages", url.Values{"languages": {"de, pt-BR  en"}})
	_, body = s.get(mo, "/settings/scraper")
	has(t, body, "<strong>German, Brazilian Portuguese and English</strong>", `value="de, pt-BR, en"`)
	resp, body = s.post(mo, "/settings/scraper/languages", url.Values{"languages": {"de, nonsense"}})
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("nonsense is answered with %d", resp.StatusCode)
	}
	has(t, body, "<strong>German, Brazilian Portuguese and English</strong>", `value="de, nonsense"`, "One of these is no language")
	s.post(mo, "/settings/scraper/languages", url.Values{"languages": {" "}})
	_, body = s.get(mo, "/settings/scraper")
	has(t, body, "<strong>Each Site&#39;s own</strong>")

	if _, err := s.pool.Exec(t.Context(), "UPDATE users SET role = 'member'"); err != nil {
		t.Fatal(err)
	}
	if resp, _ := s.get(mo, "/settings/scraper"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a member sees it: %d", resp.StatusCode)
	}
	for _, path := range []string{"/settings/scraper/adaptive", "/settings/scraper/sites/alpha/interval"} {
		if resp, _ := s.post(mo, path, url.Values{"on": {"1"}, "hours": {"9"}}); resp.StatusCode != http.StatusNotFound {
			t.Errorf("a member posts to %s: %d", path, resp.StatusCode)
		}
	}
	if got, _ := s.web.Scraper.Settings(t.Context()); got.Adaptive || got.Sites[0].Hours != 0 {
		t.Errorf("a member changed something: %+v", got)
	}
}

func TestSettingsWithTheScraperAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.scraper.Stop()
	resp, body := s.get(mo, "/settings/scraper")
	if resp.StatusCode != http.StatusOK {
		t.Errorf("answers %d", resp.StatusCode)
	}
	has(t, body, "Scraper: unreachable since")
	hasNot(t, body, "Poll quiet Series")
}

func TestIntervalsInWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		time.Hour: "every hour", 90 * time.Minute: "every 1.5 hours", 12 * time.Hour: "every 12 hours", 48 * time.Hour: "every 48 hours",
		72 * time.Hour: "every 3 days", 168 * time.Hour: "every 7 days", 100 * time.Hour: "every 100 hours", 30 * time.Minute: "every 30 minutes",
	} {
		if got := everyWords(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}
