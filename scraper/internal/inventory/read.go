package inventory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"mangrove/internal/archive"
	"mangrove/internal/cbz"
	"mangrove/internal/durable"
	"mangrove/internal/fault"
	"mangrove/internal/unreadable"
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

// readAll reads what lies at paths in the tree t; what is gone has no entry. Only a
// failing disk is an error.
func readAll(ctx context.Context, root *os.Root, t tree, paths []string) (map[string]Found, error) {
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
				stamp, _, _ := t.file(p)
				f, err := read(ctx, root, p, stamp)
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

// read reads what one archive, or one folder of pictures, is. One that cannot be
// read is found all the same, with the reason. One that is gone is of class
// not-found, one that is no plain file of class invalid; a failing disk is of class
// storage.
func read(ctx context.Context, root *os.Root, name string, stamp Stamp) (Found, error) {
	st, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return Found{}, fault.New(fault.NotFound, "open", name, err)
	case err != nil:
		return Found{}, durable.Classify("look at", name, err)
	case st.Mode().IsRegular():
		stamp = stampOf(st)
	case !st.IsDir():
		return Found{}, fault.Newf(fault.Invalid, "read", name, "it is no plain file")
	}
	id, err := archive.Peek(ctx, root, name)
	reason := unreadable.Of(err)
	if err != nil && reason == "" {
		return Found{}, err
	}
	out := Found{Path: name, Stamp: stamp, Kind: id.Kind, Pages: id.Pages, Unreadable: reason}
	if reason != "" {
		out.Pages = 0
		id.Identity = cbz.Identity{}
		if id.Digest, err = leftover(root, name, stamp); err != nil {
			return Found{}, err
		}
	}
	if m := id.Manifest; m != nil && ours(m) {
		out.Key, out.Fingerprint = source.Key{Site: m.Site, SeriesID: m.SeriesID}, m.Fingerprint
		out.Chapter.ID = m.ChapterID
		for _, n := range m.Missing {
			if n > 0 && n <= cbz.MaxEntries && len(out.Missing) < cbz.MaxEntries {
				out.Missing = append(out.Missing, n)
			}
		}
	} else {
		out.Key, out.Fingerprint = local(name, out.Kind), id.Digest
		sum := sha256.Sum256([]byte(name))
		out.Chapter.ID = hex.EncodeToString(sum[:16])
	}
	describe(&out, id.Info)
	return out, nil
}

// leftover is what a file that cannot be read is known by, when another program
// renames it: its size, how it begins and how it ends. An empty one, and a folder,
// is known by its name alone.
func leftover(root *os.Root, name string, stamp Stamp) (string, error) {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "unreadable %d\n", stamp.Size) // a hash cannot fail
	f, err := root.Open(name)
	if err != nil {
		return "", durable.Classify("open", name, err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	st, err := f.Stat()
	if err != nil {
		return "", durable.Classify("look at", name, err)
	}
	if st.IsDir() || st.Size() == 0 {
		_, _ = io.WriteString(h, name)
		return hex.EncodeToString(h.Sum(nil)), nil
	}
	for _, at := range []int64{0, max(0, st.Size()-64<<10)} {
		if _, err := io.Copy(h, io.NewSectionReader(f, at, 64<<10)); err != nil {
			return "", durable.Classify("read", name, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
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
func local(name string, kind archive.Kind) source.Key {
	if dir := path.Dir(name); dir != "." {
		return source.Key{Site: LocalSite, SeriesID: dir}
	}
	return source.Key{Site: LocalSite, SeriesID: stem(name, kind)}
}

// stem is a file's name without folder and ending, or a folder's name.
func stem(name string, kind archive.Kind) string {
	base := path.Base(name)
	if kind == archive.Folder {
		return base
	}
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
	l := label.Parse(f.SeriesTitle, stem(f.Path, f.Kind))
	c.Number, c.Title = l.Number, plain(l.Title)
	if c.Volume == "" {
		c.Volume = l.Volume
	}
	if c.Number == "" && c.Title == "" {
		c.Title = plain(stem(f.Path, f.Kind))
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
