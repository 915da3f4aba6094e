package redact

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// patternKey is a name that secrets bear, with what follows it in JSON, in a
// script or in a tag, up to its value. The quotes may themselves be escaped.
var patternKey = regexp.MustCompile(`(?i)(?:[a-z0-9_\-.$]{0,60}(?:` + secretWords + `)[a-z0-9_\-.]{0,60}|\b(?:sig|auth|sid))(?:\\{0,3}["'\x60])?\]?(\s*(?::|=)\s*)`)

// keyed are the values of such names: a string, a bare word or number, and
// whatever stands in an object or a list. A name within a value that goes is not
// looked at again, or names within names would be read once for each around them.
func keyed(text []byte) (out []span) {
	behind := 0
	for _, at := range patternKey.FindAllSubmatchIndex(text, -1) {
		if at[1] < behind {
			continue
		}
		joined := string(text[at[2]:at[3]]) == "="
		var values []span
		values, behind = valueAt(text, at[1], joined)
		out = append(out, values...)
	}
	return out
}

// valueAt is the place of the value that begins at i; of an object or a list,
// the places of all that is in it. behind is where it ends.
func valueAt(text []byte, i int, joined bool) (values []span, behind int) {
	if i >= len(text) || bytes.HasPrefix(text[i:], []byte(Mark)) {
		return nil, i
	}
	if from, to, ok := quoted(text, i); ok {
		return []span{{from, to}}, to
	}
	if text[i] == '{' || text[i] == '[' {
		return within(text, i)
	}
	to := i
	for to < len(text) && !bytes.ContainsRune([]byte(" \t\r\n,;}&<>)]\"'\\`"), rune(text[to])) {
		to++
	}
	word := string(text[i:to])
	switch strings.ToLower(word) {
	case "", "null", "true", "false", "undefined", "none":
		return nil, to
	}
	// A word after a colon may be prose or a type; a joined one is a value.
	if joined || len(word) >= 16 || strings.ContainsAny(word, "0123456789") {
		return []span{{i, to}}, to
	}
	return nil, to
}

// quoted is what stands between the quotes that begin at i, to the end of the
// text if they are never closed.
func quoted(text []byte, i int) (from, to int, ok bool) {
	from = i
	for from < len(text) && from-i < 3 && text[from] == '\\' {
		from++
	}
	if from >= len(text) || (text[from] != '"' && text[from] != '\'' && text[from] != '`') {
		return 0, 0, false
	}
	from++
	// Where the quotes are escaped, only equally escaped ones end the string.
	end := text[i:from]
	for to = from; to < len(text); to++ {
		if bytes.HasPrefix(text[to:], end) {
			return from, to, true
		}
		if len(end) == 1 && text[to] == '\\' {
			to++
		}
	}
	return from, len(text), true
}

// within are the values in the object or list that begins at i. Names stay.
func within(text []byte, i int) (out []span, behind int) {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth--; depth == 0 {
				return out, i
			}
			i++
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
		default:
			from, to, ok := quoted(text, i)
			next := to + (from - i)
			if !ok {
				from, to = i, i
				for to < len(text) && !bytes.ContainsRune([]byte(" \t\r\n,:}]"), rune(text[to])) {
					to++
				}
				to = max(to, from+1)
				next = to
			}
			next = min(next, len(text))
			if !bytes.HasPrefix(bytes.TrimLeft(text[next:min(next+20, len(text))], " \t\r\n"), []byte(":")) {
				out = append(out, span{from, min(to, len(text))})
			}
			i = next
		}
	}
	return out, i
}

// isText reports whether a body is text, by its type or by what it is.
func isText(mediaType string, body []byte) bool {
	return Extension(mediaType, body) != "bin"
}

// Extension is what a file with this body is called after: html, json, xml, txt
// or bin.
func Extension(mediaType string, body []byte) string {
	switch {
	case mediaType == "" && bytes.Contains(bytes.ToLower(body[:min(len(body), 512)]), []byte("<html")):
		return "html"
	case strings.HasPrefix(mediaType, "image/"), mediaType == "application/octet-stream":
		// What is called an image and is text after all is the usual broken page.
		if looksText(body) {
			return "txt"
		}
		return "bin"
	case mediaType == "text/html", mediaType == "application/xhtml+xml":
		return "html"
	case mediaType == "application/json", strings.HasSuffix(mediaType, "+json"):
		return "json"
	case strings.HasSuffix(mediaType, "/xml"), strings.HasSuffix(mediaType, "+xml"):
		return "xml"
	case strings.HasPrefix(mediaType, "text/"), looksText(body):
		return "txt"
	}
	return "bin"
}

func looksText(body []byte) bool {
	head := body[:min(len(body), 512)]
	for len(head) > 0 && len(body) > 512 && !utf8.Valid(head) && len(head) > 508 {
		head = head[:len(head)-1]
	}
	return len(head) > 0 && utf8.Valid(head) && bytes.IndexByte(head, 0) < 0
}
