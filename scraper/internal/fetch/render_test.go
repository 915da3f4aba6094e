package fetch_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"mangrove/internal/fakesite"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/fetch"
	"mangrove/scraper/internal/source"
)

// scripted answers each read with the next of its errors, and a page after them.
type scripted struct {
	errs  []error
	asked []source.Request
}

func (s *scripted) Render(ctx context.Context, _ source.Site, r source.Request, turns fetch.Turns) (*source.Response, error) {
	if err := turns.Again(ctx); err != nil {
		return nil, err
	}
	s.asked = append(s.asked, r)
	if len(s.asked) <= len(s.errs) {
		return nil, s.errs[len(s.asked)-1]
	}
	return &source.Response{URL: r.URL, MediaType: "text/html", Body: []byte("rendered")}, nil
}

// counting counts the slots that were taken and given back, and what a page was
// let ask for besides.
type counting struct{ taken, held, again int }

func (c *counting) Again(context.Context) error {
	c.again++
	return nil
}

func (c *counting) Acquire(context.Context, source.Want) (func(), error) {
	c.taken++
	c.held++
	return func() { c.held-- }, nil
}

func (c *counting) Sent() {}

func TestPagesOfABrowserSiteAreRendered(t *testing.T) {
	const address = "http://site.example/s?token=canary"
	busy := fetch.Unanswered(address, context.DeadlineExceeded, true)
	tests := []struct {
		name  string
		errs  []error
		reads int
		class fault.Class
	}{
		{"read", nil, 1, ""},
		{"a failure of the network is tried again", []error{busy}, 2, ""},
		{"a refusal is not", []error{fetch.Answered(address, 403, nil, time.Now())}, 1, fault.Access},
		{"nor is a missing browser", []error{fetch.NoBrowser(address, errors.New("it is not installed"))}, 1, fault.Network},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pages, slots := &scripted{errs: tt.errs}, &counting{}
			c := fetch.New(fetch.Options{
				Site: source.Site{Key: "t", Hosts: []string{"site.example"}, Browser: true}, Slots: slots, Renderer: pages, FirstWait: time.Millisecond,
			})
			t.Cleanup(c.Close)
			_, err := c.Get(t.Context(), source.Request{URL: address, Want: source.WantHTML, Landmark: "h1"})
			if fault.Of(err) != tt.class || len(pages.asked) != tt.reads || slots.taken != tt.reads || slots.held != 0 {
				t.Errorf("%v after %d reads in %d slots (%d held), want class %q after %d", err, len(pages.asked), slots.taken, slots.held, tt.class, tt.reads)
			}
			if pages.asked[0].Landmark != "h1" {
				t.Error("the landmark is not handed on")
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the query stands in the error: %v", err)
			}
		})
	}
}

func TestOnlyPagesOfABrowserSiteAreRendered(t *testing.T) {
	s := fakesite.Start(t)
	s.On("/list", fakesite.JSON("{}"))
	host := strings.TrimPrefix(s.URL, "http://")
	pages := &scripted{}
	c := fetch.New(fetch.Options{
		Site: source.Site{Key: "t", Hosts: []string{host}, Browser: true}, Slots: anytime{}, Renderer: pages, Guard: fetch.Guard{Loopback: host},
	})
	t.Cleanup(c.Close)
	if _, err := c.Get(t.Context(), source.Request{URL: s.URL + "/list", Want: source.WantJSON}); err != nil || len(pages.asked) != 0 {
		t.Errorf("%v, %d pages rendered; want JSON read as ever", err, len(pages.asked))
	}
	if _, err := c.Get(t.Context(), source.Request{URL: "http://other.example/", Want: source.WantHTML}); !fault.Is(err, fault.Parser) || len(pages.asked) != 0 {
		t.Errorf("%v, %d pages rendered; want an undeclared host refused", err, len(pages.asked))
	}
}

func TestABrowserSiteWithoutABrowserIsUnread(t *testing.T) {
	c := fetch.New(fetch.Options{Site: source.Site{Key: "t", Hosts: []string{"site.example"}, Browser: true}, Slots: anytime{}})
	t.Cleanup(c.Close)
	_, err := c.Get(t.Context(), source.Request{URL: "http://site.example/", Want: source.WantHTML})
	var f *fault.Error
	if !errors.As(err, &f) || f.Class != fault.Network || f.Evidence != fault.NoRead {
		t.Errorf("got %v, want no read", err)
	}
}
