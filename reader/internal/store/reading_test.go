package store

import (
	"context"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mangrove/internal/fault"
	"mangrove/reader/internal/reading"
)

func TestReadingSettings(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := context.Background()
	u := claimed(t, s, "mo")
	apply(t, s, "e", 1, true, chapter(1, "c1", "1", 5))
	expect := func(when string, want reading.Settings, every, ok bool) {
		t.Helper()
		got, isEvery, found, err := s.ReadingSettings(ctx, u.ID, 1)
		if err != nil || isEvery != every || found != ok {
			t.Fatalf("%s: every %v, ok %v, %v; want %v, %v", when, isEvery, found, err, every, ok)
		}
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(reading.Settings{}, "ChangedAt")); d != "" {
			t.Errorf("%s: %s", when, d)
		}
	}
	expect("nothing chosen", reading.Settings{}, false, false)
	save := func(title int64, set reading.Settings) {
		t.Helper()
		saved, err := s.SaveReadingSettings(ctx, u.ID, title, set)
		if err != nil || saved.ChangedAt.IsZero() {
			t.Fatalf("save for %d: %v at %s", title, err, saved.ChangedAt)
		}
	}
	all, own := reading.Default("strip"), reading.Default("rtl")
	save(reading.EveryTitle, reading.Default(""))
	save(reading.EveryTitle, all)
	expect("chosen for every title", all, true, true)
	save(1, reading.Default(""))
	save(1, own)
	expect("chosen for the title", own, false, true)
	if _, err := s.SaveReadingSettings(ctx, u.ID, 99, own); !fault.Is(err, fault.NotFound) {
		t.Errorf("settings of no title: %v", err)
	}
	own.Fit = "cover"
	if _, err := s.SaveReadingSettings(ctx, u.ID, 1, own); !fault.Is(err, fault.Invalid) {
		t.Errorf("an unknown word: %v", err)
	}
}

// The database repeats the words of package reading.
func TestReadingWordsAreThoseOfTheDatabase(t *testing.T) {
	t.Parallel()
	s := open(t)
	for column, words := range map[string][]string{
		"mode": reading.Modes, "direction": reading.Directions, "fit": reading.Fits, "background": reading.Backgrounds,
		"gap": reading.Gaps, "cover": reading.Covers,
	} {
		var check string
		err := s.pool.QueryRow(context.Background(), `SELECT pg_get_constraintdef(oid) FROM pg_constraint
			WHERE conrelid = 'reading_settings'::regclass AND conname = 'reading_settings_' || $1 || '_check'`, column).Scan(&check)
		if err != nil {
			t.Fatalf("%s: %v", column, err)
		}
		var got []string
		for _, m := range regexp.MustCompile(`'(\w+)'::text`).FindAllStringSubmatch(check, -1) {
			got = append(got, m[1])
		}
		if d := cmp.Diff(words, got); d != "" {
			t.Errorf("%s (-package +database):\n%s", column, d)
		}
	}
}
