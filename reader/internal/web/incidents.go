package web

import (
	"context"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"mangrove/reader/internal/scraperclient"
)

// incidentsPage is how many incidents stand on one page.
const incidentsPage = 50

// incidentsQuery is one view of the incidents: those that wait, or all.
type incidentsQuery struct {
	All  bool
	Page int
}

func incidentsOf(v url.Values) (incidentsQuery, error) {
	q := incidentsQuery{Page: 1}
	switch v.Get("show") {
	case "":
	case "all":
		q.All = true
	default:
		return q, notFound("a view of the incidents")
	}
	if text := v.Get("page"); text != "" {
		n, err := number(text)
		if err != nil || n > 1000 {
			return q, notFound("a page of the incidents")
		}
		q.Page = int(n)
	}
	return q, nil
}

func (q incidentsQuery) values() url.Values {
	v := url.Values{}
	if q.All {
		v.Set("show", "all")
	}
	if q.Page > 1 {
		v.Set("page", strconv.Itoa(q.Page))
	}
	return v
}

func (q incidentsQuery) address() string {
	if v := q.values(); len(v) > 0 {
		return "/incidents?" + v.Encode()
	}
	return "/incidents"
}

func incidentAddress(id int64) string { return "/incidents/" + strconv.FormatInt(id, 10) }

// incidents answers the list of what went wrong.
func (s *Server) incidents(w http.ResponseWriter, r *http.Request) error {
	q, err := incidentsOf(r.URL.Query())
	if err != nil {
		return err
	}
	v, err := s.incidentsView(r.Context(), q)
	if err != nil {
		return err
	}
	if len(v.Rows) == 0 && q.Page > 1 && !v.Away {
		return redirect(w, r, incidentsQuery{q.All, 1}.address())
	}
	v.Frame = s.frame(r, s.say(r.Context()).T("Incidents"), "incidents")
	live := q.values()
	live.Set("view", "incidents")
	v.Live = "/events?" + live.Encode()
	s.render(w, r, http.StatusOK, "incidents", v)
	return nil
}

func (s *Server) incidentsView(ctx context.Context, q incidentsQuery) (incidentsView, error) {
	list, err := s.Scraper.ListIncidents(ctx, !q.All, (q.Page-1)*incidentsPage, incidentsPage)
	if unanswered(err) {
		return incidentsView{Away: true}, nil
	}
	if err != nil {
		return incidentsView{}, err
	}
	return s.say(ctx).incidentsIn(q, list, time.Now()), nil
}

// incidentsPieces draws the list anew.
func (s *Server) incidentsPieces(ctx context.Context, values url.Values, out []piece) ([]piece, error) {
	q, err := incidentsOf(values)
	if err != nil {
		return nil, err
	}
	v, err := s.incidentsView(ctx, q)
	if err != nil {
		return nil, err
	}
	v.Frame.Scraper = s.say(ctx).scraperLine(s.Scraper.Presence(), time.Now())
	return s.drawPiece(ctx, out, "incidents", "incident-list", v)
}

// incident answers one incident: what was read, what was decided, what helps.
func (s *Server) incident(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r.PathValue("incident"))
	if err != nil {
		return err
	}
	in, err := s.Scraper.GetIncident(r.Context(), id)
	say := s.say(r.Context())
	title := say.T("Incident %s", strconv.FormatInt(id, 10))
	v := incidentView{Away: true, ID: id, Heading: title}
	switch {
	case unanswered(err):
	case err != nil:
		return err
	default:
		v = say.incidentIn(in, time.Now())
		v.Href, v.Cover = s.seriesOf(r, in)
	}
	v.Frame = s.frame(r, title, "incidents")
	v.Frame.Back = "/incidents"
	s.render(w, r, http.StatusOK, "incident", v)
	return nil
}

// seriesOf is where the Series of an incident is shown, and its cover; "" each
// where there is none.
func (s *Server) seriesOf(r *http.Request, in scraperclient.IncidentDetail) (href, cover string) {
	if in.Key.SeriesID == "" {
		return "", ""
	}
	if t, err := s.Shelves.TitleByKey(r.Context(), in.Key); err == nil {
		return seriesAddress(t.ID), siteCoverAddress(in.Key)
	}
	if in.Title == "" {
		return "", ""
	}
	return siteAddress(in.Key), siteCoverAddress(in.Key)
}

// incidentBundle hands the bundle over as a file.
func (s *Server) incidentBundle(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r.PathValue("incident"))
	if err != nil {
		return err
	}
	b, err := s.Scraper.SaveIncident(r.Context(), id)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": "incident-" + strconv.FormatInt(id, 10) + ".zip"}))
	h.Set("Content-Length", strconv.Itoa(len(b.Zip)))
	if r.Method != http.MethodHead {
		_, err = w.Write(b.Zip)
	}
	return err
}

// incidentSeen marks an incident as seen to by a person.
func (s *Server) incidentSeen(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r.PathValue("incident"))
	if err != nil {
		return err
	}
	if err := s.Scraper.ResolveIncident(r.Context(), id); err != nil {
		return err
	}
	return redirect(w, r, incidentAddress(id))
}
