package web

import (
	"slices"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// nextPollWhy says why the next Poll is when it is (A15): the ordinary interval,
// or rarer because the Series releases rarely.
func nextPollWhy(st *scraperclient.State) string {
	switch st.NextPollReason {
	case "interval":
		if st.Lane != nil && st.Lane.Interval > 0 {
			return everyWords(st.Lane.Interval)
		}
		return ""
	case "releases":
		if every := rhythm(st.Chapters); every != "" {
			return "read less often: it releases about " + every
		}
		return "read less often: it releases rarely"
	}
	return ""
}

// rhythm words how far apart the chapters lie by their dates, "" when too few
// have one. Chapters of the same hour are one release.
func rhythm(chapters []scraperclient.Chapter) string {
	var at []time.Time
	for _, c := range chapters {
		if !c.PublishedAt.IsZero() {
			at = append(at, c.PublishedAt)
		}
	}
	slices.SortFunc(at, time.Time.Compare)
	at = slices.CompactFunc(at, func(a, b time.Time) bool { return b.Sub(a).Abs() < time.Hour })
	if len(at) > 12 {
		at = at[len(at)-12:]
	}
	if len(at) < 4 {
		return ""
	}
	var gaps []time.Duration
	for i := 1; i < len(at); i++ {
		gaps = append(gaps, at[i].Sub(at[i-1]))
	}
	slices.Sort(gaps)
	days := int((gaps[len(gaps)/2] + 12*time.Hour) / (24 * time.Hour))
	switch {
	case days <= 1:
		return "every day"
	case days < 6:
		return "every " + count(days, "day", "days")
	case days <= 8:
		return "every week"
	case days <= 27:
		return "every " + few((days+3)/7) + " weeks"
	case days <= 45:
		return "every month"
	}
	return "every " + few((days+15)/30) + " months"
}

// few words a small number.
func few(n int) string {
	if words := []string{"", "", "two", "three", "four", "five", "six"}; n >= 2 && n < len(words) {
		return words[n]
	}
	return thousands(n)
}
