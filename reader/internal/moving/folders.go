package moving

import (
	"context"
	"math"
	"time"

	"mangrove/internal/fault"
)

// PlanFolders stores what would become of the folders that other programs put into
// the library: each beside the Series of its name.
func (s *Service) PlanFolders(ctx context.Context, userID int64) (int64, error) {
	folders, err := s.Folders(ctx, userID)
	if err != nil {
		return 0, err
	}
	if len(folders) == 0 {
		return 0, fault.Newf(fault.NotFound, "find", "a folder of another program", "there is none")
	}
	known, err := s.KnownTitles(ctx, userID)
	if err != nil {
		return 0, err
	}
	here := shelve(known)
	items := make([]Item, len(folders))
	for n, f := range folders {
		items[n] = here.folder(f)
		items[n].Position = n
	}
	return s.SavePlan(ctx, Import{UserID: userID, Kind: Folders, Name: "Library folder"}, items)
}

// folder decides what one folder is.
func (s shelves) folder(f Folder) Item {
	i := Item{Title: f.Title, Address: f.ID, LocalID: f.ID, Chapters: f.Files, Read: f.Read, State: Planned, Word: Unknown, Reason: NotFollowed}
	var named []Candidate
	for _, c := range s.named[fold(f.Title)] {
		if c.Site != localSite {
			named = append(named, c)
		}
	}
	switch {
	case len(named) == 1:
		s.take(&i, named[0])
		i.Word, i.Reason = Matched, ByTitle
	case len(named) > 1:
		i.Word, i.Reason, i.Candidates = Ambiguous, Titles, named[:min(len(named), maxCandidates)]
	}
	return i
}

// eachFolder does something about each folder of an import that is in a state. Before
// the import's own state changes: what is done twice changes nothing, so that a press
// that failed half way is pressed again.
func (s *Service) eachFolder(ctx context.Context, userID, id int64, state string, do func(Item) error) error {
	i, err := s.Import(ctx, userID, id)
	if err != nil || i.Kind != Folders {
		return err
	}
	if i.State != state || state == Adopted && time.Now().After(i.UndoUntil()) {
		return fault.Newf(fault.Stale, "change", "an import", "it is %s", i.State)
	}
	items, err := s.ImportItems(ctx, id, "", 0, math.MaxInt32)
	if err != nil {
		return err
	}
	for _, item := range items {
		if item.State == state && item.Site != "" && item.Word == Matched {
			if err := do(item); err != nil {
				return err
			}
		}
	}
	return nil
}
