package rpc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/rpc"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/mangadex"
	"mangrove/scraper/internal/source/sample"
)

func TestRecogniseSeries(t *testing.T) {
	t.Parallel()
	md, err := mangadex.New(mangadex.Config{})
	if err != nil {
		t.Fatal(err)
	}
	sm, err := sample.Start("http://sample.example")
	if err != nil {
		t.Fatal(err)
	}
	server := &rpc.Server{Adapters: source.NewRegistry(md, sm)}
	const id = "a96676e5-8ae2-425e-b549-7f15dd34a6d8"
	ask := func(series ...*scraperv1.ForeignSeries) ([]*scraperv1.RecognisedSeries, error) {
		got, err := server.RecogniseSeries(t.Context(), &scraperv1.RecogniseSeriesRequest{Series: series})
		return got.GetSeries(), err
	}
	for _, c := range []struct{ source, address, want string }{
		{"MangaDex", "/manga/" + id, "read mangadex " + id + " https://mangadex.org/title/" + id + " MangaDex"},
		{"MANGADEX", "https://mangadex.org/title/" + id + "/a-name", "read mangadex " + id + " https://mangadex.org/title/" + id + " MangaDex"},
		{"Some App's name", "https://mangadex.org/title/" + id, "read mangadex " + id + " https://mangadex.org/title/" + id + " MangaDex"},
		{"manga dex", "/other/" + id, "unread    MangaDex"},
		{"MangaDex", "", "unread    MangaDex"},
		// A path says nothing of its host: another Site's is not tried.
		{"MangaFire", "/manga/" + id, "no-adapter    "},
		{"", "/manga/" + id, "no-adapter    "},
		{"Somewhere", "https://somewhere.example/1", "no-adapter    "},
	} {
		got, err := ask(&scraperv1.ForeignSeries{Source: c.source, Address: c.address})
		if err != nil || len(got) != 1 {
			t.Fatalf("%v: %d answers, %v", c, len(got), err)
		}
		g := got[0]
		if d := cmp.Diff(c.want, fmt.Sprint(g.GetWord(), " ", g.GetKey().GetSite(), " ", g.GetKey().GetSeriesId(), " ", g.GetUrl(), " ", g.GetSiteName())); d != "" {
			t.Errorf("%v: %s", c, d)
		}
	}
	for name, series := range map[string][]*scraperv1.ForeignSeries{
		"a long address": {{Address: strings.Repeat("x", 4097)}}, "a long name": {{Source: strings.Repeat("x", 513)}},
		"too many": make([]*scraperv1.ForeignSeries, 1001),
	} {
		if _, err := ask(series...); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// A library that moves in is thousands of wishes in one message; those without an
// adapter are named and make nothing known.
func TestThousandsOfFollowsInOneMessage(t *testing.T) {
	e := setup(t)
	const read, unread = 5_000, 1_590
	request := &scraperv1.ApplyFollowsRequest{Revision: 1}
	for i := range read + unread {
		k := &scraperv1.SeriesKey{Site: sample.Key, SeriesId: fmt.Sprint("s", i)}
		if i >= read {
			k.Site = "mihon:Some Site"
		}
		request.Follows = append(request.Follows, &scraperv1.Follow{Key: k, Title: fmt.Sprint("Series ", i)})
	}
	got, err := e.ApplyFollows(t.Context(), request)
	if err != nil || len(got.GetUnknown()) != unread {
		t.Fatalf("%d are unknown, %v", len(got.GetUnknown()), err)
	}
	var series int
	if err := e.pool.QueryRow(t.Context(), "SELECT count(*) FROM series WHERE origin = 'followed' AND title = 'Series ' || substr(series_id, 2)").Scan(&series); err != nil || series != read {
		t.Errorf("%d Series are followed, %v", series, err)
	}
	// One that cannot be stored takes the whole message back.
	request.Revision, request.Follows[7].Languages = 2, []string{"\xff"}
	if _, err := e.ApplyFollows(t.Context(), request); status.Code(err) == codes.OK {
		t.Error("what cannot be stored was stored")
	}
	if at, err := e.db.Standing(t.Context()); err != nil || at.Follows != 1 {
		t.Errorf("the revision is %d, %v", at.Follows, err)
	}
}
