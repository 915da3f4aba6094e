package mangadex

import (
	"net/url"
	"time"

	"mangrove/scraper/internal/label"
	"mangrove/scraper/internal/source"
)

// entry is one chapter as the feed gives it.
type entry struct {
	ID         string `json:"id"`
	Type       string `json:"type"`
	Attributes *struct {
		Volume      *string `json:"volume"`
		Chapter     *string `json:"chapter"`
		Title       *string `json:"title"`
		Language    *string `json:"translatedLanguage"`
		External    *string `json:"externalUrl"`
		Unavailable bool    `json:"isUnavailable"`
		Pages       *int    `json:"pages"`
		PublishAt   *string `json:"publishAt"`
		ReadableAt  *string `json:"readableAt"`
		CreatedAt   *string `json:"createdAt"`
	} `json:"attributes"`
	Relationships []relationship `json:"relationships"`
}

// chapter makes a Chapter of the entry at a place in the list.
func (e entry) chapter(subject string, place int) (source.Chapter, error) {
	at := e.Attributes
	if e.Type != "chapter" || !isID(e.ID) || at == nil || e.Relationships == nil {
		return source.Chapter{}, source.Unparsed(subject, "entry %d of the list lacks its type, id, attributes or relationships", place+1)
	}
	if at.Pages == nil || *at.Pages < 0 {
		return source.Chapter{}, source.Unparsed(subject, "chapter %s does not say how many pages it has", e.ID)
	}
	c := source.Chapter{ID: e.ID, Title: oneLine(text(at.Title)), Language: language(text(at.Language)), URL: "https://mangadex.org/chapter/" + e.ID}
	// Read at its publisher, taken down, or empty: the Site has no page of it (JOB-10).
	c.External = text(at.External) != "" || at.Unavailable || *at.Pages == 0
	if link := text(at.External); isLink(link) {
		c.URL = link
	}
	var odd string
	c.Number, odd = number(at.Chapter)
	if odd != "" && c.Title == "" {
		// More than a number, or none: what the chapter is called by.
		c.Title = oneLine("Chapter " + odd)
	}
	c.Volume, _ = number(at.Volume)
	for _, r := range e.Relationships {
		if r.Type != "scanlation_group" {
			continue
		}
		known, err := r.known(subject)
		if err != nil {
			return c, err
		}
		name := oneLine(known.Name)
		if name == "" {
			// Two groups without names are still two (POLL-12).
			name = oneLine(r.ID)
		}
		if name != "" {
			c.Groups = append(c.Groups, name)
		}
	}
	var err error
	c.Published, err = published(subject, e.ID, time.Now(), at.PublishAt, at.ReadableAt, at.CreatedAt)
	return c, err
}

// number is the decimal that a field of the API states. What people wrote there
// may be more than a decimal ("10.5v2", "½", "10-11"), whose number counts, or none
// ("S1", "SP01", "Extra"): odd is then all of it. It is never an error: one release
// with a strange number must not hide the others.
func number(field *string) (n, odd string) {
	said := oneLine(text(field))
	if n, ok := source.Decimal(said); ok || said == "" {
		return n, ""
	}
	if l := label.Parse("", said); l.Special == "" {
		// Letters before a number count something else: SP01 is not chapter 1.
		n = l.Number
	}
	return n, said
}

// published is the first of some dates that is not in the future: a date that
// is yet to come would put a chapter before all that follow it. None is fine.
func published(subject, id string, now time.Time, dates ...*string) (time.Time, error) {
	for _, d := range dates {
		if text(d) == "" {
			continue
		}
		t, ok := date(*d)
		if !ok {
			return time.Time{}, source.Unparsed(subject, "a date of chapter %s is not understood", id)
		}
		if !t.After(now) {
			return t, nil
		}
	}
	return time.Time{}, nil
}

// date reads the API's dates; one without a zone is in UTC, as the API's are.
func date(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// isLink reports whether a publisher's address is one that may be shown.
func isLink(s string) bool {
	u, err := url.Parse(s)
	return err == nil && len(s) <= 2000 && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
