package redact

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Each canary is a value that must not be kept, in the ways pages hold such values.
func TestBodyKeepsNoSecret(t *testing.T) {
	t.Parallel()
	const canary = "c4naryS3cret"
	for _, tt := range []struct{ name, mediaType, body string }{
		{"hidden field", "text/html", `<form><input type="hidden" name="x" value="CANARY"></form>`},
		{"hidden field, value first", "text/html", `<INPUT value='CANARY' TYPE=hidden>`},
		{"hidden field with a bracket", "text/html", `<input type="hidden" value="a>CANARY">`},
		{"named field", "text/html", `<input name="csrf_token" value="CANARY">`},
		{"unquoted field", "text/html", `<input name=_csrf value=CANARY>`},
		{"meta", "text/html", `<meta name="csrf-token" content="CANARY">`},
		{"attribute", "text/html", `<div data-session-token="CANARY">`},
		{"attribute, single quotes", "text/html", `<div data-api-key='CANARY'>`},
		{"never closed", "text/html", `<input type="hidden" value="CANARY`},
		{"script", "text/html", `<script>var sessionId = 'CANARY';</script>`},
		{"script, template string", "text/html", "<script>window.token = `CANARY`</script>"},
		{"script, subscript", "text/html", `<script>x["authorization"]="CANARY"</script>`},
		{"script, joined", "text/html", `<script>document.cookie="sid=CANARY; path=/"</script>`},
		{"JSON", "application/json", `{"id":5,"access_token":"CANARY","n":1}`},
		{"JSON, spaces", "application/json", `{"Authorization" :  "CANARY"}`},
		{"JSON, a quote in it", "application/json", `{"password":"a\"CANARY"}`},
		{"JSON, number", "application/json", `{"token": 12CANARY34}`},
		{"JSON, object", "application/json", `{"session":{"id":"CANARY","user":{"name":"CANARY"}},"title":"x"}`},
		{"JSON, list", "application/json", `{"tokens":["CANARY",["CANARY"]],"title":"x"}`},
		{"JSON, cut off", "application/json", `{"session":{"id":"CANARY`},
		{"JSON within a string", "text/html", `<script>f("{\"token\":\"CANARY\",\"a\":1}")</script>`},
		{"JSON within a string twice", "text/html", `<script>f("{\\\"token\\\":\\\"CANARY\\\"}")</script>`},
		{"query", "text/html", `<a href="https://x.example/i.png?token=CANARY&amp;w=3">`},
		{"query, named after nothing", "text/html", `<a href="https://x.example/i.png?q=aCANARYa1b2c3d4e5f6">`},
		{"query, after an entity", "text/html", `<a href="?w=3&amp;sig=CANARY">`},
		{"query, escaped", "text/html", `"https:\/\/x.example\/i?w=3\u0026signature=CANARY"`},
		{"query, encoded", "text/html", `<a href="/go?to=%2Fx%3Ftoken%3DCANARY">`},
		{"user information", "text/html", `<a href="https://me:CANARY@x.example/">`},
		{"user information, escaped", "application/json", `"https:\/\/me:CANARY@x.example\/"`},
		{"user information of a plain host", "text/html", `<a href="https://me:CANARY@x/">`},
		{"title", "text/html", `<title>Hello CANARY@mail.example</title>`},
		{"mail, encoded", "text/html", `<a href="mailto:CANARY%40mail.example">CANARY&#64;mail.example</a>`},
		{"header in the text", "text/plain", "Cookie: a=CANARY; b=CANARY\nAuthorization: Basic CANARYxx==\n"},
		{"bearer", "text/plain", `curl -H "X: Bearer CANARY"`},
		{"web token", "text/html", `<p>eyJhbGciOiJIUzI1NiJ9.CANARY.CANARY</p>`},
		{"path that is signed", "text/html", `https://x.example/AbCdEf0123456789CANARYAbCdEf0123456789/1.png`},
		{"two bytes a letter", "text/html", strings.Join(strings.Split(`<input type="hidden" value="CANARY">`, ""), "\x00")},
		{"what is called a picture", "image/png", `{"token":"CANARY"}`},
		{"a picture", "image/png", "\x89PNG\r\n\x1a\n\x00\x00 {\"token\":\"CANARY\"} \xff\xfe"},
		{"cookie value anywhere", "text/html", `<p>Your number is COOKIE.</p>`},
		{"cookie value, as an address has it", "text/html", `<p>go+COOK%2FIE+there</p>`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			body := strings.ReplaceAll(tt.body, "CANARY", canary)
			if strings.Contains(tt.name, "two bytes") {
				body = strings.Join(strings.Split(strings.ReplaceAll(strings.ReplaceAll(tt.body, "\x00", ""), "CANARY", canary), ""), "\x00")
			}
			body = strings.ReplaceAll(body, "COOKIE", canary+"-cookie")
			got, removed := Body([]byte(body), tt.mediaType, []string{canary + "-cookie", "COOK/IE"})
			if strings.Contains(strings.ReplaceAll(string(got), "\x00", ""), canary) || strings.Contains(string(got), "COOK%2FIE") {
				t.Errorf("kept: %q", got)
			}
			if removed == 0 {
				t.Error("nothing was counted as removed")
			}
			if tt.mediaType != "image/png" && !strings.Contains(string(got), Mark) {
				t.Errorf("no mark in %q", got)
			}
		})
	}
}

// What an adapter reads stays, or a bundle would be no test of it.
func TestBodyKeepsThePage(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`<main id="series" data-series-id="s-1"><h1 class="title">A Title: 3 "tokens"</h1><a href="/chapter?id=12&amp;lang=en-GB">1</a></main>`,
		`<img src="logo@2x.png" srcset="a@1.5x.webp 1x"><script src="/swiper@8.4.5/swiper.js?v=8.4.5"></script>`,
		`{"result":"ok","data":[{"id":"32d76d19-8a05-4db0-9fc2-e0b0648fe9d0","attributes":{"chapter":"10.5","hash":"b7a019b7a019b7a019b7a019b7a019b7","pages":null}}]}`,
		`{"session": null, "tokens": [], "cookie": true, "passwordProtected": false}`,
		`<p>Author session: a morning with the cast. Version 1.2.3 is 10.0.0.1 or 127.0.0.1:8080.</p>`,
		`<img src="https://uploads.example/data/3303dd03ac8d27452cce3f2a882e94b2/1-f7a76de10d346de7ba01786762ebbedc666b412ad0d4b73baa330a2a392dbcdd.png">`,
		`<meta name="description" content="About the Series"><input type="text" name="q" value="what was searched">`,
		"<html>\xff\xfe not quite UTF-8</html>",
		`<a href="?page=2&sort=new#top">`,
	} {
		got, removed := Body([]byte(body), "text/html", []string{"ab", ""})
		if d := cmp.Diff(body, string(got)); d != "" || removed != 0 {
			t.Errorf("%d removed: (-want +got)\n%s", removed, d)
		}
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://a.example/x/y?b=1&token=2#f":  "https://a.example/x/y?b=[removed]&token=[removed]",
		"https://me:pw@a.example/x":            "https://a.example/x",
		"https://a.example/x?c4naryS3cretAB12": "https://a.example/x?[removed]",
		"https://a.example/x?flag":             "https://a.example/x?flag",
		"https://a.example/you@mail.example/":  "https://a.example/[removed]/",
		"https://a.example/%zz":                "(unreadable address)",
		"/a/path":                              "/a/path",
		"":                                     "",
	} {
		if got := Address(in); got != want {
			t.Errorf("Address(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	got := Line("no list at https://me:pw@a.example/x?sig=abc&w=1, ask you@mail.example\x00\x1b[2J\nsecond line")
	if want := "no list at https://a.example/x?sig=[removed]&w=[removed] ask [removed]  [2J"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Line("bad \xff" + strings.Repeat("é", 4000)); len(got) > maxLine || strings.Contains(got, "\xff") {
		t.Errorf("%d bytes", len(got))
	}
}

// Whatever stands around it, a value under a secret's name goes, and what is done
// twice is done.
func TestRedactionModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		around := rapid.StringMatching(`[a-z <>"'{}\[\]\\:=&?;,/@.\n]{0,40}`)
		secret := "zq9" + rapid.StringMatching(`[A-Za-z0-9]{12,30}`).Draw(t, "secret")
		name := rapid.SampledFrom([]string{"token", "csrfToken", "session_id", "x-api-key", "Authorization", "user.password"}).Draw(t, "name")
		form := rapid.SampledFrom([]string{`"NAME":"V"`, `NAME="V"`, `NAME='V'`, `?NAME=V&`, `&NAME=V `, `"NAME":{"a":"V"}`, `"NAME" : ["V", "V"]`}).Draw(t, "form")
		text := around.Draw(t, "before") + " " + strings.ReplaceAll(strings.ReplaceAll(form, "NAME", name), "V", secret) + around.Draw(t, "behind")
		got, _ := Body([]byte(text), "text/html", nil)
		if strings.Contains(string(got), secret) {
			t.Fatalf("%q keeps it: %q", text, got)
		}
		again, removed := Body(got, "text/html", nil)
		if string(again) != string(got) {
			t.Fatalf("done again it is %q, was %q (%d)", again, got, removed)
		}
	})
}

// A page that was made to be slow is not: each is of the largest size that is kept.
func TestHostileBodiesAreQuick(t *testing.T) {
	t.Parallel()
	for _, part := range []string{
		`"token":[`, `"token":{"a":`, `"token":["a",`, `{"session":{"session":"`, `token=\\\"`, `<input "`, `<input type=hidden value='`, `a@b.`, `1.2.3.4.`, `::1:`, `?a=`, `;token=`,
		`token`, `aaaaaaaaaaaaaaaa`, `/AAAAa0AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA`, `bearer `, `eyJaaaa.`, `https://a:`, "[removed]", `"`, `\\`, "\x00",
	} {
		body := []byte(strings.Repeat(part, 256<<10/len(part)))
		before := time.Now()
		got, _ := Body(body, "text/html", []string{"secret", "aaaaaaaa"})
		if took := time.Since(before); took > 30*time.Second || len(got) > 64*len(body) {
			t.Errorf("%q took %s and made %d bytes", part, took, len(got))
		}
	}
}

func FuzzBody(f *testing.F) {
	f.Add([]byte(`<input type="hidden" value="x">`), "text/html")
	f.Add([]byte(`{"session":{"a":[1,{"b":"c`), "application/json")
	f.Fuzz(func(t *testing.T, body []byte, mediaType string) {
		if len(body) > 1<<16 {
			return
		}
		got, _ := Body(body, mediaType, []string{"secret-value"})
		if strings.Contains(string(got), "secret-value") {
			t.Errorf("kept in %q", got)
		}
	})
}
