package backup

import (
	"bytes"
	"compress/gzip"
	"crypto/md5" //nolint:gosec // it is how the other program makes its ids; nothing rests on it
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers of the fields that are read, by message. All others are passed over.
const (
	backupManga, backupCategories, backupSources = 1, 2, 101

	categoryName, categoryOrder = 1, 2

	sourceName, sourceID = 1, 2

	mangaSource, mangaURL, mangaTitle, mangaAdded          = 1, 2, 3, 13
	mangaChapters, mangaCategories, mangaFavorite, history = 16, 17, 100, 104

	chapterURL, chapterRead, chapterPage, chapterNumber = 1, 4, 6, 9

	historyURL, historyRead = 1, 2
)

// localSource is Mihon's number for files on the device.
const localSource = 0

// readMihon reads a .tachibk file: one message, packed with gzip.
func readMihon(data []byte) (Backup, error) {
	plain, err := unzip(data)
	if err != nil {
		return Backup{}, err
	}
	m := mihon{sources: map[int64]string{}, categories: map[int64]string{}}
	// Sources and categories stand behind the titles that name them.
	err = fields(plain, func(n protowire.Number, v value) error {
		switch n {
		case backupSources:
			return m.source(v.bytes)
		case backupCategories:
			return m.category(v.bytes)
		case backupManga:
			m.count++
		}
		return nil
	})
	if err != nil {
		return Backup{}, err
	}
	if m.count > maxSeries {
		return Backup{}, bad("The backup lists %d Series; at most %d are read.", m.count, maxSeries)
	}
	out := Backup{Kind: Mihon}
	err = fields(plain, func(n protowire.Number, v value) error {
		if n != backupManga {
			return nil
		}
		s, err := m.manga(v.bytes)
		out.Series = append(out.Series, s)
		return err
	})
	if err != nil {
		return Backup{}, err
	}
	if len(out.Series) == 0 {
		return Backup{}, bad("The backup lists no Series.")
	}
	return out, nil
}

// unzip unpacks within bounds.
func unzip(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, bad("The backup cannot be unpacked: it is damaged at its beginning.")
	}
	plain, err := io.ReadAll(io.LimitReader(z, maxPlain+1))
	switch {
	case len(plain) > maxPlain:
		return nil, bad("The backup is larger than %d MiB when unpacked.", maxPlain>>20)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return nil, bad("The backup ends early. Save it once more and try again.")
	case err != nil:
		return nil, bad("The backup is damaged and cannot be unpacked.")
	}
	return plain, nil
}

type mihon struct {
	sources, categories map[int64]string
	count, marks        int
}

// value is one field: a number or a run of bytes.
type value struct {
	number uint64
	bytes  []byte
}

// fields walks the fields of one message. Groups and broken lengths end it.
func fields(message []byte, each func(protowire.Number, value) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return bad("The backup is damaged: a part of it cannot be read.")
		}
		message = message[n:]
		var v value
		switch kind {
		case protowire.VarintType:
			v.number, n = protowire.ConsumeVarint(message)
		case protowire.Fixed32Type:
			var four uint32
			four, n = protowire.ConsumeFixed32(message)
			v.number = uint64(four)
		case protowire.Fixed64Type:
			v.number, n = protowire.ConsumeFixed64(message)
		case protowire.BytesType:
			v.bytes, n = protowire.ConsumeBytes(message)
		default:
			n = -1
		}
		if n < 0 {
			return bad("The backup is damaged: a part of it cannot be read.")
		}
		message = message[n:]
		if err := each(number, v); err != nil {
			return err
		}
	}
	return nil
}

func (m *mihon) source(message []byte) error {
	var name string
	var id int64
	err := fields(message, func(n protowire.Number, v value) error {
		switch n {
		case sourceName:
			name = text(string(v.bytes), maxText)
		case sourceID:
			id = int64(v.number)
		}
		return nil
	})
	m.sources[id] = name
	return err
}

// category is named by its place in the list, which is what titles hold.
func (m *mihon) category(message []byte) error {
	var name string
	var order int64
	err := fields(message, func(n protowire.Number, v value) error {
		switch n {
		case categoryName:
			name = text(string(v.bytes), maxText)
		case categoryOrder:
			order = int64(v.number)
		}
		return nil
	})
	m.categories[order] = name
	return err
}

func (m *mihon) manga(message []byte) (Series, error) {
	// What stands at its default is left out of the file: a title is a favourite.
	s := Series{Favourite: true}
	var from int64
	read := map[string]time.Time{}
	var chapters [][]byte
	err := fields(message, func(n protowire.Number, v value) error {
		switch n {
		case mangaSource:
			from = int64(v.number)
		case mangaURL:
			s.Address = text(string(v.bytes), maxAddress)
		case mangaTitle:
			s.Title = text(string(v.bytes), maxText)
		case mangaAdded:
			s.AddedAt = when(int64(v.number))
		case mangaFavorite:
			s.Favourite = v.number != 0
		case mangaCategories:
			m.inCategories(&s, v)
		case mangaChapters:
			chapters = append(chapters, v.bytes)
		case history:
			return readHistory(v.bytes, read)
		}
		return nil
	})
	if err != nil {
		return s, err
	}
	s.Source, s.Local = m.sources[from], from == localSource
	if s.Source == "" && !s.Local {
		s.Source = strconv.FormatInt(from, 10)
	}
	if language := languageOf(s.Source, from); language != "" {
		s.Languages = []string{language}
	}
	for _, c := range chapters {
		if err := m.chapter(&s, c, read); err != nil {
			return s, err
		}
	}
	s.date()
	return s, nil
}

// inCategories takes one category, or several in one field.
func (m *mihon) inCategories(s *Series, v value) {
	orders := []int64{int64(v.number)}
	if v.bytes != nil {
		orders = nil
		for packed := v.bytes; len(packed) > 0; {
			o, n := protowire.ConsumeVarint(packed)
			if n < 0 {
				return
			}
			orders, packed = append(orders, int64(o)), packed[n:]
		}
	}
	for _, o := range orders {
		if name := m.categories[o]; name != "" && len(s.Categories) < maxGroups {
			s.Categories = append(s.Categories, name)
		}
	}
}

func readHistory(message []byte, read map[string]time.Time) error {
	var url string
	var at time.Time
	err := fields(message, func(n protowire.Number, v value) error {
		switch n {
		case historyURL:
			url = string(v.bytes)
		case historyRead:
			at = when(int64(v.number))
		}
		return nil
	})
	read[url] = at
	return err
}

// chapter counts a chapter and keeps its mark if anything of it was read.
func (m *mihon) chapter(s *Series, message []byte, read map[string]time.Time) error {
	var url string
	var mark Mark
	var number float64
	err := fields(message, func(n protowire.Number, v value) error {
		switch n {
		case chapterURL:
			url = string(v.bytes)
		case chapterRead:
			mark.Finished = v.number != 0
		case chapterPage:
			mark.Page = page(int64(v.number))
		case chapterNumber:
			number = float64(math.Float32frombits(uint32(v.number)))
		}
		return nil
	})
	s.Chapters++
	if err != nil || !mark.Finished && mark.Page == 0 {
		return err
	}
	if m.marks++; m.marks > maxMarks {
		return bad("The backup marks more than %d chapters as read.", maxMarks)
	}
	mark.ChapterKey, mark.Number, mark.At = text(lastPart(url), maxAddress), decimal(number), read[url]
	s.Marks = append(s.Marks, mark)
	return nil
}

// languageOf tells the language of a source from its number, which Mihon makes of
// name, language and version; "" when it is none of the usual.
func languageOf(name string, id int64) string {
	for _, language := range []string{
		"en", "ja", "zh", "ko", "fr", "es", "es-419", "pt", "pt-BR", "de", "it", "ru", "pl", "tr", "vi", "id", "th", "ar", "zh-Hans", "zh-Hant",
		"uk", "cs", "nl", "hu", "ro", "el", "bg", "fa", "he", "hi", "ms", "fil", "sv", "fi", "da", "no", "ca", "sr", "hr", "bn", "my", "mn", "lt",
	} {
		sum := md5.Sum([]byte(strings.ToLower(name) + "/" + language + "/1")) //nolint:gosec // see above
		if int64(binary.BigEndian.Uint64(sum[:8])&math.MaxInt64) == id {
			return language
		}
	}
	return ""
}
