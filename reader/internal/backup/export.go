package backup

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"
)

// What a file of Mangrove's says of itself.
const (
	exportFormat  = "mangrove follows and progress"
	exportVersion = 1
)

// Export is Mangrove's own file: what people follow, how far they have read and what
// they put together, by the names that Sites give, so that it outlives database and
// library.
type Export struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Written time.Time `json:"written"`
	People  []Person  `json:"people"`
}

// Person is one person's part of it.
type Person struct {
	Name   string           `json:"name"`
	Series []ExportedSeries `json:"series"`
}

// ExportedSeries is a Series that a person follows, has read in, or put into a
// collection.
type ExportedSeries struct {
	Title    string          `json:"title"`
	Site     string          `json:"site"`
	SeriesID string          `json:"series_id"`
	URL      string          `json:"url,omitempty"`
	Follow   *ExportedFollow `json:"follow,omitempty"`
	Read     []ExportedPlace `json:"read,omitempty"`
	// Collections are the names of the person's own that it stands in.
	Collections []string `json:"collections,omitempty"`
}

// ExportedFollow is the wish to be kept up to date with it.
type ExportedFollow struct {
	Since     time.Time `json:"since"`
	Download  bool      `json:"download"`
	Languages []string  `json:"languages,omitempty"`
}

// ExportedPlace is how far one chapter was read. Page counts from 1.
type ExportedPlace struct {
	Chapter   string    `json:"chapter,omitempty"`
	ChapterID string    `json:"chapter_id"`
	Page      int       `json:"page"`
	Finished  bool      `json:"finished"`
	At        time.Time `json:"at"`
}

// Write writes an export as a person can read it.
func Write(w io.Writer, people []Person, now time.Time) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if people == nil {
		people = []Person{}
	}
	return e.Encode(Export{Format: exportFormat, Version: exportVersion, Written: now.UTC().Truncate(time.Second), People: people})
}

// ReadExport reads a file that Write wrote.
func ReadExport(data []byte) (Export, error) {
	var e Export
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := json.Unmarshal(data, &e); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return e, bad("The file is damaged or ends early: it is no JSON at byte %d.", syntax.Offset)
		}
		return e, bad("The file is not as Mangrove writes it.")
	}
	switch {
	case e.Format != exportFormat:
		return e, bad("This JSON file was not written by Mangrove's Move out.")
	case e.Version < 1 || e.Version > exportVersion:
		return e, bad("The file has version %d; this Mangrove reads version %d. Update Mangrove and try again.", e.Version, exportVersion)
	}
	series, marks := 0, 0
	for _, p := range e.People {
		series += len(p.Series)
		for _, s := range p.Series {
			marks += len(s.Read)
		}
	}
	if series > maxSeries || marks > maxMarks {
		return e, bad("The file lists %d Series and %d chapters; at most %d and %d are read.", series, marks, maxSeries, maxMarks)
	}
	return e, nil
}

// Of is one person's part as a Backup: the one of that name, or the only one.
func (e Export) Of(name string) (Backup, error) {
	for _, p := range e.People {
		if len(e.People) == 1 || strings.EqualFold(p.Name, name) {
			return p.backup(), nil
		}
	}
	return Backup{}, bad("The file holds %s, and nothing of %s.", names(e.People), cmp.Or(name, "nobody"))
}

func names(people []Person) string {
	var out []string
	for _, p := range people {
		out = append(out, text(p.Name, maxText))
	}
	if len(out) == 0 {
		return "nobody"
	}
	return strings.Join(out[:min(len(out), 10)], ", ")
}

func (p Person) backup() Backup {
	out := Backup{Kind: Mangrove}
	for _, s := range p.Series {
		b := Series{
			Title: text(s.Title, maxText), Site: text(s.Site, maxText), SeriesID: text(s.SeriesID, maxText), Source: text(s.Site, maxText),
			Address: text(s.URL, maxAddress), Chapters: len(s.Read),
		}
		if f := s.Follow; f != nil {
			b.Favourite, b.Download, b.AddedAt = true, f.Download, sane(f.Since)
			for _, l := range f.Languages {
				if l = text(l, 35); l != "" && len(b.Languages) < maxGroups {
					b.Languages = append(b.Languages, l)
				}
			}
		}
		for _, name := range s.Collections {
			if name = text(name, maxText); name != "" && len(b.Categories) < maxGroups {
				b.Categories = append(b.Categories, name)
			}
		}
		for _, r := range s.Read {
			number := r.Chapter
			if !isDecimal(number) {
				number = ""
			}
			b.Marks = append(b.Marks, Mark{
				ChapterKey: text(r.ChapterID, maxAddress), Number: number, Page: page(int64(r.Page) - 1), Finished: r.Finished, At: sane(r.At),
			})
		}
		out.Series = append(out.Series, b)
	}
	return out
}

func sane(t time.Time) time.Time {
	if when(t.UnixMilli()).IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// isDecimal reports whether s is a small decimal, as chapters have.
func isDecimal(s string) bool {
	whole, fraction, dotted := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	digits := func(s string, most int) bool { return s != "" && len(s) <= most && strings.Trim(s, "0123456789") == "" }
	return digits(whole, 9) && (!dotted || digits(fraction, 6))
}
