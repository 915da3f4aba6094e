package peppercarrot

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/markup"
)

// Limits of the index.
const (
	maxEpisodes  = 1000
	maxLanguages = 300
	maxName      = 150
)

// episode is an entry of the index.
type episode struct {
	Name      string            `json:"name"`
	Languages []string          `json:"translated_languages"`
	Pages     map[string]string `json:"pages"`
}

// parse reads the index and drops nothing silently but what has no language code's
// form: names and files become parts of addresses and have to be plain.
func parse(resp *source.Response) ([]episode, error) {
	if len(resp.Body) > markup.MaxBytes {
		return nil, source.Unparsed(resp.URL, "it is larger than %d bytes", markup.MaxBytes)
	}
	if !bytes.HasPrefix(bytes.TrimSpace(resp.Body), []byte("[")) {
		return nil, source.NoLandmark(resp.URL, "list of episodes")
	}
	var episodes []episode
	if err := json.Unmarshal(resp.Body, &episodes); err != nil {
		return nil, source.Unparsed(resp.URL, "it is no list of episodes that can be read")
	}
	if len(episodes) > maxEpisodes {
		return nil, source.Unparsed(resp.URL, "it lists %d episodes, more than %d", len(episodes), maxEpisodes)
	}
	for i := range episodes {
		e := &episodes[i]
		if !plain(e.Name) || len(e.Languages) > maxLanguages || len(e.Pages) > markup.MaxPages {
			return nil, source.Unparsed(resp.URL, "episode %d has no plain name or is out of bounds", i+1)
		}
		for key, file := range e.Pages {
			if !plain(file) {
				return nil, source.Unparsed(resp.URL, "episode %s: page %q is no plain file", e.Name, key)
			}
		}
		e.Languages = slices.DeleteFunc(e.Languages, func(c string) bool { return !coded(c) })
	}
	return episodes, nil
}

// plain reports whether s is a name of letters, digits, dashes and dots, beginning
// with none of the last two.
func plain(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("-_.", r)) {
			return false
		}
	}
	return s != "" && len(s) <= maxName && !strings.Contains(s, "..")
}

func coded(s string) bool {
	return (len(s) == 2 || len(s) == 3) && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}

// id names an episode in a language.
func (e episode) id(code string) string { return e.Name + "/" + code }

func (e episode) chapter(code string) source.Chapter {
	c := source.Chapter{ID: e.id(code), Language: language(code), URL: base + "/" + code + "/webcomic/" + e.Name + ".html"}
	number, name, ok := strings.Cut(e.Name, "_")
	if d, isNumber := source.Decimal(strings.TrimPrefix(number, "ep")); ok && isNumber && strings.HasPrefix(number, "ep") {
		c.Number = d
	} else {
		name = e.Name
	}
	c.Title = strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' }), " ")
	return c
}

// pages are the title, the numbered pages and the credits, in that order.
func (e episode) pages(subject, code string) ([]source.Page, error) {
	var numbers []int
	for key := range e.Pages {
		if n, err := strconv.Atoi(key); err == nil && n > 0 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	var addresses []string
	take := func(key string) {
		if file, ok := e.Pages[key]; ok {
			addresses = append(addresses, base+"/0_sources/"+e.Name+"/low-res/"+code+"_"+file)
		}
	}
	take("title")
	for _, n := range numbers {
		take(strconv.Itoa(n))
	}
	if len(numbers) == 0 {
		return nil, source.Unparsed(subject, "episode %s has no numbered page", e.Name)
	}
	take("credits")
	return markup.Pages(subject, addresses)
}

// language is the Site's code as BCP 47. Codes whose meaning is not known are kept
// as private subtags, so that they are told apart and mean nothing false.
func language(code string) string {
	switch code {
	case "br":
		return "pt-BR"
	case "cn":
		return "zh-Hans"
	case "kr":
		return "ko"
	case "mx":
		return "es-MX"
	case "no":
		return "nb"
	case "ar", "bn", "ca", "cs", "da", "de", "el", "en", "eo", "es", "eu", "fa", "fi", "fr", "gd", "he", "hi", "hu", "id", "ie", "io", "is", "it", "ja", "la", "lt", "ml", "ms",
		"nl", "nn", "oc", "pl", "pt", "ro", "ru", "sk", "sl", "sv", "ta", "th", "tr", "uk", "vi":
		return code
	}
	return "und-x-" + code
}
