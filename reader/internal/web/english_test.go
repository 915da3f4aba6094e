package web

import (
	"time"

	"mangrove/reader/internal/scraperclient"
)

// What the pages say in English, for tests that compare it.
var english tongue

func Clock(t, now time.Time) string { return english.clock(t, now) }

func Moment(t, now time.Time) string { return english.moment(t, now) }

func dated(t, now time.Time) string { return english.dated(t, now) }

func span(d time.Duration) string { return english.span(d) }

func seconds(d time.Duration) string { return english.seconds(d) }

func failureWords(f *scraperclient.Failure, now time.Time) pill { return english.failureWords(f, now) }

func laneTrouble(l *scraperclient.Lane, now time.Time) (pill, bool) {
	return english.laneTrouble(l, now)
}

func jobWords(j *scraperclient.Job, now time.Time) pill { return english.jobWords(j, now) }

func circuitWords(l scraperclient.Lane, now time.Time) pill { return english.circuitWords(l, now) }

func everyWords(d time.Duration) string { return english.everyWords(d) }
