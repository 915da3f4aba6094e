package browser

import (
	"strings"
	"testing"

	"mangrove/internal/fakesite"
)

const scripted = `<!doctype html><html><head><title>T</title></head><body><img src="/a.png"><div id="app"></div>
<script>fetch('/list.json').then(r => r.json()).then(l => setTimeout(() => {
	document.getElementById('app').innerHTML = '<h1 class="title">' + l.title + '</h1><img src="/b.png"><style>body{background:url(/c.png)}</style>';
}, 200))</script></body></html>`

func TestAPageMadeByItsScriptIsRead(t *testing.T) {
	t.Parallel()
	b := share(t)
	s := fakesite.Start(t)
	s.On("/s", fakesite.HTML(scripted))
	s.On("/list.json", fakesite.JSON(`{"title":"Grüße & mehr"}`))
	r := ask(s.URL + "/s")
	r.Landmark = "h1.title"
	got, err := b.Render(t.Context(), siteOf(t, s), r, &turns{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(got.Body), `<h1 class="title">Grüße &amp; mehr</h1>`) || got.MediaType != "text/html" || got.URL != s.URL+"/s" || got.Permanent {
		t.Errorf("got %s %s permanent %v:\n%s", got.URL, got.MediaType, got.Permanent, got.Body)
	}
	for _, r := range s.Ledger().Requests {
		if strings.HasSuffix(r.Path, ".png") || r.Path == "/favicon.ico" {
			t.Errorf("asked for %s", r.Path)
		}
		if ua := r.Header.Get("User-Agent"); !strings.HasSuffix(ua, " Mangrove/test") || !strings.Contains(ua, "HeadlessChrome") {
			t.Errorf("%s: User-Agent %q does not say who asks", r.Path, ua)
		}
	}
	if _, err := b.Render(t.Context(), siteOf(t, s), r, &turns{}); err != nil {
		t.Fatal(err)
	}
}
