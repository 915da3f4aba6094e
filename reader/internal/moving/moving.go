// Package moving brings a person's library in from another program and takes it
// out again: it plans an import as rows that can be looked at (each Series matched,
// ambiguous, unknown or without an adapter, and why), adopts what a person leaves
// standing, and undoes it. It asks no Site, writes no file, and never moves anyone
// back in a chapter.
package moving

import (
	"context"
	"time"

	"mangrove/reader/internal/backup"
	"mangrove/reader/internal/scraperclient"
)

// The words for what was found of a Series.
const (
	Matched   = "matched"
	Ambiguous = "ambiguous"
	Unknown   = "unknown"
	NoAdapter = "no-adapter"
)

// Words are all of them, in the order they are shown in.
func Words() []string { return []string{Ambiguous, Unknown, NoAdapter, Matched} }

// The reasons for a word.
const (
	// ByAddress: a Site here reads its address.
	ByAddress = "address"
	// ByOwnName: a file of Mangrove's names the Series as it is called here.
	ByOwnName = "own-name"
	// ByTitle: one title of this name is here.
	ByTitle = "title"
	// Titles: several titles of this name are here.
	Titles = "titles"
	// WithoutAdapter: no Site of that name is read here.
	WithoutAdapter = "no-adapter"
	// UnreadAddress: the Site is read here, but not the address.
	UnreadAddress = "unread"
	// NoTitle: the file says neither title nor address.
	NoTitle = "no-title"
	// NotFollowed: no Series of the folder's name is here.
	NotFollowed = "not-followed"
	// Files: the other program read it from files, and none of that name are here.
	Files = "files"
)

// The states of an import, and of an item; an item can be Left too.
const (
	Planned = "planned"
	Adopted = "adopted"
	Undone  = "undone"
	Left    = "left"
)

// Folders is the kind of an import that has no file: the folders that other programs
// put into the library, beside the Series that are known.
const Folders = "folder"

// UndoFor is how long an import can be undone.
const UndoFor = 30 * 24 * time.Hour

// localSite is the Site's key of files that other programs put into the library.
const localSite = "local"

// Import is one file that was read, and what came of it.
type Import struct {
	ID, UserID int64
	Kind, Name string
	State      string
	// The times are zero for what has not happened.
	CreatedAt, AdoptedAt, UndoneAt time.Time
	// Counts are of its items by word.
	Counts map[string]Count
}

// Count counts the items of one word.
type Count struct {
	// Left were set aside by the person, Kept was adopted.
	Items, Left, Kept int
	// Chapters and Read are those of them that the file lists and marks.
	Chapters, Read int
}

// All adds the counts up.
func (i Import) All() Count {
	var all Count
	for _, c := range i.Counts {
		all.Items, all.Left, all.Kept = all.Items+c.Items, all.Left+c.Left, all.Kept+c.Kept
		all.Chapters, all.Read = all.Chapters+c.Chapters, all.Read+c.Read
	}
	return all
}

// UndoUntil is until when it can be undone; zero when it cannot.
func (i Import) UndoUntil() time.Time {
	if i.State != Adopted {
		return time.Time{}
	}
	return i.AdoptedAt.Add(UndoFor)
}

// Item is one Series of an import.
type Item struct {
	Position int
	Title    string
	// Source and Address are the other program's.
	Source, Address string
	Word, Reason    string
	// Key is what it is called here, zero while nobody knows; SiteName is that
	// Site's name for people, "" when it has none.
	scraperclient.Key
	URL, SiteName string
	// LocalID is the folder of files that hold it here already, "" for none.
	LocalID    string
	Candidates []Candidate
	Favourite  bool
	Download   bool
	Languages  []string
	Categories []string
	Chapters   int
	Read       int
	State      string
	AddedAt    time.Time
	// Marks are those of an item that is being planned.
	Marks []backup.Mark
}

// Candidate is a title here that an ambiguous item may be.
type Candidate struct {
	Site     string `json:"site"`
	SeriesID string `json:"series_id"`
	Title    string `json:"title"`
	SiteName string `json:"site_name"`
}

// Known is a title of the catalog, or one that the person follows.
type Known struct {
	Candidate
	Native string
}

// Folder is what another program put into the library: its id on the Site "local",
// its title, its files, and how many of them were read.
type Folder struct {
	ID, Title   string
	Files, Read int
}

// Store keeps imports.
type Store interface {
	Folders(ctx context.Context, userID int64) ([]Folder, error)
	// KnownTitles answers what a title can be matched with.
	KnownTitles(ctx context.Context, userID int64) ([]Known, error)
	SavePlan(ctx context.Context, i Import, items []Item) (int64, error)
	Imports(ctx context.Context, userID int64) ([]Import, error)
	// Import is class not-found when it is not this person's.
	Import(ctx context.Context, userID, id int64) (Import, error)
	ImportItems(ctx context.Context, id int64, word string, offset, limit int) ([]Item, error)
	// Choose says which candidate an ambiguous item of a plan is, Leave whether an
	// item stays out of it; class stale when it is no plan any more.
	Choose(ctx context.Context, userID, id int64, position int, to Candidate, word string) error
	Leave(ctx context.Context, userID, id int64, position int, leave bool) error
	// Forget removes a plan.
	Forget(ctx context.Context, userID, id int64) error
	// Adopt and Undo change the state and everything with it, in one transaction,
	// and return what the scraper should hear; class stale when it was not in the
	// state before.
	Adopt(ctx context.Context, userID, id int64) (scraperclient.FollowChange, error)
	Undo(ctx context.Context, userID, id int64, since time.Time) (scraperclient.FollowChange, error)
	// Export answers what one person follows, has read and put into collections, or
	// all with userID 0.
	Export(ctx context.Context, userID int64) ([]backup.Person, error)
}

// Scraper knows which Series are read here.
type Scraper interface {
	RecogniseSeries(ctx context.Context, series []scraperclient.Foreign) ([]scraperclient.Placed, error)
	AdoptFolder(ctx context.Context, folder string, key scraperclient.Key) error
	ReturnFolder(ctx context.Context, folder string) error
}

// Follows tells the scraper of changed follows.
type Follows interface {
	Send(ctx context.Context, change scraperclient.FollowChange)
}

// Service plans, adopts and undoes.
type Service struct {
	Store
	scraper Scraper
	follows Follows
	// reading lets one file be read at a time: it may take much memory.
	reading chan struct{}
}

// New makes the service.
func New(store Store, scraper Scraper, follows Follows) *Service {
	return &Service{Store: store, scraper: scraper, follows: follows, reading: make(chan struct{}, 1)}
}

// Adopt adopts a plan: follows, what was read, and what is not here yet waits for
// its chapters. The scraper hears of it afterwards.
func (s *Service) Adopt(ctx context.Context, userID, id int64) error {
	err := s.eachFolder(ctx, userID, id, Planned, func(i Item) error { return s.scraper.AdoptFolder(ctx, i.LocalID, i.Key) })
	if err != nil {
		return err
	}
	change, err := s.Store.Adopt(ctx, userID, id)
	if err != nil {
		return err
	}
	s.follows.Send(ctx, change)
	return nil
}

// Undo takes back what adopting did and nobody has changed since. Files, and what
// was read since, stay.
func (s *Service) Undo(ctx context.Context, userID, id int64) error {
	err := s.eachFolder(ctx, userID, id, Adopted, func(i Item) error { return s.scraper.ReturnFolder(ctx, i.LocalID) })
	if err != nil {
		return err
	}
	change, err := s.Store.Undo(ctx, userID, id, time.Now().Add(-UndoFor))
	if err != nil {
		return err
	}
	s.follows.Send(ctx, change)
	return nil
}

// Out answers what one person follows and has read; somebody with nothing is in it
// all the same.
func (s *Service) Out(ctx context.Context, userID int64, name string) ([]backup.Person, error) {
	people, err := s.Export(ctx, userID)
	if err == nil && len(people) == 0 {
		people = []backup.Person{{Name: name, Series: []backup.ExportedSeries{}}}
	}
	return people, err
}

// AllOut answers it of everybody.
func (s *Service) AllOut(ctx context.Context) ([]backup.Person, error) { return s.Export(ctx, 0) }
