package mangadex

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"mangrove/scraper/internal/source"
)

// entity is a title as the API gives it.
type entity struct {
	ID         string `json:"id"`
	Type       string `json:"type"`
	Attributes *struct {
		Title       localized   `json:"title"`
		AltTitles   []localized `json:"altTitles"`
		Description localized   `json:"description"`
		Original    string      `json:"originalLanguage"`
		Status      string      `json:"status"`
		Tags        []struct {
			Attributes struct {
				Name localized `json:"name"`
			} `json:"attributes"`
		} `json:"tags"`
	} `json:"attributes"`
	Relationships []relationship `json:"relationships"`
}

// wanted asks for what belongs to a title besides itself.
func wanted() url.Values { return url.Values{"includes[]": {"author", "artist", "cover_art"}} }

// Series reads a title: its chapters first, for an unchanged list says that there
// is nothing new without a second question.
func (a *Adapter) Series(ctx context.Context, f source.Fetcher, ask source.Ask) (source.Reading, error) {
	if !isID(ask.SeriesID) {
		return source.Reading{}, source.Unparsed(Key+"/"+ask.SeriesID, "this is no id of MangaDex")
	}
	list, err := a.feed(ctx, f, ask)
	if err != nil || list.notModified {
		return source.Reading{NotModified: err == nil, Validators: ask.Validators}, err
	}
	resp, err := f.Get(ctx, source.Request{URL: a.at("/manga/"+ask.SeriesID, wanted()), Want: source.WantJSON})
	if err != nil {
		return source.Reading{}, err
	}
	e, err := open(resp, "entity")
	if err != nil {
		return source.Reading{}, err
	}
	var title entity
	if err := decode(resp.URL, e.Data, '{', &title); err != nil {
		return source.Reading{}, err
	}
	s, err := a.series(resp.URL, title)
	return source.Reading{Series: s, Chapters: list.chapters, Validators: list.validators}, err
}

// series makes a Series of a title.
func (a *Adapter) series(subject string, e entity) (source.Series, error) {
	if e.Type != "manga" || !isID(e.ID) || e.Attributes == nil || e.Relationships == nil {
		return source.Series{}, source.Unparsed(subject, "a title lacks its type, id, attributes or relationships")
	}
	at := e.Attributes
	s := source.Series{
		ID: e.ID, Title: a.title(e), Description: plain(a.choose(at.Description)), URL: a.Address(e.ID), License: credit,
		Status: source.Known(at.Status, source.Statuses()), Direction: direction(e),
	}
	if s.Title == "" {
		return s, source.Unparsed(subject, "a title has no title")
	}
	if s.NativeTitle = oneLine(native(e)); s.NativeTitle == s.Title {
		s.NativeTitle = ""
	}
	s.AltTitles = others(e, s)
	for _, tag := range at.Tags {
		if name := oneLine(a.choose(tag.Attributes.Name)); name != "" {
			s.Tags = append(s.Tags, name)
		}
	}
	for _, kind := range []string{"author", "artist", "cover_art"} {
		for _, r := range e.Relationships {
			if r.Type != kind {
				continue
			}
			known, err := r.known(subject)
			if err != nil {
				return s, err
			}
			if kind == "cover_art" {
				if isFile(known.FileName) && s.CoverURL == "" {
					// The Site's own smaller copy: a cover is shown small.
					s.CoverURL = a.uploads.JoinPath("covers", e.ID, known.FileName+".512.jpg").String()
				}
			} else if name := oneLine(known.Name); name != "" && !slices.Contains(s.Authors, name) {
				s.Authors = append(s.Authors, name)
			}
		}
	}
	return s, nil
}

// title is in a wanted language if there is one, else what the Site calls it.
func (a *Adapter) title(e entity) string {
	for _, l := range a.languages {
		for _, m := range append([]localized{e.Attributes.Title}, e.Attributes.AltTitles...) {
			if t := oneLine(m[l]); t != "" {
				return t
			}
		}
	}
	for _, m := range append([]localized{e.Attributes.Title}, e.Attributes.AltTitles...) {
		if t := oneLine(a.choose(m)); t != "" {
			return t
		}
	}
	return ""
}

// mostTitles bounds the other names of a title.
const mostTitles = 50

// others are the names of a title besides the two that s has.
func others(e entity, s source.Series) (out []string) {
	for _, m := range append([]localized{e.Attributes.Title}, e.Attributes.AltTitles...) {
		for _, l := range slices.Sorted(maps.Keys(m)) {
			name := oneLine(m[l])
			if name != "" && name != s.Title && name != s.NativeTitle && !slices.Contains(out, name) && len(out) < mostTitles {
				out = append(out, name)
			}
		}
	}
	return out
}

// native is the title in the language it was made in.
func native(e entity) string {
	for _, m := range append([]localized{e.Attributes.Title}, e.Attributes.AltTitles...) {
		if t := m[e.Attributes.Original]; t != "" {
			return t
		}
	}
	return ""
}

// choose takes a wanted language, then English, then the first by its code, so
// that two reads agree.
func (a *Adapter) choose(m localized) string {
	for _, l := range append(slices.Clone(a.languages), "en") {
		if m[l] != "" {
			return m[l]
		}
	}
	for _, l := range slices.Sorted(maps.Keys(m)) {
		if m[l] != "" {
			return m[l]
		}
	}
	return ""
}

// direction follows from where a title was made, and from the one tag that is
// about its form.
func direction(e entity) string {
	for _, tag := range e.Attributes.Tags {
		if tag.Attributes.Name["en"] == "Long Strip" {
			return "strip"
		}
	}
	switch language, _, _ := strings.Cut(e.Attributes.Original, "-"); language {
	case "ja":
		return "rtl"
	case "zh", "ko", "en":
		return "ltr"
	}
	return ""
}
