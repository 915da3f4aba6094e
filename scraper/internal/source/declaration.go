package source

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/language"
)

// Declaration is what a person says of a Site that one of the adapters for many
// Sites reads (packages feed and opds). Key, Name and Address are needed.
type Declaration struct {
	// Key and Name are the Site's.
	Key, Name string
	// Address is where the Site begins: its feed, its catalog.
	Address string
	// Hosts are those beside the address's own that may be asked.
	Hosts []string
	// Language of what is there, where the Site does not say (BCP 47).
	Language string
	// Pacing is the least time between two requests, Interval between two Polls
	// of a Series; 0 means the adapter's own, and twelve hours.
	Pacing, Interval time.Duration
	// Direction is one of Directions.
	Direction string
	// Login is for Sites that ask for a password; nil for none.
	Login *Login
}

// Flaw is one thing that is wrong with a Declaration. Field is the key by which a
// description names it.
type Flaw struct{ Field, Message string }

// Flaws are all that is wrong with a Declaration, as an error.
type Flaws []Flaw

func (f Flaws) Error() string {
	var all []string
	for _, one := range f {
		all = append(all, one.Field+": "+one.Message)
	}
	return strings.Join(all, "; ")
}

// Add notes a flaw of a field.
func (f *Flaws) Add(field, format string, args ...any) {
	*f = append(*f, Flaw{field, fmt.Sprintf(format, args...)})
}

// Check says what is wrong with d, where requests may be as near to each other as
// least. base is its address, nil when that is wrong; d keeps it as it is asked for.
func (d *Declaration) Check(least time.Duration) (base *url.URL, flaws Flaws) {
	if d.Key == "" {
		flaws.Add("key", "it is missing")
	} else if !GoodKey(d.Key) {
		flaws.Add("key", "%q is no key: small letters, digits and -, at most 40", d.Key)
	}
	if d.Name == "" {
		flaws.Add("name", "it is missing")
	}
	u, err := url.Parse(d.Address)
	if err == nil {
		u.Host = strings.ToLower(u.Host)
	}
	switch {
	case d.Address == "":
		flaws.Add("address", "it is missing")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || !GoodHost(u.Host) || u.Host[0] == '*':
		flaws.Add("address", "%q is no address that begins with http:// or https://", clipped(d.Address))
	case u.User != nil:
		flaws.Add("address", "it holds a user name or a password, which do not belong there")
	default:
		// Hosts are compared in small letters.
		base, d.Address = u, u.String()
	}
	for _, h := range d.Hosts {
		if !GoodHost(h) {
			flaws.Add("hosts", "%q is no host, such as comic.example", clipped(h))
		}
	}
	if d.Language != "" {
		if _, err := language.Parse(d.Language); err != nil {
			flaws.Add("language", "%q is no language, such as en, pt-BR or ja", clipped(d.Language))
		}
	}
	if !slices.Contains(Directions(), d.Direction) {
		flaws.Add("direction", "%q is none of %s", clipped(d.Direction), strings.Join(Directions()[1:], ", "))
	}
	if d.Pacing != 0 && d.Pacing < least {
		flaws.Add("pacing", "%s is less than %s", d.Pacing, least)
	}
	if d.Login != nil && base != nil {
		if err := d.Login.fit(base); err != "" {
			flaws.Add("password_file", "%s", err)
		}
	}
	return base, flaws
}

// Site is the Site a checked Declaration describes, asked at most every pacing if
// it names none itself. The address's own host comes first.
func (d *Declaration) Site(base *url.URL, pacing time.Duration) Site {
	s := Site{
		Key: d.Key, Name: d.Name, Pacing: d.Pacing, Interval: d.Interval, WorkPrefix: d.Key + "-", Login: d.Login,
		Hosts: append([]string{base.Host}, slices.DeleteFunc(slices.Clone(d.Hosts), func(h string) bool { return h == base.Host })...),
	}
	if s.Pacing == 0 {
		s.Pacing = pacing
	}
	if d.Language != "" {
		s.Languages = []string{d.Language}
	}
	return s
}

func clipped(s string) string { return s[:min(len(s), 200)] }

var (
	keyForm  = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)
	hostForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$|^\*\.[a-z0-9-]+(\.[a-z0-9-]+)+$|^\[[0-9a-f:.]+\](:[0-9]{1,5})?$`)
)

// GoodKey reports whether s can be the key of a described Site.
func GoodKey(s string) bool { return keyForm.MatchString(s) }

// GoodHost reports whether s is a host as Site.Hosts has them, in small letters.
func GoodHost(s string) bool { return hostForm.MatchString(s) }
