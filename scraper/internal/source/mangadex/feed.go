package mangadex

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

// The API gives at most pageSize chapters an answer and none behind window.
// maxAsked bounds how often one list is asked for when its pages come short.
const (
	pageSize = 500
	window   = 10_000
	maxAsked = 100
)

// list is a title's list of chapters.
type list struct {
	chapters    []source.Chapter
	validators  source.Validators
	notModified bool
}

// feed reads the whole list, oldest entry first, so that a chapter that comes
// while it is read moves none across a page's edge. A list that ends before it
// has as many as the API counts is not taken for one: what it lacks would be
// marked gone (POLL-12).
func (a *Adapter) feed(ctx context.Context, f source.Fetcher, ask source.Ask) (list, error) {
	subject := Key + "/" + ask.SeriesID + "/feed"
	seen := map[string]bool{}
	var out list
	offset := 0
	for asked := 0; ; asked++ {
		limit := min(pageSize, window-offset)
		if asked == maxAsked || limit <= 0 {
			return out, source.Unparsed(subject, "the list of chapters has no end")
		}
		r := source.Request{URL: a.at("/manga/"+ask.SeriesID+"/feed", feedQuery(offset, limit)), Want: source.WantJSON}
		if asked == 0 {
			r.Validators = ask.Validators
		}
		resp, err := f.Get(ctx, r)
		if err != nil {
			if asked > 0 && fault.Is(err, fault.NotFound) {
				// The first page was there: the title is, its list is not whole.
				err = source.Unparsed(subject, "the list of chapters breaks off after %d", len(seen))
			}
			return out, err
		}
		if resp.NotModified && asked == 0 {
			return list{notModified: true}, nil
		}
		page, total, err := readPage(resp)
		if err != nil {
			return out, err
		}
		if total >= window {
			return out, source.Unparsed(subject, "the list has %d chapters or more, of which the Site shows fewer than %d", total, window)
		}
		fresh := 0
		for i, e := range page {
			c, err := e.chapter(subject, offset+i)
			if err != nil {
				return out, err
			}
			if !seen[c.ID] {
				seen[c.ID] = true
				fresh++
				out.chapters = append(out.chapters, c)
			}
		}
		offset += len(page)
		switch {
		case len(page) < limit && len(seen) >= total:
			if asked == 0 {
				// Of a list in several pages the first one's say nothing of the rest.
				out.validators = resp.Validators
			}
			arrange(out.chapters)
			return out, nil
		case fresh == 0 && len(seen) >= total:
			arrange(out.chapters)
			return out, nil
		case fresh == 0:
			return out, source.Unparsed(subject, "the list of chapters ends after %d of %d", len(seen), total)
		}
	}
}

// feedQuery asks for everything the Site has of a title; what is wanted of it is
// the Follow's to say.
func feedQuery(offset, limit int) url.Values {
	return url.Values{
		"limit": {strconv.Itoa(limit)}, "offset": {strconv.Itoa(offset)}, "order[createdAt]": {"asc"}, "includes[]": {"scanlation_group"},
		"contentRating[]": {"safe", "suggestive", "erotica", "pornographic"}, "includeUnavailable": {"1"},
	}
}

func readPage(resp *source.Response) ([]entry, int, error) {
	e, err := open(resp, "collection")
	if err != nil {
		return nil, 0, err
	}
	if e.Total == nil || *e.Total < 0 {
		return nil, 0, source.Unparsed(resp.URL, "the list does not say how long it is")
	}
	var page []entry
	if err := decode(resp.URL, e.Data, '[', &page); err != nil {
		return nil, 0, err
	}
	if len(page) > pageSize {
		return nil, 0, source.Unparsed(resp.URL, "the list has %d entries on a page of %d", len(page), pageSize)
	}
	return page, *e.Total, nil
}

// arrange puts a list in the Site's own order, newest first: chapters that are
// in no volume yet, then volumes and numbers downwards.
func arrange(chapters []source.Chapter) {
	slices.SortStableFunc(chapters, func(a, b source.Chapter) int {
		return cmp.Or(
			downwards(a.Volume, b.Volume, -1), downwards(a.Number, b.Number, 1),
			b.Published.Compare(a.Published), cmp.Compare(a.ID, b.ID),
		)
	})
	for i := range chapters {
		chapters[i].Order = i
	}
}

// downwards orders decimals, the larger first; absent is where the one without
// goes: -1 before all others, 1 behind them.
func downwards(a, b string, absent int) int {
	switch {
	case a == b:
		return 0
	case a == "":
		return absent
	case b == "":
		return -absent
	}
	// Both are what source.Decimal returned.
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	return cmp.Compare(y, x)
}
