package publish

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mangrove/internal/cbz"
	"mangrove/internal/durable"
	"mangrove/internal/failpoint"
	"mangrove/internal/fault"
)

// Stage is where pages were gathered.
type Stage interface {
	Source
	// Incomplete returns the record of the pages that are there and their places.
	Incomplete() (m cbz.Manifest, places []int)
}

// Pages returns what of a stage is published: all of it, or on an operator's word
// (incomplete) the pages that are there.
func Pages(s Stage, incomplete bool) (Source, error) {
	if !incomplete {
		return s, nil
	}
	m, places := s.Incomplete()
	if len(m.Pages) == 0 {
		return nil, fault.Newf(fault.Page, "publish", m.ChapterID, "no page of it is there")
	}
	return part{s, m, places}, nil
}

// part is a stage without its missing pages.
type part struct {
	stage  Stage
	m      cbz.Manifest
	places []int
}

func (p part) Manifest() (cbz.Manifest, bool)           { return p.m, true }
func (p part) OpenPage(page int) (io.ReadCloser, error) { return p.stage.OpenPage(p.places[page]) }
func (p part) Dir() string                              { return p.stage.Dir() }

// Remove deletes a published file whose replacement is published and committed.
// path is relative to the library; one that is not there is removed already.
func Remove(library, path string) error {
	folder, name, ok := strings.Cut(path, "/")
	if !ok || !LocalName(folder) || !LocalName(name) {
		return fault.Newf(fault.Unknown, "remove", path, "it is no file of the library's")
	}
	dir := filepath.Join(library, folder)
	// Behind a link it would be somebody else's file.
	err := durable.IsFolder(dir)
	if err == nil {
		failpoint.Reach(failpoint.FileRetiring)
		err = os.Remove(filepath.Join(dir, name))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return durable.Classify("remove", path, err)
	}
	return durable.SyncDir(dir)
}
