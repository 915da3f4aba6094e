package pages

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image/jpeg"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mangrove/internal/durable"
	"mangrove/internal/fault"
)

// MaxUpload is how large a picture is that somebody uploads.
const MaxUpload = 16 << 20

// Uploads keeps the pictures that people upload, named by the digest of what was
// made of them. No byte of an upload is kept as it came.
type Uploads struct {
	dir     string
	decoder Decoder
}

// NewUploads keeps pictures in dir, made when first needed.
func NewUploads(dir string, decoder Decoder) *Uploads { return &Uploads{dir: dir, decoder: decoder} }

// Keep makes a cover of a picture and answers its digest. The error is of class
// fault.Page when it is no picture that can be shown.
func (u *Uploads) Keep(ctx context.Context, data []byte) (digest string, err error) {
	if len(data) > MaxUpload {
		return "", fault.Newf(fault.Page, "keep", "a cover", "more than %d bytes", MaxUpload)
	}
	img, err := u.decoder.Decode(ctx, data)
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fault.New(fault.Page, "keep", "a cover", err)
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, scale(img, coverCrop(img.Bounds()), LargeCover), &jpeg.Options{Quality: coverQuality}); err != nil {
		return "", fault.New(fault.Page, "keep", "a cover", err)
	}
	sum := sha256.Sum256(out.Bytes())
	digest = hex.EncodeToString(sum[:])
	if err := os.MkdirAll(u.dir, 0o700); err != nil {
		return "", durable.Classify("create", u.dir, err)
	}
	return digest, durable.WriteFile(u.path(digest), out.Bytes(), 0o600)
}

func (u *Uploads) path(digest string) string { return filepath.Join(u.dir, digest+".jpg") }

// Serve answers a kept picture.
func (u *Uploads) Serve(w http.ResponseWriter, r *http.Request, digest string) error {
	if !isDigest(digest) {
		return fault.Newf(fault.NotFound, "serve", "a cover", "no digest")
	}
	f, err := os.Open(u.path(digest))
	if err != nil {
		return durable.Classify("open", u.path(digest), err)
	}
	defer func() { _ = f.Close() }()
	Guard(w.Header(), "image/jpeg")
	w.Header().Set("ETag", `"`+digest[:32]+`"`)
	w.Header().Set("Cache-Control", immutable)
	http.ServeContent(w, r, "", time.Time{}, f)
	return nil
}

func isDigest(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == 2*sha256.Size
}

// Sweep removes kept pictures that are not in use and older than a day: one just
// kept is about to be used.
func (u *Uploads) Sweep(used []string, now time.Time) error {
	entries, err := os.ReadDir(u.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	keep := map[string]bool{}
	for _, digest := range used {
		keep[digest] = true
	}
	for _, e := range entries {
		digest, ours := strings.CutSuffix(e.Name(), ".jpg")
		info, ierr := e.Info()
		if !ours || !isDigest(digest) || keep[digest] || ierr != nil || now.Sub(info.ModTime()) < 24*time.Hour {
			continue
		}
		err = errors.Join(err, os.Remove(u.path(digest)))
	}
	if err != nil {
		return durable.Classify("sweep", u.dir, err)
	}
	return nil
}
