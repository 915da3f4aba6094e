package reading

import (
	"testing"

	"mangrove/internal/fault"
)

func TestWhatTheSiteSaysOfATitle(t *testing.T) {
	t.Parallel()
	chosen := Settings{Mode: "double", Direction: "ltr", Fit: "width", Background: "paper", Gap: "wide", Cover: "paired"}
	for _, tt := range []struct {
		site                                       string
		mode, direction, underMode, underDirection string
	}{
		{"", "auto", "ltr", "double", "ltr"},
		{"ltr", "auto", "ltr", "double", "ltr"},
		{"rtl", "auto", "rtl", "double", "rtl"},
		{"strip", "strip", "ltr", "strip", "ltr"},
	} {
		d, u := Default(tt.site), chosen.Under(tt.site)
		if d.Mode != tt.mode || d.Direction != tt.direction {
			t.Errorf("%q: nobody chose, and it is %s %s, want %s %s", tt.site, d.Mode, d.Direction, tt.mode, tt.direction)
		}
		if u.Mode != tt.underMode || u.Direction != tt.underDirection || u.Fit != "width" || u.Background != "paper" || u.Gap != "wide" || u.Cover != "paired" {
			t.Errorf("%q: under a choice for every title it is %+v", tt.site, u)
		}
		if d.Check() != nil || u.Check() != nil {
			t.Errorf("%q: a word of our own is not known: %+v, %+v", tt.site, d, u)
		}
	}
}

func TestCheckRefusesOtherWords(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Settings){
		"mode": func(s *Settings) { s.Mode = "scroll" }, "direction": func(s *Settings) { s.Direction = "" },
		"fit": func(s *Settings) { s.Fit = "Both" }, "background": func(s *Settings) { s.Background = "red" },
		"gap": func(s *Settings) { s.Gap = "12" }, "cover": func(s *Settings) { s.Cover = "x" },
	} {
		s := Default("rtl")
		change(&s)
		if err := s.Check(); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v, want it refused", name, err)
		}
	}
}
