// Package reading says how a person wants the pages of a title shown (E1): the
// words there are for it and what stands when nobody chose. It is kept for each
// person and title, so that every device shows a title the same way. It refuses
// words it does not know; what belongs to one screen, as its brightness does,
// stays on the device and is not here.
package reading

import (
	"context"
	"slices"
	"time"

	"mangrove/internal/fault"
)

// The words, in the order in which they are offered. The database repeats them.
var (
	// Modes: auto is single or double by the width of the window; vertical is one
	// page at a time from top to bottom; strip is all of them below each other.
	Modes = []string{"auto", "single", "double", "vertical", "strip"}
	// Directions in which pages follow each other.
	Directions = []string{"ltr", "rtl"}
	// Fits of a page in the window.
	Fits = []string{"both", "width", "height", "original"}
	// Backgrounds beside the pages.
	Backgrounds = []string{"black", "grey", "paper", "white"}
	// Gaps between the pages of a strip.
	Gaps = []string{"none", "narrow", "wide"}
	// Covers: the first page stands alone in double page, or beside the second.
	Covers = []string{"alone", "paired"}
)

// Settings are one person's for one title. Each field is a word of its list.
type Settings struct {
	Mode       string `json:"mode"`
	Direction  string `json:"dir"`
	Fit        string `json:"fit"`
	Background string `json:"bg"`
	Gap        string `json:"gap"`
	Cover      string `json:"cover"`
	// ChangedAt is when they were saved, zero for what nobody chose.
	ChangedAt time.Time `json:"-"`
}

// Default is what is shown when nobody chose; direction is the Site's word for
// the title: "ltr", "rtl", "strip" or "".
func Default(direction string) Settings {
	s := Settings{Mode: "auto", Direction: "ltr", Fit: "both", Background: "black", Gap: "none", Cover: "alone"}
	switch direction {
	case "rtl":
		s.Direction = direction
	case "strip":
		s.Mode = direction
	}
	return s
}

// Under is a person's choice for every title as it applies to one: whether pages
// run right to left, or are a strip, is the title's own.
func (s Settings) Under(direction string) Settings {
	if direction == "rtl" || direction == "ltr" {
		s.Direction = direction
	}
	if direction == "strip" {
		s.Mode = direction
	}
	return s
}

// Check answers fault.Invalid for a word that is not known.
func (s Settings) Check() error {
	for _, f := range []struct {
		name, word string
		known      []string
	}{
		{"mode", s.Mode, Modes}, {"direction", s.Direction, Directions}, {"fit", s.Fit, Fits},
		{"background", s.Background, Backgrounds}, {"gap", s.Gap, Gaps}, {"cover", s.Cover, Covers},
	} {
		if !slices.Contains(f.known, f.word) {
			return fault.Newf(fault.Invalid, "check", "reading settings", "%s %q", f.name, f.word)
		}
	}
	return nil
}

// EveryTitle is the title id of what a person chose for every title.
const EveryTitle = 0

// Store keeps settings.
type Store interface {
	// ReadingSettings answers what stands for one title: its own, or else those for
	// every title (every is true then); ok is false when the person chose neither.
	ReadingSettings(ctx context.Context, userID, titleID int64) (s Settings, every, ok bool, err error)
	// SaveReadingSettings keeps settings for a title or for EveryTitle and answers
	// them with their time; fault.NotFound when there is no such title.
	SaveReadingSettings(ctx context.Context, userID, titleID int64, s Settings) (Settings, error)
}
