package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"mangrove/scraper/internal/label"
)

// maxLabelLine is how long a line of `site label` may be.
const maxLabelLine = 64 << 10

// asked is a line of `site label`.
type asked struct {
	Series string  `json:"series"`
	Label  *string `json:"label"`
}

// answered is what is printed for it.
type answered struct {
	Line       int    `json:"line"`
	Number     string `json:"number,omitempty"`
	Last       string `json:"last,omitempty"`
	Volume     string `json:"volume,omitempty"`
	LastVolume string `json:"lastVolume,omitempty"`
	Season     string `json:"season,omitempty"`
	Part       string `json:"part,omitempty"`
	Revision   string `json:"revision,omitempty"`
	Suffix     string `json:"suffix,omitempty"`
	Special    string `json:"special,omitempty"`
	Title      string `json:"title,omitempty"`
}

// siteLabel prints what each line's label states. It returns when the input or
// ctx ends: a person who presses Ctrl-C does not wait for the line to be finished.
func siteLabel(ctx context.Context, s streams) error {
	done := make(chan error, 1)
	go func() { done <- labels(s) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func labels(s streams) error {
	in, out := bufio.NewReaderSize(s.in, maxLabelLine), bufio.NewWriter(s.out)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	bad, n := 0, 0
	for {
		line, err := in.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		whole := bytes.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		ended := err != nil
		if whole = bytes.TrimSpace(whole); len(line) > 0 {
			n++
		}
		if len(whole) > 0 {
			var a asked
			if a, err = read(whole, long); err != nil {
				bad++
				fmt.Fprintf(s.err, "line %d: %s\n", n, err)
			} else if err := enc.Encode(answer(n, a)); err != nil {
				return err
			}
		}
		// Whoever types a line sees its answer before the next.
		if ended || in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
		if ended {
			break
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d lines could not be read", bad, n)
	}
	return nil
}

func read(line []byte, long bool) (asked, error) {
	var a asked
	if long {
		return a, fmt.Errorf("longer than %d bytes", maxLabelLine)
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		return a, fmt.Errorf("not an object of series and label: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return a, errors.New("more than one value")
	}
	if a.Label == nil {
		return a, errors.New("no label")
	}
	return a, nil
}

func answer(n int, a asked) answered {
	l := label.Parse(a.Series, *a.Label)
	return answered{n, l.Number, l.Last, l.Volume, l.LastVolume, l.Season, l.Part, l.Revision, l.Suffix, l.Special, l.Title}
}
