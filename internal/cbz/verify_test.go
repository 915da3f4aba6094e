package cbz

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mangrove/internal/fault"
)

// TestAFlippedBitIsFound: any one bit of any page is found, and that page alone is
// named (F81).
func TestAFlippedBitIsFound(t *testing.T) {
	t.Parallel()
	m, pages := chapter(t)
	whole := write(t, ComicInfo{Series: "S"}, m, pages)
	got, err := Verify(t.Context(), bytes.NewReader(whole), int64(len(whole)))
	if diff := cmp.Diff(Verified{Pages: len(pages), Fingerprint: m.Fingerprint}, got); diff != "" || err != nil {
		t.Fatalf("a whole archive (-want +got):\n%s%v", diff, err)
	}
	a, err := Open(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		page := rapid.IntRange(0, len(pages)-1).Draw(t, "page")
		// The first bytes say what kind of picture it is; without them it is none.
		at := a.Pages[page].Offset + int64(rapid.IntRange(0, len(pages[page])-1).Draw(t, "byte"))
		data := slices.Clone(whole)
		data[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		got, err := Verify(context.Background(), bytes.NewReader(data), int64(len(data)))
		want := Verified{Pages: len(pages), Fingerprint: m.Fingerprint, Bad: []Damage{{page + 1, m.Pages[page].Name, "its bytes have changed"}}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("byte %d of page %d (-want +got):\n%s%v", at, page+1, diff, err)
		}
	})
}

// TestVerifyNamesWhatIsWrong: a page that was replaced with its checksum, one that
// is gone, one that the disk cannot read, and the archives of others.
func TestVerifyNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	m, pages := chapter(t)
	replaced := slices.Clone(pages)
	replaced[1] = pages[0]
	lied := m
	lied.Pages = slices.Clone(m.Pages)
	gone := slices.Clone(m.Pages)
	gone = append(gone, PageRecord{Name: "9999.jpg", Size: 1, SHA256: "00", MediaType: "image/jpeg", Width: 1, Height: 1})
	more := m
	more.Pages = gone
	foreign := pack(t, entry{name: "1.jpg", data: pages[0]}, entry{name: "2.jpg", data: pages[0]})
	a, err := Open(bytes.NewReader(foreign), int64(len(foreign)))
	if err != nil {
		t.Fatal(err)
	}
	rotten := slices.Clone(foreign)
	rotten[a.Pages[1].Offset+a.Pages[1].Size/2] ^= 0xff
	for name, tt := range map[string]struct {
		data []byte
		want []Damage
	}{
		"another picture in its place": {pack(t, packed(t, lied, replaced)...), []Damage{{2, lied.Pages[1].Name, "it is not the picture that was published"}}},
		"a page is gone":               {pack(t, packed(t, more, pages)...), []Damage{{len(pages) + 1, "9999.jpg", "it is not there any more"}}},
		"others' archive":              {foreign, nil},
		"others' archive, rotten":      {rotten, []Damage{{2, "2.jpg", "its bytes have changed"}}},
	} {
		got, err := Verify(t.Context(), bytes.NewReader(tt.data), int64(len(tt.data)))
		if diff := cmp.Diff(tt.want, got.Bad); diff != "" || err != nil {
			t.Errorf("%s (-want +got):\n%s%v", name, diff, err)
		}
	}
	whole := write(t, ComicInfo{}, m, pages)
	at, err := Open(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	last := at.Pages[len(pages)-1]
	got, err := Verify(t.Context(), failingDisk{whole, last.Offset + last.Size/2}, int64(len(whole)))
	if err == nil && !cmp.Equal(got.Bad, []Damage{{len(pages), last.Name, "the disk cannot read it"}}) {
		t.Errorf("a bad sector in the last page: %+v", got.Bad)
	} else if err != nil && !fault.Is(err, fault.Storage) {
		t.Errorf("a bad sector in the last page: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := Verify(ended, bytes.NewReader(whole), int64(len(whole))); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// packed are the entries of one of our archives, whatever its manifest says.
func packed(t *testing.T, m Manifest, pages [][]byte) []entry {
	t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	out := []entry{{name: ManifestName, data: data}}
	for i, p := range pages {
		out = append(out, entry{name: m.Pages[i].Name, data: p})
	}
	return out
}
