// Package sourcetest is the one suite every adapter passes: found, moved, gone,
// empty, without its landmark, refused, half-read, slow, hostile. An adapter's own test brings the
// pages; the suite brings what is expected of any Site. It asks no real Site.
package sourcetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// Pages serves what was put under an address, whatever the host.
type Pages map[string]Answer

// Answer is one page, or the classified error that stands for it.
type Answer struct {
	Body      string
	MediaType string
	Err       error
	Moved     string // the address it came from after permanent redirects
}

// Get answers from the pages; an address that is not there is a 404.
func (p Pages) Get(_ context.Context, r source.Request) (*source.Response, error) {
	path := r.URL
	if _, rest, ok := strings.Cut(path, "://"); ok {
		_, path, _ = strings.Cut(rest, "/")
		path = "/" + path
	}
	a, ok := p[path]
	if !ok {
		return nil, fault.Newf(fault.NotFound, "get", r.URL, "status 404")
	}
	if a.Err != nil {
		return nil, a.Err
	}
	from := r.URL
	if a.Moved != "" {
		from = a.Moved
	}
	return &source.Response{URL: from, Permanent: a.Moved != "", Body: []byte(a.Body), MediaType: a.MediaType, Validators: source.Validators{ETag: `"x"`}}, nil
}

// slow answers nothing until the read is given up, and counts how often it is asked.
type slow struct{ asked *int }

func (s slow) Get(ctx context.Context, r source.Request) (*source.Response, error) {
	*s.asked++
	<-ctx.Done()
	return nil, fault.New(fault.Network, "get", r.URL, ctx.Err()).WithEvidence(fault.Answered)
}

// Case is an adapter with the pages of one Series it can read.
type Case struct {
	Adapter source.Adapter
	// Series asks for a Series that is in Pages; SeriesPath and ChapterPath are
	// where its page and that of its first listed chapter lie.
	Series                  source.Ask
	SeriesPath, ChapterPath string
	Pages                   Pages
	// Want is what is read from the Series page, Images the identities of the
	// first chapter's pages.
	Want   source.Reading
	Images []string
	// Empty is a Series page that lists no chapter.
	Empty string
}

// Run runs the suite.
func Run(t *testing.T, c Case) {
	t.Helper()
	read := func(pages Pages) poll.Result { return poll.Check(t.Context(), c.Adapter, pages, c.Series) }
	with := func(path string, a Answer) Pages {
		out := Pages{}
		for k, v := range c.Pages {
			out[k] = v
		}
		out[path] = a
		return out
	}
	t.Run("site", func(t *testing.T) {
		s := c.Adapter.Site()
		if s.Key == "" || s.Name == "" || len(s.Hosts) == 0 || s.Pacing <= 0 {
			t.Errorf("%+v lacks a key, a name, a host or a pacing", s)
		}
	})
	t.Run("found", func(t *testing.T) {
		got := read(c.Pages)
		if got.Outcome != poll.OK {
			t.Fatalf("%s", got)
		}
		if d := diff(c.Want, got.Reading); d != "" {
			t.Error(d)
		}
		pages, err := c.Adapter.Pages(t.Context(), c.Pages, source.Key{Site: c.Adapter.Site().Key, SeriesID: c.Series.SeriesID}, got.Reading.Chapters[0])
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, p := range pages {
			ids = append(ids, p.Identity)
		}
		if d := diff(c.Images, ids); d != "" {
			t.Error(d)
		}
	})
	t.Run("not modified", func(t *testing.T) {
		got := poll.Check(t.Context(), c.Adapter, notModified{}, source.Ask{SeriesID: c.Series.SeriesID, URL: c.Series.URL, Validators: source.Validators{ETag: `"x"`}})
		if got.Outcome != poll.OK || !got.Reading.NotModified {
			t.Errorf("%s, want ok without a reading", got)
		}
	})
	t.Run("moved", func(t *testing.T) {
		// To the front page of its own host: the same Series, or none (POLL-13, S-043).
		front := "https://" + strings.TrimPrefix(c.Adapter.Site().Hosts[0], "*.") + "/"
		moved := c.Pages[c.SeriesPath]
		moved.Moved = front
		got := read(with(c.SeriesPath, moved))
		switch {
		case got.Outcome == poll.NotFound:
		case got.Outcome != poll.OK || got.Reading.Series.ID != c.Want.Series.ID || got.Reading.MovedTo != "" && got.Reading.MovedTo != front:
			t.Errorf("%s: %q, moved to %q", got, got.Reading.Series.ID, got.Reading.MovedTo)
		}
	})
	t.Run("slow", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		asked := 0
		got := poll.Check(ctx, c.Adapter, slow{&asked}, c.Series)
		if got.Outcome != poll.Unfetchable || asked != 1 || len(got.Reading.Chapters) > 0 {
			t.Errorf("%s after %d requests, want one that is given up", got, asked)
		}
	})
	outcomes := []struct {
		name  string
		pages Pages
		want  poll.Outcome
	}{
		{"gone", Pages{}, poll.NotFound},
		{"empty list", with(c.SeriesPath, Answer{Body: c.Empty, MediaType: "text/html"}), poll.NoChapter},
		{"maintenance page", with(c.SeriesPath, Answer{Body: "<html><h1>Back soon</h1></html>", MediaType: "text/html"}), poll.Unfetchable},
		{"nothing at all", with(c.SeriesPath, Answer{MediaType: "text/html"}), poll.Unfetchable},
		{"refused", with(c.SeriesPath, Answer{Err: fault.Newf(fault.Access, "get", "x", "status 403").WithEvidence(fault.Answered)}), poll.Refused},
		{"no answer", with(c.SeriesPath, Answer{Err: fault.Newf(fault.Network, "get", "x", "refused").WithEvidence(fault.NoRead)}), poll.Unreachable},
	}
	for _, o := range outcomes {
		t.Run(o.name, func(t *testing.T) {
			if got := read(o.pages); got.Outcome != o.want {
				t.Errorf("%s, want %s", got, o.want)
			}
		})
	}
	t.Run("half read", func(t *testing.T) {
		body := c.Pages[c.SeriesPath].Body
		for cut := 0; cut < len(body); cut += max(len(body)/50, 1) {
			got := read(with(c.SeriesPath, Answer{Body: body[:cut], MediaType: "text/html"}))
			if got.Outcome == poll.NotFound || got.Outcome == poll.Refused {
				t.Errorf("cut at %d of %d: %s", cut, len(body), got)
			}
		}
	})
	t.Run("hostile", func(t *testing.T) {
		for name, body := range map[string]string{
			"nested":   strings.Repeat("<div>", 100_000),
			"NULs":     strings.Repeat("\x00", 10_000),
			"bad UTF8": strings.Repeat("\xff\xfe", 10_000),
		} {
			got := read(with(c.SeriesPath, Answer{Body: body, MediaType: "text/html"}))
			if got.Outcome != poll.Unfetchable && got.Outcome != poll.Errors {
				t.Errorf("%s: %s", name, got)
			}
			_, err := c.Adapter.Pages(t.Context(), with(c.ChapterPath, Answer{Body: body, MediaType: "text/html"}), source.Key{}, c.Want.Chapters[0])
			var f *fault.Error
			if !errors.As(err, &f) {
				t.Errorf("%s as a chapter page: got %v, want a classified error", name, err)
			}
		}
	})
}

type notModified struct{}

func (notModified) Get(_ context.Context, r source.Request) (*source.Response, error) {
	return &source.Response{URL: r.URL, NotModified: true, Validators: r.Validators}, nil
}

func diff(want, got any) string { return cmp.Diff(want, got, cmpopts.EquateEmpty()) }
