package declared

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// maxAddress bounds an address, maxID an id, in bytes.
const (
	maxAddress = 4096
	maxID      = 512
)

// pattern is an address with one or more names in braces.
type pattern struct {
	raw string
	// The rest is for recognising: path segments and query with mark where the
	// id stands.
	host     string
	segments []string
	query    url.Values
	fixed    bool // it names no id
}

// mark stands for {id} while a pattern is taken apart.
const mark = "mangroveidmangrove"

// parsePattern checks an address with names; each name must be one of names.
func parsePattern(s string, names ...string) (pattern, error) {
	p := pattern{raw: s, fixed: true}
	plain := s
	for _, name := range names {
		in := "{" + name + "}"
		if strings.Count(s, in) > 1 {
			return p, fmt.Errorf("names %s twice", in)
		}
		if name == "id" && strings.Contains(s, in) {
			p.fixed = false
			plain = strings.Replace(plain, in, mark, 1)
		}
		plain = strings.ReplaceAll(plain, in, "x")
	}
	if strings.ContainsAny(plain, "{}") {
		return p, fmt.Errorf("may only name {%s}", strings.Join(names, "}, {"))
	}
	u, err := url.Parse(plain)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return p, fmt.Errorf("is no address that begins with https:// or http://")
	case u.User != nil:
		return p, fmt.Errorf("holds a user name; Mangrove signs in nowhere")
	case u.Fragment != "":
		return p, fmt.Errorf("has a part after #, which no Site ever sees")
	case strings.Contains(u.Host, mark):
		return p, fmt.Errorf("has {id} in its host; a Site's hosts are fixed")
	}
	p.host, p.query = u.Host, u.Query()
	p.segments = strings.Split(strings.Trim(u.EscapedPath(), "/"), "/")
	return p, nil
}

// fill puts values where their names stand, escaped for that place.
func (p pattern) fill(values vars) string {
	before, after, asked := strings.Cut(p.raw, "?")
	for name, v := range values {
		before = strings.ReplaceAll(before, "{"+name+"}", pathEscape(v))
		after = strings.ReplaceAll(after, "{"+name+"}", url.QueryEscape(v))
	}
	if asked {
		return before + "?" + after
	}
	return before
}

// plainInPath are characters that a path may hold as they are; some Sites know
// their titles only so.
var plainInPath = strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

func pathEscape(s string) string { return plainInPath.Replace(url.PathEscape(s)) }

// id finds the id in an address of the pattern's shape; whole asks for nothing
// behind it. A pattern without {id} matches with "".
func (p pattern) id(u *url.URL, whole bool) (id string, ok bool) {
	segments := strings.Split(strings.Trim(u.EscapedPath(), "/"), "/")
	if p.segments[0] != "" || whole {
		if len(segments) < len(p.segments) || (whole && len(segments) != len(p.segments)) {
			return "", false
		}
		for i, want := range p.segments {
			if !cut(want, segments[i], url.PathUnescape, &id) {
				return "", false
			}
		}
	}
	have := u.Query()
	for k, want := range p.query {
		if !cut(want[0], have.Get(k), func(s string) (string, error) { return s, nil }, &id) {
			return "", false
		}
	}
	return id, p.fixed || goodID(id)
}

// cut compares one part of a pattern with one of an address.
func cut(want, have string, plain func(string) (string, error), id *string) bool {
	before, after, marked := strings.Cut(want, mark)
	if !marked {
		return want == have
	}
	if len(have) <= len(before)+len(after) || !strings.HasPrefix(have, before) || !strings.HasSuffix(have, after) {
		return false
	}
	got, err := plain(have[len(before) : len(have)-len(after)])
	*id = got
	return err == nil
}

// goodID reports whether an id can be kept and put into an address.
func goodID(id string) bool {
	return id != "" && id != "." && id != ".." && len(id) <= maxID && strings.ToValidUTF8(id, "") == id &&
		!strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// resolve makes an address found on a page absolute; "" for what is no web
// address: data:, javascript:, one with a password, one without end.
func resolve(base *url.URL, ref string) string {
	ref = strings.TrimSpace(ref)
	if ref == "" || len(ref) > maxAddress {
		return ""
	}
	u, err := url.Parse(ref)
	if err != nil {
		return ""
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return ""
	}
	u.Fragment, u.RawFragment = "", ""
	return u.String()
}

// within reports whether an address lies on one of hosts, as the fetch client
// judges it.
func within(address string, hosts []string) bool {
	u, err := url.Parse(address)
	return err == nil && onHost(u, hosts)
}

func onHost(u *url.URL, hosts []string) bool {
	port := u.Port()
	standard := port == "" || port == "80" || port == "443"
	return slices.ContainsFunc(hosts, func(host string) bool {
		if suffix, wild := strings.CutPrefix(host, "*"); wild {
			below, ok := strings.CutSuffix(strings.ToLower(u.Hostname()), suffix)
			return ok && standard && labels(below)
		}
		return host == u.Host || (standard && host == u.Hostname())
	})
}

// labels reports whether s is the beginning of a host: whole labels.
func labels(s string) bool {
	for l := range strings.SplitSeq(s, ".") {
		if l == "" || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	return true
}
