package fakesite

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Answer is one scripted answer. The zero value is an empty 200.
type Answer struct {
	// Status is 200 when zero.
	Status int
	// Header is sent as it is, after ContentType.
	Header http.Header
	// ContentType is the header of that name; when empty, none is sent, not
	// even a guessed one.
	ContentType string
	Body        []byte

	// Hold delays the answer until it is closed, gives a value, the client goes
	// or the server closes. HoldAfter is how many bytes of the body come first.
	Hold      <-chan struct{}
	HoldAfter int
	// CutAfter, when above zero, breaks the connection after so many bytes of
	// the body, though its whole length was announced.
	CutAfter int
	// ContentLength, when not zero, is announced in place of the body's length;
	// the body is sent whole all the same, then the connection closes.
	ContentLength int64
	// Chunked announces no length.
	Chunked bool
	// Reset breaks the connection before a byte of the answer, with a TCP reset.
	Reset bool
	// Raw is written to the connection in place of an answer, which then closes:
	// for headers that no HTTP library would send.
	Raw []byte
	// DripEvery, when not zero, is the time before each next DripBytes (one
	// when zero) of the body.
	DripEvery time.Duration
	DripBytes int
}

// HTML is a 200 with a page.
func HTML(page string) Answer {
	return Answer{ContentType: "text/html; charset=utf-8", Body: []byte(page)}
}

// JSON is a 200 with a document.
func JSON(document string) Answer {
	return Answer{ContentType: "application/json", Body: []byte(document)}
}

// Bytes is a 200 with a body of a type.
func Bytes(contentType string, body []byte) Answer {
	return Answer{ContentType: contentType, Body: body}
}

// Status is a bare status with its name as the text.
func Status(code int) Answer {
	return Answer{Status: code, ContentType: "text/plain; charset=utf-8", Body: []byte(http.StatusText(code) + "\n")}
}

// serve gives the answer; closing ends what is held or dripping.
func (a Answer) serve(w http.ResponseWriter, r *http.Request, closing <-chan struct{}) {
	if a.HoldAfter == 0 && !a.wait(r, closing) {
		panic(http.ErrAbortHandler)
	}
	if a.Reset || a.Raw != nil || a.ContentLength != 0 {
		a.serveRaw(w, r)
		return
	}
	head := w.Header()
	head["Content-Type"] = nil // or net/http would guess one
	if a.ContentType != "" {
		head.Set("Content-Type", a.ContentType)
	}
	for name, values := range a.Header {
		head[http.CanonicalHeaderKey(name)] = values
	}
	if !a.Chunked && a.mayHaveBody() {
		head.Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	w.WriteHeader(a.status())
	if r.Method == http.MethodHead || !a.mayHaveBody() {
		return
	}
	flush := http.NewResponseController(w)
	for at := 0; at < len(a.Body); {
		next := len(a.Body)
		if a.DripEvery > 0 {
			timer := time.NewTimer(a.DripEvery)
			select {
			case <-timer.C:
			case <-r.Context().Done():
			case <-closing:
			}
			if timer.Stop() {
				panic(http.ErrAbortHandler)
			}
			next = min(next, at+max(a.DripBytes, 1))
		}
		for _, stop := range []int{a.HoldAfter, a.CutAfter} {
			if stop > at {
				next = min(next, stop)
			}
		}
		if _, err := w.Write(a.Body[at:next]); err != nil {
			panic(http.ErrAbortHandler)
		}
		at = next
		if at == len(a.Body) && a.CutAfter != at && a.HoldAfter != at {
			break
		}
		_ = flush.Flush() // a client that is gone shows at the next write
		if at == a.CutAfter {
			panic(http.ErrAbortHandler)
		}
		if at == a.HoldAfter && !a.wait(r, closing) {
			panic(http.ErrAbortHandler)
		}
	}
}

// wait returns true when the answer may go on.
func (a Answer) wait(r *http.Request, closing <-chan struct{}) bool {
	if a.Hold == nil {
		return true
	}
	select {
	case <-a.Hold:
		return true
	case <-r.Context().Done():
	case <-closing:
	}
	return false
}

// serveRaw takes the connection from the library to say what it would not.
func (a Answer) serveRaw(w http.ResponseWriter, r *http.Request) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(fmt.Sprintf("fakesite: %s: this answer needs HTTP/1: %v", r.URL.Path, err))
	}
	defer func() { _ = conn.Close() }() // the answer is over either way
	if a.Reset {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // close sends a reset
		}
		return
	}
	if a.Raw != nil {
		_, _ = conn.Write(a.Raw) // a client that is gone needs no answer
		return
	}
	a.writeHead(buffered.Writer)
	_, _ = buffered.Write(a.Body)
	_ = buffered.Flush()
}

// writeHead writes the status line and headers with the false length.
func (a Answer) writeHead(w *bufio.Writer) {
	fmt.Fprintf(w, "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Length: %d\r\n", a.status(), http.StatusText(a.status()), a.ContentLength)
	head := a.Header.Clone()
	if head == nil {
		head = http.Header{}
	}
	if a.ContentType != "" {
		head.Set("Content-Type", a.ContentType)
	}
	_ = head.Write(w)
	_, _ = w.WriteString("\r\n")
}

func (a Answer) status() int {
	if a.Status == 0 {
		return http.StatusOK
	}
	return a.Status
}

// mayHaveBody is RFC 9110, 6.4.1.
func (a Answer) mayHaveBody() bool {
	return a.status() >= 200 && a.status() != http.StatusNoContent && a.status() != http.StatusNotModified
}
