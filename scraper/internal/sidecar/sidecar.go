// Package sidecar keeps what is known of a Series beside its chapters, as one
// readable file in its folder, so that the catalog and the scraper's knowledge of
// it can be rebuilt from the library alone (PUB-5's folders outlive their
// database). What a chapter is stands in the chapter's own file. A sidecar that
// cannot be understood says nothing; it never decides what is in the library, and
// it holds nobody's wishes: follows are the reader's (OWN-1).
package sidecar

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"unicode/utf8"

	"mangrove/internal/durable"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

// Name is the file's name in a Series' folder.
const Name = "mangrove.json"

// version numbers the file's form; another version says nothing.
const version = 1

// Bounds of what is believed of a file, which anybody may have written.
const (
	maxSize  = 4 << 20
	maxText  = 64 << 10
	maxShort = 2048
	maxList  = 500
	maxFiles = 20_000
)

// Sidecar is the file's content.
type Sidecar struct {
	Version     int      `json:"version"`
	Site        string   `json:"site"`
	SeriesID    string   `json:"series_id"`
	Title       string   `json:"title"`
	NativeTitle string   `json:"native_title,omitempty"`
	AltTitles   []string `json:"alt_titles,omitempty"`
	Authors     []string `json:"authors,omitempty"`
	Description string   `json:"description,omitempty"`
	// URL is its page on the Site.
	URL    string   `json:"url,omitempty"`
	Status string   `json:"status,omitempty"`
	Tags   []string `json:"tags,omitempty"`
	// License is a credit line that is owed.
	License   string `json:"license,omitempty"`
	Direction string `json:"reading_direction,omitempty"`
	// Files are the chapters' ids by file name, of a Series that has moved: its files
	// were published under the names of before and are not written again.
	Files map[string]string `json:"files,omitempty"`
}

// Of is the sidecar of a Series.
func Of(key source.Key, s source.Series) Sidecar {
	return Sidecar{
		Version: version, Site: key.Site, SeriesID: key.SeriesID, Title: s.Title, NativeTitle: s.NativeTitle, AltTitles: s.AltTitles, Authors: s.Authors, Description: s.Description,
		URL: s.URL, Status: s.Status, Tags: s.Tags, License: s.License, Direction: s.Direction,
	}
}

// Key is the Series it tells of.
func (s Sidecar) Key() source.Key { return source.Key{Site: s.Site, SeriesID: s.SeriesID} }

// Series is what it tells of it.
func (s Sidecar) Series() source.Series {
	return source.Series{
		ID: s.SeriesID, Title: s.Title, NativeTitle: s.NativeTitle, AltTitles: s.AltTitles, Authors: s.Authors, Description: s.Description, URL: s.URL, Status: s.Status,
		Tags: s.Tags, License: s.License, Direction: s.Direction,
	}
}

// Keep writes s into folder, a Series' folder in library, unless that is what
// stands there. A folder that is not there is not made, and a file that is no
// sidecar is left alone, as class conflict. files is asked for the chapters' ids by
// file name once the Series has another name than the sidecar that stands there.
func Keep(library, folder string, s Sidecar, files func() (map[string]string, error)) error {
	dir := filepath.Join(library, filepath.FromSlash(folder))
	// What lies behind a link is not the library's.
	if err := durable.IsFolder(dir); err != nil {
		return durable.Classify("open", dir, err)
	}
	path := filepath.Join(dir, Name)
	before, err := read(path, maxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fault.Newf(fault.Conflict, "write", path, "what stands there is no plain file; it was left alone")
	default:
		old, ok := parse(before)
		if !ok {
			return fault.Newf(fault.Conflict, "write", path, "another file stands there; it was left alone")
		}
		if old.Key() == s.Key() && old.Files == nil {
			break
		}
		if s.Files, err = files(); err != nil {
			return err
		}
	}
	return put(library, folder, Name, before, s, "  ")
}

// put gives a folder a file of that name that a person can read, unless before, what
// stands there, says the same. What is half written lies with the stages, where
// nobody looks, and is written over by the next one.
func put(library, folder, name string, before []byte, content any, indent string) error {
	path := filepath.Join(library, filepath.FromSlash(folder), name)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(content); err != nil {
		return fault.New(fault.Unknown, "write", path, err)
	}
	if bytes.Equal(before, out.Bytes()) {
		return nil
	}
	if err := durable.MakeFolders(library, hidden); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(folder))
	pending := filepath.Join(library, hidden, "sidecar-"+hex.EncodeToString(sum[:12])+".part")
	return durable.WriteFileBy(pending, path, out.Bytes(), 0o666)
}

// Load reads the sidecar in a Series' folder; ok is false when there is none that
// can be believed.
func Load(library, folder string) (Sidecar, bool) {
	data, err := read(filepath.Join(library, filepath.FromSlash(folder), Name), maxSize)
	if err != nil {
		return Sidecar{}, false
	}
	return parse(data)
}

// read reads a plain file, one byte more than most at most, and follows no link.
func read(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	data := make([]byte, min(st.Size(), most+1))
	n, err := f.ReadAt(data, 0)
	if n < len(data) {
		return nil, err
	}
	return data, nil
}

// parse understands a sidecar, within bounds.
func parse(data []byte) (Sidecar, bool) {
	var s Sidecar
	if len(data) > maxSize || json.Unmarshal(data, &s) != nil || s.Version != version {
		return Sidecar{}, false
	}
	return s, s.believable()
}

// believable reports whether it is within bounds, and of words that are known.
func (s Sidecar) believable() bool {
	short := slices.Concat([]string{s.Site, s.SeriesID, s.Title, s.NativeTitle, s.URL, s.Status, s.License, s.Direction}, s.AltTitles, s.Authors, s.Tags, slices.Collect(maps.Keys(s.Files)), slices.Collect(maps.Values(s.Files)))
	if s.Site == "" || s.SeriesID == "" || s.Title == "" || len(s.Authors) > maxList || len(s.AltTitles) > maxList || len(s.Tags) > maxList || len(s.Files) > maxFiles || !text(s.Description, maxText) {
		return false
	}
	for _, line := range short {
		if !text(line, maxShort) {
			return false
		}
	}
	return slices.Contains([]string{"", "ongoing", "completed", "hiatus", "cancelled"}, s.Status) &&
		slices.Contains([]string{"", "ltr", "rtl", "strip"}, s.Direction)
}

// text reports whether the database can hold it.
func text(s string, most int) bool {
	return len(s) <= most && utf8.ValidString(s) && !bytes.ContainsRune([]byte(s), 0)
}
