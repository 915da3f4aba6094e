package store

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"mangrove/scraper/internal/follow"
	"mangrove/scraper/internal/source"
)

// A hundred changes of the follows, told as single changes and whole sets, in any
// order, some lost, some twice: once the newest whole set has arrived, whenever
// that was, its set is what is followed (OWN-3).
func TestFollowsEndInTheNewestSet(t *testing.T) {
	checks(t, "30")
	s := setup(t)
	conn := s.admin(t)
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		if _, err := conn.Exec(ctx, "DELETE FROM scraper.series; UPDATE scraper.follows SET revision = 0"); err != nil {
			t.Fatal(err)
		}
		placed := func(id string) follow.Placed {
			return follow.Placed{Wish: follow.Wish{Key: source.Key{Site: key.Site, SeriesID: id}, URL: "http://x/" + id}}
		}
		whole := func(revision int64, set map[string]bool) follow.Change {
			c := follow.Change{Revision: revision, Whole: true}
			for id := range set {
				c.Follows = append(c.Follows, placed(id))
			}
			return c
		}
		set := map[string]bool{}
		var messages []follow.Change
		const last = 100
		for revision := int64(1); revision <= last; revision++ {
			id := fmt.Sprint("s", rapid.IntRange(1, 12).Draw(t, "series"))
			c := follow.Change{Revision: revision}
			if set[id] && len(set) > 1 {
				delete(set, id)
				c.Unfollowed = []source.Key{{Site: key.Site, SeriesID: id}}
			} else {
				set[id] = true
				c.Follows = []follow.Placed{placed(id)}
			}
			messages = append(messages, c)
			if rapid.IntRange(0, 9).Draw(t, "whole too") == 0 {
				messages = append(messages, whole(revision, set))
			}
		}
		messages = append(messages, whole(last, set))
		newest := len(messages) - 1
		order := rapid.Permutation(indexes(len(messages))).Draw(t, "order")
		lost := rapid.SliceOfN(rapid.IntRange(0, newest-1), 0, 40).Draw(t, "lost")
		twice := rapid.SliceOfN(rapid.IntRange(0, newest), 0, 20).Draw(t, "twice")
		now := time.Now()
		for _, i := range append(order, twice...) {
			if slices.Contains(lost, i) {
				continue
			}
			if _, err := s.ApplyFollows(ctx, messages[i], now); err != nil {
				t.Fatal(err)
			}
		}
		var want []string
		for id := range set {
			want = append(want, id)
		}
		rows, err := conn.Query(ctx, "SELECT series_id FROM scraper.series WHERE origin = 'followed' AND absent_since IS NULL")
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
}

func indexes(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}
