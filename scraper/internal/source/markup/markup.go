// Package markup looks at XML, HTML and JSON from a Site before a parser does
// (SEC-3): how large it is, how deep it nests, whether it declares entities, what
// its first element is. It also knows what of a Site's addresses may be asked. It
// understands no format; adapters that read feeds do, on what passes here.
package markup

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strings"

	"mangrove/scraper/internal/source"
)

// Limits of what is read. A feed of a thousand items is a megabyte.
const (
	MaxBytes = 4 << 20
	maxDepth = 100
	maxNodes = 1_000_000
	// MaxPages is how many images a chapter may have (B35).
	MaxPages = 2000
	// maxAddress is how long an address may be (B41).
	maxAddress = 8 << 10
)

// Root checks that body is XML within the limits and returns the name of its first
// element. A page without one that is in want is no evidence about a Series.
func Root(subject string, body []byte, want ...string) (string, error) {
	if len(body) > MaxBytes {
		return "", source.Unparsed(subject, "it is larger than %d bytes", MaxBytes)
	}
	dec := xml.NewDecoder(bytes.NewReader(body))
	dec.Strict = false
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	root, depth := "", 0
	for n := 0; ; n++ {
		tok, err := dec.RawToken()
		if errors.Is(err, io.EOF) || err != nil && root != "" {
			break // a parser says what it makes of a broken one
		}
		if err != nil {
			return "", source.NoLandmark(subject, "element "+strings.Join(want, " or "))
		}
		if n > maxNodes {
			return "", source.Unparsed(subject, "it has more than %d parts", maxNodes)
		}
		switch t := tok.(type) {
		case xml.Directive:
			if bytes.Contains(bytes.ToUpper(t), []byte("ENTITY")) || bytes.ContainsRune(t, '[') {
				return "", source.Unparsed(subject, "it declares entities")
			}
		case xml.StartElement:
			if void(t.Name.Local) {
				continue
			}
			if depth++; depth > maxDepth {
				return "", source.Unparsed(subject, "it nests deeper than %d elements", maxDepth)
			}
			if root == "" {
				root = strings.ToLower(t.Name.Local)
			}
		case xml.EndElement:
			if !void(t.Name.Local) {
				depth--
			}
		}
	}
	for _, w := range want {
		if root == w {
			return root, nil
		}
	}
	return "", source.NoLandmark(subject, "element "+strings.Join(want, " or "))
}

// void reports whether careless feeds leave an element of HTML open that has no end.
func void(name string) bool {
	switch strings.ToLower(name) {
	case "br", "img", "hr", "wbr", "input":
		return true
	}
	return false
}

// Resolve makes ref absolute. What is no http or https address, names a user, or is
// absurdly long is "".
func Resolve(base *url.URL, ref string) string {
	ref = strings.TrimSpace(ref)
	if ref == "" || len(ref) > maxAddress || strings.ContainsAny(ref, "\r\n\t\\") {
		return ""
	}
	u, err := url.Parse(ref)
	if err != nil {
		return ""
	}
	u = base.ResolveReference(u)
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}

// Within reports whether address lies on one of hosts.
func Within(address string, hosts []string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	for _, h := range hosts {
		if h == u.Host || h == u.Hostname() && (u.Port() == "" || u.Port() == "80" || u.Port() == "443") {
			return true
		}
	}
	return false
}

// Pages makes the page list of a chapter of its images' addresses: each once, in
// order. Addresses that differ in their query alone are told apart by it.
func Pages(subject string, addresses []string) ([]source.Page, error) {
	whole, plain := map[string]bool{}, map[string]int{}
	var kept []string
	for _, a := range addresses {
		if !whole[a] {
			whole[a] = true
			plain[source.Identity(a)]++
			kept = append(kept, a)
		}
	}
	if len(kept) == 0 {
		return nil, source.Unparsed(subject, "it shows no image")
	}
	if len(kept) > MaxPages {
		return nil, source.Unparsed(subject, "it shows %d images, more than %d", len(kept), MaxPages)
	}
	pages := make([]source.Page, 0, len(kept))
	for _, a := range kept {
		id := source.Identity(a)
		if plain[id] > 1 {
			id = a
		}
		pages = append(pages, source.Page{URL: a, Identity: id})
	}
	return pages, nil
}
