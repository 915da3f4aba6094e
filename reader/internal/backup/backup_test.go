package backup_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/reader/internal/backup"
	"mangrove/reader/internal/backup/backuptest"
)

// mangadexEnglish is Mihon's number for MangaDex in English.
const mangadexEnglish = 2499283573021220255

const uuid = "a96676e5-8ae2-425e-b549-7f15dd34a6d8"

func mihon(t testing.TB) []byte {
	return backuptest.Mihon(t, []backuptest.Manga{
		{
			Source: mangadexEnglish, URL: "/manga/" + uuid, Title: "Komi", Added: 1_600_000_000_000, Categories: []int64{1},
			Chapters: []backuptest.Chapter{
				{URL: "/chapter/c1", Number: 1, Read: true, ReadAt: 1_700_000_000_000}, {URL: "/chapter/c2", Number: 2.5, LastPage: 7},
				{URL: "/chapter/c3", Number: -1, Read: true}, {URL: "/chapter/c0", Read: true}, {URL: "/chapter/c9", Number: 9},
			},
		},
		{Source: 77, URL: "/x?id=1", Title: "Elsewhere\x00", OnlyRead: true},
		{Source: 0, URL: "folder", Title: "Mine"},
	}, []string{"Reading", "Later"}, map[int64]string{mangadexEnglish: "MangaDex", 77: "Some Site"})
}

func TestMihon(t *testing.T) {
	t.Parallel()
	got, err := backup.Read(mihon(t), "Mo")
	if err != nil {
		t.Fatal(err)
	}
	at, last := time.UnixMilli(1_700_000_000_000).UTC(), time.UnixMilli(1_700_000_000_000).UTC()
	want := backup.Backup{Kind: backup.Mihon, Series: []backup.Series{
		{
			Title: "Komi", Source: "MangaDex", Address: "/manga/" + uuid, Favourite: true, Languages: []string{"en"}, Categories: []string{"Later"},
			AddedAt: time.UnixMilli(1_600_000_000_000).UTC(), Chapters: 5, Marks: []backup.Mark{
				{ChapterKey: "c1", Number: "1", Finished: true, At: at}, {ChapterKey: "c2", Number: "2.5", Page: 7, At: last},
				{ChapterKey: "c3", Finished: true, At: last}, {ChapterKey: "c0", Number: "0", Finished: true, At: last},
			},
		},
		{Title: "Elsewhere", Source: "Some Site", Address: "/x?id=1"},
		{Title: "Mine", Local: true, Address: "folder", Favourite: true},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func kotatsu(t testing.TB) []byte {
	komi := backuptest.KotatsuManga(-5, "Komi", "MANGADEX", uuid, "https://mangadex.org/title/"+uuid)
	other := backuptest.KotatsuManga(6, "Other", "MANGAFIRE_EN", "/manga/other", "")
	return backuptest.Kotatsu(t, map[string]any{
		"index":      []any{map[string]any{"app_id": "an app"}},
		"categories": []any{map[string]any{"category_id": 3, "title": "Reading"}, map[string]any{"category_id": 4, "title": "Best"}},
		"favourites": []any{
			map[string]any{"manga_id": -5, "category_id": 3, "created_at": int64(1_600_000_000_000), "manga": komi},
			map[string]any{"manga_id": -5, "category_id": 4, "created_at": int64(1_650_000_000_000), "manga": komi},
		},
		"history": []any{
			map[string]any{"manga_id": -5, "chapter_id": int64(-7213370711245937420), "page": 4, "percent": 0.5, "chapters": 12, "updated_at": int64(1_700_000_000_000), "manga": komi},
			map[string]any{"manga_id": 6, "chapter_id": 9, "page": 0, "percent": 1.0, "updated_at": 5, "manga": other},
		},
	})
}

func TestKotatsu(t *testing.T) {
	t.Parallel()
	got, err := backup.Read(kotatsu(t), "Mo")
	if err != nil {
		t.Fatal(err)
	}
	added := time.UnixMilli(1_600_000_000_000).UTC()
	want := backup.Backup{Kind: backup.Kotatsu, Series: []backup.Series{
		{
			Title: "Komi", Source: "MANGADEX", Address: "https://mangadex.org/title/" + uuid, Favourite: true, Categories: []string{"Reading", "Best"},
			AddedAt: added, Chapters: 12, Marks: []backup.Mark{
				{ChapterKey: "kotatsu:-7213370711245937420", Page: 4, Through: true, At: time.UnixMilli(1_700_000_000_000).UTC()},
			},
		},
		{Title: "Other", Source: "MANGAFIRE_EN", Address: "/manga/other", Marks: []backup.Mark{{ChapterKey: "kotatsu:9", Finished: true, Through: true}}},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Worked out elsewhere.
func TestKotatsuKey(t *testing.T) {
	t.Parallel()
	if got, want := backup.KotatsuKey("A", "b"), "kotatsu:1081989810475737830"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestExportComesBack(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 5, 6, 7, 891_000, time.UTC)
	people := []backup.Person{
		{Name: "Mo", Series: []backup.ExportedSeries{{
			Title: "Komi <3", Site: "mangadex", SeriesID: uuid, URL: "https://mangadex.org/title/" + uuid,
			Follow:      &backup.ExportedFollow{Since: at, Download: true, Languages: []string{"en"}},
			Read:        []backup.ExportedPlace{{Chapter: "2.5", ChapterID: "c2", Page: 8, At: at}, {ChapterID: "c3", Page: 20, Finished: true, At: at}},
			Collections: []string{"For rainy days", "School"},
		}}},
		{Name: "Ada"},
	}
	var file bytes.Buffer
	if err := backup.Write(&file, people, at); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(file.String(), "\"title\": \"Komi <3\"") {
		t.Errorf("a person cannot read it:\n%s", &file)
	}
	got, err := backup.Read(file.Bytes(), "mo")
	if err != nil {
		t.Fatal(err)
	}
	want := backup.Backup{Kind: backup.Mangrove, Series: []backup.Series{{
		Title: "Komi <3", Source: "mangadex", Site: "mangadex", SeriesID: uuid, Address: "https://mangadex.org/title/" + uuid, Favourite: true, Download: true,
		Languages: []string{"en"}, Categories: []string{"For rainy days", "School"}, AddedAt: at, Chapters: 2, Marks: []backup.Mark{
			{ChapterKey: "c2", Number: "2.5", Page: 7, At: at}, {ChapterKey: "c3", Page: 19, Finished: true, At: at},
		},
	}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, err := backup.Read(file.Bytes(), "Bob"); err == nil || !strings.Contains(err.Error(), "Mo, Ada, and nothing of Bob") {
		t.Errorf("somebody else: %v", err)
	}
}

// Whatever is wrong with a file is said in a sentence about the file.
func TestWhatIsWrongWithAFile(t *testing.T) {
	t.Parallel()
	packed := func(plain []byte) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, _ = z.Write(plain)
		_ = z.Close()
		return out.Bytes()
	}
	whole := mihon(t)
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"empty":               {nil, "empty"},
		"a picture":           {[]byte("\x89PNG..."), "no backup that is known"},
		"cut short":           {whole[:len(whole)-20], "ends early"},
		"damaged":             {packed([]byte{0x0a, 0xff, 0x01}), "damaged"},
		"nothing in it":       {packed(nil), "lists no Series"},
		"a bomb":              {packed(make([]byte, 129<<20)), "larger than 128 MiB when unpacked"},
		"a group":             {packed([]byte{0x0b, 0x0c}), "damaged"},
		"too large":           {make([]byte, backup.MaxFile+1), "larger than 64 MiB"},
		"another zip":         {backuptest.Kotatsu(t, map[string]any{"a.txt": 1}), "no backup of Kotatsu"},
		"no list":             {backuptest.Kotatsu(t, map[string]any{"history": map[string]any{}}), "list of history is damaged"},
		"an empty list":       {backuptest.Kotatsu(t, map[string]any{"history": []any{}}), "lists no Series"},
		"a zip cut short":     {kotatsu(t)[:200], "damaged or ends early"},
		"JSON of others":      {[]byte(`{"a": 1}`), "not written by Mangrove"},
		"JSON cut short":      {[]byte(`{"format": "mangrove`), "ends early"},
		"a later version":     {[]byte(`{"format": "mangrove follows and progress", "version": 2}`), "version 2"},
		"nobody in it":        {[]byte(`{"format": "mangrove follows and progress", "version": 1}`), "holds nobody"},
		"another shape":       {[]byte(`{"format": 1}`), "not as Mangrove writes it"},
		"a zip of many files": {backuptest.Kotatsu(t, many(101)), "holds 101 files"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := backup.Read(c.data, "Mo")
			var file *backup.FileError
			if !errors.As(err, &file) || !strings.Contains(file.Problem, c.says) {
				t.Errorf("it says %v, want %q", err, c.says)
			}
		})
	}
}

func many(n int) map[string]any {
	out := map[string]any{}
	for i := range n {
		out[strings.Repeat("x", i+1)] = 1
	}
	return out
}

// FuzzRead: no file makes it panic, and what it returns fits the database.
func FuzzRead(f *testing.F) {
	f.Add(mihon(f))
	f.Add(kotatsu(f))
	f.Add([]byte(`{"format":"mangrove follows and progress","version":1,"people":[{"name":"Mo","series":[{"site":"s","series_id":"1","read":[{"chapter":"1","page":-5}]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		check(t, data)
		// What is behind the packing matters more.
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, _ = z.Write(data)
		_ = z.Close()
		check(t, out.Bytes())
	})
}

func check(t *testing.T, data []byte) {
	b, err := backup.Read(data, "Mo")
	if err != nil {
		var file *backup.FileError
		if !errors.As(err, &file) {
			t.Fatalf("an error that says nothing of the file: %v", err)
		}
		return
	}
	for _, s := range b.Series {
		for _, text := range append([]string{s.Title, s.Source, s.Address, s.Site, s.SeriesID}, s.Categories...) {
			if len(text) > 2048 || strings.ContainsRune(text, 0) || strings.ToValidUTF8(text, "") != text {
				t.Fatalf("%q cannot be stored", text)
			}
		}
		for _, m := range s.Marks {
			if m.Page < 0 || len(m.ChapterKey) > 2048 || strings.ContainsRune(m.ChapterKey, 0) || strings.Trim(m.Number, "-.0123456789") != "" {
				t.Fatalf("%+v cannot be stored", m)
			}
		}
	}
}
