package declared

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// recordedDir is where pages that others recorded lie on a developer's machine;
// they are not part of the project.
const recordedDir = "../../../../../shared/data/sites"

// recorded answers with recorded pages by host and path.
type recorded map[string]string

func (r recorded) Get(_ context.Context, q source.Request) (*source.Response, error) {
	_, at, _ := strings.Cut(q.URL, "://")
	file, ok := r[strings.TrimSuffix(at, "/")]
	if !ok {
		return nil, fault.Newf(fault.NotFound, "get", q.URL, "not recorded")
	}
	body, err := os.ReadFile(file)
	if err != nil {
		return nil, fault.New(fault.Unknown, "get", q.URL, err)
	}
	return &source.Response{URL: q.URL, Body: body}, nil
}

func recordedPages(t *testing.T) recorded {
	t.Helper()
	poketo := filepath.Join(recordedDir, "poketo-2018_MIT")
	f, err := os.Open(filepath.Join(poketo, "INDEX.tsv"))
	if err != nil {
		t.Skip("the recorded pages are not here")
	}
	defer func() { _ = f.Close() }()
	c := csv.NewReader(f)
	c.Comma, c.LazyQuotes = '\t', true
	rows, err := c.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := recorded{}
	for _, r := range rows[1:] {
		if r[1] == "200" {
			out[r[3]+strings.TrimSuffix(r[4], "/")] = filepath.Join(poketo, r[5])
		}
	}
	for _, n := range []string{"302", "303", "1898", "1899", "1899-xss-img", "1899-xss-text"} {
		out["xkcd.com/"+n] = filepath.Join(recordedDir, "dosage-webcomics_MIT", "xkcd-"+n+".html")
	}
	return out
}

// recordedSite reads one of the descriptions written for the recorded pages.
func recordedSite(t *testing.T, name string) *Described {
	t.Helper()
	s, problems := ReadFile(filepath.Join("testdata/recorded", name+".yaml"))
	if s == nil {
		t.Fatal(problems)
	}
	return s.Described
}

func TestRecordedSeries(t *testing.T) {
	pages := recordedPages(t)
	tests := []struct {
		site, series  string
		title, author string
		least         int
		first, last   string // numbers, newest first
		dated         bool
	}{
		{"foolslide", "talentless-nana", "Talentless Nana", "Looseboy", 18, "18", "1", true},
		{"meraki", "ninja-shinobu-san-no-junjou", "Ninja Shinobu-san no Junjou", "", 30, "33", "1", true},
		{"senmanga", "Yotsubato!", "Yotsubato!", "Azuma Kiyohiko", 10, "94", "82", true},
		{"jaiminisbox", "itoshi-no-muco", "Itoshi no Muco", "MIZUSHINA Takayuki", 10, "13", "4", true},
		{"mangastream", "shokugeki_no_souma", "Shokugeki no Souma", "", 4, "287", "284", true},
		{"mangafox", "komi_san_wa_komyushou_desu", "Komi-san wa Komyushou Desu", "", 150, "173", "0", true},
	}
	for _, tt := range tests {
		t.Run(tt.site, func(t *testing.T) {
			s := recordedSite(t, tt.site)
			got := poll.Check(t.Context(), s.Adapter(), pages, source.Ask{SeriesID: tt.series})
			if got.Outcome != poll.OK {
				t.Fatal(got)
			}
			r := got.Reading
			if r.Series.Title != tt.title || (tt.author != "" && (len(r.Series.Authors) == 0 || r.Series.Authors[0] != tt.author)) {
				t.Errorf("title %q by %q", r.Series.Title, r.Series.Authors)
			}
			if len(r.Chapters) < tt.least {
				t.Fatalf("%d chapters, want %d at least", len(r.Chapters), tt.least)
			}
			first, last := r.Chapters[0], r.Chapters[len(r.Chapters)-1]
			if first.Number != tt.first || (tt.last != "" && last.Number != tt.last) {
				t.Errorf("numbers go from %q to %q: %+v", first.Number, last.Number, last)
			}
			for _, c := range r.Chapters {
				if c.Published.IsZero() == tt.dated || c.External {
					t.Errorf("chapter %s: published %s, external %v", c.ID, c.Published, c.External)
				}
			}
		})
	}
}

func TestRecordedPageLists(t *testing.T) {
	pages := recordedPages(t)
	tests := []struct {
		site, series string
		chapter      source.Chapter
		count        int
		first        string
	}{
		{"foolslide", "talentless-nana", source.Chapter{ID: "748", URL: "https://helveticascans.com/r/read/talentless-nana/en/2/11/page/1"}, 43, "https://helveticascans.com/r/content/comics/talentless-nana_5935ea4001c59/11-0-necromancer-part-2_5a1248a145bc2/0000a.png"},
		{"meraki", "ninja-shinobu-san-no-junjou", source.Chapter{ID: "32", URL: "https://merakiscans.com/ninja-shinobu-san-no-junjou/32"}, 0, "https://merakiscans.com/manga/ninja-shinobu-san-no-junjou/32/ch.15.2.jpg"},
		{"senmanga", "Yotsubato!", source.Chapter{ID: "82", URL: "https://raw.senmanga.com/Yotsubato!/82"}, 0, "https://raw.senmanga.com/viewer/Yotsubato!/82/1?token=12norzsrobp2l.32l7jxin5iqsk"},
		{"mangastream", "a_trail_of_blood", source.Chapter{ID: "x", URL: "https://readms.net/r/a_trail_of_blood/15/4622/1"}, 1, "https://img.mangastream.com/cdn/manga/149/4622/01.png"},
		{"xkcd", "xkcd", source.Chapter{ID: "303", URL: "https://xkcd.com/303/"}, 1, "https://imgs.xkcd.com/comics/compiling.png"},
	}
	for _, tt := range tests {
		t.Run(tt.site, func(t *testing.T) {
			got, err := recordedSite(t, tt.site).Pages(t.Context(), pages, source.Key{Site: tt.site, SeriesID: tt.series}, tt.chapter)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) == 0 || got[0].URL != tt.first || (tt.count > 0 && len(got) != tt.count) {
				t.Errorf("%d pages, the first %+v", len(got), got[0])
			}
			ids := map[string]bool{}
			for _, p := range got {
				ids[p.Identity] = true
			}
			if len(ids) != len(got) {
				t.Errorf("%d pages have %d identities", len(got), len(ids))
			}
		})
	}
}

// Every recorded page, read by every description, is a reading or a classified
// error.
func TestEveryRecordedPageByEveryDescription(t *testing.T) {
	pages := recordedPages(t)
	files, err := filepath.Glob("testdata/recorded/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		s, problems := ReadFile(file)
		if s == nil {
			t.Fatal(problems)
		}
		for at, page := range pages {
			body, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			readAll(t, s.Described, "https://"+at, body)
		}
	}
}

// readAll reads one body as every kind of page; what comes out must be classified.
func readAll(t *testing.T, s *Described, address string, body []byte) {
	t.Helper()
	always := answerAll{body}
	if r := poll.Check(t.Context(), s.Adapter(), always, source.Ask{SeriesID: "x", URL: address}); r.Err != nil && fault.Of(r.Err) == fault.Unknown {
		t.Errorf("%s as a Series of %s: %v", address, s.file, r.Err)
	} else if strings.Contains(r.String(), "panicked") {
		t.Errorf("%s as a Series of %s: %v", address, s.file, r.Err)
	}
	pages, err := s.Pages(t.Context(), always, source.Key{SeriesID: "x"}, source.Chapter{ID: "x", URL: address})
	if err != nil && fault.Of(err) == fault.Unknown {
		t.Errorf("%s as a chapter of %s: %v", address, s.file, err)
	}
	for _, p := range pages {
		if !within(p.URL, s.site.Hosts) || p.Identity == "" {
			t.Errorf("%s: page %+v is not within %v", address, p, s.site.Hosts)
		}
	}
	if found, ok := s.Adapter().(source.Searcher); ok {
		if _, err := found.Search(t.Context(), always, "x"); err != nil && fault.Of(err) == fault.Unknown {
			t.Errorf("%s as a search of %s: %v", address, s.file, err)
		}
	}
}

// answerAll answers every address with one body.
type answerAll struct{ body []byte }

func (a answerAll) Get(_ context.Context, r source.Request) (*source.Response, error) {
	return &source.Response{URL: r.URL, Body: a.body}, nil
}
