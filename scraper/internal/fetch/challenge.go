package fetch

import (
	"bytes"
	"io"
	"strings"

	"golang.org/x/net/html"
)

// challengeHead is how much of a page is looked at: the marks stand at its top,
// or it is nothing but a mark.
const challengeHead = 64 << 10

// markup is the part of a page that tells a challenge: what its author wrote as
// markup and script. Running text never counts, so that a page about challenges
// is not one.
type markup struct {
	title string
	// scripts is the text of all scripts; names are the values of id, name and
	// class, sources those of src and action.
	scripts        string
	names, sources []string
	// empty is true when a visitor would see no word.
	empty bool
}

// readMarkup reads the head of a page. It is lenient: what is cut off or broken
// is looked at as far as it goes.
func readMarkup(page []byte) markup {
	m := markup{empty: true}
	var scripts strings.Builder
	inside := ""
	for z := html.NewTokenizer(bytes.NewReader(page[:min(len(page), challengeHead)])); ; {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() == io.EOF && inside == "script" {
				scripts.Write(z.Raw())
			}
			m.scripts = strings.ToLower(scripts.String())
			return m
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			if inside = t.Data; t.Type == html.SelfClosingTagToken {
				inside = ""
			}
			for _, a := range t.Attr {
				v := strings.ToLower(a.Val)
				switch a.Key {
				case "id", "name", "class":
					m.names = append(m.names, strings.Fields(v)...)
				case "src", "action":
					m.sources = append(m.sources, v)
				}
			}
		case html.EndTagToken:
			inside = ""
		case html.TextToken:
			text := strings.TrimSpace(string(z.Raw()))
			switch {
			case text == "" || inside == "style" || inside == "noscript":
			case inside == "script":
				scripts.WriteString(text)
			case inside == "title":
				m.title = strings.ToLower(text)
			default:
				m.empty = false
			}
		}
	}
}

func (m markup) named(names ...string) bool {
	for _, n := range m.names {
		for _, want := range names {
			if n == want {
				return true
			}
		}
	}
	return false
}

func (m markup) namedLike(prefix string) bool {
	for _, n := range m.names {
		if strings.HasPrefix(n, prefix) {
			return true
		}
	}
	return false
}

func (m markup) loads(part string) bool {
	for _, s := range m.sources {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}

// isChallenge reports whether an HTML page, whatever its status, asks its visitor
// to prove that he is human, or turns him away as a robot, instead of being what
// was asked for. The marks are those of the guards in common use.
func isChallenge(page []byte) bool {
	m := readMarkup(page)
	switch {
	case strings.Contains(m.scripts, "_cf_chl_opt"), strings.Contains(m.scripts, "sucuri_cloudproxy_js"):
		return true
	case m.named("jschl_vc", "jschl_answer", "jschl-answer", "captcha-bypass", "cf-captcha-container", "cf_captcha_kind"):
		return true
	case strings.HasPrefix(m.title, "just a moment") && (m.namedLike("cf-") || m.namedLike("challenge") || m.loads("/cdn-cgi/")):
		return true
	case strings.HasPrefix(m.title, "attention required!") && m.namedLike("cf-"):
		return true
	case strings.HasPrefix(m.title, "access denied") && (m.namedLike("cf-") || strings.Contains(m.title, "cloudflare")):
		return true
	case m.title == "ddos-guard" || m.loads("/.well-known/ddos-guard/"):
		return true
	case strings.Contains(m.scripts, "__cf$cv$params") && m.empty:
		// The same script stands at the end of ordinary pages.
		return true
	}
	return false
}
