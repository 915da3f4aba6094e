package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"mangrove/internal/config"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/browser"
	"mangrove/scraper/internal/fetch"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/all"
	"mangrove/scraper/internal/source/declared"
)

// siteCheck says what is wrong with a description of a Site and, given an
// address of it, what each key finds there: args are the file and perhaps the
// address. It asks as politely as a Lane does, with the same guard.
func siteCheck(ctx context.Context, cfg config.Config, args []string, s streams) error {
	file := args[0]
	site, problems := declared.ReadFile(file)
	if site != nil {
		problems = append(problems, taken(site)...)
	}
	for _, p := range problems {
		_, _ = fmt.Fprintln(s.err, plainLine(p.String())) // nothing is left to do when nobody listens
	}
	if len(problems) > 0 {
		return fmt.Errorf("%s: %d to mend", file, len(problems))
	}
	d := site.Site()
	_, _ = fmt.Fprintf(s.out, "%s describes %s (%s): hosts %s, at most one request every %s\n", file, d.Name, d.Key, strings.Join(d.Hosts, ", "), d.Pacing)
	if d.Canary != "" {
		_, _ = fmt.Fprintln(s.out, plainLine(fmt.Sprintf("each day it is tried by the Series %s, at %s", d.Canary, site.Adapter().Address(d.Canary))))
	}
	if len(args) < 2 {
		return nil
	}
	// An owner of its own: a running scraper's profile is not ours to remove.
	pages := browser.New(browser.Options{
		Program: cfg.Chromium, Unsandboxed: cfg.ChromiumUnsandboxed, Owner: fmt.Sprintf("%s %d", cfg.DataDir, os.Getpid()), Allow: cfg.AllowAddresses, Identity: identity(),
	})
	defer pages.Close()
	client := fetch.New(fetch.Options{
		Site: d, Slots: lane.NewSlots(d, func() error { return nil }, 0), Identity: identity(), Guard: fetch.Guard{Allow: cfg.AllowAddresses}, Renderer: pages,
	})
	defer client.Close()
	c := &checking{adapter: site.Adapter(), site: site.Described, fetch: &remembering{fetcher: client}, file: file, out: s.out}
	return c.read(ctx, args[1])
}

// taken are the problems a description has beside adapters Mangrove brings.
func taken(site *declared.Loaded) []declared.Problem {
	shipped, end, err := all.Adapters(all.Options{SampleURL: "http://sample.invalid"})
	if err != nil {
		return nil
	}
	defer end()
	for _, a := range shipped {
		if a.Site().Key == site.Site().Key {
			return []declared.Problem{{File: site.File(), Message: fmt.Sprintf("%q is a Site Mangrove brings itself; give the file another name", a.Site().Key)}}
		}
	}
	return nil
}

// remembering keeps the answers it hands on.
type remembering struct {
	fetcher source.Fetcher
	answers []*source.Response
}

func (r *remembering) Get(ctx context.Context, q source.Request) (*source.Response, error) {
	resp, err := r.fetcher.Get(ctx, q)
	if err == nil {
		r.answers = append(r.answers, resp)
	}
	return resp, err
}

// checking is one check with an address.
type checking struct {
	adapter source.Adapter
	// site is nil for a feed and a catalog: their keys name no parts of pages.
	site  *declared.Described
	fetch *remembering
	file  string
	out   io.Writer
}

func (c *checking) say(format string, args ...any) {
	_, _ = fmt.Fprintln(c.out, plainLine(fmt.Sprintf(format, args...)))
}

func (c *checking) read(ctx context.Context, address string) error {
	c.say("")
	if c.site == nil {
		id, url, ok := c.adapter.Recognise(address)
		if !ok {
			return fmt.Errorf("%s is no address of a Series there", plainLine(address))
		}
		return c.series(ctx, url, id)
	}
	kind, id := c.site.KindOf(address)
	switch kind {
	case declared.SeriesPage:
		return c.series(ctx, address, id)
	case declared.SearchPage:
		return c.search(ctx, address)
	}
	return c.chapter(ctx, address, id)
}

// series reads a Series as a Poll does, and then the page list of its first
// chapter that can be read.
func (c *checking) series(ctx context.Context, address, id string) error {
	c.say("the Series %s, read as a Poll reads it", id)
	r := poll.Check(ctx, c.adapter, c.fetch, source.Ask{SeriesID: id, URL: address})
	c.explain(declared.SeriesPage, 0)
	if c.site != nil && c.site.ReadsListApart() {
		c.explain(declared.ListKind, 1)
	}
	c.say("a Poll ends in %s", r)
	if r.Outcome != poll.OK {
		return fmt.Errorf("a Poll of %s ends in %s", id, r.Outcome)
	}
	list := r.Reading.Chapters
	c.say("%d chapters, the newest first:", len(list))
	var next source.Chapter
	undated, unnumbered := 0, 0
	for i, ch := range list {
		if i < 3 || i == len(list)-1 {
			c.say("  %s  number %q volume %q title %q %s %s %s", ch.ID, ch.Number, ch.Volume, ch.Title, ch.Language, day(ch), ch.URL)
		}
		if ch.Published.IsZero() {
			undated++
		}
		if ch.Number == "" {
			unnumbered++
		}
		if next.ID == "" && !ch.External {
			next = ch
		}
	}
	if unnumbered+undated > 0 {
		c.say("  %d without a number, %d without a date", unnumbered, undated)
	}
	if next.ID == "" {
		c.say("every chapter lies elsewhere: there is none to read")
		return nil
	}
	c.say("")
	c.say("the chapter %s", next.ID)
	c.fetch.answers = nil
	pages, err := c.adapter.Pages(ctx, c.fetch, source.Key{Site: c.adapter.Site().Key, SeriesID: id}, next)
	return c.pages(pages, err)
}

func day(ch source.Chapter) string {
	if ch.Published.IsZero() {
		return "no date"
	}
	return ch.Published.Format("2006-01-02")
}

func (c *checking) chapter(ctx context.Context, address, id string) error {
	c.say("%s, read as a chapter", address)
	pages, err := c.site.PagesAt(ctx, c.fetch, address, id)
	return c.pages(pages, err)
}

func (c *checking) pages(pages []source.Page, err error) error {
	c.explain(declared.ChapterPage, 0)
	if err != nil {
		return fmt.Errorf("the page list cannot be read: %w", err)
	}
	if len(pages) == 0 {
		c.say("the Site says that it has no page here")
		return nil
	}
	c.say("%d pages, from %s to %s", len(pages), pages[0].URL, pages[len(pages)-1].URL)
	return nil
}

func (c *checking) search(ctx context.Context, address string) error {
	query := c.site.SearchFor(address)
	c.say("a search for %q", query)
	a, ok := c.adapter.(source.Searcher)
	if !ok {
		return errors.New("this Site cannot be searched")
	}
	found, err := a.Search(ctx, c.fetch, query)
	c.explain(declared.SearchPage, 0)
	if err != nil {
		return fmt.Errorf("the search cannot be read: %w", err)
	}
	c.say("%d Series", len(found))
	for _, f := range found[:min(len(found), 5)] {
		c.say("  %s  %q %s", f.ID, f.Title, f.URL)
	}
	if len(found) == 0 {
		return errors.New("the search finds nothing")
	}
	return nil
}

// explain prints what each key finds on the n-th page that was read. What finds
// nothing is named with its line.
func (c *checking) explain(kind declared.Kind, n int) {
	if c.site == nil || n >= len(c.fetch.answers) {
		return
	}
	found, err := c.site.Explain(kind, c.fetch.answers[n])
	if err != nil {
		c.say("  %s: %v", fault.Of(err), err)
		return
	}
	w := tabwriter.NewWriter(c.out, 0, 8, 2, ' ', 0)
	for _, f := range found {
		said := fmt.Sprintf("%q", f.Values)
		if f.Count == 0 {
			said = fmt.Sprintf("nothing (%s:%d)", c.file, f.Line)
			if strings.HasSuffix(f.Key, ".missing") {
				said = "nothing, as it should be"
			}
		}
		_, _ = fmt.Fprintln(w, plainLine(fmt.Sprintf("  %s\t%d\t%s", f.Key, f.Count, said)))
	}
	_ = w.Flush()
}

// plainLine takes what could command a terminal out of a line.
func plainLine(s string) string {
	return strings.Map(func(r rune) rune {
		if (r < ' ' && r != '\t') || (r >= 0x7f && r < 0xa0) {
			return ' '
		}
		return r
	}, s)
}
