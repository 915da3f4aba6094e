// Package redact takes out of text what may be secret, known by its shape (ADR
// 0012), before it is kept or handed on: incidents and support bundles. It keeps
// nothing, and decides nothing about what is kept at all; that is its callers' list.
package redact

import (
	"bytes"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mark stands where something was taken out, so that a gap is never mistaken for
// what the Site said.
const Mark = "[removed]"

// maxLine bounds each line of text, in bytes.
const maxLine = 2048

// span is a stretch of bytes, from the first to behind the last.
type span struct{ from, to int }

// redactor blanks what may be secret. Its passes look for shapes, since a page
// has no list of what it may hold: what is known to be secret, what bears the
// name of a secret, and what looks like one.
type redactor struct {
	// marks is false for a body that is no text: what is blanked keeps its length
	// there, and so the offsets of everything else.
	marks   bool
	removed int
}

// Body returns an answer's body without what may be secret, and how many places
// were blanked. secrets are values known to be secret.
func Body(body []byte, mediaType string, secrets []string) ([]byte, int) {
	r := redactor{marks: isText(mediaType, body)}
	if r.marks {
		// Text of two bytes a letter would hide a name from every pattern.
		body = bytes.ReplaceAll(body, []byte{0}, nil)
	}
	return r.all(body, secrets), r.removed
}

// all runs the passes. Each sees what the ones before it left.
func (r *redactor) all(text []byte, secrets []string) []byte {
	text = r.blank(text, literals(text, secrets))
	for _, find := range []func([]byte) []span{userinfo, queries, tags, keyed, headerLines, bearers, webTokens, mails, visitors, longSegments} {
		text = r.blank(text, find(text))
	}
	return text
}

// blank takes spans out. They may overlap; what is a mark already stays.
func (r *redactor) blank(text []byte, spans []span) []byte {
	if len(spans) == 0 {
		return text
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	out := make([]byte, 0, len(text))
	at := 0
	for _, s := range spans {
		s.from = max(s.from, at)
		if s.from >= s.to || string(text[s.from:s.to]) == Mark {
			continue
		}
		out = append(out, text[at:s.from]...)
		if r.marks {
			out = append(out, Mark...)
		} else {
			out = append(out, bytes.Repeat([]byte{'*'}, s.to-s.from)...)
		}
		r.removed++
		at = s.to
	}
	return append(out, text[at:]...)
}

// Line returns one line of text, such as a reason, fit to be kept: addresses lose
// their values, and everything a body loses is lost here too.
func Line(text string) string {
	text, _, _ = strings.Cut(strings.ToValidUTF8(text, "\uFFFD"), "\n")
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, text)
	text = patternAddress.ReplaceAllStringFunc(text, Address)
	r := redactor{marks: true}
	return Clip(string(r.all([]byte(text), nil)), maxLine)
}

// Clip cuts text to at most n bytes, at a letter's end.
func Clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Address returns an address fit to be kept: no user information, no fragment,
// and of its query the names alone.
func Address(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(unreadable address)"
	}
	query := u.RawQuery
	u.User, u.RawQuery, u.Fragment, u.RawFragment, u.ForceQuery = nil, "", "", "", false
	r := redactor{marks: true}
	out := string(r.all([]byte(u.String()), nil))
	sign := "?"
	for i, pair := range strings.Split(query, "&") {
		name, _, valued := strings.Cut(pair, "=")
		if pair == "" || i >= 20 {
			continue
		}
		if !plainName.MatchString(name) || randomRun(name) {
			name, valued = Mark, false
		}
		out += sign + name
		if valued {
			out += "=" + Mark
		}
		sign = "&"
	}
	return Clip(out, maxLine)
}

var (
	patternAddress = regexp.MustCompile(`(?i)\b(?:https?|wss?|ftp)://[^\s"'<>\x60]+`)
	plainName      = regexp.MustCompile(`^[A-Za-z0-9_.\-\[\]%]{1,40}$`)
)

// literals are the places of values that are known to be secret, as they are and
// as an address writes them. Very short ones would blank half a page.
func literals(text []byte, secrets []string) (out []span) {
	for _, secret := range secrets {
		if len(secret) < 6 {
			continue
		}
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
			for at := 0; ; {
				i := bytes.Index(text[at:], []byte(form))
				if i < 0 {
					break
				}
				out = append(out, span{at + i, at + i + len(form)})
				at += i + len(form)
			}
		}
	}
	return out
}

// groups are the places of one group of a pattern, where keep says so.
func groups(text []byte, pattern *regexp.Regexp, group int, blank func(m [][]byte) bool) (out []span) {
	for _, at := range pattern.FindAllSubmatchIndex(text, -1) {
		from, to := at[2*group], at[2*group+1]
		if from < 0 || from == to {
			continue
		}
		m := make([][]byte, len(at)/2)
		for i := range m {
			if at[2*i] >= 0 {
				m[i] = text[at[2*i]:at[2*i+1]]
			}
		}
		if blank == nil || blank(m) {
			out = append(out, span{from, to})
		}
	}
	return out
}

var patternUserinfo = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.\-]{0,20}:(?:\\?/){2}([^\s/@"'<>\\]{1,512})@`)

func userinfo(text []byte) []span { return groups(text, patternUserinfo, 1, nil) }

var patternQuery = regexp.MustCompile(`(?i)(?:[?&;]|\\u0026|%26|%3F)([a-z0-9_.\-\[\]~$]{1,80})(?:=|%3D)([^&;\s"'<>#\\\x60]*)`)

// queries are values of addresses in a page. An adapter reads plain ones, such as
// a number or a word; anything else goes.
func queries(text []byte) []span {
	return groups(text, patternQuery, 2, func(m [][]byte) bool {
		return secretName(string(m[1])) || !plainValue(string(m[2]))
	})
}

var patternPlain = regexp.MustCompile(`^[A-Za-z0-9_.,~%+\-:/()|*]*$`)

func plainValue(v string) bool {
	// What is an address itself has values of its own.
	return len(v) <= 80 && patternPlain.MatchString(v) && !randomRun(v) && !strings.Contains(strings.ToLower(v), "%3d")
}

// randomRun reports whether text has a run of letters and digits that nobody
// chose: long, and of both. The runs of a UUID are shorter.
func randomRun(text string) bool {
	for _, run := range strings.FieldsFunc(text, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_'
	}) {
		if len(run) >= 16 && strings.ContainsAny(run, "0123456789") && strings.ContainsFunc(run, unicode.IsLetter) {
			return true
		}
		if len(run) >= 40 {
			return true
		}
	}
	return false
}

// secretWords are parts of the names that secrets bear.
const secretWords = `token|session|sessid|authori[sz]ation|csrf|xsrf|secret|passw|passphrase|cookie|api[_\-]?key|access[_\-]?key|signature|bearer|jwt|credential|e[_\-]?mail|nonce|captcha`

var patternSecretName = regexp.MustCompile(`(?i)` + secretWords + `|^(?:sig|sign|auth|sid|hmac|pwd|policy|expires|key|hash|user|username|login|ip|x-amz-.*)$`)

// secretName reports whether a name of a query or a field is one that secrets bear.
func secretName(name string) bool { return patternSecretName.MatchString(name) }

var (
	patternTag    = regexp.MustCompile(`(?is)<(?:input|meta)\b(?:"[^"]*"|'[^']*'|[^>"'])*(?:"[^"]*|'[^']*)?>?`)
	patternHidden = regexp.MustCompile(`(?is)^<input\b.*\btype\s*=\s*["']?\s*hidden`)
	patternNamed  = regexp.MustCompile(`(?is)\b(?:name|id|property|http-equiv)\s*=\s*["']?[^"'\s>]*(?:` + secretWords + `)`)
	patternHeld   = regexp.MustCompile(`(?is)\b(?:value|content)\s*=\s*(?:"([^"]*)(?:"|$)|'([^']*)(?:'|$)|([^\s"'>]+))`)
)

// tags are what hidden fields and fields with a secret's name hold.
func tags(text []byte) (out []span) {
	for _, at := range patternTag.FindAllIndex(text, -1) {
		tag := text[at[0]:at[1]]
		if !patternHidden.Match(tag) && !patternNamed.Match(tag) {
			continue
		}
		for _, held := range patternHeld.FindAllSubmatchIndex(tag, -1) {
			for g := 1; g <= 3; g++ {
				if from, to := held[2*g], held[2*g+1]; from >= 0 && to > from {
					out = append(out, span{at[0] + from, at[0] + to})
				}
			}
		}
	}
	return out
}

var patternHeader = regexp.MustCompile(`(?i)\b(?:set-cookie|cookie|(?:proxy-)?authorization)\s*:[ \t]*([^\r\n"'<]+)`)

func headerLines(text []byte) []span { return groups(text, patternHeader, 1, nil) }

var patternBearer = regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+([A-Za-z0-9+/=_.~\-]{6,})`)

func bearers(text []byte) []span {
	return groups(text, patternBearer, 1, func(m [][]byte) bool { return len(m[1]) >= 20 || bytes.ContainsAny(m[1], "0123456789=") })
}

var patternWebToken = regexp.MustCompile(`\b(eyJ[A-Za-z0-9_\-]{4,}(?:\.[A-Za-z0-9_\-]*){0,2})`)

func webTokens(text []byte) []span { return groups(text, patternWebToken, 1, nil) }

var (
	patternMail   = regexp.MustCompile(`(?i)([a-z0-9._%+\-]{1,64}(?:@|%40|&#64;|&#x40;|&commat;|\\u0040)[a-z0-9\-]{1,63}(?:\.[a-z0-9\-]{1,63}){0,4}\.[a-z]{2,24})\b`)
	patternRetina = regexp.MustCompile(`(?i)@[0-9.]+x(?:\.[a-z0-9\-]+)*\.(?:png|jpe?g|webp|gif|svg|avif)$`)
)

// mails are e-mail addresses; the name of a picture for sharp screens is none.
func mails(text []byte) []span {
	return groups(text, patternMail, 1, func(m [][]byte) bool { return !patternRetina.Match(m[1]) })
}

var patternIP = regexp.MustCompile(`(?i)\b((?:[0-9]{1,3}\.){3}[0-9]{1,3}|(?:[0-9a-f]{1,4}:){2,7}(?::|[0-9a-f]{1,4})(?::?[0-9a-f]{1,4}){0,6})\b`)

// visitors are addresses of machines: a page that refuses tells the visitor's.
func visitors(text []byte) []span {
	return groups(text, patternIP, 1, func(m [][]byte) bool {
		a, err := netip.ParseAddr(string(m[1]))
		return err == nil && a.IsGlobalUnicast() && !a.IsPrivate()
	})
}

var (
	patternSegment = regexp.MustCompile(`/([A-Za-z0-9_\-]{32,})`)
	patternHex     = regexp.MustCompile(`^[0-9a-fA-F\-]+$`)
)

// longSegments are parts of paths that nobody chose: some Sites sign there. A
// digest stays, since pages are named by them.
func longSegments(text []byte) []span {
	return groups(text, patternSegment, 1, func(m [][]byte) bool {
		s := string(m[1])
		return !patternHex.MatchString(s) && strings.ContainsAny(s, "0123456789") && s != strings.ToLower(s) && s != strings.ToUpper(s)
	})
}
