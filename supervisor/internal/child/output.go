package child

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxLine is where a longer line is cut, in bytes.
	maxLine = 64 << 10
	// keptLines is how many lines are kept for a person to read.
	keptLines = 20
	// keptBytes is how much is kept of each of them.
	keptBytes = 1 << 10
	// backlog is how many lines may wait for the log before some are dropped.
	backlog = 1024
	// logFor is how long the last lines may take to be written.
	logFor = 2 * time.Second
)

// output takes a program's lines: a few stay in memory, all go to the log. The
// reading side never waits for the log, so that a full or slow disk cannot
// stop the program.
type output struct {
	lines   chan []byte
	written chan struct{}
	dropped atomic.Int64

	mu   sync.Mutex
	kept []string
	// telling is the line with which a crash began, "" before one did: a long trace
	// would push it out.
	telling string
}

func newOutput(log io.Writer) *output {
	o := &output{lines: make(chan []byte, backlog), written: make(chan struct{})}
	go o.write(log)
	return o
}

// read takes lines from r until it ends or its deadline passes.
func (o *output) read(r io.Reader) {
	in := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 {
			o.take(bytes.TrimRight(line, "\r\n"), errors.Is(err, bufio.ErrBufferFull))
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		if err != nil {
			return
		}
	}
}

func (o *output) take(line []byte, cut bool) {
	whole := append(bytes.Clone(line), '\n')
	if cut {
		whole = append(bytes.Clone(line), " (cut)\n"...)
	}
	select {
	case o.lines <- whole:
	default:
		o.dropped.Add(1)
	}
	if len(line) == 0 {
		return
	}
	text := string(line[:min(len(line), keptBytes)])
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.telling == "" && tells(text) {
		o.telling = text
	}
	o.kept = append(o.kept, text)
	if len(o.kept) > keptLines {
		o.kept = slices.Delete(o.kept, 0, len(o.kept)-keptLines)
	}
}

// write passes lines on to the log and says there how many are missing.
func (o *output) write(log io.Writer) {
	defer close(o.written)
	said := int64(0)
	for line := range o.lines {
		if log == nil {
			continue
		}
		if n := o.dropped.Load(); n > said {
			if _, err := fmt.Fprintf(log, "(%d lines dropped)\n", n-said); err == nil {
				said = n
			}
		}
		if _, err := log.Write(line); err != nil {
			o.dropped.Add(1)
		}
	}
	// Once more at the end, all told: the file that said so may have been rotated away.
	if n := o.dropped.Load(); n > 0 && log != nil {
		_, _ = fmt.Fprintf(log, "(in all %d lines dropped)\n", n)
	}
}

// close ends the log once everything read is written, or leaves the rest to
// itself when the disk does not answer.
func (o *output) close() {
	close(o.lines)
	select {
	case <-o.written:
	case <-time.After(logFor):
	}
}

// last are the kept lines; the one that tells of a crash stands first if it is not
// among them any more.
func (o *output) last() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.telling == "" || slices.Contains(o.kept, o.telling) {
		return slices.Clone(o.kept)
	}
	return append([]string{o.telling}, o.kept[1:]...)
}

// tells reports whether a crash of a Go program begins with line.
func tells(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "SIG")
}
