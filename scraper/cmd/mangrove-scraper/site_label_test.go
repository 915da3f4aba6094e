package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/config"
)

func TestSiteLabel(t *testing.T) {
	tests := []struct{ name, in, out, said, err string }{
		{"nothing", "", "", "", ""},
		{"a label", `{"series":"Lantern 14","label":"Lantern 14 Vol.2 Ch.10.50 - Rain & <b>"}`, `{"line":1,"number":"10.5","volume":"2","title":"Rain & <b>"}` + "\n", "", ""},
		{"no number is no field", `{"label":"Oneshot"}` + "\n", `{"line":1,"special":"oneshot","title":"Oneshot"}` + "\n", "", ""},
		{
			"bad lines between good ones", "{\"label\":\"1\"}\r\n\nnope\n{\"label\":\"2\"} 3\n{\"series\":\"x\"}\n{\"lable\":\"x\"}\n[]\n{\"label\":null}\n{\"series\":\"x\",\"label\":\"Ch. 4\"}",
			"{\"line\":1,\"number\":\"1\"}\n{\"line\":9,\"number\":\"4\"}\n", "line 3:|line 4: more than one value|line 5: no label|line 6:|line 7:|line 8: no label", "6 of 9 lines could not be read",
		},
		{"a line without end", `{"label":"` + strings.Repeat("x", 1<<20) + "\"}\n{\"label\":\"5\"}", `{"line":2,"number":"5"}` + "\n", "line 1: longer than 65536 bytes", "1 of 2 lines could not be read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, said bytes.Buffer
			err := site(t.Context(), []string{"label"}, streams{strings.NewReader(tt.in), &out, &said})
			if got := errorText(err); got != tt.err {
				t.Errorf("error %q, want %q", got, tt.err)
			}
			if diff := cmp.Diff(tt.out, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			lines := strings.Split(strings.TrimSpace(said.String()), "\n")
			for i, want := range strings.Split(tt.said, "|") {
				if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
					t.Errorf("said %q, want a line %q at %d", lines, want, i)
				}
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestSiteKnowsItsTools(t *testing.T) {
	for _, args := range [][]string{nil, {"lable"}, {"label", "x"}} {
		var e *exit
		if err := site(t.Context(), args, streams{}); !errors.As(err, &e) || e.code != config.ExitSettings {
			t.Errorf("%v: %v, want the usage", args, err)
		}
	}
}

// Ctrl-C ends a tool that waits for a line.
func TestSiteLabelEndsWithItsContext(t *testing.T) {
	r, w := io.Pipe()
	defer func() { _ = w.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := site(ctx, []string{"label"}, streams{r, io.Discard, io.Discard}); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}
