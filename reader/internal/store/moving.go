package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"mangrove/internal/fault"
	"mangrove/reader/internal/backup"
	"mangrove/reader/internal/moving"
	"mangrove/reader/internal/scraperclient"
)

// KnownTitles answers what a title of one person's can be matched with.
func (s *Store) KnownTitles(ctx context.Context, userID int64) ([]moving.Known, error) {
	rows, err := s.pool.Query(ctx, s.sql.Get("KnownTitles"), userID)
	if err != nil {
		return nil, wrap("list", "the titles", err)
	}
	known, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (k moving.Known, err error) {
		err = row.Scan(&k.Site, &k.SeriesID, &k.Title, &k.Native, &k.SiteName)
		return k, err
	})
	return known, wrap("list", "the titles", err)
}

// SavePlan stores a plan with its items, in three streams however many there are.
func (s *Store) SavePlan(ctx context.Context, i moving.Import, items []moving.Item) (id int64, err error) {
	err = s.tx(ctx, "store", "an import", func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, s.sql.Get("SaveImport"), i.UserID, i.Kind, i.Name).Scan(&id); err != nil {
			return err
		}
		var marks [][]any
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"import_items"}, []string{
			"import_id", "position", "title", "source", "address", "word", "reason", "site", "series_id", "url", "site_name", "local_id", "candidates",
			"favourite", "download", "languages", "categories", "chapters", "read", "added_at",
		}, pgx.CopyFromSlice(len(items), func(n int) ([]any, error) {
			it := items[n]
			for nth, m := range it.Marks {
				var number pgtype.Numeric
				if m.Number != "" {
					if err := number.Scan(m.Number); err != nil {
						return nil, err
					}
				}
				marks = append(marks, []any{id, it.Position, nth, m.ChapterKey, number, m.Page, m.Finished, m.Through, orNull(m.At)})
			}
			return []any{
				id, it.Position, it.Title, it.Source, it.Address, it.Word, it.Reason, it.Site, it.SeriesID, it.URL, it.SiteName, it.LocalID, list(it.Candidates),
				it.Favourite, it.Download, list(it.Languages), list(it.Categories), it.Chapters, it.Read, orNull(it.AddedAt),
			}, nil
		}))
		if err != nil {
			return err
		}
		if _, err := tx.CopyFrom(ctx, pgx.Identifier{"import_marks"}, []string{
			"import_id", "position", "nth", "chapter_key", "number", "page", "finished", "through", "read_at",
		}, pgx.CopyFromRows(marks)); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, s.sql.Get("ForgetOldPlans"), i.UserID)
		return err
	})
	return id, err
}

// orNull keeps the zero time out of the table.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Imports answers one person's imports, newest first.
func (s *Store) Imports(ctx context.Context, userID int64) ([]moving.Import, error) {
	return s.imports(ctx, userID, 0)
}

// Import answers one of them.
func (s *Store) Import(ctx context.Context, userID, id int64) (moving.Import, error) {
	all, err := s.imports(ctx, userID, id)
	if err != nil || len(all) == 0 || id <= 0 {
		return moving.Import{}, wrap("find", "an import", orNoRow(err))
	}
	return all[0], nil
}

func orNoRow(err error) error {
	if err == nil {
		return pgx.ErrNoRows
	}
	return err
}

func (s *Store) imports(ctx context.Context, userID, id int64) ([]moving.Import, error) {
	rows, err := s.pool.Query(ctx, s.sql.Get("Imports"), userID, id)
	if err != nil {
		return nil, wrap("list", "the imports", err)
	}
	places := map[int64]int{}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (i moving.Import, err error) {
		i.Counts = map[string]moving.Count{}
		err = row.Scan(&i.ID, &i.UserID, &i.Kind, &i.Name, &i.State, &i.CreatedAt, (*maybeTime)(&i.AdoptedAt), (*maybeTime)(&i.UndoneAt))
		places[i.ID] = len(places)
		return i, err
	})
	if err != nil {
		return nil, wrap("list", "the imports", err)
	}
	if rows, err = s.pool.Query(ctx, s.sql.Get("ImportCounts"), userID, id); err != nil {
		return nil, wrap("list", "the imports", err)
	}
	var of int64
	var word string
	var c moving.Count
	_, err = pgx.ForEachRow(rows, []any{&of, &word, &c.Items, &c.Left, &c.Kept, &c.Chapters, &c.Read}, func() error {
		if n, ok := places[of]; ok {
			all[n].Counts[word] = c
		}
		return nil
	})
	return all, wrap("list", "the imports", err)
}

// ImportItems answers items of one word, or of all with "", from a position on.
func (s *Store) ImportItems(ctx context.Context, id int64, word string, from, limit int) ([]moving.Item, error) {
	rows, err := s.pool.Query(ctx, s.sql.Get("ImportItems"), id, word, from, limit)
	if err != nil {
		return nil, wrap("list", "the Series of an import", err)
	}
	items, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (i moving.Item, err error) {
		err = row.Scan(&i.Position, &i.Title, &i.Source, &i.Address, &i.Word, &i.Reason, &i.Site, &i.SeriesID, &i.URL, &i.SiteName, &i.LocalID,
			&i.Candidates, &i.Favourite, &i.Download, &i.Languages, &i.Categories, &i.Chapters, &i.Read, &i.State, (*maybeTime)(&i.AddedAt))
		return i, err
	})
	return items, wrap("list", "the Series of an import", err)
}

// Choose says what an ambiguous item of a plan is.
func (s *Store) Choose(ctx context.Context, userID, id int64, position int, to moving.Candidate, word string) error {
	return s.changePlan(ctx, "ChooseCandidate", userID, id, position, to.Site, to.SeriesID, to.SiteName, word)
}

// Leave says whether an item stays out of a plan.
func (s *Store) Leave(ctx context.Context, userID, id int64, position int, leave bool) error {
	state := moving.Planned
	if leave {
		state = moving.Left
	}
	return s.changePlan(ctx, "LeaveItem", userID, id, position, state)
}

// Forget removes a plan.
func (s *Store) Forget(ctx context.Context, userID, id int64) error {
	return s.changePlan(ctx, "ForgetPlan", userID, id)
}

// changePlan runs a statement that changes something only while the import is a plan.
func (s *Store) changePlan(ctx context.Context, name string, args ...any) error {
	tag, err := s.pool.Exec(ctx, s.sql.Get(name), args...)
	if err == nil && tag.RowsAffected() == 0 {
		return fault.Newf(fault.Stale, "change", "an import", "it is no plan")
	}
	return wrap("change", "an import", err)
}

// Adopt adopts a plan.
func (s *Store) Adopt(ctx context.Context, userID, id int64) (out scraperclient.FollowChange, err error) {
	err = s.tx(ctx, "adopt", "an import", func(tx pgx.Tx) error {
		out = scraperclient.FollowChange{}
		// The counter first, as whoever else changes follows does.
		var revision int64
		if err := tx.QueryRow(ctx, s.sql.Get("NextFollowRevision")).Scan(&revision); err != nil {
			return err
		}
		if err := s.moved(ctx, tx, "AdoptImport", userID, id); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, s.sql.Get("AdoptItems"), id); err != nil {
			return err
		}
		made, err := keys(ctx, tx, s.sql.Get("AdoptFollows"), id)
		if err != nil {
			return err
		}
		if out.Follows, err = s.wanted(ctx, tx, made); err != nil {
			return err
		}
		if len(out.Follows) > 0 {
			out.Revision = revision
		}
		if err := s.collect(ctx, tx, userID, id); err != nil {
			return err
		}
		books, err := ids(ctx, tx, s.sql.Get("BooksOfImport"), id)
		if err != nil {
			return err
		}
		return s.applyMarks(ctx, tx, books)
	})
	return out, err
}

// moved moves an import from one state to the next; stale when it was not in it.
func (s *Store) moved(ctx context.Context, tx pgx.Tx, name string, args ...any) error {
	tag, err := tx.Exec(ctx, s.sql.Get(name), args...)
	if err == nil && tag.RowsAffected() == 0 {
		return fault.Newf(fault.Stale, "change", "an import", "it was not in the state before")
	}
	return err
}

// wanted answers what all people together want of some Series.
func (s *Store) wanted(ctx context.Context, tx pgx.Tx, of []scraperclient.Key) ([]scraperclient.Follow, error) {
	var sites, series []string
	for _, k := range of {
		sites, series = append(sites, k.Site), append(series, k.SeriesID)
	}
	rows, err := tx.Query(ctx, s.sql.Get("WantedOf"), list(sites), list(series))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanFollow)
}

func scanFollow(row pgx.CollectableRow) (f scraperclient.Follow, err error) {
	err = row.Scan(&f.Site, &f.SeriesID, &f.Download, &f.Languages, &f.URL, &f.Title)
	return f, err
}

func keys(ctx context.Context, tx pgx.Tx, sql string, args ...any) ([]scraperclient.Key, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[scraperclient.Key])
}

func ids(ctx context.Context, tx pgx.Tx, sql string, args ...any) ([]int64, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// applyMarks gives people what they had read of these books before they moved in.
func (s *Store) applyMarks(ctx context.Context, tx pgx.Tx, books []int64) error {
	if len(books) == 0 {
		return nil
	}
	var any bool
	if err := tx.QueryRow(ctx, s.sql.Get("HasImports")).Scan(&any); err != nil || !any {
		return err
	}
	titles, err := s.numberMarks(ctx, tx, books)
	if err != nil {
		return err
	}
	if len(titles) > 0 {
		// The books before one that is known now may have been here for long.
		more, err := ids(ctx, tx, s.sql.Get("BooksOfTitles"), titles)
		if err != nil {
			return err
		}
		books = append(more, books...)
	}
	_, err = tx.Exec(ctx, s.sql.Get("ApplyMarks"), books)
	return err
}

// numberMarks finds the chapters that Kotatsu knows by its own numbers alone, and
// answers the titles of those that it found.
func (s *Store) numberMarks(ctx context.Context, tx pgx.Tx, books []int64) (titles []int64, err error) {
	rows, err := tx.Query(ctx, s.sql.Get("NumberedMarks"), books)
	if err != nil {
		return nil, err
	}
	var importID, title int64
	var position, nth int
	var key, source, chapter, number string
	found := &pgx.Batch{}
	if _, err := pgx.ForEachRow(rows, []any{&importID, &position, &nth, &key, &source, &title, &chapter, &number}, func() error {
		if chapter == key || backup.KotatsuKey(source, chapter) == key {
			found.Queue(s.sql.Get("NumberMark"), importID, position, nth, chapter, number)
			titles = append(titles, title)
		}
		return nil
	}); err != nil || found.Len() == 0 {
		return nil, err
	}
	return titles, tx.SendBatch(ctx, found).Close()
}

// Undo takes back what adopting wrote and nobody has changed since.
func (s *Store) Undo(ctx context.Context, userID, id int64, since time.Time) (out scraperclient.FollowChange, err error) {
	err = s.tx(ctx, "undo", "an import", func(tx pgx.Tx) error {
		out = scraperclient.FollowChange{}
		var revision int64
		if err := tx.QueryRow(ctx, s.sql.Get("NextFollowRevision")).Scan(&revision); err != nil {
			return err
		}
		if err := s.moved(ctx, tx, "UndoImport", userID, id, since); err != nil {
			return err
		}
		gone, err := keys(ctx, tx, s.sql.Get("UndoFollows"), id)
		if err != nil {
			return err
		}
		if out, err = s.without(ctx, tx, gone); err != nil {
			return err
		}
		if len(gone) > 0 {
			out.Revision = revision
		}
		for _, name := range []string{"UndoNewPlaces", "UndoPlaces", "UndoCollected", "UndoCollections", "UndoItems", "DropMarks", "DropPlaces", "DropCollected"} {
			if _, err := tx.Exec(ctx, s.sql.Get(name), id); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// without is what the scraper should hear of follows that are gone: others may want
// the same Series.
func (s *Store) without(ctx context.Context, tx pgx.Tx, gone []scraperclient.Key) (out scraperclient.FollowChange, err error) {
	if out.Follows, err = s.wanted(ctx, tx, gone); err != nil {
		return out, err
	}
	still := map[scraperclient.Key]bool{}
	for _, f := range out.Follows {
		still[f.Key] = true
	}
	for _, k := range gone {
		if !still[k] {
			out.Unfollowed = append(out.Unfollowed, k)
		}
	}
	return out, nil
}

// Export answers what one person follows, has read and put into collections, or all
// with 0, by name.
func (s *Store) Export(ctx context.Context, userID int64) ([]backup.Person, error) {
	var people []backup.Person
	who, what := map[int64]int{}, map[int64]map[scraperclient.Key]int{}
	series := func(id int64, name string, key scraperclient.Key, title, url string) *backup.ExportedSeries {
		p, ok := who[id]
		if !ok {
			p = len(people)
			who[id], what[id] = p, map[scraperclient.Key]int{}
			people = append(people, backup.Person{Name: name, Series: []backup.ExportedSeries{}})
		}
		n, ok := what[id][key]
		if !ok {
			n = len(people[p].Series)
			what[id][key] = n
			people[p].Series = append(people[p].Series, backup.ExportedSeries{Title: title, Site: key.Site, SeriesID: key.SeriesID, URL: url})
		}
		return &people[p].Series[n]
	}
	var id int64
	var name, title, url string
	var key scraperclient.Key
	err := pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, s.sql.Get("ExportedFollows"), userID)
		if err != nil {
			return err
		}
		var f backup.ExportedFollow
		if _, err := pgx.ForEachRow(rows, []any{&id, &name, &key.Site, &key.SeriesID, &title, &url, &f.Download, &f.Languages, &f.Since}, func() error {
			one := f
			one.Since = one.Since.UTC()
			series(id, name, key, title, url).Follow = &one
			return nil
		}); err != nil {
			return err
		}
		if rows, err = tx.Query(ctx, s.sql.Get("ExportedPlaces"), userID); err != nil {
			return err
		}
		var p backup.ExportedPlace
		_, err = pgx.ForEachRow(rows, []any{&id, &name, &key.Site, &key.SeriesID, &title, &url, &p.ChapterID, &p.Chapter, &p.Page, &p.Finished, &p.At}, func() error {
			one := p
			one.Page, one.At = one.Page+1, one.At.UTC()
			of := series(id, name, key, title, url)
			of.Read = append(of.Read, one)
			return nil
		})
		if err != nil {
			return err
		}
		if rows, err = tx.Query(ctx, s.sql.Get("ExportedCollections"), userID); err != nil {
			return err
		}
		var shelf string
		_, err = pgx.ForEachRow(rows, []any{&id, &name, &key.Site, &key.SeriesID, &title, &url, &shelf}, func() error {
			of := series(id, name, key, title, url)
			of.Collections = append(of.Collections, shelf)
			return nil
		})
		return err
	})
	return people, wrap("export", "follows and progress", err)
}

// Folders answers what other programs put into the library.
func (s *Store) Folders(ctx context.Context, userID int64) ([]moving.Folder, error) {
	rows, err := s.pool.Query(ctx, s.sql.Get("Folders"), userID)
	if err != nil {
		return nil, wrap("list", "the folders", err)
	}
	folders, err := pgx.CollectRows(rows, pgx.RowToStructByPos[moving.Folder])
	return folders, wrap("list", "the folders", err)
}
