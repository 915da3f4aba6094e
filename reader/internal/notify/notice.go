package notify

import (
	"strconv"
	"strings"
	"time"
)

// Kind is what a notice is about, as stored.
type Kind string

// The kinds.
const (
	// Failing is a Series whose failure row is older than a destination's days.
	Failing Kind = "failing"
	// Refused is a Lane whose Site refuses, one notice however many Series it has.
	Refused Kind = "refused"
	// Canary is a Site whose pages are no longer understood.
	Canary Kind = "canary"
	// Quarantined is a Job set aside until a person decides.
	Quarantined Kind = "quarantined"
	// Storage is the Hold on all downloads because of the disk.
	Storage Kind = "storage"
	// Parked is a service that spent its crash budget; the supervisor says so.
	Parked Kind = "parked"
	// Chapters are chapters that were announced.
	Chapters Kind = "chapters"
)

// Kinds lists every kind once, the most urgent first.
func Kinds() []Kind { return []Kind{Parked, Storage, Refused, Canary, Quarantined, Failing, Chapters} }

// Notice is one thing to tell. Key names it for as long as it lasts, so that it is
// told once: what ends and begins again has another key.
type Notice struct {
	Kind Kind
	Key  string
	// Text is one line for a person.
	Text string
}

// Destination is where messages go.
type Destination struct {
	ID   int64
	Name string
	// Address is a service address with its secrets; only the package's own work
	// sees it.
	Address string
	Kinds   []Kind
	// FailingDays is how many days a Series fails before it is told.
	FailingDays int
	CreatedAt   time.Time
	// SentAt and FailedAt are of the last message that went and that did not; zero
	// before the first. Failure is why it did not, "" once one went.
	SentAt, FailedAt time.Time
	Failure          string
	// Tries counts those that failed in a row.
	Tries int
}

// Service is the part of an address that may be shown: what it is, and where; "" for a
// part that may not.
func (d Destination) Service() (name, host string) {
	scheme, rest, ok := strings.Cut(d.Address, "://")
	if !ok {
		return "", ""
	}
	name, _, _ = strings.Cut(scheme, "+")
	host = rest
	if i := strings.IndexAny(host, "/?#"); i >= 0 {
		host = host[:i]
	}
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	if !named(host) {
		// Some services write a token where others write their host.
		return name, ""
	}
	return name, host
}

// named reports whether host looks like the name or address of a machine.
func named(host string) bool {
	bare, _, _ := strings.Cut(host, ":")
	if strings.HasPrefix(host, "[") || bare == "localhost" {
		return true
	}
	at := strings.LastIndexByte(bare, '.')
	return at > 0 && at < len(bare)-1
}

// digest words what is new as one message: the urgent first, at most perKind lines
// of a kind.
func digest(pending []Notice, total int) (title, body string) {
	const perKind = 8
	by := map[Kind][]string{}
	for _, n := range pending {
		by[n.Kind] = append(by[n.Kind], n.Text)
	}
	var out strings.Builder
	waiting := 0
	for _, k := range Kinds() {
		lines := by[k]
		if len(lines) == 0 {
			continue
		}
		if k != Chapters {
			waiting += len(lines)
		}
		if out.Len() > 0 {
			out.WriteString("\n")
		}
		out.WriteString(heading(k, len(lines)) + "\n")
		for _, line := range lines[:min(len(lines), perKind)] {
			out.WriteString("- " + line + "\n")
		}
		if more := len(lines) - perKind; more > 0 {
			out.WriteString("- and " + strconv.Itoa(more) + " more\n")
		}
	}
	if total > len(pending) {
		out.WriteString("\nAnd " + strconv.Itoa(total-len(pending)) + " more that are not listed here.\n")
	}
	return subject(waiting, len(by[Chapters])), strings.TrimRight(out.String(), "\n")
}

func subject(waiting, chapters int) string {
	switch {
	case waiting == 1:
		return "Mangrove: one thing waits for you"
	case waiting > 1:
		return "Mangrove: " + strconv.Itoa(waiting) + " things wait for you"
	case chapters == 1:
		return "Mangrove: a new chapter"
	}
	return "Mangrove: " + strconv.Itoa(chapters) + " new chapters"
}

func heading(k Kind, n int) string {
	many := n != 1
	switch k {
	case Parked:
		return "Repair required"
	case Storage:
		return "Downloads are on hold"
	case Refused:
		if many {
			return strconv.Itoa(n) + " Sites refuse"
		}
		return "A Site refuses"
	case Canary:
		if many {
			return strconv.Itoa(n) + " Sites are no longer understood"
		}
		return "A Site is no longer understood"
	case Quarantined:
		if many {
			return strconv.Itoa(n) + " downloads are set aside"
		}
		return "A download is set aside"
	case Failing:
		if many {
			return strconv.Itoa(n) + " Series fail"
		}
		return "A Series fails"
	}
	if many {
		return strconv.Itoa(n) + " new chapters"
	}
	return "A new chapter"
}
