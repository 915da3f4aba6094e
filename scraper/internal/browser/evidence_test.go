package browser

import (
	"strings"
	"testing"

	"mangrove/internal/fakesite"
	"mangrove/scraper/internal/source"
)

// What the adapter is handed is the evidence, and what was refused before that.
func TestARenderedPageIsEvidence(t *testing.T) {
	t.Parallel()
	b := share(t)
	s := fakesite.Start(t)
	s.On("/s", fakesite.HTML(scripted))
	s.On("/list.json", fakesite.JSON(`{"title":"made by its script"}`))
	s.On("/no", fakesite.Answer{Status: 403, ContentType: "text/html", Header: header("Server", "x"), Body: []byte("<html>not for you")})
	ctx := source.WithEvidence(t.Context())
	r := ask(s.URL + "/s")
	r.Landmark = "h1.title"
	if _, err := b.Render(ctx, siteOf(t, s), r, &turns{}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Render(ctx, siteOf(t, s), ask(s.URL+"/no"), &turns{}); err == nil {
		t.Fatal("a refused page was read")
	}
	seen := source.SeenIn(ctx)
	if len(seen) != 2 || !strings.Contains(string(seen[0].Body), `<h1 class="title">made by its script</h1>`) || seen[0].Status != 200 || seen[0].URL != s.URL+"/s" ||
		seen[1].Status != 403 || string(seen[1].Body) != "<html>not for you" || len(seen[1].Headers) == 0 {
		t.Errorf("%+v", seen)
	}
}
