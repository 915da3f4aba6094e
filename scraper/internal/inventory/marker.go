// Package inventory knows what the library folder holds (INV): one look at it,
// shared by all who ask, keeps the table of its files as the folder is, and a
// marker file in its root tells an emptied or unmounted folder from a library
// whose files were deleted (INV-5). It deletes nothing, writes no file but the
// marker, and asks no Site.
package inventory

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"mangrove/internal/durable"
	"mangrove/internal/fault"
)

// MarkerName is the marker file's name in the library root.
const MarkerName = ".mangrove-library"

// IDStore keeps the library's id in the database.
type IDStore interface {
	// LibraryID returns the stored id, "" before there is one.
	LibraryID(ctx context.Context) (string, error)
	// SetLibraryID stores the first id; it is of class stale if one is stored.
	SetLibraryID(ctx context.Context, id string) error
}

// Marker compares the marker file with the stored id.
type Marker struct {
	library string
	ids     IDStore
	// known is the stored id once it has been read: it never changes after that.
	known atomic.Pointer[string]
}

// NewMarker makes the Marker of a library folder.
func NewMarker(library string, ids IDStore) *Marker { return &Marker{library: library, ids: ids} }

// Establish is called once at start. With no id stored yet it takes the id of
// the marker that is there, or makes one; with an id stored it is Check.
func (m *Marker) Establish(ctx context.Context) error {
	stored, err := m.ids.LibraryID(ctx)
	if err != nil {
		return err
	}
	if stored != "" {
		return m.Check(ctx)
	}
	if err := os.MkdirAll(m.library, 0o777); err != nil {
		return durable.Classify("create", m.library, err)
	}
	id, err := m.read()
	if errors.Is(err, fs.ErrNotExist) {
		id = rand.Text()
		err = durable.WriteFile(m.path(), []byte(id+"\n"), 0o666)
	}
	if err != nil {
		return durable.Classify("read", m.path(), err)
	}
	return m.ids.SetLibraryID(ctx, id)
}

// Check returns nil if the library folder is the one that was there before. A
// missing, empty, unmarked or foreign one is a storage failure: nothing may be
// written there, and nothing that is not seen there may be taken for deleted.
func (m *Marker) Check(ctx context.Context) error {
	stored, err := m.stored(ctx)
	if err != nil {
		return err
	}
	id, err := m.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Newf(fault.Storage, "look at", m.library, "its marker file %s is not there: is the library mounted?", MarkerName)
	case err != nil:
		return durable.Classify("read", m.path(), err)
	case id != stored:
		return fault.Newf(fault.Storage, "look at", m.library, "its marker file is that of another library")
	}
	return nil
}

func (m *Marker) stored(ctx context.Context) (string, error) {
	if id := m.known.Load(); id != nil {
		return *id, nil
	}
	id, err := m.ids.LibraryID(ctx)
	if err == nil && id != "" {
		m.known.Store(&id)
	}
	return id, err
}

func (m *Marker) path() string { return filepath.Join(m.library, MarkerName) }

func (m *Marker) read() (string, error) {
	f, err := os.Open(m.path())
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	buf := make([]byte, 256)
	n, err := f.Read(buf)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(buf[:n])), nil
}
