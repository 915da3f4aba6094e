package declared

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/language"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/label"
	"mangrove/scraper/internal/source"
)

// list reads the chapters: on the Series page, or on their own, page by page.
// Part of a list is never taken for the whole of it.
func (s *Described) list(ctx context.Context, f source.Fetcher, first document, seriesID, title string) ([]source.Chapter, error) {
	p := &s.chapters
	doc, number := first, 1
	address := func() string { return p.read.fill(vars{"id": seriesID, "page": strconv.Itoa(number)}) }
	byNumber := strings.Contains(p.read.raw, "{page}")
	if p.ownRead {
		var err error
		if doc, err = s.open(ctx, f, address(), p.section, source.Validators{}); err != nil {
			return nil, err
		}
	}
	g := gathering{site: s, seriesID: seriesID, title: title, seen: map[string]string{}, shown: map[string]string{}}
	asked := map[string]bool{first.resp.URL: true, doc.resp.URL: true}
	for {
		if err := s.settleList(&doc, first); err != nil {
			return nil, err
		}
		added, err := g.take(ctx, doc)
		if err != nil {
			return nil, err
		}
		next := ""
		switch {
		case byNumber && added > 0:
			number++
			next = address()
		case byNumber && number > 1 && g.items == 0:
			// The page behind the last.
		case number > 1 && added == 0:
			return nil, source.Unparsed(subject(doc.resp.URL), "page %d of the chapter list shows what an earlier one did", number)
		case !byNumber:
			if next = resolve(doc.base, p.next.first(doc.page, vars{"series_id": seriesID})); next != "" {
				number++
			}
		}
		if next == "" {
			break
		}
		switch {
		case !within(next, s.hosts):
			return nil, source.Unparsed(subject(doc.resp.URL), "page %d of the chapter list lies outside hosts", number)
		case asked[next]:
			return nil, source.Unparsed(subject(next), "page %d of the chapter list is an earlier one", number)
		case number > p.nextLimit:
			return nil, source.Unparsed(subject(doc.resp.URL), "the chapter list has more than %d pages (chapters.next_limit)", p.nextLimit)
		}
		asked[next] = true
		if doc, err = s.open(ctx, f, next, p.section, source.Validators{}); err != nil {
			if byNumber && fault.Is(err, fault.NotFound) {
				// Some Sites have no page behind the last.
				break
			}
			return nil, notGone(err)
		}
	}
	return g.whole(doc)
}

// notGone keeps a lost page of a list from saying that the title is gone.
func notGone(err error) error {
	if fault.Is(err, fault.NotFound) {
		return source.Unparsed("the chapter list", "one of its pages is not there")
	}
	return err
}

// settleList finds where the chapters of a page begin.
func (s *Described) settleList(doc *document, first document) error {
	p := s.chapters.section
	// The notice counts only where nothing is listed: see gathering.
	p.missing = nil
	if !p.ownRead && p.script == nil && s.series.script != nil {
		p.script = s.series.script
	}
	return doc.settle(p)
}

// gathering is a list of chapters as it grows.
type gathering struct {
	site     *Described
	seriesID string
	list     []source.Chapter
	title    string            // of the Series
	seen     map[string]string // id to address
	shown    map[string]string // id to the label its number was read of
	items    int               // on the last page
}

// take adds the chapters of one page and says how many were new.
func (g *gathering) take(ctx context.Context, doc document) (int, error) {
	p := &g.site.chapters
	items := p.item.nodes(doc.root, maxChapters+1)
	g.items = len(items)
	if len(items) == 0 && len(g.list) == 0 && found(p.missing, doc.page) {
		return 0, source.NotFound(subject(doc.resp.URL))
	}
	if len(g.list)+len(items) > maxChapters {
		return 0, source.Unparsed(subject(doc.resp.URL), "the chapter list has more than %d entries", maxChapters)
	}
	added := 0
	for i, item := range items {
		if ctx.Err() != nil {
			return added, ctx.Err()
		}
		if found(p.skip, item) {
			continue
		}
		c, shown, err := g.site.chapter(doc, item, i, g.seriesID, g.title)
		if err != nil {
			return added, err
		}
		if at, twice := g.seen[c.ID]; twice && (at == c.URL || g.earlier(c.ID, added)) {
			continue
		}
		g.seen[c.ID] = c.URL
		if shown != "" {
			g.shown[c.ID] = shown
		}
		g.list = append(g.list, c)
		added++
	}
	return added, nil
}

// earlier reports whether id came on a page before this one: a list moves by one
// when a chapter is released while it is read.
func (g *gathering) earlier(id string, added int) bool {
	return slices.ContainsFunc(g.list[:len(g.list)-added], func(c source.Chapter) bool { return c.ID == id })
}

// whole returns the list, newest first, if it is as long as the Site says.
func (g *gathering) whole(doc document) ([]source.Chapter, error) {
	p := &g.site.chapters
	if p.count != nil && doc.resp != nil {
		said := p.count.first(doc.page, vars{"series_id": g.seriesID})
		if n, err := strconv.Atoi(said); err != nil || n != len(g.list) {
			return nil, source.Unparsed(subject(doc.resp.URL), "%d chapters were read and the Site says %q", len(g.list), clip(said, 40))
		}
	}
	label.Doubt(g.list, g.shown)
	if p.oldest {
		slices.Reverse(g.list)
	}
	for i := range g.list {
		g.list[i].Order = i
	}
	return g.list, nil
}

// chapter reads one entry of a list; shown is the label its number was read of, ""
// where the Site states the number.
func (s *Described) chapter(doc document, item node, i int, seriesID, title string) (c source.Chapter, shown string, err error) {
	p := &s.chapters
	known := vars{"series_id": seriesID}
	c = source.Chapter{ID: p.id.first(item, known)}
	known["chapter_id"] = c.ID
	c.URL = resolve(doc.base, p.address.first(item, known))
	if c.URL == "" {
		return c, "", source.Unparsed(subject(doc.resp.URL), "entry %d of the chapter list has no address", i+1)
	}
	if p.id == nil {
		// The path of its address is what a chapter is known by otherwise.
		if u, err := url.Parse(c.URL); err == nil {
			c.ID = u.RequestURI()
		}
	}
	if !goodID(c.ID) {
		return c, "", source.Unparsed(subject(doc.resp.URL), "entry %d of the chapter list has no id", i+1)
	}
	c.External = p.extern.first(item, known) != "" || !within(c.URL, s.hosts)
	shown = s.named(&c, item, known, title)
	for _, g := range p.group.each(item, known, 20) {
		c.Groups = append(c.Groups, clip(g, maxTitle))
	}
	c.Language = s.languageOf(p.language.first(item, known))
	if p.date != nil {
		// A day that is yet to come is a mistake, and would stand before all others
		// (S-053, S-111); a clock may be off by a day or two.
		if at := parseDate(p.date.first(item, known), p.date.formats, p.date.zone, now()); at.Before(now().Add(48 * time.Hour)) {
			c.Published = at
		}
	}
	return c, shown, nil
}

// named sets the number, the volume and the title of a chapter: as the Site states
// them, and otherwise as the label does.
func (s *Described) named(c *source.Chapter, item node, known vars, series string) (shown string) {
	p := &s.chapters
	stated := p.number.first(item, known)
	if shown = clip(stated, maxTitle); shown == "" {
		shown = clip(p.label.first(item, known), maxTitle)
	}
	label.Fill(c, series, shown)
	if n, ok := source.Decimal(stated); ok {
		c.Number, c.Volume, c.Title, shown = n, "", "", ""
		if said := p.label.first(item, known); said != "" {
			var of source.Chapter
			label.Fill(&of, series, clip(said, maxTitle))
			c.Volume, c.Title = of.Volume, of.Title
		}
	}
	if p.volume != nil {
		said := p.volume.first(item, known)
		n, ok := source.Decimal(said)
		if !ok {
			// "Volume 3" is a volume wherever it stands.
			n = label.Parse("", said).Volume
		}
		c.Volume = n
	}
	if said := clip(p.title.first(item, known), maxTitle); said != "" {
		c.Title = said
	}
	return shown
}

// languageOf is the tag for what a Site writes; a Site of one language need not
// write any.
func (s *Described) languageOf(word string) string {
	if tag, err := language.Parse(word); err == nil && word != "" {
		return tag.String()
	}
	if word == "" && len(s.site.Languages) == 1 {
		return s.site.Languages[0]
	}
	return ""
}
