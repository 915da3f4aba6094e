package inventory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"mangrove/internal/cbz"
	"mangrove/internal/durable"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/label"
	"mangrove/scraper/internal/source"
)

// LocalSite is the Site's key of files that other programs put into the library.
const LocalSite = "local"

// readers is how many archives are read at once. More are faster by a third, and
// make everything else that the scraper answers meanwhile wait.
const readers = 2

// maxText bounds what a file may say of itself, in bytes.
const maxText = 512

// readAll reads the archives at paths; one that cannot be read has no entry. Only
// a failing disk is an error.
func readAll(ctx context.Context, root *os.Root, paths []string) (map[string]Found, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		mu    sync.Mutex
		out   = make(map[string]Found, len(paths))
		next  = make(chan string)
		group sync.WaitGroup
	)
	for range min(readers, len(paths)) {
		group.Go(func() {
			for p := range next {
				f, err := read(root, p)
				switch {
				case fault.Is(err, fault.Storage):
					cancel(err)
				case err == nil:
					mu.Lock()
					out[p] = f
					mu.Unlock()
				}
			}
		})
	}
	for _, p := range paths {
		select {
		case next <- p:
		case <-ctx.Done():
		}
	}
	close(next)
	group.Wait()
	return out, context.Cause(ctx)
}

// read reads what one archive is. One that is no archive, or is gone, is of class
// invalid or not-found; a failing disk is of class storage.
func read(root *os.Root, name string) (Found, error) {
	f, err := root.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return Found{}, fault.New(fault.NotFound, "open", name, err)
	case err != nil:
		return Found{}, durable.Classify("open", name, err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	st, err := f.Stat()
	if err != nil {
		return Found{}, durable.Classify("look at", name, err)
	}
	if !st.Mode().IsRegular() {
		return Found{}, fault.Newf(fault.Invalid, "read", name, "it is no plain file")
	}
	id, err := cbz.Peek(f, st.Size())
	if err != nil {
		return Found{}, err
	}
	out := Found{Path: name, Stamp: stampOf(st), Pages: id.Pages}
	if m := id.Manifest; m != nil && ours(m) {
		out.Key, out.Fingerprint = source.Key{Site: m.Site, SeriesID: m.SeriesID}, m.Fingerprint
		out.Chapter.ID = m.ChapterID
		for _, n := range m.Missing {
			if n > 0 && n <= cbz.MaxEntries && len(out.Missing) < cbz.MaxEntries {
				out.Missing = append(out.Missing, n)
			}
		}
	} else {
		out.Key, out.Fingerprint = local(name), id.Digest
		sum := sha256.Sum256([]byte(name))
		out.Chapter.ID = hex.EncodeToString(sum[:16])
	}
	describe(&out, id.Info)
	return out, nil
}

// ours reports whether a manifest can be believed as to what its chapter is: it
// comes from outside like the rest.
func ours(m *cbz.Manifest) bool {
	for _, text := range []string{m.Site, m.SeriesID, m.ChapterID, m.Fingerprint} {
		if text == "" || len(text) > maxText || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return false
		}
	}
	return m.Site != LocalSite && len(m.Pages) > 0
}

// local is the Series of a file that is not ours: its folder, or for one in the
// root the file itself.
func local(name string) source.Key {
	if dir := path.Dir(name); dir != "." {
		return source.Key{Site: LocalSite, SeriesID: dir}
	}
	return source.Key{Site: LocalSite, SeriesID: stem(name)}
}

// stem is a file's name without folder and ending.
func stem(name string) string {
	base := path.Base(name)
	return strings.TrimSuffix(base, path.Ext(base))
}

// describe fills in what the file says of its chapter, or else its name does.
func describe(f *Found, info *cbz.ComicInfo) {
	if info == nil {
		info = &cbz.ComicInfo{}
	}
	f.SeriesTitle = plain(info.Series)
	if f.SeriesTitle == "" {
		f.SeriesTitle = plain(path.Base(f.Key.SeriesID))
	}
	c := &f.Chapter
	c.Title, c.Language = plain(info.Title), plain(info.LanguageISO)
	c.Number, _ = source.Decimal(info.Number)
	if info.Volume > 0 {
		c.Volume = strconv.Itoa(info.Volume)
	}
	if info.Translator != "" && f.Key.Site != LocalSite {
		for g := range strings.SplitSeq(info.Translator, ", ") {
			if g = plain(g); g != "" && len(c.Groups) < 20 {
				c.Groups = append(c.Groups, g)
			}
		}
	}
	if c.Number != "" || c.Title != "" {
		return
	}
	l := label.Parse(f.SeriesTitle, stem(f.Path))
	c.Number, c.Title = l.Number, plain(l.Title)
	if c.Volume == "" {
		c.Volume = l.Volume
	}
	if c.Number == "" && c.Title == "" {
		c.Title = plain(stem(f.Path))
	}
}

// plain is text that the database and a page can hold.
func plain(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return strings.TrimSpace(text)
}
