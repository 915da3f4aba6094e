package inventory_test

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"testing"

	"mangrove/internal/cbz"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/source"
)

func inventoryKey(folder string) source.Key {
	return source.Key{Site: inventory.LocalSite, SeriesID: folder}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	st, err := os.Stat(path)
	must(t, err)
	return st.Size()
}

// foreign makes one of our archives another program's: pages alone.
func foreign(t *testing.T, path string) {
	t.Helper()
	r, err := zip.OpenReader(path)
	must(t, err)
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range r.File {
		if e.Name == cbz.ManifestName || e.Name == cbz.ComicInfoName {
			continue
		}
		from, err := e.Open()
		must(t, err)
		to, err := w.CreateHeader(&zip.FileHeader{Name: e.Name, Method: zip.Store})
		must(t, err)
		_, err = io.Copy(to, from)
		must(t, err)
	}
	must(t, w.Close())
	must(t, r.Close())
	must(t, os.WriteFile(path, out.Bytes(), 0o644))
}
