package backup

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"unicode/utf16"
)

// kotatsuKey marks a chapter that is known by Kotatsu's number alone.
const kotatsuKey = "kotatsu:"

// KotatsuKey is how a mark of Kotatsu's names a chapter, given Kotatsu's name for
// where it is read and the chapter's address there.
func KotatsuKey(source, address string) string {
	hash := int64(1125899906842597)
	for _, unit := range utf16.Encode([]rune(source + address)) {
		hash = 31*hash + int64(unit)
	}
	return kotatsuKey + strconv.FormatInt(hash, 10)
}

type kotatsuManga struct {
	ID        json.Number `json:"id"`
	Title     string      `json:"title"`
	URL       string      `json:"url"`
	PublicURL string      `json:"public_url"`
	Source    string      `json:"source"`
}

type kotatsuCategory struct {
	ID    json.Number `json:"category_id"`
	Title string      `json:"title"`
}

type kotatsuFavourite struct {
	Category json.Number  `json:"category_id"`
	Created  json.Number  `json:"created_at"`
	Manga    kotatsuManga `json:"manga"`
}

type kotatsuHistory struct {
	Chapter json.Number  `json:"chapter_id"`
	Page    json.Number  `json:"page"`
	Percent float64      `json:"percent"`
	Updated json.Number  `json:"updated_at"`
	Count   int          `json:"chapters"`
	Manga   kotatsuManga `json:"manga"`
}

// readKotatsu reads a zip of lists: categories, what is in them, and where one is
// in each title.
func readKotatsu(data []byte) (Backup, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return Backup{}, bad("The zip file is damaged or ends early. Save the backup once more and try again.")
	}
	if len(z.File) > maxEntries {
		return Backup{}, bad("This zip file is no backup of Kotatsu: it holds %d files.", len(z.File))
	}
	k := kotatsu{places: map[string]int{}, categories: map[json.Number]string{}, left: maxPlain}
	if err := eachOf(&k, z, "categories", func(c kotatsuCategory) error {
		k.categories[c.ID] = text(c.Title, maxText)
		return nil
	}); err != nil {
		return Backup{}, err
	}
	if err := eachOf(&k, z, "favourites", k.favourite); err != nil {
		return Backup{}, err
	}
	if err := eachOf(&k, z, "history", k.read); err != nil {
		return Backup{}, err
	}
	if !k.known {
		return Backup{}, bad("This zip file is no backup of Kotatsu: it holds neither favourites nor history.")
	}
	if len(k.series) == 0 {
		return Backup{}, bad("The backup lists no Series.")
	}
	for i := range k.series {
		k.series[i].date()
	}
	return Backup{Kind: Kotatsu, Series: k.series}, nil
}

type kotatsu struct {
	series     []Series
	places     map[string]int
	categories map[json.Number]string
	left       int64
	known      bool
}

// eachOf reads one list of the zip, element by element; one that is not there is empty.
func eachOf[T any](k *kotatsu, z *zip.Reader, name string, each func(T) error) error {
	for _, f := range z.File {
		if f.Name != name {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return bad("The backup's list of %s cannot be unpacked.", name)
		}
		k.known = k.known || name != "categories"
		limited := &io.LimitedReader{R: r, N: k.left}
		err = elements(limited, each)
		k.left = limited.N
		_ = r.Close()
		var file *FileError
		switch {
		case err == nil, errors.As(err, &file):
			return err
		case k.left <= 0:
			return bad("The backup is larger than %d MiB when unpacked.", maxPlain>>20)
		}
		return bad("The backup's list of %s is damaged.", name)
	}
	return nil
}

func elements[T any](r io.Reader, each func(T) error) error {
	d := json.NewDecoder(r)
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return errors.New("it is no list")
	}
	for d.More() {
		var v T
		if err := d.Decode(&v); err != nil {
			return err
		}
		if err := each(v); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// of finds or makes the Series of a title.
func (k *kotatsu) of(m kotatsuManga) (*Series, error) {
	source, address := text(m.Source, maxText), text(m.PublicURL, maxAddress)
	if address == "" {
		address = text(m.URL, maxAddress)
	}
	key := source + "\x00" + address
	if i, ok := k.places[key]; ok {
		return &k.series[i], nil
	}
	if len(k.series) >= maxSeries {
		return nil, bad("The backup lists more than %d Series.", maxSeries)
	}
	k.places[key] = len(k.series)
	k.series = append(k.series, Series{Title: text(m.Title, maxText), Source: source, Local: source == "LOCAL", Address: address})
	return &k.series[len(k.series)-1], nil
}

func (k *kotatsu) favourite(f kotatsuFavourite) error {
	s, err := k.of(f.Manga)
	if err != nil {
		return err
	}
	s.Favourite = true
	if s.AddedAt.IsZero() {
		s.AddedAt = when(whole(f.Created))
	}
	if name := k.categories[f.Category]; name != "" && len(s.Categories) < maxGroups {
		s.Categories = append(s.Categories, name)
	}
	return nil
}

// read takes where one is. Kotatsu keeps the chapter and how much of the title was
// read, not which chapters: those before it count as read.
func (k *kotatsu) read(h kotatsuHistory) error {
	s, err := k.of(h.Manga)
	if err != nil || len(s.Marks) > 0 {
		return err
	}
	s.Chapters = min(max(h.Count, 0), maxChapters)
	s.Marks = []Mark{{
		ChapterKey: kotatsuKey + strconv.FormatInt(whole(h.Chapter), 10), Page: page(whole(h.Page)), Finished: h.Percent >= 0.9999,
		Through: true, At: when(whole(h.Updated)),
	}}
	return nil
}

// whole is a number without a fraction, 0 for anything else.
func whole(n json.Number) int64 {
	i, _ := n.Int64()
	return i
}
