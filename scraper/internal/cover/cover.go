// Package cover keeps the covers Sites show, so that no page of ours ever makes
// a browser ask a Site: one file per digest under the data folder. A cover is a
// convenience; losing one loses nothing.
package cover

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"mangrove/internal/durable"
	"mangrove/internal/fault"
	"mangrove/internal/picture"
)

// maxSize is what one message of the private API can carry, with room to spare.
const maxSize = 3 << 20

// Shelf is the folder of covers.
type Shelf struct{ dir string }

// New makes the Shelf in dir, creating the folder when the first cover comes.
func New(dir string) *Shelf { return &Shelf{dir} }

// Keep stores data if it is one whole image of a bearable size, and returns its
// digest in lower-case hex.
func (s *Shelf) Keep(data []byte) (string, error) {
	if len(data) > maxSize {
		return "", fault.Newf(fault.Page, "keep", "a cover", "it is %d bytes, more than %d", len(data), maxSize)
	}
	if _, err := picture.Check(data); err != nil {
		return "", err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return "", durable.Classify("create", s.dir, err)
	}
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	return name, durable.WriteFile(filepath.Join(s.dir, name), data, 0o600)
}

// Read returns a kept cover and its type by content.
func (s *Shelf) Read(digest string) ([]byte, string, error) {
	if b, err := hex.DecodeString(digest); err != nil || len(b) != sha256.Size {
		return nil, "", fault.Newf(fault.Invalid, "read", "a cover", "%q is no digest", digest)
	}
	path := filepath.Join(s.dir, digest)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", fault.Newf(fault.NotFound, "read", "a cover", "it is not kept")
	}
	if err != nil {
		return nil, "", durable.Classify("read", path, err)
	}
	mediaType := picture.Sniff(data)
	if mediaType == "" {
		return nil, "", fault.Newf(fault.NotFound, "read", "a cover", "it is no image")
	}
	return data, mediaType, nil
}
