package feed

import (
	"bytes"
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/mmcdole/gofeed"

	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/markup"
)

// tiny is the width or height below which an image in an item is a smiley or a
// counter of readers.
const tiny = 32

// Pages reads the images of an item: with a selector from its page, else from the
// item as the feed has it, else the one its page offers for sharing.
func (a *Adapter) Pages(ctx context.Context, f source.Fetcher, _ source.Key, ch source.Chapter) ([]source.Page, error) {
	if a.images != nil {
		return a.fromPage(ctx, f, ch)
	}
	resp, err := f.Get(ctx, source.Request{URL: a.config.Address, Want: source.WantXML})
	if err != nil {
		return nil, err
	}
	read, base, err := parse(resp)
	if err != nil {
		return nil, err
	}
	for _, item := range read.Items {
		if identity(item) == ch.ID {
			if found := a.inItem(base, item); len(found) > 0 {
				return markup.Pages(resp.URL, found)
			}
		}
	}
	return a.fromPage(ctx, f, ch)
}

// inItem returns the images that stand in the item, in order.
func (a *Adapter) inItem(base *url.URL, item *gofeed.Item) []string {
	var out []string
	for _, text := range []string{item.Content, item.Description} {
		if doc, err := document([]byte(text)); err == nil && len(out) == 0 {
			doc.Find("img").Each(func(_ int, img *goquery.Selection) {
				if address := a.within(markup.Resolve(base, imageOf(img))); address != "" && !isTiny(img) {
					out = append(out, address)
				}
			})
		}
	}
	for _, e := range item.Enclosures {
		if e != nil && len(out) == 0 && strings.HasPrefix(e.Type, "image/") {
			if address := a.within(markup.Resolve(base, e.URL)); address != "" {
				out = append(out, address)
			}
		}
	}
	return out
}

// fromPage reads the images on the item's own page.
func (a *Adapter) fromPage(ctx context.Context, f source.Fetcher, ch source.Chapter) ([]source.Page, error) {
	resp, err := f.Get(ctx, source.Request{URL: ch.URL, Want: source.WantHTML})
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(resp.URL)
	if err != nil {
		return nil, source.Unparsed(resp.URL, "its address is not understood")
	}
	doc, err := document(resp.Body)
	if err != nil {
		return nil, err
	}
	var out []string
	take := func(ref string) {
		if address := a.within(markup.Resolve(base, ref)); address != "" {
			out = append(out, address)
		}
	}
	if a.images != nil {
		found := doc.FindMatcher(a.images)
		if found.Length() == 0 {
			return nil, source.NoLandmark(resp.URL, "image where "+a.config.Images+" says")
		}
		found.Each(func(_ int, img *goquery.Selection) { take(imageOf(img)) })
	} else {
		doc.Find(`meta[property="og:image"], meta[name="og:image"]`).First().Each(func(_ int, m *goquery.Selection) { take(m.AttrOr("content", "")) })
	}
	return markup.Pages(resp.URL, out)
}

// document parses HTML of bounded size. The parser itself bounds how deep it nests.
func document(body []byte) (*goquery.Document, error) {
	if len(body) > markup.MaxBytes {
		return nil, source.Unparsed("a page", "it is larger than %d bytes", markup.MaxBytes)
	}
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(body))
	if err != nil {
		return nil, source.Unparsed("a page", "it is no HTML")
	}
	return doc, nil
}

// imageOf is an image's address; a page that loads images late keeps it aside.
func imageOf(img *goquery.Selection) string {
	for _, attr := range []string{"data-src", "data-lazy-src", "src", "href"} {
		if v := img.AttrOr(attr, ""); v != "" && !strings.HasPrefix(v, "data:") {
			return v
		}
	}
	return ""
}

func isTiny(img *goquery.Selection) bool {
	for _, attr := range []string{"width", "height"} {
		if n, err := strconv.Atoi(img.AttrOr(attr, "")); err == nil && n < tiny {
			return true
		}
	}
	return false
}

// plain is text without markup, on one line.
func plain(s string) string {
	if strings.ContainsAny(s, "<&") {
		if doc, err := document([]byte(s)); err == nil {
			s = doc.Text()
		}
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}
