package browser

import (
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mangrove/internal/fakesite"
)

// canary is a service of this machine that no page may reach: a web server and
// a port on loopback, and a UDP port.
type canary struct {
	http     *fakesite.Server
	tcp, udp string
	hits     atomic.Int64
}

func newCanary(t *testing.T) *canary {
	t.Helper()
	c := &canary{http: fakesite.Start(t)}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p, err := net.ListenPacket("udp4", net.JoinHostPort(outward(t), "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = l.Close(), p.Close() })
	c.tcp, c.udp = l.Addr().String(), p.LocalAddr().String()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.hits.Add(1)
			_ = conn.Close()
		}
	}()
	go func() {
		buf := make([]byte, 1500)
		for {
			if _, _, err := p.ReadFrom(buf); err != nil {
				return
			}
			c.hits.Add(1)
		}
	}()
	return c
}

// outward is an address of this machine that is not loopback, if it has one:
// WebRTC sends nothing from loopback.
func outward(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP.String()
		}
	}
	return "127.0.0.1"
}

func (c *canary) reached() int64 { return c.hits.Load() + int64(len(c.http.Ledger().Requests)) }

// hostile is a page that tries every way out. %[1]s is the http canary's
// address, %[2]s the TCP one, %[3]s the UDP one.
const hostile = `<!doctype html><html><head>
<link rel="preconnect" href="%[1]s"><link rel="dns-prefetch" href="%[1]s"><link rel="prefetch" href="%[1]s/prefetch"><link rel="stylesheet" href="%[1]s/css">
<link rel="icon" href="%[1]s/icon"><link rel="preload" as="script" href="%[1]s/preload"><link rel="modulepreload" href="%[1]s/mp">
<script type="speculationrules">{"prerender":[{"source":"list","urls":["%[1]s/spec"]}]}</script>
</head><body><img src="%[1]s/img"><img src="http://%[2]s/img"><iframe src="%[1]s/frame"></iframe><iframe src="file:///etc/passwd" id="f"></iframe>
<script src="%[1]s/script"></script><object data="%[1]s/object"></object><embed src="%[1]s/embed"><video src="%[1]s/video"></video>
<form id="form" action="%[1]s/form" method="post" target="_blank"><input name="a"></form>
<script>
const tried = [], t = (name, f) => { try { const r = f(); tried.push(name); if (r && r.catch) r.catch(() => {}) } catch (e) { tried.push(name + '!') } };
t('fetch', () => fetch('%[1]s/fetch', {mode: 'no-cors'}));
t('port', () => fetch('http://%[2]s/fetch', {mode: 'no-cors'}));
t('name', () => fetch('http://localhost:' + '%[2]s'.split(':')[1] + '/', {mode: 'no-cors'}));
t('six', () => fetch('http://[::ffff:127.0.0.1]:' + '%[2]s'.split(':')[1] + '/', {mode: 'no-cors'}));
t('zero', () => fetch('http://0.0.0.0:' + '%[2]s'.split(':')[1] + '/', {mode: 'no-cors'}));
t('tls', () => fetch('https://%[2]s/', {mode: 'no-cors'}));
t('file', () => fetch('file:///etc/passwd'));
t('xhr', () => { const x = new XMLHttpRequest(); x.open('GET', '%[1]s/xhr'); x.send() });
t('beacon', () => navigator.sendBeacon('%[1]s/beacon', 'x'));
t('ws', () => { new WebSocket('ws://%[2]s/') });
t('wss', () => { new WebSocket('wss://%[2]s/') });
t('events', () => { new EventSource('%[1]s/events') });
t('rtc', () => {
	const pc = new RTCPeerConnection({iceServers: [{urls: 'stun:%[3]s'}, {urls: ['turn:%[3]s?transport=udp', 'turn:%[2]s?transport=tcp'], username: 'u', credential: 'c'}]});
	pc.createDataChannel('x'); return pc.createOffer().then(o => pc.setLocalDescription(o));
});
t('transport', () => new WebTransport('https://%[3]s/').ready);
t('popup', () => { open('%[1]s/popup') });
t('form', () => { document.getElementById('form').submit() });
t('worker', () => { new Worker(URL.createObjectURL(new Blob(["fetch('%[1]s/worker', {mode: 'no-cors'}); new WebSocket('ws://%[2]s/')"], {type: 'text/javascript'}))) });
t('service', () => navigator.serviceWorker.register('/sw.js'));
t('frame', () => { document.getElementById('f').src = 'file:///etc/shadow' });
t('download', () => { const a = document.createElement('a'); a.href = 'data:application/octet-stream,x'; a.download = 'x'; a.click() });
t('geo', () => { navigator.geolocation.getCurrentPosition(() => {}) });
setTimeout(() => { const p = document.createElement('p'); p.id = 'tried'; p.textContent = tried.join(' '); document.body.append(p) }, 1500);
</script></body></html>`

func TestAHostilePageGetsNowhere(t *testing.T) {
	t.Parallel()
	b := share(t)
	c := newCanary(t)
	s := fakesite.Start(t)
	s.On("/p", fakesite.HTML(fmt.Sprintf(hostile, c.http.URL, c.tcp, c.udp)))
	s.On("/sw.js", fakesite.Bytes("text/javascript", []byte(fmt.Sprintf(`fetch('%s/sw', {mode: 'no-cors'})`, c.http.URL))))
	r := ask(s.URL + "/p")
	r.Landmark = "#tried"
	got, err := b.Render(t.Context(), siteOf(t, s), r, &turns{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(got.Body), `<p id="tried">fetch port name six zero tls file xhr beacon ws wss events rtc transport popup form`) {
		t.Errorf("the page did not try: %s", got.Body[max(0, len(got.Body)-600):])
	}
	if strings.Contains(string(got.Body), "root:") {
		t.Error("a file of this machine stands in the page")
	}
	if n := c.reached(); n != 0 {
		t.Errorf("%d attempts reached what is on loopback: %+v", n, c.http.Ledger().Requests)
	}
	// The canary can be reached: the silence means something.
	for _, network := range []string{"tcp " + c.tcp, "udp " + c.udp} {
		kind, address, _ := strings.Cut(network, " ")
		conn, err := net.Dial(kind, address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte("x"))
		_ = conn.Close()
	}
	eventually(t, "the canary sings", func() bool { return c.hits.Load() == 2 })
}

// A page of one Site gets nowhere near another Site's hosts, though both are read
// by the same browser at the same time.
func TestSitesAreKeptApart(t *testing.T) {
	t.Parallel()
	b := share(t)
	one, two := fakesite.Start(t), fakesite.Start(t)
	hold := make(chan struct{})
	two.On("/p", fakesite.Answer{ContentType: "text/html", Body: []byte("<p>two</p>"), Hold: hold})
	waiting := make(chan error, 1)
	go func() {
		_, err := b.Render(t.Context(), siteOf(t, two), ask(two.URL+"/p"), &turns{})
		waiting <- err
	}()
	if err := two.WaitCount(t.Context(), "/p", 1); err != nil {
		t.Fatal(err)
	}
	one.On("/p", fakesite.Answer{ContentType: "text/html", Header: header("Set-Cookie", "a=b"), Body: []byte(`<body><script>fetch('` + two.URL + `/stolen', {mode: 'no-cors'}).catch(() => {})</script>`)})
	for range 2 {
		if _, err := b.Render(t.Context(), siteOf(t, one), ask(one.URL+"/p"), &turns{}); err != nil {
			t.Error(err)
		}
	}
	close(hold)
	if err := <-waiting; err != nil {
		t.Error(err)
	}
	if n := len(two.Ledger().Requests); n != 1 {
		t.Errorf("%d requests reached the other Site, want its own", n)
	}
	for _, r := range one.Ledger().Requests {
		if got := r.Header.Get("Cookie"); got != "" {
			t.Errorf("a cookie was kept: %q", got)
		}
	}
}

// The proxy is closed to everybody as soon as the page is read.
func TestTheWayOutEndsWithThePage(t *testing.T) {
	t.Parallel()
	b := share(t)
	s := fakesite.Start(t)
	s.On("/p", fakesite.HTML("<p>x</p>"))
	warm(t, b)
	if _, err := b.Render(t.Context(), siteOf(t, s), ask(s.URL+"/p"), &turns{}); err != nil {
		t.Fatal(err)
	}
	refuse := b.current.refuse
	before := refuse.refused.Load()
	conn, err := net.DialTimeout("tcp", refuse.listener.Addr().String(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprintf(conn, "GET %s/x HTTP/1.1\r\nHost: x\r\n\r\n", s.URL); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 12)
	if _, err := conn.Read(answer); err != nil || string(answer) != "HTTP/1.1 403" || refuse.refused.Load() != before+1 {
		t.Errorf("the proxy for Chromium's own business answered %q, %v", answer, err)
	}
	if n := s.Count("/x"); n != 0 {
		t.Error("it let a request through")
	}
}
