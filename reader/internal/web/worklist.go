package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/scraperclient"
)

// worklistPage is how many failing Series stand on one page.
const worklistPage = 100

// worklistQuery is one view of the Worklist. All of it lives in the address, so
// that a view can be kept, sent and come back to.
type worklistQuery struct {
	Site, Outcome, Sort string
	// Age is a word of worklistAges, "" for any.
	Age string
	// Muted shows the muted failures instead of the others.
	Muted bool
	Page  int
}

// failureOutcomes are the words that write a failure row, in the order of the
// filters (POLL-3).
func failureOutcomes() []string { return []string{"not_found", "no_chapter", "unfetchable", "errors"} }

func worklistSorts() []string { return []string{"oldest", "newest", "title"} }

// worklistAge is a least age to filter by.
type worklistAge struct {
	Word  string
	Least time.Duration
}

func worklistAges() []worklistAge {
	const day = 24 * time.Hour
	return []worklistAge{{"day", day}, {"week", 7 * day}, {"month", 30 * day}, {"year", 365 * day}}
}

// least is the least age that the query keeps, 0 for any; ok is false for a word
// that is none.
func (q worklistQuery) least() (d time.Duration, ok bool) {
	for _, a := range worklistAges() {
		if a.Word == q.Age {
			return a.Least, true
		}
	}
	return 0, q.Age == ""
}

// worklistOf reads the query string. What is none of its words is an address
// that does not exist.
func worklistOf(v url.Values) (worklistQuery, error) {
	q := worklistQuery{Site: v.Get("site"), Outcome: v.Get("outcome"), Sort: v.Get("sort"), Age: v.Get("age"), Muted: v.Get("muted") == "1", Page: 1}
	if q.Sort == "" {
		q.Sort = "oldest"
	}
	if (q.Outcome != "" && !slices.Contains(failureOutcomes(), q.Outcome)) || !slices.Contains(worklistSorts(), q.Sort) || len(q.Site) > 512 ||
		(v.Has("muted") && !q.Muted) {
		return q, notFound("a view of the Worklist")
	}
	if _, ok := q.least(); !ok {
		return q, notFound("an age of the Worklist")
	}
	if text := v.Get("page"); text != "" {
		n, err := number(text)
		if err != nil || n > 1<<20 {
			return q, notFound("a page of the Worklist")
		}
		q.Page = int(n)
	}
	return q, nil
}

// values are the query string; what is as always is left out.
func (q worklistQuery) values() url.Values {
	v := url.Values{}
	if q.Site != "" {
		v.Set("site", q.Site)
	}
	if q.Outcome != "" {
		v.Set("outcome", q.Outcome)
	}
	if q.Sort != "oldest" {
		v.Set("sort", q.Sort)
	}
	if q.Age != "" {
		v.Set("age", q.Age)
	}
	if q.Muted {
		v.Set("muted", "1")
	}
	if q.Page > 1 {
		v.Set("page", strconv.Itoa(q.Page))
	}
	return v
}

func (q worklistQuery) address() string {
	if v := q.values(); len(v) > 0 {
		return "/worklist?" + v.Encode()
	}
	return "/worklist"
}

// at is the same view on another page.
func (q worklistQuery) at(page int) worklistQuery {
	q.Page = page
	return q
}

// ask is the query as the scraper reads it.
func (q worklistQuery) ask() scraperclient.WorklistQuery {
	out := scraperclient.WorklistQuery{
		Site: q.Site, Outcome: q.Outcome, Sort: q.Sort, Muted: q.Muted, Offset: (q.Page - 1) * worklistPage, Limit: worklistPage,
	}
	if least, _ := q.least(); least > 0 {
		out.Before = time.Now().Add(-least)
	}
	return out
}

// worklist answers the list of failing Series.
func (s *Server) worklist(w http.ResponseWriter, r *http.Request) error {
	q, err := worklistOf(r.URL.Query())
	if err != nil {
		return err
	}
	v, err := s.worklistView(r.Context(), who(r).ID, q)
	if err != nil {
		return err
	}
	if len(v.Rows) == 0 && q.Page > 1 && !v.Away {
		// Good reads have shortened the list since this address was made.
		return redirect(w, r, q.at(max(1, v.Pages)).address())
	}
	v.Frame = s.frame(r, s.say(r.Context()).T("Worklist"), "worklist")
	live := q.values()
	live.Set("view", "worklist")
	v.Live = "/events?" + live.Encode()
	s.render(w, r, http.StatusOK, "worklist", v)
	return nil
}

// worklistKnown is what a view is made of.
type worklistKnown struct {
	query worklistQuery
	say   tongue
	list  scraperclient.Worklist
	lanes map[string]scraperclient.LaneDetail
	// order keeps the Lanes as the scraper sends them.
	order []string
	cards map[scraperclient.Key]catalog.Card
	// oldest is the one that the bars of all ages are held against.
	oldest scraperclient.Failing
}

// worklistView asks for everything. A scraper that is away is a view too: it
// says so, and since when.
func (s *Server) worklistView(ctx context.Context, userID int64, q worklistQuery) (worklistView, error) {
	k := worklistKnown{query: q, say: s.say(ctx), lanes: map[string]scraperclient.LaneDetail{}, cards: map[scraperclient.Key]catalog.Card{}}
	var err error
	if k.list, err = s.Scraper.ListWorklist(ctx, q.ask()); err != nil {
		return s.worklistAway(q, err)
	}
	lanes, err := s.Scraper.ListLanes(ctx)
	if err != nil {
		return s.worklistAway(q, err)
	}
	for _, l := range lanes.Lanes {
		k.lanes[l.Site] = l
		k.order = append(k.order, l.Site)
	}
	if len(k.list.Items) > 0 {
		k.oldest = k.list.Items[0]
		if q.Sort != "oldest" || q.Page > 1 {
			first := q.at(1)
			first.Sort = "oldest"
			ask := first.ask()
			ask.Limit = 1
			one, err := s.Scraper.ListWorklist(ctx, ask)
			if err != nil {
				return s.worklistAway(q, err)
			}
			if len(one.Items) > 0 {
				k.oldest = one.Items[0]
			}
		}
	}
	cards, err := s.Shelves.Shelf(ctx, userID)
	if err != nil {
		return worklistView{}, err
	}
	for _, c := range cards {
		k.cards[scraperclient.Key{Site: c.Site, SeriesID: c.SeriesID}] = c
	}
	return k.view(time.Now()), nil
}

func (s *Server) worklistAway(q worklistQuery, err error) (worklistView, error) {
	if !unanswered(err) {
		return worklistView{}, err
	}
	return worklistView{Query: q, Away: true}, nil
}
