package fetch_test

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fakesite"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

// TestAnImageCutShortIsGoneOnWith: only what is missing is asked for, and only
// while the Site says that it is the same image (C17).
func TestAnImageCutShortIsGoneOnWith(t *testing.T) {
	t.Parallel()
	png := append([]byte("\x89PNG\r\n\x1a\n"), bytes.Repeat([]byte("0123456789abcdef"), 64)...)
	other := append([]byte("\x89PNG\r\n\x1a\n"), bytes.Repeat([]byte("another image :-)"), 64)...)
	const cut = 100
	first := func(pairs ...string) fakesite.Answer {
		return fakesite.Answer{ContentType: "image/png", Body: png, CutAfter: cut, Header: header(pairs...)}
	}
	part := func(from, to int, pairs ...string) fakesite.Answer {
		return fakesite.Answer{
			Status: http.StatusPartialContent, ContentType: "image/png", Body: png[from:to],
			Header: header(append(pairs, "Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, len(png)))...),
		}
	}
	whole := func(body []byte) fakesite.Answer { return fakesite.Bytes("image/png", body) }
	etag := []string{"ETag", `"a"`}
	tests := []struct {
		name    string
		answers []fakesite.Answer
		want    []byte
		ranges  []string // by request
		checks  []string // If-Range by request
	}{
		{"the rest comes", []fakesite.Answer{first(etag...), part(cut, len(png), etag...)}, png, []string{"", "bytes=100-"}, []string{"", `"a"`}},
		{"by its date", []fakesite.Answer{first("Last-Modified", "Tue, 01 Dec 2026 03:00:00 GMT"), part(cut, len(png))}, png, []string{"", "bytes=100-"}, []string{"", "Tue, 01 Dec 2026 03:00:00 GMT"}},
		{"the rest is cut short too", []fakesite.Answer{first(etag...), func() fakesite.Answer {
			a := part(cut, len(png), etag...)
			a.CutAfter = 50
			return a
		}(), part(cut+50, len(png), etag...)}, png, []string{"", "bytes=100-", "bytes=150-"}, []string{"", `"a"`, `"a"`}},
		{"it changed meanwhile", []fakesite.Answer{first(etag...), whole(other)}, other, []string{"", "bytes=100-"}, []string{"", `"a"`}},
		{"no validator", []fakesite.Answer{first(), whole(png)}, png, []string{"", ""}, []string{"", ""}},
		{"a weak validator", []fakesite.Answer{first("ETag", `W/"a"`), whole(png)}, png, []string{"", ""}, []string{"", ""}},
		{"the Site knows no ranges", []fakesite.Answer{first("ETag", `"a"`, "Accept-Ranges", "none"), whole(png)}, png, []string{"", ""}, []string{"", ""}},
		{"the range is refused", []fakesite.Answer{first(etag...), fakesite.Status(http.StatusRequestedRangeNotSatisfiable), whole(png)}, png, []string{"", "bytes=100-", ""}, []string{"", `"a"`, ""}},
		{"another part comes", []fakesite.Answer{first(etag...), part(0, cut, etag...), whole(png)}, png, []string{"", "bytes=100-", ""}, []string{"", `"a"`, ""}},
		{"the part of another image", []fakesite.Answer{first(etag...), part(cut, len(png), "ETag", `"b"`), whole(other)}, other, []string{"", "bytes=100-", ""}, []string{"", `"a"`, ""}},
		{"a part of another length", []fakesite.Answer{first(etag...), {
			Status: http.StatusPartialContent, ContentType: "image/png", Body: png[cut:], Header: header("ETag", `"a"`, "Content-Range", fmt.Sprintf("bytes %d-%d/%d", cut, len(png), len(png)+1)),
		}, whole(png)}, png, []string{"", "bytes=100-", ""}, []string{"", `"a"`, ""}},
		{"in trouble in between", []fakesite.Answer{first(etag...), fakesite.Status(http.StatusBadGateway), whole(png)}, png, []string{"", "bytes=100-", ""}, []string{"", `"a"`, ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, c := client(t)
			s.On("/1.png", tt.answers...)
			resp, err := c.Get(t.Context(), source.Request{URL: s.URL + "/1.png", Want: source.WantImage})
			if err != nil || !bytes.Equal(resp.Body, tt.want) {
				t.Fatalf("got %v, %v; want the image of %d bytes", resp, err, len(tt.want))
			}
			var ranges, checks []string
			for _, r := range s.Ledger().Requests {
				ranges, checks = append(ranges, r.Header.Get("Range")), append(checks, r.Header.Get("If-Range"))
			}
			if d := cmp.Diff(tt.ranges, ranges); d != "" {
				t.Errorf("ranges (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.checks, checks); d != "" {
				t.Errorf("If-Range (-want +got):\n%s", d)
			}
		})
	}
	t.Run("a refusal in between ends it", func(t *testing.T) {
		t.Parallel()
		s, c := client(t)
		s.On("/1.png", first(etag...), fakesite.Status(http.StatusForbidden))
		_, err := c.Get(t.Context(), source.Request{URL: s.URL + "/1.png", Want: source.WantImage})
		if n := len(s.Ledger().Requests); !fault.Is(err, fault.Access) || n != 2 {
			t.Errorf("%v after %d requests, want a refusal after two", err, n)
		}
	})
	t.Run("a page of text is asked for whole", func(t *testing.T) {
		t.Parallel()
		s, c := client(t)
		s.On("/s", fakesite.Answer{ContentType: "text/html", Body: []byte("<html><p>long enough to cut</p>"), CutAfter: 9, Header: header(etag...)}, fakesite.HTML("<html>"))
		if _, err := c.Get(t.Context(), source.Request{URL: s.URL + "/s", Want: source.WantHTML}); err != nil {
			t.Fatal(err)
		}
		if got := s.Ledger().Requests[1].Header.Get("Range"); got != "" {
			t.Errorf("asked for %q", got)
		}
	})
}
