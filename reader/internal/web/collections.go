package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"mangrove/internal/fault"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/collection"
	"mangrove/reader/internal/pages"
	"mangrove/reader/internal/scraperclient"
)

// Collecting is what people do with collections. runs says that the person runs
// Mangrove, and may change the shared ones too.
type Collecting interface {
	Collections(ctx context.Context, userID int64) ([]collection.Collection, error)
	Collection(ctx context.Context, userID, id int64) (collection.Collection, error)
	InCollections(ctx context.Context, userID int64, runs bool, series scraperclient.Key) ([]collection.Membership, error)
	NewCollection(ctx context.Context, userID int64, name string, series ...scraperclient.Key) (int64, error)
	FillCollection(ctx context.Context, userID int64, runs bool, id int64, series ...scraperclient.Key) error
	TakeFromCollection(ctx context.Context, userID int64, runs bool, id int64, series ...scraperclient.Key) ([]collection.Spot, error)
	PutBackIntoCollection(ctx context.Context, userID int64, runs bool, id int64, stood []collection.Spot) error
	MoveInCollection(ctx context.Context, userID int64, runs bool, id int64, series scraperclient.Key, up bool) error
	RenameCollection(ctx context.Context, userID int64, runs bool, id int64, name string) error
	ShareCollection(ctx context.Context, userID int64, runs bool, id int64, shared bool) error
	CoverCollection(ctx context.Context, userID int64, runs bool, id int64, digest string) error
	DeleteCollection(ctx context.Context, userID int64, runs bool, id int64) error
	SetTitlesFinished(ctx context.Context, userID int64, series []scraperclient.Key, finished bool) error
	LimitGuest(ctx context.Context, userID int64, collections []int64) error
	GuestLimits(ctx context.Context) (map[int64][]int64, error)
}

// collectionCard is one collection on the page of all.
type collectionCard struct {
	Href, Name, Meta string
	// Cover is the one that was uploaded; without it the first titles' stand there.
	Cover  string
	Covers []string
	Unread int
}

type collectionsView struct {
	Frame
	Cards []collectionCard
	// Problem is what was wrong with the name that was Given.
	Problem, Given string
}

// collectionView is one collection: its titles as the library shows them.
type collectionView struct {
	libraryView
	ID             int64
	Name, Meta     string
	Path, CoverNow string
	// Changes is true for those who may change it, Shares for those who may share it.
	Changes, Shares, Shared bool
	// Ordering shows the titles with what moves them.
	Ordering bool
	Order    string
	Problem  string
	// Taken are the titles that were just taken out, where they stood.
	Taken []takenTitle
}

// takenTitle is one title that was taken out of a collection, for the form that puts it
// back.
type takenTitle struct {
	Key      string
	Position int
}

func collectionAddress(id int64) string { return "/collections/" + strconv.FormatInt(id, 10) }

func isCollection(path string) bool {
	rest, ok := strings.CutPrefix(path, "/collections/")
	_, err := number(rest)
	return ok && err == nil
}

func runs(u account.User) bool { return u.Role == account.Administrator }

func mayChange(u account.User, c collection.Collection) bool {
	return u.Role != account.Guest && (c.Mine || c.Shared && runs(u))
}

func (t tongue) cardOfCollection(c collection.Collection) collectionCard {
	card := collectionCard{Href: collectionAddress(c.ID), Name: c.Name, Meta: t.collectionMeta(c), Unread: c.Unread}
	if c.Cover != "" {
		card.Cover = collectionCover(c)
		return card
	}
	for _, f := range c.First {
		card.Covers = append(card.Covers, titleCover(f.TitleID, f.Version)+"&w=320")
	}
	return card
}

func collectionCover(c collection.Collection) string {
	return collectionAddress(c.ID) + "/cover?v=" + short(c.Cover)
}

func (t tongue) collectionMeta(c collection.Collection) string {
	text := t.T("%d titles", c.Titles)
	if c.Unread > 0 {
		text = t.T("%s, %s", text, t.T("%d unread", c.Unread))
	}
	switch {
	case c.Shared && c.Mine:
		text += " · " + t.T("shared with everybody")
	case c.Shared && c.By != "":
		text += " · " + t.T("shared by %s", c.By)
	}
	return text
}

func (s *Server) collections(w http.ResponseWriter, r *http.Request) error {
	return s.showCollections(w, r, http.StatusOK, "", "")
}

func (s *Server) showCollections(w http.ResponseWriter, r *http.Request, code int, problem, given string) error {
	list, err := s.Shelves.Collections(r.Context(), who(r).ID)
	if err != nil {
		return err
	}
	v := collectionsView{Frame: s.frame(r, s.say(r.Context()).T("Collections"), "collections"), Problem: problem, Given: given}
	for _, c := range list {
		v.Cards = append(v.Cards, s.say(r.Context()).cardOfCollection(c))
	}
	s.render(w, r, code, "collections", v)
	return nil
}

func (s *Server) newCollection(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	id, err := s.Shelves.NewCollection(r.Context(), who(r).ID, r.PostFormValue("name"))
	if fault.Is(err, fault.Invalid) {
		return s.showCollections(w, r, http.StatusUnprocessableEntity, s.say(r.Context()).nameTaken(), r.PostFormValue("name"))
	}
	if err != nil {
		return err
	}
	return redirect(w, r, collectionAddress(id))
}

func (t tongue) nameTaken() string {
	return t.T("A name has 1 to %d characters, and is not that of another collection of yours.", collection.MaxName)
}

// collectionOf is the one that a request names, if the person sees it.
func (s *Server) collectionOf(r *http.Request) (collection.Collection, error) {
	id, err := number(r.PathValue("collection"))
	if err != nil {
		return collection.Collection{}, err
	}
	return s.Shelves.Collection(r.Context(), who(r).ID, id)
}

func (s *Server) collection(w http.ResponseWriter, r *http.Request) error {
	return s.showCollection(w, r, http.StatusOK, "")
}

// showCollection shows a collection: with what was wrong, and with what was just taken out.
func (s *Server) showCollection(w http.ResponseWriter, r *http.Request, code int, problem string, taken ...collection.Spot) error {
	c, err := s.collectionOf(r)
	if err != nil {
		return err
	}
	q, err := collectionQuery(r.URL.Query(), c.ID)
	if err != nil {
		return err
	}
	u := who(r)
	v := collectionView{
		ID: c.ID, Name: c.Name, Meta: s.say(r.Context()).collectionMeta(c), Path: collectionAddress(c.ID), Changes: mayChange(u, c), Shares: runs(u), Shared: c.Shared,
		Problem: problem, Ordering: r.URL.Query().Get("order") == "1",
	}
	v.Ordering = v.Ordering && v.Changes
	if c.Cover != "" {
		v.CoverNow = collectionCover(c)
	}
	ask := q.ask()
	if v.Ordering {
		ask.Limit = collection.MaxSeries
	}
	if v.Block, _, err = s.block(r.Context(), u.ID, q, &ask); err != nil {
		return err
	}
	v.Grid, v.Rows = q.with(func(q *libraryQuery) { q.List = false }).address(), q.with(func(q *libraryQuery) { q.List = true }).address()
	v.List, v.Way, v.Order = q.List, q.address(), v.Path+"?order=1"
	v.Start, v.Begun = q.with(func(*libraryQuery) {}).address(), q.From.Set
	v.Said = s.say(r.Context()).librarySaid(r.URL.Query().Get("said"))
	for _, t := range taken {
		v.Taken = append(v.Taken, takenTitle{keyText(scraperclient.Key{Site: t.Site, SeriesID: t.SeriesID}), t.Position})
	}
	if v.Changes {
		v.TakeOut = v.Path
	}
	v.Frame = s.frame(r, c.Name, "collections")
	v.Frame.Back = "/collections"
	if !v.Guest {
		if v.Collecting, err = s.collecting(r.Context(), u); err != nil {
			return err
		}
	}
	s.render(w, r, code, "collection", v)
	return nil
}

// collectionQuery is a view of a collection: in its order, as covers or rows.
func collectionQuery(v url.Values, id int64) (libraryQuery, error) {
	from, err := shelfPlace(v.Get("from"))
	return libraryQuery{Sort: catalog.SortCollection, Collection: id, List: v.Get("view") == "list", From: from}, err
}

func (s *Server) collectionPart(w http.ResponseWriter, r *http.Request) error {
	c, err := s.collectionOf(r)
	if err != nil {
		return err
	}
	q, err := collectionQuery(r.URL.Query(), c.ID)
	if err != nil {
		return err
	}
	return s.part(w, r, q)
}

// changeCollection renames, shares or deletes a collection, moves a title in it or
// takes its cover away.
func (s *Server) changeCollection(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	c, err := s.collectionOf(r)
	if err != nil {
		return err
	}
	ctx, u, to := r.Context(), who(r), collectionAddress(c.ID)
	switch r.PostFormValue("act") {
	case "take":
		return s.takeOut(w, r, c)
	case "put":
		return s.putBack(w, r, c)
	case "rename":
		err = s.Shelves.RenameCollection(ctx, u.ID, runs(u), c.ID, r.PostFormValue("name"))
		if fault.Is(err, fault.Invalid) {
			return s.showCollection(w, r, http.StatusUnprocessableEntity, s.say(r.Context()).nameTaken())
		}
	case "share", "keep":
		if !runs(u) {
			return notFound("an action")
		}
		err = s.Shelves.ShareCollection(ctx, u.ID, runs(u), c.ID, r.PostFormValue("act") == "share")
	case "uncover":
		err = s.Shelves.CoverCollection(ctx, u.ID, runs(u), c.ID, "")
	case "delete":
		to = "/collections"
		err = s.Shelves.DeleteCollection(ctx, u.ID, runs(u), c.ID)
	case "up", "down":
		to += "?order=1"
		var key scraperclient.Key
		if key, err = keyFrom(r.PostFormValue("key")); err == nil {
			err = s.Shelves.MoveInCollection(ctx, u.ID, runs(u), c.ID, key, r.PostFormValue("act") == "up")
		}
	default:
		return notFound("an action")
	}
	if err != nil {
		return err
	}
	return redirect(w, r, to)
}

// takeOut takes the selected titles out of a collection, and shows it with a way back.
func (s *Server) takeOut(w http.ResponseWriter, r *http.Request, c collection.Collection) error {
	if !mayChange(who(r), c) {
		return notFound("a collection")
	}
	keys, err := selectedTitles(r)
	if err != nil {
		return err
	}
	stood, err := s.Shelves.TakeFromCollection(r.Context(), who(r).ID, runs(who(r)), c.ID, keys...)
	if err != nil {
		return err
	}
	return s.showCollection(w, r, http.StatusOK, "", stood...)
}

// putBack puts titles that were taken out where they stood.
func (s *Server) putBack(w http.ResponseWriter, r *http.Request, c collection.Collection) error {
	keys, err := selectedTitles(r)
	if err != nil {
		return err
	}
	places := r.PostForm["at"]
	if len(places) != len(keys) {
		return invalid("a form")
	}
	stood := make([]collection.Spot, len(keys))
	for i, key := range keys {
		at, err := strconv.Atoi(places[i])
		if err != nil {
			return invalid("a form")
		}
		stood[i] = collection.Spot{Site: key.Site, SeriesID: key.SeriesID, Position: at}
	}
	if err := s.Shelves.PutBackIntoCollection(r.Context(), who(r).ID, runs(who(r)), c.ID, stood); err != nil {
		return err
	}
	return redirect(w, r, saying(collectionAddress(c.ID), "put", len(stood)))
}

// uploadCover makes a collection's cover of a picture from outside.
func (s *Server) uploadCover(w http.ResponseWriter, r *http.Request) error {
	if err := s.costlyCall(r); err != nil {
		return err
	}
	c, err := s.collectionOf(r)
	if err != nil {
		return err
	}
	if !mayChange(who(r), c) {
		return notFound("a collection")
	}
	file, _, err := r.FormFile("cover")
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return s.showCollection(w, r, http.StatusRequestEntityTooLarge, s.say(r.Context()).T("A cover has at most %d MiB.", pages.MaxUpload>>20))
		}
		return s.showCollection(w, r, http.StatusUnprocessableEntity, s.say(r.Context()).T("Choose a picture first."))
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, pages.MaxUpload+1))
	if err != nil {
		return invalid("a picture")
	}
	digest, err := s.Uploads.Keep(r.Context(), data)
	if fault.Is(err, fault.Page) {
		return s.showCollection(w, r, http.StatusUnprocessableEntity, s.say(r.Context()).T("This is no picture that can be shown: it takes whole JPEG, PNG, GIF, WebP and AVIF."))
	}
	if err != nil {
		return err
	}
	if err := s.Shelves.CoverCollection(r.Context(), who(r).ID, runs(who(r)), c.ID, digest); err != nil {
		return err
	}
	return redirect(w, r, collectionAddress(c.ID))
}

func (s *Server) collectionCover(w http.ResponseWriter, r *http.Request) error {
	c, err := s.collectionOf(r)
	if err != nil {
		return err
	}
	if c.Cover == "" {
		return notFound("a cover")
	}
	return s.Uploads.Serve(w, r, c.Cover)
}

// collecting are the collections that a person may put Series into.
func (s *Server) collecting(ctx context.Context, u account.User) (out []choiceOf, err error) {
	list, err := s.Shelves.Collections(ctx, u.ID)
	for _, c := range list {
		if mayChange(u, c) {
			out = append(out, choiceOf{Value: strconv.FormatInt(c.ID, 10), Label: c.Name})
		}
	}
	return out, err
}

// inCollections are the collections that a person may put a Series into, with those
// chosen that it is in.
func (s *Server) inCollections(ctx context.Context, u account.User, key scraperclient.Key) (out []choiceOf, err error) {
	list, err := s.Shelves.InCollections(ctx, u.ID, runs(u), key)
	for _, m := range list {
		out = append(out, choiceOf{Value: strconv.FormatInt(m.ID, 10), Label: m.Name, Chosen: m.In})
	}
	return out, err
}

// collect puts Series into the collection that a form names, or into a new one.
func (s *Server) collect(r *http.Request, into string, keys []scraperclient.Key) error {
	u := who(r)
	if into == "new" {
		_, err := s.Shelves.NewCollection(r.Context(), u.ID, r.PostFormValue("name"), keys...)
		return err
	}
	id, err := number(into)
	if err != nil {
		return err
	}
	return s.Shelves.FillCollection(r.Context(), u.ID, runs(u), id, keys...)
}

// collectSeries puts one Series into collections and takes it out of others, as the
// boxes of its page say.
func (s *Server) collectSeries(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	u, key := who(r), keyOf(r)
	list, err := s.Shelves.InCollections(r.Context(), u.ID, runs(u), key)
	if err != nil {
		return err
	}
	chosen := map[string]bool{}
	for _, id := range r.PostForm["collection"] {
		chosen[id] = true
	}
	for _, m := range list {
		switch in := chosen[strconv.FormatInt(m.ID, 10)]; {
		case in && !m.In:
			err = s.Shelves.FillCollection(r.Context(), u.ID, runs(u), m.ID, key)
		case !in && m.In:
			_, err = s.Shelves.TakeFromCollection(r.Context(), u.ID, runs(u), m.ID, key)
		}
		if err != nil {
			return err
		}
	}
	if name := r.PostFormValue("name"); strings.TrimSpace(name) != "" {
		if _, err := s.Shelves.NewCollection(r.Context(), u.ID, name, key); err != nil {
			return err
		}
	}
	return redirect(w, r, seriesPart(r, key))
}
