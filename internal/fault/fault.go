// Package fault is the one list of the ways in which Mangrove's work fails
// (JOB-4). An error is classified once, where the evidence is (a status, an
// errno, a parser), and everything above switches on the class. The package
// holds words and their table; it decides nothing, writes nothing and knows no
// service.
package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
)

// Class is the word for one kind of failure, as stored in the database, sent
// over the private API and shown to an operator. The zero value means "none".
type Class string

// The classes of JOB-4, then those that only programs exchange.
const (
	// Network is a connection, DNS or time-out failure, or an HTTP 5xx.
	Network Class = "network"
	// Unavailable is a title that is gone or has no chapter in a wanted language.
	Unavailable Class = "unavailable"
	// Parser is a page that was fetched and could not be understood.
	Parser Class = "parser"
	// Access is 401, 403, 429 or a challenge page.
	Access Class = "access"
	// Storage is no space, read-only, no permission or an I/O error.
	Storage Class = "storage"
	// Page is one page that is still not a whole image after bounded tries.
	Page Class = "page"
	// Conflict is another file standing where a chapter belongs.
	Conflict Class = "conflict"
	// Stall is no progress for too long (STALL-1).
	Stall Class = "stall"
	// Unknown is nothing above.
	Unknown Class = "unknown"

	// NotFound is a thing asked for that does not exist.
	NotFound Class = "not-found"
	// Invalid is a request that can never succeed as it stands.
	Invalid Class = "invalid"
	// Stale is a compare-and-set that lost: the state was not the expected one.
	Stale Class = "stale"
	// Away is a service of our own that cannot be reached now.
	Away Class = "away"
)

// Row says what a class means at the edges.
type Row struct {
	Class Class
	// Job is true for the classes a Job can fail with (JOB-4).
	Job bool
	// Transient is true when the same request may succeed later by itself.
	Transient bool
	// Code is the gRPC code the class travels as.
	Code codes.Code
	// Level is the log level of its one log line: "info", "warn" or "error".
	Level string
}

// Table returns every class once, in the order of JOB-4.
func Table() []Row {
	return []Row{
		{Network, true, true, codes.Unavailable, "warn"},
		{Unavailable, true, false, codes.FailedPrecondition, "info"},
		{Parser, true, false, codes.Internal, "error"},
		{Access, true, false, codes.PermissionDenied, "warn"},
		{Storage, true, false, codes.ResourceExhausted, "error"},
		{Page, true, false, codes.DataLoss, "warn"},
		{Conflict, true, false, codes.AlreadyExists, "warn"},
		{Stall, true, true, codes.DeadlineExceeded, "warn"},
		{Unknown, true, false, codes.Unknown, "error"},
		{NotFound, false, false, codes.NotFound, "info"},
		{Invalid, false, false, codes.InvalidArgument, "info"},
		{Stale, false, true, codes.Aborted, "info"},
		{Away, false, true, codes.Unavailable, "warn"},
	}
}

// Lookup returns the row of c; a word outside the table reads as Unknown.
func Lookup(c Class) Row {
	var unknown Row
	for _, row := range Table() {
		if row.Class == c {
			return row
		}
		if row.Class == Unknown {
			unknown = row
		}
	}
	return unknown
}

// Evidence says how much of an answer a failed read yielded. A Poll's outcome
// rests on it (POLL-1): the class says whose business a failure is, the evidence
// what was seen.
type Evidence string

// The kinds of evidence. The zero value is "the page was read": the failure is
// in what was made of it.
const (
	// PageRead: a page came and something in it could not be understood.
	PageRead Evidence = ""
	// Answered: the Site answered, but with nothing that can be read.
	Answered Evidence = "answered"
	// NoRead: the read never happened.
	NoRead Evidence = "no-read"
)

// Error is a classified failure: what was being done, to what, and why it
// failed. Subject never holds a secret: no query string, cookie or password.
type Error struct {
	Class   Class
	Op      string
	Subject string
	Err     error
	// Evidence is how much of an answer came.
	Evidence Evidence
	// RetryAfter is when the other side asked to be left alone until, if it did (CIRC-5).
	RetryAfter time.Time
}

func (e *Error) Error() string {
	s := e.Op
	if e.Subject != "" {
		s += " " + e.Subject
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s + " (" + string(e.Class) + ")"
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New classifies err. A nil err is allowed: the class is the whole evidence.
func New(class Class, op, subject string, err error) *Error {
	return &Error{Class: class, Op: op, Subject: subject, Err: err}
}

// Newf is New with a formatted cause.
func Newf(class Class, op, subject, format string, args ...any) *Error {
	return New(class, op, subject, fmt.Errorf(format, args...))
}

// WithEvidence sets how much of an answer came and returns e.
func (e *Error) WithEvidence(ev Evidence) *Error {
	e.Evidence = ev
	return e
}

// Of returns the class of the nearest classified error in err's chain, or
// Unknown. It is "" for nil. A cancelled context is Unknown too: look at your
// own context before you ask whose fault an error is.
func Of(err error) Class {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return Unknown
}

// Is reports whether err is of class c.
func Is(err error, c Class) bool { return Of(err) == c }

// lineLength bounds a Line, in characters.
const lineLength = 300

// Line words an error in one line, without its class and what was done around it:
// for a row of a table, or a page.
func Line(err error) string {
	text := err.Error()
	var f *Error
	if errors.As(err, &f) && f.Err != nil {
		text = f.Op + " " + f.Subject + ": " + f.Err.Error()
	}
	text, _, _ = strings.Cut(text, "\n")
	if r := []rune(text); len(r) > lineLength {
		text = string(r[:lineLength]) + "…"
	}
	// A file's name need not be text.
	return strings.ToValidUTF8(text, "�")
}

// Stopped reports whether ctx is why work ended, so that a stop is never
// mistaken for evidence about a Site.
func Stopped(ctx context.Context) bool { return ctx.Err() != nil }
