package store

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/reader/internal/follow"
	"mangrove/reader/internal/scraperclient"
)

func TestFind(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := context.Background()
	u, o := claimed(t, s, "mo"), int64(0)
	first := chapter(1, "c1", "1", 1)
	first.Series.Title, first.Series.NativeTitle, first.Series.Authors = "Café Éclair 100%", "カフェ", []string{"Mø Ångström"}
	apply(t, s, "e1", 1, true, first)
	for id, title := range map[string]string{"w": "Saltwater Witches", "b": `Back\slash_under`} {
		if _, err := s.Follow(ctx, follow.Wish{UserID: u.ID, Key: scraperclient.Key{Site: "sample", SeriesID: id}, Title: title}); err != nil {
			t.Fatal(err)
		}
	}
	cafe, witches, odd := "Café Éclair 100%", "Saltwater Witches", `Back\slash_under`
	for _, tt := range []struct {
		name, query string
		user        int64
		want        []string
	}{
		{"part of a word", "itch", u.ID, []string{witches}},
		{"case", "SALTWATER", u.ID, []string{witches}},
		{"marks left out", "cafe eclair", u.ID, []string{cafe}},
		{"marks put in", "sàltwater", u.ID, []string{witches}},
		{"the native name", "カフェ", u.ID, []string{cafe}},
		{"an author", "angstrom", u.ID, []string{cafe}},
		{"every word counts", "cafe witches", u.ID, nil},
		{"in any order", "witches salt", u.ID, []string{witches}},
		{"a percent sign is itself", "%", u.ID, []string{cafe}},
		{"an underscore is itself", "_", u.ID, []string{odd}},
		{"a backslash is itself", `\`, u.ID, []string{odd}},
		{"a wide backslash", "＼", u.ID, []string{odd}},
		{"a nought byte and broken text", "witch\x00\xff", u.ID, []string{witches}},
		{"nothing but space", " \t ", u.ID, nil},
		{"somebody else's follow", "witches", o, nil},
	} {
		cards, err := s.Find(ctx, tt.user, tt.query)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		var got []string
		for _, c := range cards {
			got = append(got, c.Name)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, d)
		}
	}
}
