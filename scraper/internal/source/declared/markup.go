package declared

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/htmlindex"
)

// maxElements bounds an HTML document: selectors may look at every pair of
// siblings.
const maxElements = 150_000

// maxText bounds the text taken from one element, in bytes.
const maxText = 64 << 10

// parseHTML reads a page in its own character set: the stated one, or, where none
// that is known is, what its first bytes say.
func parseHTML(body []byte, stated string) (*html.Node, error) {
	set, err := htmlindex.Get(stated)
	if err != nil {
		set, _, _ = charset.DetermineEncoding(body[:min(len(body), 1024)], "text/html")
	}
	if out, err := set.NewDecoder().Bytes(body); err == nil {
		body = out
	}
	doc, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("it is no HTML")
	}
	n := 0
	for range doc.Descendants() {
		if n++; n > maxElements {
			return nil, errors.New("the page has too many elements")
		}
	}
	return doc, nil
}

// textOf is the text of an element with its spaces made single, without scripts
// and styles, at most maxText of it. Apart, the texts of its elements have a space
// between them, as they have on the screen (S-001).
func textOf(n *html.Node, apart bool) string {
	var b strings.Builder
	var walk func(*html.Node) bool
	walk = func(n *html.Node) bool {
		switch n.Type {
		case html.TextNode:
			if apart && !goesOn(n.Data) {
				b.WriteByte(' ')
			}
			b.WriteString(n.Data)
		case html.ElementNode:
			if n.Data == "script" || n.Data == "style" || n.Data == "noscript" {
				return true
			}
			if n.Data == "br" {
				b.WriteByte(' ')
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if b.Len() > maxText || !walk(c) {
				return false
			}
		}
		return true
	}
	walk(n)
	return tidy(b.String())
}

// goesOn reports whether a text begins as the rest of a decimal: 12 and .5.
func goesOn(s string) bool {
	return len(s) > 1 && (s[0] == '.' || s[0] == ',') && s[1] >= '0' && s[1] <= '9'
}

// raw is the text of an element as it stands: what a script holds.
func raw(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// tidy makes spaces single and text valid.
func tidy(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	return clip(strings.Join(strings.Fields(s), " "), maxText)
}

// clip cuts s at n bytes, between characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// attribute is the value of an attribute; of a srcset, its largest picture.
func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Namespace == "" && a.Key == name {
			if strings.HasSuffix(name, "srcset") {
				return largest(a.Val)
			}
			return tidy(a.Val)
		}
	}
	return ""
}

// largest is the address with the greatest width or density of a srcset.
func largest(set string) string {
	best, most := "", -1.0
	for rest := set; rest != ""; {
		rest = strings.TrimLeft(rest, " \t\r\n\f,")
		end := strings.IndexAny(rest, " \t\r\n\f")
		address, size := rest, ""
		if end < 0 {
			rest = ""
		} else {
			address, rest = rest[:end], rest[end:]
			if !strings.HasSuffix(address, ",") {
				size, rest, _ = strings.Cut(rest, ",")
			}
		}
		address, size = strings.TrimRight(address, ","), strings.TrimSpace(size)
		n := 1.0
		if size != "" {
			if v, err := strconv.ParseFloat(size[:len(size)-1], 64); err == nil {
				n = v
			}
		}
		if address != "" && n > most {
			best, most = address, n
		}
	}
	return best
}

// css is a compiled selector with what is taken of each element it finds. An
// empty selector is the element itself.
type css struct {
	match cascadia.SelectorGroup
	attrs []string // none: the text
	// apart keeps the texts of elements from being glued to each other.
	apart bool
}

// parseCSS reads "selector", "selector@attribute|attribute", "@attribute" or "text".
func parseCSS(s string) (css, error) {
	sel, attrs := strings.TrimSpace(s), ""
	if i := strings.LastIndexByte(sel, '@'); i >= 0 && attributeNames(sel[i+1:]) {
		sel, attrs = strings.TrimSpace(sel[:i]), sel[i+1:]
	}
	var out css
	if attrs != "" && attrs != "text" {
		out.attrs = strings.Split(strings.ToLower(attrs), "|")
	}
	if sel == "" || (sel == "text" && attrs == "") {
		return out, nil
	}
	var err error
	if out.match, err = cascadia.ParseGroup(sel); err != nil {
		return css{}, errors.New(strings.TrimPrefix(err.Error(), "parsing selector: "))
	}
	return out, nil
}

func attributeNames(s string) bool {
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_:|.", r)) {
			return false
		}
	}
	return s != ""
}

func (c css) find(n *html.Node) []*html.Node {
	if c.match == nil {
		return []*html.Node{n}
	}
	return cascadia.QueryAll(n, c.match)
}

func (c css) one(n *html.Node) string {
	if len(c.attrs) == 0 {
		return textOf(n, c.apart)
	}
	for _, a := range c.attrs {
		if v := attribute(n, a); v != "" {
			return v
		}
	}
	return ""
}
