package sidecar

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"mangrove/scraper/internal/source"
)

const (
	// hidden is the library's own folder, where the stages lie too.
	hidden = ".mangrove"
	// adoptedName is the file of what was adopted, in it: the folders of other programs
	// are not ours to write into.
	adoptedName = "adopted.json"
	// maxAdopted bounds it.
	maxAdopted      = 64 << 20
	maxAdoptedFiles = 200_000
)

// AdoptedFile is another program's file that a person has made a chapter of a Series.
type AdoptedFile struct {
	Path string `json:"path"`
	// Folder and Own are its Series and chapter ids as the other program's.
	Folder string `json:"folder"`
	Own    string `json:"own"`
	// Site, SeriesID and Chapter are what it is now.
	Site     string `json:"site"`
	SeriesID string `json:"series_id"`
	Chapter  string `json:"chapter_id"`
}

// Key is the Series it is of now.
func (f AdoptedFile) Key() source.Key { return source.Key{Site: f.Site, SeriesID: f.SeriesID} }

// Adopted is the file's content: what was adopted, and what is known of its Series.
type Adopted struct {
	Version int           `json:"version"`
	Series  []Sidecar     `json:"series"`
	Files   []AdoptedFile `json:"files"`
}

// KeepAdopted writes what was adopted, unless that is what stands there. Where nothing
// was and nothing is, no file is made.
func KeepAdopted(library string, a Adopted) error {
	a.Version = version
	before, err := read(filepath.Join(library, hidden, adoptedName), maxAdopted)
	if errors.Is(err, fs.ErrNotExist) && len(a.Files) == 0 {
		return nil
	}
	return put(library, hidden, adoptedName, before, a, " ")
}

// LoadAdopted reads it; ok is false when there is none that can be believed.
func LoadAdopted(library string) (a Adopted, ok bool) {
	data, err := read(filepath.Join(library, hidden, adoptedName), maxAdopted)
	if err != nil || len(data) > maxAdopted {
		return Adopted{}, false
	}
	return parseAdopted(data)
}

// parseAdopted understands the file, within bounds.
func parseAdopted(data []byte) (a Adopted, ok bool) {
	if json.Unmarshal(data, &a) != nil || a.Version != version || len(a.Files) > maxAdoptedFiles || len(a.Series) > len(a.Files) {
		return Adopted{}, false
	}
	for _, s := range a.Series {
		if !s.believable() {
			return Adopted{}, false
		}
	}
	for _, f := range a.Files {
		for _, part := range []string{f.Path, f.Folder, f.Own, f.Site, f.SeriesID, f.Chapter} {
			if part == "" || !text(part, maxShort) {
				return Adopted{}, false
			}
		}
	}
	return a, true
}
