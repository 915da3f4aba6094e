// Package language holds the words of the pages in each language: one message
// file a language, which one a person is answered in, plural forms, numbers, and
// the names of languages. The key of a message is the English sentence itself; what
// a file does not say is said in English. It refuses to word anything by itself:
// what is said, and when, is the pages' own.
package language

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
	"golang.org/x/text/message"
	"golang.org/x/text/message/catalog"
	"golang.org/x/text/number"
)

//go:embed messages/*.json
var files embed.FS

// source is the language of the keys.
const source = "en"

// maxAsked bounds what of a browser's wish is read.
const maxAsked = 512

// Message is what a file says for one key: one text, or one for each plural form
// that the language has, by the words of CLDR.
type Message struct {
	Text  string
	Forms map[string]string
}

// UnmarshalJSON reads either kind.
func (m *Message) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &m.Text) == nil {
		return nil
	}
	return json.Unmarshal(data, &m.Forms)
}

// MarshalJSON writes what was read, for the scripts of a page.
func (m Message) MarshalJSON() ([]byte, error) {
	if m.Forms != nil {
		return json.Marshal(m.Forms)
	}
	return json.Marshal(m.Text)
}

// categories are the plural forms of CLDR, in the order in which they are tried.
func categories() []string { return []string{"zero", "one", "two", "few", "many", "other"} }

// Languages are all there are.
type Languages struct {
	printers []*Printer
	matcher  language.Matcher
}

// Load reads every message file. English comes first: it is what nobody's wish
// leads to.
func Load() (*Languages, error) {
	names, err := fs.Glob(files, "messages/*.json")
	if err != nil {
		return nil, err
	}
	english, err := read("messages/" + source + ".json")
	if err != nil {
		return nil, err
	}
	all := &Languages{}
	for _, name := range names {
		tag := strings.TrimSuffix(path.Base(name), ".json")
		own, err := read(name)
		if err != nil {
			return nil, err
		}
		p, err := newPrinter(tag, own, english)
		if err != nil {
			return nil, fmt.Errorf("message file %s: %w", name, err)
		}
		all.printers = append(all.printers, p)
	}
	slices.SortStableFunc(all.printers, func(a, b *Printer) int {
		switch {
		case a.tag == source:
			return -1
		case b.tag == source:
			return 1
		}
		return strings.Compare(a.tag, b.tag)
	})
	var tags []language.Tag
	for _, p := range all.printers {
		tags = append(tags, language.Make(p.tag))
	}
	all.matcher = language.NewMatcher(tags)
	return all, nil
}

func read(name string) (map[string]Message, error) {
	data, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	out := map[string]Message{}
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, fmt.Errorf("message file %s: %w", name, err)
	}
	return out, nil
}

// For is the language of one person: the one they chose, or else the first that
// their browser asks for and there is. It is English where neither leads anywhere.
func (l *Languages) For(choice, asked string) *Printer {
	if choice != "" && len(choice) <= maxAsked {
		if tag, err := language.Parse(choice); err == nil {
			if _, i, sure := l.matcher.Match(tag); sure > language.No {
				return l.printers[i]
			}
		}
	}
	wanted, _, err := language.ParseAcceptLanguage(cut(asked))
	if err != nil {
		return l.printers[0]
	}
	_, i, sure := l.matcher.Match(wanted...)
	if sure == language.No {
		i = 0
	}
	return l.printers[i]
}

// cut keeps the first entries of a browser's wish, whole.
func cut(asked string) string {
	if len(asked) <= maxAsked {
		return asked
	}
	asked = asked[:maxAsked]
	return asked[:max(strings.LastIndexByte(asked, ','), 0)]
}

// All are the languages there are, English first.
func (l *Languages) All() []*Printer { return slices.Clone(l.printers) }

// Of is the language of this tag, which a person may choose; nil where there is none.
func (l *Languages) Of(tag string) *Printer {
	for _, p := range l.printers {
		if p.tag == tag {
			return p
		}
	}
	return nil
}

// Printer words messages in one language. It may be used by many at once.
type Printer struct {
	tag string
	// own is what the language's file says, messages what is said: English for the rest.
	own      map[string]Message
	messages map[string]Message
	printer  *message.Printer
	names    display.Namer
}

func newPrinter(tag string, own, english map[string]Message) (*Printer, error) {
	parsed, err := language.Parse(tag)
	if err != nil {
		return nil, err
	}
	// Numbers stand in the digits that chapters, pages and Sites have them in.
	numbers, err := parsed.SetTypeForKey("nu", "latn")
	if err != nil {
		return nil, err
	}
	p := &Printer{tag: tag, own: own, messages: map[string]Message{}, names: display.Tags(parsed)}
	words := catalog.NewBuilder(catalog.Fallback(language.English))
	for _, file := range []map[string]Message{english, own} {
		for key, m := range file {
			p.messages[key] = m
			if err := set(words, numbers, key, m); err != nil {
				return nil, fmt.Errorf("%q: %w", key, err)
			}
		}
	}
	p.printer = message.NewPrinter(numbers, message.Catalog(words))
	return p, nil
}

func set(words *catalog.Builder, tag language.Tag, key string, m Message) error {
	if m.Forms == nil {
		return words.SetString(tag, key, m.Text)
	}
	var cases []any
	for _, category := range categories() {
		if text, ok := m.Forms[category]; ok {
			cases = append(cases, category, text)
		}
	}
	if len(cases) != 2*len(m.Forms) || m.Forms["other"] == "" {
		return errors.New("plural forms are zero, one, two, few, many and other, and other is always there")
	}
	return words.Set(tag, key, plural.Selectf(counted(key), "", cases...))
}

// counted is which argument decides the plural form: the first number.
func counted(key string) int {
	for i, verb := range verbs(key) {
		if strings.HasSuffix(verb, "d") {
			return i + 1
		}
	}
	return 1
}

// verbs are the verbs of a format in their order.
func verbs(format string) (out []string) {
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		end := i + 1 + strings.IndexAny(format[i+1:], "sd%")
		if end <= i {
			break
		}
		if verb := format[i : end+1]; verb != "%%" {
			out = append(out, verb)
		}
		i = end
	}
	return out
}

// T words a message. The key is the English sentence, a constant; the arguments
// are what its verbs stand for.
func (p *Printer) T(key string, arguments ...any) string {
	if len(arguments) == 0 {
		if m, ok := p.messages[key]; ok && m.Forms == nil {
			return m.Text
		}
		return key
	}
	return p.printer.Sprintf(key, arguments...)
}

// Decimal words a number with at least and at most so many digits behind the point.
func (p *Printer) Decimal(x float64, least, most int) string {
	return p.printer.Sprint(number.Decimal(x, number.MinFractionDigits(least), number.MaxFractionDigits(most)))
}

// Tag is the language's own tag, for the lang of a page.
func (p *Printer) Tag() string { return p.tag }

// Direction is how the language is written: "ltr" or "rtl".
func (p *Printer) Direction() string {
	script, _ := language.Make(p.tag).Script()
	if slices.Contains([]string{"Arab", "Hebr", "Syrc", "Thaa", "Nkoo", "Adlm", "Rohg"}, script.String()) {
		return "rtl"
	}
	return "ltr"
}

// Self is what the language calls itself.
func (p *Printer) Self() string { return display.Self.Name(language.Make(p.tag)) }

// Name is what a language is called in this one; what is no tag is shown as it is.
func (p *Printer) Name(tag string) string {
	t, err := language.Parse(tag)
	if err != nil {
		return tag
	}
	if name := p.names.Name(t); name != "" {
		return name
	}
	if name := display.English.Tags().Name(t); name != "" {
		return name
	}
	return tag
}

// Words are the messages of these keys as JSON, for the scripts of a page: what
// differs from its key.
func (p *Printer) Words(keys []string) (string, error) {
	out := map[string]Message{}
	for _, key := range keys {
		if m, ok := p.messages[key]; ok {
			out[key] = m
		}
	}
	data, err := json.Marshal(out)
	return string(data), err
}

// Missing are those of these keys that this language has no message for. English
// needs none but where a word has plural forms.
func (p *Printer) Missing(keys []string) (out []string) {
	for _, key := range keys {
		if _, ok := p.own[key]; !ok && p.tag != source {
			out = append(out, key)
		}
	}
	return out
}

// Keys are the messages that the language's own file has.
func (p *Printer) Keys() []string { return slices.Sorted(maps.Keys(p.own)) }

// English words what no page for everybody says.
func English() *Printer { return english() }

var english = sync.OnceValue(func() *Printer {
	messages, err := read("messages/" + source + ".json")
	if err != nil {
		panic(err) // the file is part of the program
	}
	p, err := newPrinter(source, messages, nil)
	if err != nil {
		panic(err)
	}
	return p
})
