// Package source says what a Site is to Mangrove: the Adapter interface, by
// which one package per Site turns its pages into Series, Chapters and page
// lists, and the types that come out. An adapter only reads: it decides no
// outcome, keeps no state, paces nothing and opens no connection of its own.
// It asks the Fetcher it is handed and returns what it understood, or a
// classified error.
package source

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mangrove/internal/fault"
)

// Key names one Series everywhere: the Site's key and the Site's own stable id.
type Key struct{ Site, SeriesID string }

// String is for logs and messages.
func (k Key) String() string { return k.Site + "/" + k.SeriesID }

// Site describes a place Series are read from.
type Site struct {
	// Key is the word for it in every table; Name is for people.
	Key, Name string
	// Hosts are the only hosts that may be asked, as host or host:port, or as
	// "*.example.net" for every host below example.net (not example.net itself).
	Hosts []string
	// Languages are those a Follow wants when it names none (POLL-13).
	Languages []string
	// Pacing is the least time between the starts of two requests.
	Pacing time.Duration
	// ListPacing is the least time between the starts of two readings of a page
	// list, for a Site that limits those more than the rest; 0 means Pacing alone.
	ListPacing time.Duration
	// Interval is how far apart the Polls of one Series lie; 0 means twelve hours (POLL-5).
	Interval time.Duration
	// ImagesInFlight is how many page images may be asked for at once; 0 means 2.
	ImagesInFlight int
	// ListLife is how long the addresses of a page list stay good (JOB-10); 0 means a minute.
	ListLife time.Duration
	// Browser is true for a Site whose pages are only there once their scripts
	// have run; its HTML is then read through the one supervised browser.
	Browser bool
	// Canary is the id of a Series by which the adapter is tried now and then, while
	// anybody follows anything here; "" takes one that is followed (H18).
	Canary string
	// WorkPrefix begins the names of its folders under work (STALL-3).
	WorkPrefix string
	// Loopback is the one loopback address, as host:port, that this Site's
	// requests may dial; only the sample Site has one (SEC-2).
	Loopback string
	// Login is what a person gave for a Site that asks for a password; nil for none.
	Login *Login
}

// Series is what a Site says about a title. Text is plain text.
type Series struct {
	ID          string
	Title       string
	NativeTitle string
	// AltTitles are its other names, in the Site's order, none twice.
	AltTitles   []string
	Authors     []string
	Description string
	URL         string
	Status      string // "", "ongoing", "completed", "hiatus" or "cancelled"
	Tags        []string
	License     string // a credit line that is owed, or ""
	Direction   string // "", "ltr", "rtl" or "strip"
	CoverURL    string
}

// Chapter is one release as the Site lists it.
type Chapter struct {
	ID string
	// Number and Volume are decimals as Decimal returns them, "" when absent:
	// absent is never 0.
	Number, Volume string
	Title          string
	Language       string // BCP 47
	Groups         []string
	URL            string
	// Order is the place in the Site's list, 0 first.
	Order int
	// External is true for a chapter the Site only links to elsewhere (JOB-10).
	External bool
	// Published is zero when the Site does not say.
	Published time.Time
}

// Validators let a Site answer that nothing changed.
type Validators struct{ ETag, LastModified string }

// Ask says which Series to read.
type Ask struct {
	SeriesID string
	URL      string
	// Validators of the last good read, if there was one.
	Validators Validators
}

// Reading is a page of a Series, read.
type Reading struct {
	// NotModified is true when the Site answered that nothing changed; the
	// rest is then empty.
	NotModified bool
	Series      Series
	// Chapters may be empty: the page was read and lists none.
	Chapters   []Chapter
	Validators Validators
	// MovedTo is where the page was found after permanent redirects within the
	// Site's hosts, or "" (POLL-13).
	MovedTo string
}

// Page is one page image of a chapter.
type Page struct {
	URL string
	// Identity is what stays the same when addresses are renewed: by default
	// the address without its query. The manifest is made of identities.
	Identity string
}

// Adapter reads one Site. Its methods may be called from several goroutines.
type Adapter interface {
	// Site describes the Site. It is cheap and never fails.
	Site() Site
	// Listed are Series the Site offers from the start, known without asking
	// it: ID, Title and URL are enough. Most Sites list none.
	Listed() []Series
	// Recognise returns the id and address of the Series whose page a person's
	// address is, without asking the Site; ok is false when it is none of its.
	Recognise(address string) (seriesID, url string, ok bool)
	// Address is where the page of a Series lies, from its id alone; "" when the
	// id does not tell.
	Address(seriesID string) string
	// Series reads the page of one Series. A title the Site says it does not
	// have is NotFound; a page without the landmark every such page has is
	// NoLandmark (POLL-10).
	Series(ctx context.Context, f Fetcher, ask Ask) (Reading, error)
	// Pages reads the page list of one chapter, in reading order. An empty list
	// is the Site's own word that it has no page here (JOB-10); a page on which
	// none was found is Unparsed.
	Pages(ctx context.Context, f Fetcher, series Key, ch Chapter) ([]Page, error)
}

// Searcher is an Adapter whose Site can be searched.
type Searcher interface {
	Adapter
	// Search asks the Site for a title and returns what it found, in its order,
	// at most 50: ID, Title and URL at least.
	Search(ctx context.Context, f Fetcher, query string) ([]Series, error)
}

// Want is the kind of thing asked for; it sets limits and what counts as an answer.
type Want string

// The kinds.
const (
	WantHTML  Want = "html"
	WantJSON  Want = "json"
	WantXML   Want = "xml"
	WantImage Want = "image"
)

// Request is one question to a Site.
type Request struct {
	URL        string
	Want       Want
	Validators Validators
	Referer    string
	// Batch, when not nil, is that of the requests it stands or falls with.
	Batch *Batch
	// Landmark is a CSS selector of a part that every page of this kind has. On
	// a Site read through the browser the read waits for it, within bounds; the
	// adapter still looks for it itself (POLL-10). It may be "".
	Landmark string
}

// ErrWithdrawn is why a request was never sent: its Batch had ended.
var ErrWithdrawn = errors.New("the request was withdrawn before it was sent")

// Batch is of requests that stand or fall together, as the pages of one list do.
// Once the Site refuses one of them or says that it is gone, those that still
// wait for their slot are not sent and fail with ErrWithdrawn; those that were
// sent are answered.
type Batch struct {
	once  sync.Once
	ended chan struct{}
}

// NewBatch begins a Batch.
func NewBatch() *Batch { return &Batch{ended: make(chan struct{})} }

// End withdraws what was not sent. It may be called again, and of none.
func (b *Batch) End() {
	if b != nil {
		b.once.Do(func() { close(b.ended) })
	}
}

// Ended is closed by End; nil, which never is, for none.
func (b *Batch) Ended() <-chan struct{} {
	if b == nil {
		return nil
	}
	return b.ended
}

// Response is an answer whose status says that it is what was asked for.
type Response struct {
	// URL is where the answer came from, after redirects.
	URL string
	// Permanent is true when every redirect on the way was a permanent one.
	Permanent   bool
	NotModified bool
	MediaType   string
	// Charset is the character set the answer's header states; "" if it does not.
	Charset    string
	Body       []byte
	Validators Validators
}

// Fetcher asks a Site, within its Lane. Its errors are classified.
type Fetcher interface {
	Get(ctx context.Context, r Request) (*Response, error)
}

// Subject is an address as a failure names it: without user information, query
// and fragment, which may hold secrets. What is no address stays.
func Subject(address string) string {
	at := Identity(address)
	scheme, rest, ok := strings.Cut(at, "://")
	if !ok {
		return at
	}
	host, path, _ := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	if path != "" || strings.HasSuffix(rest, "/") {
		path = "/" + path
	}
	return scheme + "://" + host + path
}

// NotFound is the error for a title the Site itself says it does not have.
func NotFound(subject string) error {
	return fault.Newf(fault.NotFound, "read", Subject(subject), "the Site says there is no such title")
}

// NoLandmark is the error for a page that lacks the part every page of its kind
// has: a maintenance or parking page is no evidence about a Series (POLL-10).
func NoLandmark(subject, landmark string) error {
	return fault.Newf(fault.Parser, "read", Subject(subject), "the page has no %s", landmark).WithEvidence(fault.Answered)
}

// Status is an answer's HTTP status as the cause of a failure, for those whose
// meaning depends on it (JOB-10). A challenge is none, whatever its status.
type Status struct{ Code int }

func (s *Status) Error() string { return "the Site answered with status " + strconv.Itoa(s.Code) }

// StatusOf returns the status that caused err, or 0.
func StatusOf(err error) int {
	var s *Status
	if errors.As(err, &s) {
		return s.Code
	}
	return 0
}

// Elsewhere is why a read failed when the Site sends readers to a host outside its
// declared ones: a move that only a person may make (POLL-13).
type Elsewhere struct {
	URL string
	// Permanent is true when the Site says that it is for good.
	Permanent bool
}

func (e *Elsewhere) Error() string { return "the Site sends readers elsewhere" }

// ProposedMove returns where a failed read was sent for good, or "".
func ProposedMove(err error) string {
	var e *Elsewhere
	if errors.As(err, &e) && e.Permanent {
		return e.URL
	}
	return ""
}

// Unparsed is the error for a page of the right kind that could not be understood.
func Unparsed(subject, format string, args ...any) error {
	return fault.Newf(fault.Parser, "read", Subject(subject), format, args...)
}

// Statuses are the words a Series' status may be.
func Statuses() []string { return []string{"", "ongoing", "completed", "hiatus", "cancelled"} }

// Directions are the words a Series' reading direction may be.
func Directions() []string { return []string{"", "ltr", "rtl", "strip"} }

// Known returns word if it is one of words, and "" if it is not: a Site's own
// word that we have none for says nothing.
func Known(word string, words []string) string {
	if slices.Contains(words, word) {
		return word
	}
	return ""
}

// Decimal returns s as a plain decimal without needless zeros ("010.50" is
// "10.5") and whether it is one: digits with at most one point, at most eight
// before it and four behind. Anything else is no number; "" is none either.
func Decimal(s string) (string, bool) {
	whole, part, point := strings.Cut(s, ".")
	if !digits(whole, 8) || (point && !digits(part, 4)) {
		return "", false
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if part = strings.TrimRight(part, "0"); part != "" {
		return whole + "." + part, true
	}
	return whole, true
}

func digits(s string, most int) bool {
	if s == "" || len(s) > most {
		return false
	}
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return true
}

// Identity is the default Identity of a page address: without query and fragment.
func Identity(address string) string {
	if i := strings.IndexAny(address, "?#"); i >= 0 {
		return address[:i]
	}
	return address
}
