package web

import (
	"context"
	"slices"
	"strings"

	"mangrove/internal/fault"
	"mangrove/reader/internal/scraperclient"
)

// maxAddress bounds an address that a person pastes (B41).
const maxAddress = 4096

// pasted is what became of an address that a person pasted. Found is nil while
// none was pasted, when no Site here reads it, and when the scraper is away.
type pasted struct {
	Address string
	Found   *scraperclient.Recognised
	// Unread is true when no Site here reads the address; Sites are those that
	// can be read instead, in words, "" when that is not known.
	Unread bool
	Sites  string
	Away   bool
}

// paste asks whose page an address is. No Site is asked.
func (s *Server) paste(ctx context.Context, address string) (pasted, error) {
	p := pasted{Address: strings.TrimSpace(address)}
	if p.Address == "" {
		return p, nil
	}
	full, ok := asAddress(p.Address)
	if !ok {
		return s.unread(ctx, p), nil
	}
	found, err := s.Scraper.RecogniseAddress(ctx, full)
	switch {
	case err == nil:
		p.Address, p.Found = full, &found
		return p, nil
	case fault.Is(err, fault.NotFound), fault.Is(err, fault.Invalid):
		return s.unread(ctx, p), nil
	case unanswered(err):
		p.Away = true
		return p, nil
	}
	return p, err
}

// unread notes which Sites can be read instead. Not knowing them is no error:
// the sentence is shorter then.
func (s *Server) unread(ctx context.Context, p pasted) pasted {
	p.Unread = true
	if names, err := s.siteNames(ctx); err == nil && len(names) > 0 {
		p.Sites = s.say(ctx).join(names)
	}
	return p
}

// siteNames are the Sites that are read here, by name.
func (s *Server) siteNames(ctx context.Context) ([]string, error) {
	lanes, err := s.Scraper.ListLanes(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, l := range lanes.Lanes {
		names = append(names, laneName(l.Lane))
	}
	slices.Sort(names)
	return names, nil
}

// asAddress reads what a person typed as the address of a page: with a scheme,
// or a name with a dot and a path behind it. Words to search for are none.
func asAddress(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxAddress || strings.ContainsAny(text, " \t\r\n\x00") {
		return "", false
	}
	if rest, ok := cutScheme(text); ok {
		return text, rest != ""
	}
	host, _, path := strings.Cut(text, "/")
	if !path || strings.ContainsAny(host, ":@?#") || !strings.Contains(strings.Trim(host, "."), ".") {
		return "", false
	}
	return "https://" + text, true
}

func cutScheme(text string) (rest string, ok bool) {
	for _, scheme := range []string{"https://", "http://"} {
		if len(text) >= len(scheme) && strings.EqualFold(text[:len(scheme)], scheme) {
			return text[len(scheme):], true
		}
	}
	return "", false
}
