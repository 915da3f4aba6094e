package markup

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

func TestRoot(t *testing.T) {
	tests := []struct {
		name, body string
		root       string
		want       poll.Outcome
	}{
		{"a feed", `<?xml version="1.0"?><rss version="2.0"><channel/></rss>`, "rss", ""},
		{"in another charset", "<?xml version='1.0' encoding='Shift_JIS'?><feed>\x83\x7d</feed>", "feed", ""},
		{"cut short", `<feed><entry><title>x`, "feed", ""},
		{"a plain doctype", `<!DOCTYPE rss SYSTEM "x.dtd"><rss></rss>`, "rss", ""},
		{"a page", `<html><body>Back soon</body></html>`, "", poll.Unfetchable},
		{"nothing", ``, "", poll.Unfetchable},
		{"text", `hello`, "", poll.Unfetchable},
		{"entities", `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><rss>&b;</rss>`, "", poll.Errors},
		{"an external entity", `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><rss>&a;</rss>`, "", poll.Errors},
		{"a parameter entity", `<!DOCTYPE x SYSTEM "http://x/" [%p;]><rss/>`, "", poll.Errors},
		{"deep", strings.Repeat("<rss>", 200_000), "", poll.Errors},
		{"large", "<rss>" + strings.Repeat(" ", MaxBytes), "", poll.Errors},
		{"many", "<rss>" + strings.Repeat("<a/>", 900_000), "", poll.Errors},
		{"unclosed breaks", "<rss>" + strings.Repeat("<br>", 1000) + "</rss>", "rss", ""},
		{"NULs", strings.Repeat("\x00", 10_000), "", poll.Unfetchable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root, err := Root("x", []byte(tt.body), "rss", "feed")
			if root != tt.root || (err != nil) != (tt.want != "") || err != nil && poll.Judge(err) != tt.want {
				t.Errorf("root %q, %v; want %q, %q", root, err, tt.root, tt.want)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	base, err := url.Parse("https://comic.example/feed/index.xml")
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		"a.png": "https://comic.example/feed/a.png", "/a.png": "https://comic.example/a.png", "//cdn.example/a.png": "https://cdn.example/a.png",
		"http://other.example/a": "http://other.example/a", " b.png ": "https://comic.example/feed/b.png",
		"": "", "data:image/png;base64,xx": "", "blob:https://x/y": "", "javascript:alert(1)": "", "file:///etc/passwd": "", "FILE:///etc/passwd": "",
		"view-source:https://x/": "", "gopher://x/": "", "http://user:pw@h/": "", `/\evil.example`: "", "a\r\nHost: x": "", "http://%zz/": "", "https:///x": "",
		strings.Repeat("a", 64<<10): "",
	} {
		if got := Resolve(base, ref); got != want {
			t.Errorf("%.40q becomes %q, want %q", ref, got, want)
		}
	}
}

func TestWithin(t *testing.T) {
	hosts := []string{"a.example", "b.example:8080"}
	for address, want := range map[string]bool{
		"https://a.example/x": true, "https://a.example:443/x": true, "https://a.example:8443/x": false, "http://b.example:8080/": true,
		"http://b.example/": false, "http://c.example/": false, "http://a.example.evil/": false, "%zz": false,
	} {
		if got := Within(address, hosts); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

func TestPages(t *testing.T) {
	got, err := Pages("x", []string{"http://x/1.png?t=1", "http://x/2.png", "http://x/2.png", "http://x/p?n=1", "http://x/p?n=2"})
	if err != nil {
		t.Fatal(err)
	}
	want := []source.Page{
		{URL: "http://x/1.png?t=1", Identity: "http://x/1.png"}, {URL: "http://x/2.png", Identity: "http://x/2.png"},
		{URL: "http://x/p?n=1", Identity: "http://x/p?n=1"}, {URL: "http://x/p?n=2", Identity: "http://x/p?n=2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	many := make([]string, MaxPages+1)
	for i := range many {
		many[i] = strings.Repeat("x", i+1)
	}
	for _, addresses := range [][]string{nil, many} {
		if _, err := Pages("x", addresses); !fault.Is(err, fault.Parser) {
			t.Errorf("%d addresses: %v", len(addresses), err)
		}
	}
}
