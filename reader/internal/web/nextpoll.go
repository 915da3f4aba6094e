package web

import (
	"slices"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// nextPollWhy says why the next Poll is when it is (A15): the ordinary interval,
// or rarer because the Series releases rarely.
func (t tongue) nextPollWhy(st *scraperclient.State) string {
	switch st.NextPollReason {
	case "interval":
		if st.Lane != nil && st.Lane.Interval > 0 {
			return t.everyWords(st.Lane.Interval)
		}
		return ""
	case "releases":
		if every := t.rhythm(st.Chapters); every != "" {
			return t.T("read less often: it releases about %s", every)
		}
		return t.T("read less often: it releases rarely")
	}
	return ""
}

// rhythm words how far apart the chapters lie by their dates, "" when too few
// have one. Chapters of the same hour are one release.
func (t tongue) rhythm(chapters []scraperclient.Chapter) string {
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
		return t.T("every day")
	case days < 6:
		return t.T("every %d days", days)
	case days <= 8:
		return t.T("every week")
	case days <= 27:
		return t.T("every %d weeks", (days+3)/7)
	case days <= 45:
		return t.T("every month")
	}
	return t.T("every %d months", (days+15)/30)
}
