package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
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
	Page                int
}

// failureOutcomes are the words that write a failure row, in the order of the
// filters (POLL-3).
func failureOutcomes() []string { return []string{"not_found", "no_chapter", "unfetchable", "errors"} }

func worklistSorts() []string { return []string{"oldest", "newest", "title"} }

// worklistOf reads the query string. What is none of its words is an address
// that does not exist.
func worklistOf(v url.Values) (worklistQuery, error) {
	q := worklistQuery{Site: v.Get("site"), Outcome: v.Get("outcome"), Sort: v.Get("sort"), Page: 1}
	if q.Sort == "" {
		q.Sort = "oldest"
	}
	if (q.Outcome != "" && !slices.Contains(failureOutcomes(), q.Outcome)) || !slices.Contains(worklistSorts(), q.Sort) || len(q.Site) > 512 {
		return q, notFound("a view of the Worklist")
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
	return scraperclient.WorklistQuery{
		Site: q.Site, Outcome: q.Outcome, Sort: q.Sort, Offset: (q.Page - 1) * worklistPage, Limit: worklistPage,
	}
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
	v.Frame = s.frame(r, "Worklist", "worklist")
	live := q.values()
	live.Set("view", "worklist")
	v.Live = "/events?" + live.Encode()
	s.render(w, r, http.StatusOK, "worklist", v)
	return nil
}

// worklistKnown is what a view is made of.
type worklistKnown struct {
	query worklistQuery
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
	k := worklistKnown{query: q, lanes: map[string]scraperclient.LaneDetail{}, cards: map[scraperclient.Key]catalog.Card{}}
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

// pollWorklist asks for Forced Polls: of one row, of the selected rows, or of
// all that the view keeps. It is a form, so that it works without script.
func (s *Server) pollWorklist(w http.ResponseWriter, r *http.Request) error {
	if err := s.costlyCall(r); err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	q := backTo(r.PostFormValue("back"))
	texts := r.PostForm["key"]
	mark := ""
	if one := r.PostFormValue("one"); one != "" {
		texts = []string{one}
	}
	var keys []scraperclient.Key
	for _, text := range texts {
		key, err := keyFrom(text)
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}
	if len(keys) == 1 {
		mark = "#" + rowID(keys[0])
	}
	if r.PostForm.Has("all") {
		var err error
		if keys, err = s.failingKeys(r.Context(), q); err != nil {
			return err
		}
		mark = ""
	}
	if len(keys) > scraperclient.MaxPolls {
		return invalid("so many Series at once")
	}
	if len(keys) > 0 {
		if _, err := s.Scraper.RequestPolls(r.Context(), keys); err != nil {
			return err
		}
	}
	return redirect(w, r, q.address()+mark)
}

// failingKeys are the Series that the filters keep, as many as may be asked for
// at once, in the order of the view.
func (s *Server) failingKeys(ctx context.Context, q worklistQuery) ([]scraperclient.Key, error) {
	ask := q.at(1).ask()
	ask.Limit = 500
	var keys []scraperclient.Key
	for len(keys) < scraperclient.MaxPolls {
		list, err := s.Scraper.ListWorklist(ctx, ask)
		if err != nil {
			return nil, err
		}
		for _, i := range list.Items {
			keys = append(keys, i.Series.Key)
		}
		ask.Offset += ask.Limit
		if ask.Offset >= list.Total || len(list.Items) == 0 {
			break
		}
	}
	return keys, nil
}

// backTo reads the view a form came from. Whatever is not a view of the
// Worklist leads to its first.
func backTo(address string) worklistQuery {
	if u, err := url.Parse(safePath(address)); err == nil && u.Path == "/worklist" {
		if q, err := worklistOf(u.Query()); err == nil {
			return q
		}
	}
	return worklistQuery{Sort: "oldest", Page: 1}
}

// A Series in a form is its key with both parts escaped.
func keyText(key scraperclient.Key) string {
	return url.PathEscape(key.Site) + "/" + url.PathEscape(key.SeriesID)
}

func keyFrom(text string) (scraperclient.Key, error) {
	site, series, ok := strings.Cut(text, "/")
	var key scraperclient.Key
	var err error
	if key.Site, err = url.PathUnescape(site); ok && err == nil {
		key.SeriesID, err = url.PathUnescape(series)
	}
	if !ok || err != nil || key.Site == "" || key.SeriesID == "" || len(text) > 4096 {
		return key, invalid("a Series")
	}
	return key, nil
}
