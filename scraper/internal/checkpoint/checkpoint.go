// Package checkpoint keeps what a Job has completed so far on disk, beside the
// staging folders and readable by others, so that another scraper can take over
// with the database and the library alone (PUB-2). A checkpoint is evidence of
// progress and nothing else: what it claims is revalidated before it is used.
package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"mangrove/internal/durable"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

// version numbers the file's form; another version reads as no checkpoint.
const version = 1

// maxSize bounds what is read back.
const maxSize = 4 << 20

// Checkpoint is the file's content.
type Checkpoint struct {
	Version  int    `json:"version"`
	JobID    int64  `json:"job_id"`
	Site     string `json:"site"`
	SeriesID string `json:"series_id"`
	// Published are the ids of the chapters this Job has published.
	Published []string `json:"published"`
	// Chapter is the one under way; its pages are in staging under Staging.
	Chapter    string `json:"chapter,omitempty"`
	Staging    string `json:"staging,omitempty"`
	PagesDone  int    `json:"pages_done"`
	PagesTotal int    `json:"pages_total"`
}

// Fingerprint changes with every completed chapter and page and with nothing
// else (STALL-1).
func (c Checkpoint) Fingerprint() string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	_ = enc.Encode([]any{c.JobID, c.Published, c.Chapter, c.Staging, c.PagesDone})
	return hex.EncodeToString(h.Sum(nil))
}

// Path is where the checkpoint of a Series lies: in the Site's own work folder,
// whose name may have a prefix (STALL-3).
func Path(library string, site source.Site, key source.Key) string {
	return filepath.Join(library, ".mangrove", "work", site.WorkPrefix+folder(key), "checkpoint.json")
}

// folder names a Series' work folder: its id where that is a plain word, else a digest.
func folder(key source.Key) string {
	plain := len(key.SeriesID) <= 80 && key.SeriesID != ""
	for _, r := range key.SeriesID {
		plain = plain && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-')
	}
	if plain && !strings.HasPrefix(key.SeriesID, "-") {
		return key.SeriesID
	}
	sum := sha256.Sum256([]byte(key.Site + "\x00" + key.SeriesID))
	return hex.EncodeToString(sum[:12])
}

// Save replaces the checkpoint at path, as Path gives it, whole. It is not synced: a lost machine
// costs what resuming revalidates anyway, and a page must not cost a sync.
func Save(path string, c Checkpoint) error {
	c.Version = version
	data, err := json.Marshal(c)
	if err != nil {
		return fault.New(fault.Unknown, "write", "a checkpoint", err)
	}
	// A library that is away is not made, and a link leads nothing out of it.
	library := filepath.Clean(filepath.Join(filepath.Dir(path), "..", "..", ".."))
	rel, err := filepath.Rel(library, filepath.Dir(path))
	if err != nil {
		return fault.New(fault.Unknown, "write", "a checkpoint", err)
	}
	if err := durable.MakeFolders(library, rel); err != nil {
		return err
	}
	return durable.ReplaceFile(path, data, 0o666)
}

// Load reads the checkpoint at path. A missing, torn or foreign one is reported
// as absent: it says nothing (STALL-3, F82).
func Load(path string) (Checkpoint, bool) {
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxSize {
		return Checkpoint{}, false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Checkpoint{}, false
	}
	var c Checkpoint
	if err := json.Unmarshal(data, &c); err != nil || c.Version != version || c.JobID == 0 {
		return Checkpoint{}, false
	}
	return c, true
}

// Remove deletes the checkpoint of a Job that has ended, and its folder.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return durable.Classify("remove", path, err)
	}
	// The folder may hold what an adapter put there; then it stays.
	_ = os.Remove(filepath.Dir(path))
	return nil
}
