package moving

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"mangrove/internal/fault"
	"mangrove/reader/internal/backup"
	"mangrove/reader/internal/scraperclient"
)

// maxKey bounds a part of a key, in bytes, as the scraper does.
const maxKey = 512

// maxCandidates bounds what an ambiguous item offers.
const maxCandidates = 8

// Plan reads a file of one person's and stores what would become of it. Nothing else
// is changed. The cause is a *backup.FileError when the file is what is wrong.
func (s *Service) Plan(ctx context.Context, userID int64, person, name string, file io.Reader) (int64, error) {
	select {
	case s.reading <- struct{}{}:
		defer func() { <-s.reading }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	data, err := io.ReadAll(io.LimitReader(file, backup.MaxFile+1))
	if err != nil {
		return 0, fault.New(fault.Storage, "read", "a backup", err)
	}
	b, err := backup.Read(data, person)
	if err != nil {
		return 0, fault.New(fault.Invalid, "read", "a backup", err)
	}
	return s.plan(ctx, userID, name, b)
}

func (s *Service) plan(ctx context.Context, userID int64, name string, b backup.Backup) (int64, error) {
	known, err := s.KnownTitles(ctx, userID)
	if err != nil {
		return 0, err
	}
	foreign := make([]scraperclient.Foreign, len(b.Series))
	for i, series := range b.Series {
		foreign[i] = scraperclient.Foreign{Source: cut(cmp.Or(series.Site, series.Source)), Address: series.Address}
	}
	placed, err := s.scraper.RecogniseSeries(ctx, foreign)
	if err != nil {
		return 0, err
	}
	here := shelve(known)
	items := make([]Item, len(b.Series))
	for i, series := range b.Series {
		items[i] = here.item(b.Kind, series, placed[i])
		items[i].Position = i
	}
	return s.SavePlan(ctx, Import{UserID: userID, Kind: b.Kind, Name: nameOf(name)}, items)
}

// nameOf is the name of a file as a person gave it, without its folders.
func nameOf(name string) string {
	name = strings.ToValidUTF8(path.Base(strings.ReplaceAll(name, `\`, "/")), "")
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name))
	if runes := []rune(name); len(runes) > 200 {
		name = string(runes[:200])
	}
	if name == "" || name == "." || name == "/" {
		return "backup"
	}
	return name
}

// shelves are the titles that are known here, by name and by key.
type shelves struct {
	named map[string][]Candidate
	keyed map[scraperclient.Key]Candidate
}

func shelve(known []Known) shelves {
	s := shelves{named: map[string][]Candidate{}, keyed: map[scraperclient.Key]Candidate{}}
	for _, k := range known {
		key := scraperclient.Key{Site: k.Site, SeriesID: k.SeriesID}
		if _, twice := s.keyed[key]; twice || strings.Contains(k.Site, ":") {
			continue
		}
		s.keyed[key] = k.Candidate
		name, native := fold(k.Title), fold(k.Native)
		for _, n := range []string{name, native} {
			if n != "" && (n != name || n == name && native != name || native == "") {
				s.named[n] = append(s.named[n], k.Candidate)
			}
		}
	}
	return s
}

// fold makes two spellings of one title the same: case, marks and signs do not count.
func fold(title string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, norm.NFKD.String(title))
}

// item decides what one Series is here.
func (s shelves) item(kind string, b backup.Series, at scraperclient.Placed) Item {
	i := Item{
		Title: cmp.Or(b.Title, b.Address, b.SeriesID), Source: b.Source, Address: b.Address, Favourite: b.Favourite, Download: b.Download, Languages: b.Languages,
		Categories: b.Categories, Chapters: b.Chapters, Read: len(b.Marks), AddedAt: b.AddedAt, Marks: b.Marks, State: Planned, SiteName: at.SiteName,
	}
	named := s.named[fold(b.Title)]
	own := scraperclient.Key{Site: b.Site, SeriesID: b.SeriesID}
	_, keyed := s.keyed[own]
	switch {
	case i.Title == "":
		i.Word, i.Reason = Unknown, NoTitle
	case own.Site != "" && own.SeriesID != "" && (keyed || own.Site != localSite):
		i.Key, i.URL, i.Word, i.Reason = own, b.Address, Matched, ByOwnName
		if !keyed && at.Word == scraperclient.NoAdapter {
			i.Word, i.Reason = NoAdapter, WithoutAdapter
		}
	case at.Word == scraperclient.Read && !b.Local:
		i.Key, i.URL, i.Word, i.Reason = at.Key, at.URL, Matched, ByAddress
		i.LocalID = onlyFolder(named)
	case len(named) == 1:
		s.take(&i, named[0])
		i.Word, i.Reason = Matched, ByTitle
	case len(named) > 1:
		i.Word, i.Reason, i.Candidates = Ambiguous, Titles, named[:min(len(named), maxCandidates)]
	case b.Local || own.Site == localSite:
		i.Word, i.Reason = Unknown, Files
	case at.Word == scraperclient.Unread:
		i.Word, i.Reason = Unknown, UnreadAddress
	default:
		i.Key, i.Word, i.Reason = foreignKey(kind, b), NoAdapter, WithoutAdapter
	}
	return i
}

// take says that an item is a title that is known here.
func (s shelves) take(i *Item, c Candidate) {
	i.Key, i.SiteName = scraperclient.Key{Site: c.Site, SeriesID: c.SeriesID}, c.SiteName
	// Its address is another Site's.
	i.URL, i.Languages = "", nil
}

// onlyFolder is the folder of that name here, "" when there is none or several.
func onlyFolder(named []Candidate) string {
	folder := ""
	for _, c := range named {
		if c.Site == localSite {
			if folder != "" {
				return ""
			}
			folder = c.SeriesID
		}
	}
	return folder
}

// foreignKey names a Series that no adapter reads. The colon, which no Site's key
// has, keeps it apart from all that one may read some day.
func foreignKey(kind string, b backup.Series) scraperclient.Key {
	id := cmp.Or(b.Address, b.Title)
	if len(id) > maxKey {
		sum := sha256.Sum256([]byte(id))
		id = hex.EncodeToString(sum[:])
	}
	return scraperclient.Key{Site: cut(kind + ":" + b.Source), SeriesID: id}
}

// ForeignSource answers the other program's name for where a Series is read that no
// adapter reads; ok is false for the key of a Site.
func ForeignSource(site string) (source string, ok bool) {
	for _, kind := range []string{backup.Mihon, backup.Kotatsu} {
		if source, ok = strings.CutPrefix(site, kind+":"); ok {
			return source, true
		}
	}
	return "", false
}

func cut(s string) string {
	n := min(len(s), maxKey)
	for n < len(s) && n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Decide says which candidate an ambiguous item is; a number that is none of them
// keeps it as a Series of its own without an adapter.
func (s *Service) Decide(ctx context.Context, userID, id int64, position, candidate int) error {
	i, err := s.Import(ctx, userID, id)
	if err != nil {
		return err
	}
	items, err := s.ImportItems(ctx, id, "", position, 1)
	if err != nil {
		return err
	}
	if len(items) == 0 || items[0].Position != position {
		return fault.Newf(fault.NotFound, "find", "a Series of an import", "there is no number %d", position)
	}
	item := items[0]
	if candidate >= 0 && candidate < len(item.Candidates) {
		return s.Choose(ctx, userID, id, position, item.Candidates[candidate], Matched)
	}
	if i.Kind == Folders {
		// None of them: the folder stays a title of its own.
		return s.Leave(ctx, userID, id, position, true)
	}
	key := foreignKey(i.Kind, backup.Series{Title: item.Title, Source: item.Source, Address: item.Address})
	return s.Choose(ctx, userID, id, position, Candidate{Site: key.Site, SeriesID: key.SeriesID}, NoAdapter)
}
