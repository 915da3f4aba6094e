package forwarded

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestOnlyNamedProxiesAreBelieved(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("2001:db8::/32")}
	for _, tt := range []struct {
		name, peer        string
		headers           []string
		remote, host      string
		secure, encrypted bool
		client            string
	}{
		{name: "nobody in between", peer: "192.0.2.7:9", remote: "192.0.2.7:9", host: "here", client: "192.0.2.7"},
		{name: "TLS of our own", peer: "192.0.2.7:9", encrypted: true, remote: "192.0.2.7:9", host: "here", secure: true, client: "192.0.2.7"},
		{name: "https", peer: "10.1.2.3:9", headers: []string{ProtoHeader, "https"}, remote: "10.1.2.3:9", host: "here", secure: true, client: "10.1.2.3"},
		{name: "http", peer: "10.1.2.3:9", headers: []string{ProtoHeader, "http"}, remote: "10.1.2.3:9", host: "here", client: "10.1.2.3"},
		{name: "the first of a chain", peer: "10.1.2.3:9", headers: []string{ProtoHeader, "https,http"}, remote: "10.1.2.3:9", host: "here", secure: true, client: "10.1.2.3"},
		{name: "another word", peer: "10.1.2.3:9", headers: []string{ProtoHeader, "gopher"}, remote: "10.1.2.3:9", host: "here", client: "10.1.2.3"},
		{name: "not named", peer: "192.0.2.7:9", headers: []string{ProtoHeader, "https", HostHeader, "evil", ForHeader, "127.0.0.1"}, remote: "192.0.2.7:9", host: "here"},
		{name: "not named, on this machine", peer: "[::1]:9", headers: []string{ForHeader, "192.0.2.9"}, remote: "[::1]:9", host: "here"},
		{name: "client and host", peer: "127.0.0.1:9", headers: []string{ForHeader, "198.51.100.7", HostHeader, "Manga.Example"}, remote: "198.51.100.7:0", host: "manga.example", client: "198.51.100.7"},
		{name: "what the client wrote itself", peer: "127.0.0.1:9", headers: []string{ForHeader, "127.0.0.1, 198.51.100.7"}, remote: "198.51.100.7:0", host: "here", client: "198.51.100.7"},
		{name: "two proxies", peer: "127.0.0.1:9", headers: []string{ForHeader, "6.6.6.6, 198.51.100.7, 10.9.9.9"}, remote: "198.51.100.7:0", host: "here", client: "198.51.100.7"},
		{name: "a port", peer: "127.0.0.1:9", headers: []string{ForHeader, "198.51.100.7:4711"}, remote: "198.51.100.7:0", host: "here", client: "198.51.100.7"},
		{name: "the newer protocol", peer: "[2001:db8::1]:9", headers: []string{ForHeader, "2001:470::7"}, remote: "[2001:470::7]:0", host: "here", client: "2001:470::7"},
		{name: "mapped", peer: "[::ffff:10.1.2.3]:9", headers: []string{ForHeader, "::ffff:198.51.100.7"}, remote: "198.51.100.7:0", host: "here", client: "198.51.100.7"},
		{name: "only proxies", peer: "127.0.0.1:9", headers: []string{ForHeader, "10.0.0.1, 10.0.0.2"}, remote: "10.0.0.1:0", host: "here", client: "10.0.0.1"},
		{name: "nonsense", peer: "127.0.0.1:9", headers: []string{ForHeader, "198.51.100.7, <script>"}, remote: "127.0.0.1:9", host: "here", client: "127.0.0.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodGet, "http://here/", nil)
			r.RemoteAddr = tt.peer
			if tt.encrypted {
				r.TLS = &tls.ConnectionState{}
			}
			for i := 0; i < len(tt.headers); i += 2 {
				r.Header.Set(tt.headers[i], tt.headers[i+1])
			}
			called := false
			Handler(trusted, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				called = true
				client := ""
				if a := Client(r); a.IsValid() {
					client = a.String()
				}
				if r.RemoteAddr != tt.remote || r.Host != tt.host || Secure(r) != tt.secure || client != tt.client {
					t.Errorf("got %s, host %s, secure %v, client %q; want %s, %s, %v, %q", r.RemoteAddr, r.Host, Secure(r), client, tt.remote, tt.host, tt.secure, tt.client)
				}
			})).ServeHTTP(httptest.NewRecorder(), r)
			if !called {
				t.Error("the request was not passed on")
			}
		})
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ address, want string }{
		{"http://manga.example/x", "http://manga.example"}, {"http://manga.example:80/", "http://manga.example"},
		{"https://manga.example:443/", "https://manga.example"}, {"https://[::1]:8443/", "https://[::1]:8443"},
	} {
		if got := Origin(httptest.NewRequest(http.MethodGet, tt.address, nil)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.address, got, tt.want)
		}
	}
}
