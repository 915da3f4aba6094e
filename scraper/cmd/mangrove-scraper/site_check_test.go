package main

import (
	"bytes"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mangrove/internal/config"
	"mangrove/internal/fakesite"
)

func TestSiteCheck(t *testing.T) {
	fake := fakesite.Start(t)
	host := strings.TrimPrefix(fake.URL, "http://")
	fake.On("/series/one", fakesite.HTML("<main><h1>One\x1b[31m</h1><ul><li><a href=\"/c/2\">Chapter 2</a><li><a href=\"/c/1\">Chapter 1</a></ul></main>"))
	fake.On("/series/parked", fakesite.HTML("<h1>Buy this name</h1>"))
	fake.On("/series/shut", fakesite.Answer{Status: 403})
	fake.On("/c/2", fakesite.HTML(`<main><img src="/1.png"><img data-src="/2.png"></main>`))
	fake.On("/c/3", fakesite.HTML(`<main></main>`))
	fake.On("/find", fakesite.HTML(`<ul><li><a href="/series/one">One</a></ul>`))
	// The page says which bytes it was sent in; what the browser makes of it is UTF-8.
	fake.On("/series/made", fakesite.Answer{ContentType: "text/html", Body: []byte("<meta charset=windows-1251><body><script>setTimeout(() => { document.body.innerHTML = '<main><h1>\xcc\xe0\xed\xe3\xe0</h1><ul><li><a href=/c/2>Chapter 2</a></ul></main>' }, 300)</script>")})
	fake.On("/series/headed", fakesite.Answer{ContentType: "text/html; charset=windows-1251", Body: []byte("<main><h1>\xcc\xe0\xed\xe3\xe0</h1><ul><li><a href=/c/2>Chapter 2</a></ul></main>")})
	body := strings.NewReplacer("item: li\n", "item: li\n  number: a\n  date: time\n").Replace(describe(host, "Comic", "one")) +
		"search:\n  read: http://" + host + "/find?q={query}\n  item: li\n  title: a\n"
	write := func(name, body string) string {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	good := write("comic.yaml", body)
	scripted := write("scripted.yaml", strings.Replace(body, "series:\n", "browser: true\nseries:\n", 1))
	fake.On("/feed.xml", fakesite.Bytes("application/rss+xml", []byte(`<rss version="2.0"><channel><title>Lantern</title><item><guid>2</guid><title>Ch. 2: Rain</title><link>`+fake.URL+`/c/2</link></item></channel></rss>`)))
	fake.Handle("/opds/shelf", withPassword(fakesite.Bytes("application/atom+xml", []byte(`<feed xmlns="http://www.w3.org/2005/Atom"><title>Shelf</title><entry><id>urn:1</id><title>Shelf 3</title>`+
		`<link rel="http://vaemendis.net/opds-pse/stream" type="image/png" href="/p/{pageNumber}" pse:count="2" xmlns:pse="http://vaemendis.net/opds-pse/ns"/></entry></feed>`))))
	fed := write("lantern.yaml", "kind: feed\nname: Lantern\naddress: "+fake.URL+"/feed.xml\nimages: main img\n")
	secret := write("password", "s3cret")
	shelf := write("shelf.yaml", "kind: opds\nname: Shelf\naddress: "+fake.URL+"/opds/\nuser: me\npassword_file: "+secret+"\n")
	stranger := write("stranger.yaml", "kind: opds\nname: Shelf\naddress: "+fake.URL+"/opds/\n")
	cfg := config.Config{AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
	browserless := cfg
	browserless.Chromium = "/nonexistent/chromium"
	tests := []struct {
		name     string
		cfg      config.Config
		args     []string
		fails    string
		out, err []string
	}{
		{"a good file", cfg, []string{good}, "", []string{"describes Comic (comic): hosts " + host}, nil},
		{"one that names its canary", cfg, []string{write("comic.yaml", "canary: one\n"+body)}, "", []string{"each day it is tried by the Series one, at " + fake.URL + "/series/one"}, nil},
		{"a bad one", cfg, []string{write("bad.yaml", strings.Replace(body, "title: h1", "titel: h1", 1))}, "2 to mend", nil, []string{`bad.yaml:9:3: series: there is no key "titel" here; did you mean "title"?`}},
		{"the key of a shipped adapter", cfg, []string{write("sample.yaml", body)}, "1 to mend", nil, []string{`"sample" is a Site Mangrove brings itself`}},
		{"no file", cfg, []string{"/nonexistent/x.yaml"}, "1 to mend", nil, []string{"there is no such file"}},
		{"a Series", cfg, []string{good, fake.URL + "/series/one"}, "", []string{
			"series.landmark", `series.title      1  ["One\x1b[31m"]`, "chapters.item", `chapters.date     0  nothing (` + good, "a Poll ends in ok", "2 chapters", "0 without a number, 2 without a date",
			"the chapter /c/2", `pages.source    2  ["/1.png" "/2.png"]`, "2 pages, from " + fake.URL + "/1.png",
		}, nil},
		{"a Series whose answer's header names its character set", cfg, []string{good, fake.URL + "/series/headed"}, "", []string{`["Манга"]`, "a Poll ends in ok"}, nil},
		{"a Series that a script makes", cfg, []string{scripted, fake.URL + "/series/made"}, "", []string{`["Манга"]`, "a Poll ends in ok", "1 chapter"}, nil},
		{"the same without a browser", cfg, []string{good, fake.URL + "/series/made"}, "ends in unfetchable", []string{`the page has no main`}, nil},
		{"the same where there is none", browserless, []string{scripted, fake.URL + "/series/made"}, "ends in unreachable", []string{"MANGROVE_CHROMIUM: /nonexistent/chromium cannot be run"}, nil},
		{"a parked page", cfg, []string{good, fake.URL + "/series/parked"}, "ends in unfetchable", []string{"series.landmark   0  nothing (" + good + ":8)", `the page has no main`}, nil},
		{"a refusal", cfg, []string{good, fake.URL + "/series/shut"}, "ends in refused", []string{"status 403"}, nil},
		{"a title that is not there", cfg, []string{good, fake.URL + "/series/none"}, "ends in not_found", nil, nil},
		{"a chapter", cfg, []string{good, fake.URL + "/c/2"}, "", []string{"2 pages, from"}, nil},
		{"a chapter without images", cfg, []string{good, fake.URL + "/c/3"}, "the page shows no image", []string{"pages.image     0  nothing"}, nil},
		{"a search", cfg, []string{good, fake.URL + "/find?q=on+e"}, "", []string{`a search for "on e"`, "1 Series", `one  "One"`}, nil},
		{"a feed", cfg, []string{fed}, "", []string{"describes Lantern (lantern)", "one request every 3s"}, nil},
		{"a feed's Series", cfg, []string{fed, fake.URL + "/feed.xml"}, "", []string{"a Poll ends in ok", `number "2" volume "" title "Rain"`, "2 pages, from " + fake.URL + "/1.png"}, nil},
		{"no address of a feed", cfg, []string{fed, fake.URL + "/c/2"}, "is no address of a Series there", nil, nil},
		{"a catalog's Series", cfg, []string{shelf, fake.URL + "/opds/shelf"}, "", []string{"a Poll ends in ok", "1 chapter", "2 pages, from " + fake.URL + "/p/0"}, nil},
		{"the same without its password", cfg, []string{stranger, fake.URL + "/opds/shelf"}, "ends in refused", []string{"status 401"}, nil},
		{"a bad feed", cfg, []string{write("bad.yaml", "kind: feed\nname: x\naddress: comic\n")}, "1 to mend", nil, []string{"bad.yaml:3:10: address"}},
		{"the guard", config.Config{}, []string{good, fake.URL + "/series/one"}, "ends in unreachable", []string{"the address is not allowed"}, nil},
		{"another host", cfg, []string{good, "http://other.example/x"}, "outside the Site's declared hosts", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			// Whoever has a data folder removes the profiles that its last browser left.
			tt.cfg.DataDir = t.TempDir()
			var out, errOut bytes.Buffer
			err := siteCheck(t.Context(), tt.cfg, tt.args, streams{nil, &out, &errOut})
			if (err == nil) != (tt.fails == "") || (err != nil && !strings.Contains(err.Error(), tt.fails)) {
				t.Errorf("it ends in %v, want %q", err, tt.fails)
			}
			for _, want := range tt.out {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, out.String())
				}
			}
			for _, want := range tt.err {
				if !strings.Contains(errOut.String(), want) {
					t.Errorf("no %q in\n%s", want, errOut.String())
				}
			}
			if strings.ContainsRune(out.String(), 0x1b) {
				t.Error("a page can command the terminal")
			}
		})
	}
	if err := site(t.Context(), []string{"check"}, streams{nil, &bytes.Buffer{}, &bytes.Buffer{}}); err == nil {
		t.Error("a check of nothing is no error")
	}
}

// withPassword answers those who know the password.
func withPassword(answer fakesite.Answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != "me" || password != "s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", answer.ContentType)
		_, _ = w.Write(answer.Body)
	})
}
