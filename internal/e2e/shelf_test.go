package e2e

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// shelfTitles are made-up titles, for pictures of a library in which somebody reads.
var shelfTitles = []string{
	"A Witch’s Harvest", "Blue Lantern Street", "Café at the Edge", "Distant Rails", "Evening Tide", "Fox and Ferry", "Glass Orchard", "Hollow Moon", "Ink and Ash",
	"Juniper Road", "Kite Season", "Letters to Mars", "Midnight Bakery", "Our Small Planet", "Paper Dragons", "魔女の手紙", "Волшебная почта",
}

// fillShelf puts folders of comics into the library, as another program would: pages
// of the sample's episodes, each title beginning with another one.
func (m *mangrove) fillShelf(t *testing.T) {
	t.Helper()
	var pages []string
	for _, c := range shipped(t) {
		// The title's sheet and the credits are no covers.
		pages = append(pages, c.files[2:len(c.files)-1]...)
	}
	// Moved in at once: what is still being copied is looked at a minute later.
	aside := filepath.Join(m.top, "shelf")
	defer func() {
		for _, title := range shelfTitles {
			if err := os.Rename(filepath.Join(aside, title), filepath.Join(m.library(), title)); err != nil {
				t.Fatal(err)
			}
		}
	}()
	for i, title := range shelfTitles {
		dir := filepath.Join(aside, title)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for n := range 2 + i%4 {
			f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%s %02d.cbz", title, n+1)))
			if err != nil {
				t.Fatal(err)
			}
			z := zip.NewWriter(f)
			for k := range 4 {
				data, err := os.ReadFile(pages[(i*7+n*3+k)%len(pages)])
				if err != nil {
					t.Fatal(err)
				}
				w, err := z.Create(fmt.Sprintf("%03d.jpg", k+1))
				if err == nil {
					_, err = w.Write(data)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
