package declared

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// dateFormat is one way a Site writes days: a layout, or one of the words iso,
// unix, unix_ms and relative.
type dateFormat struct {
	word   string
	layout string
}

// zone is where a Site's clock hangs; nil is UTC.
type zone = *time.Location

// dateTokens are what a format is written with, longest first, and what package
// time calls each.
var dateTokens = [][2]string{
	{"YYYY", "2006"}, {"MMMM", "January"}, {"dddd", "Monday"}, {"MMM", "Jan"}, {"ddd", "Mon"}, {"YY", "06"}, {"MM", "01"}, {"DD", "02"},
	{"HH", "15"}, {"hh", "03"}, {"mm", "04"}, {"ss", "05"}, {"M", "1"}, {"D", "2"}, {"h", "3"}, {"A", "PM"}, {"a", "pm"}, {"Z", "Z07:00"},
}

// parseFormat reads a format such as "D MMMM YYYY".
func parseFormat(s string) (dateFormat, error) {
	switch s {
	case "iso", "unix", "unix_ms", "relative":
		return dateFormat{word: s}, nil
	}
	var layout strings.Builder
	seen := map[string]bool{}
	for rest := s; rest != ""; {
		found := false
		for _, t := range dateTokens {
			if strings.HasPrefix(rest, t[0]) {
				layout.WriteString(t[1])
				rest, found, seen[t[0][:1]] = rest[len(t[0]):], true, true
				break
			}
		}
		if found {
			continue
		}
		if c := rest[0]; (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z' && c != 'T') || (c >= 'a' && c <= 'z') {
			return dateFormat{}, fmt.Errorf("%q: %q is no part of a format; write YYYY, MMMM, MMM, MM, DD, D, HH, mm, ss, or one of iso, unix, unix_ms, relative", s, rest[:1])
		}
		layout.WriteByte(rest[0])
		rest = rest[1:]
	}
	if !seen["Y"] || !seen["M"] || !seen["D"] {
		return dateFormat{}, fmt.Errorf("%q names no year, month or day", s)
	}
	return dateFormat{layout: layout.String()}, nil
}

// ordinal is the ending of "3rd", which no format needs to name.
var ordinal = regexp.MustCompile(`(?i)\b(\d{1,2})(?:st|nd|rd|th)\b`)

// parseDate reads a day or time; the zero time when no format fits: a Site that
// does not say is better than one misread.
func parseDate(s string, formats []dateFormat, in zone, now time.Time) time.Time {
	if in == nil {
		in = time.UTC
	}
	s = ordinal.ReplaceAllString(s, "$1")
	for _, f := range formats {
		if t := f.parse(s, in, now); !t.IsZero() && t.Year() >= 1900 && t.Year() < 2200 {
			return t.UTC()
		}
	}
	return time.Time{}
}

var isoLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05-0700", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly,
}

func (f dateFormat) parse(s string, in zone, now time.Time) time.Time {
	layouts := []string{f.layout}
	switch f.word {
	case "iso":
		layouts = isoLayouts
	case "unix", "unix_ms":
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n <= 0 || n > 1e14 {
			return time.Time{}
		}
		if f.word == "unix_ms" {
			return time.UnixMilli(n)
		}
		return time.Unix(n, 0)
	case "relative":
		return relative(s, in, now)
	}
	for _, l := range layouts {
		t, err := time.ParseInLocation(l, s, in)
		if err != nil {
			continue
		}
		if !strings.Contains(l, ":") {
			// A day is that day everywhere, not an instant in the Site's zone.
			return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
		}
		return t
	}
	return time.Time{}
}

var agoIn = regexp.MustCompile(`(?i)^\s*(an?|\d{1,4})\s+(second|sec|minute|min|hour|hr|day|week|month|year)s?\s+ago`)

// relative reads "3 hours ago", "yesterday" and the like, as exact as they are.
func relative(s string, in zone, now time.Time) time.Time {
	local := now.In(in)
	today := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC)
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "today", "just now", "now":
		return today
	case "yesterday":
		return today.AddDate(0, 0, -1)
	}
	m := agoIn.FindStringSubmatch(s)
	if m == nil {
		return time.Time{}
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		n = 1
	}
	switch strings.ToLower(m[2]) {
	case "second", "sec", "minute", "min":
		return today
	case "hour", "hr":
		l := local.Add(-time.Duration(n) * time.Hour)
		return time.Date(l.Year(), l.Month(), l.Day(), 0, 0, 0, 0, time.UTC)
	case "day":
		return today.AddDate(0, 0, -n)
	case "week":
		return today.AddDate(0, 0, -7*n)
	case "month":
		return today.AddDate(0, -n, 0)
	}
	return today.AddDate(-n, 0, 0)
}
