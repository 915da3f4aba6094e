package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

func TestNotifications(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	status := http.StatusOK
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	defer hook.Close()
	_, body := s.get(mo, "/settings/scraper")
	has(t, body, `href="/settings/notifications"`)
	_, body = s.get(mo, "/settings/notifications")
	has(t, body, "Nobody is told anything so far.", `type="password"`, `value="parked" checked`, `value="chapters">`)
	hasNot(t, body, " style=", "<script>")

	address := "generic+" + hook.URL + "/hunter2?disabletls=yes"
	form := func(change func(url.Values)) url.Values {
		v := url.Values{"name": {"Phone <b>"}, "address": {address}, "kind": {"failing", "storage"}, "days": {"7"}}
		if change != nil {
			change(v)
		}
		return v
	}
	for want, change := range map[string]func(url.Values){
		"Give it a name":                        func(v url.Values) { v.Set("name", " ") },
		"Choose at least one thing":             func(v url.Values) { v.Del("kind") },
		"Days are a whole number from 0":        func(v url.Values) { v.Set("days", "1.5") },
		"The address was not understood":        func(v url.Values) { v.Set("address", "gopher://hunter2@x") },
		"The address was not understood: it is": func(v url.Values) { v.Set("address", "") },
	} {
		resp, body := s.post(mo, "/settings/notifications", form(change))
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d", want, resp.StatusCode)
		}
		has(t, body, want, `role="alert"`)
		hasNot(t, body, "hunter2")
	}
	_, body = s.post(mo, "/settings/notifications", form(func(v url.Values) { v.Set("days", "x") }))
	has(t, body, "Phone &lt;b&gt;", `value="failing" checked`)

	resp, _ := s.post(mo, "/settings/notifications", form(nil))
	if to := resp.Header.Get("Location"); to != "/settings/notifications?did=added" {
		t.Fatalf("adding leads to %q", to)
	}
	_, body = s.get(mo, "/settings/notifications?did=added")
	has(t, body, "Added. Send a test", "Phone &lt;b&gt;", "generic at 127.0.0.1", "Downloads are on hold and a Series fails for 7 days", "Nothing to tell so far")
	hasNot(t, body, "hunter2")
	if resp, _ := s.post(mo, "/settings/notifications/1/test", nil); resp.Header.Get("Location") != "/settings/notifications?did=sent" {
		t.Errorf("the test: %d", resp.StatusCode)
	}
	status = http.StatusTeapot
	_, body = s.post(mo, "/settings/notifications/1/test", nil)
	has(t, body, "The test was not taken:")
	hasNot(t, body, "hunter2")
	if resp, _ := s.post(mo, "/settings/notifications/9/test", nil); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a test of none: %d", resp.StatusCode)
	}
	resp, _ = s.post(mo, "/settings/notifications/1/remove", nil)
	_, body = s.get(mo, resp.Header.Get("Location"))
	has(t, body, "Remove it?", "Phone &lt;b&gt;")
	s.post(mo, "/settings/notifications/1/remove", url.Values{"confirmed": {"yes"}})
	_, body = s.get(mo, "/settings/notifications?did=removed")
	has(t, body, "Nobody is told anything so far.", "Removed.")
}
