// Package staging gathers one chapter's validated pages before publication, in
// a hidden folder inside the library root named by the manifest's fingerprint
// (PUB-2). Pages survive a pause, a kill and another scraper; each is believed
// again only after its length and digest have been compared with what was
// recorded when it was accepted (PUB-3). It fetches nothing, publishes nothing,
// and deletes only the one stage it is told has been committed.
package staging

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"mangrove/internal/cbz"
	"mangrove/internal/durable"
	"mangrove/internal/failpoint"
	"mangrove/internal/fault"
	"mangrove/internal/picture"
	"mangrove/scraper/internal/source"
)

// MaxPages bounds a manifest (B35).
const MaxPages = 2000

// Manifest is what a chapter consists of, as the Site lists it.
type Manifest struct {
	Key       source.Key
	ChapterID string
	// Pages are page identities in reading order.
	Pages []string
}

// NewManifest makes a manifest of a page list, refusing one that no chapter has.
func NewManifest(key source.Key, chapterID string, pages []source.Page) (Manifest, error) {
	subject := key.String() + "/" + chapterID
	switch {
	case len(pages) == 0:
		return Manifest{}, source.Unparsed(subject, "the chapter lists no page")
	case len(pages) > MaxPages:
		return Manifest{}, source.Unparsed(subject, "the chapter lists %d pages, more than the limit of %d", len(pages), MaxPages)
	}
	m := Manifest{Key: key, ChapterID: chapterID}
	for _, p := range pages {
		m.Pages = append(m.Pages, Identity(p))
	}
	return m, nil
}

// Identity is what a page is called in a manifest.
func Identity(p source.Page) string {
	if p.Identity != "" {
		return p.Identity
	}
	return source.Identity(p.URL)
}

// Fingerprint is the SHA-256 over Site, Series, chapter and page manifest, in
// lower-case hex. Each part is preceded by its length, so that no two manifests
// run together.
func (m Manifest) Fingerprint() string {
	h := sha256.New()
	for _, part := range append([]string{"mangrove manifest 1", m.Key.Site, m.Key.SeriesID, m.ChapterID}, m.Pages...) {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// folder is that of all stages, below the library.
const folder = ".mangrove/staging"

// Root is the folder of all stages of a library.
func Root(library string) string { return filepath.Join(library, folder) }

// record is one accepted page, one line of pages.jsonl. It is appended before
// the page gets its name, so that a named page always has its record.
type record struct {
	Page int `json:"page"`
	cbz.PageRecord
}

// Stage is the staging folder of one manifest.
type Stage struct {
	dir      string
	manifest Manifest

	mu      sync.Mutex
	records []cbz.PageRecord // by page; an empty Name is a page not there yet
	journal *os.File
}

// Open opens or makes the stage of m and revalidates every page it keeps.
func Open(library string, m Manifest) (*Stage, error) {
	s := &Stage{dir: filepath.Join(Root(library), m.Fingerprint()), manifest: m, records: make([]cbz.PageRecord, len(m.Pages))}
	if err := durable.MakeFolders(library, filepath.Join(folder, m.Fingerprint())); err != nil {
		return nil, err
	}
	note := filepath.Join(s.dir, "manifest.json")
	if _, err := os.Stat(note); errors.Is(err, os.ErrNotExist) {
		// For people who look into the folder; the fingerprint is what counts.
		data, err := json.MarshalIndent(map[string]any{"site": m.Key.Site, "series_id": m.Key.SeriesID, "chapter_id": m.ChapterID, "pages": m.Pages}, "", "  ")
		if err != nil {
			return nil, fault.New(fault.Unknown, "write", note, err)
		}
		if err := durable.ReplaceFile(note, data, 0o666); err != nil {
			return nil, err
		}
	}
	journal, err := os.OpenFile(filepath.Join(s.dir, "pages.jsonl"), os.O_RDWR|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o666)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fault.Newf(fault.Conflict, "open", s.dir, "its journal is a link")
	}
	if err != nil {
		return nil, durable.Classify("open", s.dir, err)
	}
	s.journal = journal
	if err := s.revalidate(); err != nil {
		_ = journal.Close()
		return nil, err
	}
	return s, nil
}

// revalidate reads the journal and believes a page only if the file of that
// name has the recorded length and digest. A torn last line is no page.
func (s *Stage) revalidate() error {
	lines := bufio.NewScanner(s.journal)
	for lines.Scan() {
		var r record
		if json.Unmarshal(lines.Bytes(), &r) != nil || r.Page < 0 || r.Page >= len(s.records) || !filepath.IsLocal(r.Name) || filepath.Base(r.Name) != r.Name {
			continue
		}
		same, err := matches(filepath.Join(s.dir, r.Name), r.PageRecord)
		if err != nil {
			return err
		}
		if same {
			s.records[r.Page] = r.PageRecord
		}
	}
	if err := lines.Err(); err != nil {
		return durable.Classify("read", s.journal.Name(), err)
	}
	// A torn line must not swallow the next record.
	if end, err := s.journal.Seek(0, io.SeekEnd); err == nil && end > 0 {
		last := make([]byte, 1)
		if _, err := s.journal.ReadAt(last, end-1); err == nil && last[0] != '\n' {
			if _, err := s.journal.Write([]byte("\n")); err != nil {
				return durable.Classify("write", s.journal.Name(), err)
			}
		}
	}
	return nil
}

func matches(path string, r cbz.PageRecord) (bool, error) {
	f, err := openPlain(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ELOOP) {
		return false, nil
	}
	if err != nil {
		return false, durable.Classify("open", path, err)
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return false, durable.Classify("read", path, err)
	}
	return n == r.Size && hex.EncodeToString(h.Sum(nil)) == r.SHA256, nil
}

// openPlain opens a file and no link: what lies elsewhere was not accepted here.
func openPlain(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// Missing lists the pages still to be fetched, in order.
func (s *Stage) Missing() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []int
	for i, r := range s.records {
		if r.Name == "" {
			out = append(out, i)
		}
	}
	return out
}

// Done counts the pages that are there.
func (s *Stage) Done() int { return len(s.manifest.Pages) - len(s.Missing()) }

// Size is how many bytes the pages that are there have.
func (s *Stage) Size() (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.records {
		n += r.Size
	}
	return n
}

// Accept checks that data is one whole image and keeps it as the given page. A
// page that is not one is of class page and leaves no trace.
func (s *Stage) Accept(page int, data []byte) error {
	info, err := picture.Check(data)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	width := len(fmt.Sprint(len(s.manifest.Pages)))
	r := record{page, cbz.PageRecord{
		Name: fmt.Sprintf("%0*d%s", max(width, 3), page+1, info.Ext), Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:]),
		MediaType: info.MediaType, Width: info.Width, Height: info.Height,
	}}
	line, err := json.Marshal(r)
	if err != nil {
		return fault.New(fault.Unknown, "stage", "a page", err)
	}
	// Hidden and pending until it is whole: such a name never counts.
	pending := filepath.Join(s.dir, "."+r.Name+".part")
	if err := durable.WritePending(pending, data, 0o666); err != nil {
		return err
	}
	failpoint.Reach(failpoint.PageWritten)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.note(append(line, '\n')); err != nil {
		_ = os.Remove(pending)
		return err
	}
	failpoint.Reach(failpoint.PageRecorded)
	if err := durable.Rename(pending, filepath.Join(s.dir, r.Name)); err != nil {
		return err
	}
	failpoint.Reach(failpoint.PageNamed)
	s.records[page] = r.PageRecord
	return nil
}

// note appends one line to the journal. s.mu is held.
func (s *Stage) note(line []byte) error {
	failpoint.Torn(failpoint.JournalHalf, s.journal, line)
	err := failpoint.Fail(failpoint.Write, s.journal.Name())
	if err == nil {
		_, err = s.journal.Write(line)
	}
	return durable.Classify("write", s.journal.Name(), err)
}

// Manifest returns the archive's own record of the pages; ok is false while
// one is missing.
func (s *Stage) Manifest() (m cbz.Manifest, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m = s.manifestOf(append([]cbz.PageRecord(nil), s.records...))
	for _, r := range m.Pages {
		if r.Name == "" {
			return cbz.Manifest{}, false
		}
	}
	return m, true
}

// Incomplete returns the record of the pages that are there, with the places they
// have in the list, and a fingerprint of its own: an archive without some of its
// pages is never taken for the whole chapter.
func (s *Stage) Incomplete() (m cbz.Manifest, places []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m = s.manifestOf(nil)
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "mangrove incomplete 1\n%s\n", m.Fingerprint)
	for i, r := range s.records {
		if r.Name == "" {
			m.Missing = append(m.Missing, i+1)
			_, _ = fmt.Fprintln(h, i+1)
			continue
		}
		m.Pages, places = append(m.Pages, r), append(places, i)
	}
	if len(m.Missing) > 0 {
		m.Fingerprint = hex.EncodeToString(h.Sum(nil))
	}
	return m, places
}

// manifestOf is the archive's record with the given pages.
func (s *Stage) manifestOf(pages []cbz.PageRecord) cbz.Manifest {
	return cbz.Manifest{
		Fingerprint: s.manifest.Fingerprint(), Site: s.manifest.Key.Site, SeriesID: s.manifest.Key.SeriesID,
		ChapterID: s.manifest.ChapterID, Pages: pages,
	}
}

// OpenPage opens a page that is there.
func (s *Stage) OpenPage(page int) (io.ReadCloser, error) {
	s.mu.Lock()
	name := s.records[page].Name
	s.mu.Unlock()
	f, err := openPlain(filepath.Join(s.dir, name))
	if err != nil {
		return nil, durable.Classify("open", name, err)
	}
	return f, nil
}

// Dir is the stage's folder.
func (s *Stage) Dir() string { return s.dir }

// Close releases the journal; everything stays on disk.
func (s *Stage) Close() error { return s.journal.Close() }

// Remove deletes the stage of a fingerprint whose publication is committed. All
// other stages are left alone.
func Remove(library, fingerprint string) error {
	if len(fingerprint) != 2*sha256.Size || bytes.ContainsAny([]byte(fingerprint), `/\.`) {
		return fault.Newf(fault.Unknown, "remove", "a stage", "%q is no fingerprint", fingerprint)
	}
	// Below a link it would be somebody else's folder.
	for _, dir := range []string{filepath.Dir(Root(library)), Root(library)} {
		if err := durable.IsFolder(dir); err != nil {
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			return err
		}
	}
	dir := filepath.Join(Root(library), fingerprint)
	failpoint.Reach(failpoint.StageRemoving)
	return durable.Classify("remove", dir, os.RemoveAll(dir))
}

// List returns the fingerprints of all stages of a library.
func List(library string) ([]string, error) {
	entries, err := os.ReadDir(Root(library))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, durable.Classify("read", Root(library), err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && len(e.Name()) == 2*sha256.Size {
			out = append(out, e.Name())
		}
	}
	return out, nil
}
