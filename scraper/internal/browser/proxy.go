package browser

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"mangrove/scraper/internal/fetch"
	"mangrove/scraper/internal/source"
)

// maxTraffic is how many bytes a page may receive with all that belongs to it.
const maxTraffic = 32 << 20

// proxy is the one way out of a page (C17): it serves http and CONNECT on
// loopback for as long as the page is read, dials through the Site's guard, and
// only hosts the Site declares.
type proxy struct {
	site     source.Site
	dialer   *net.Dialer
	ctx      context.Context
	listener net.Listener
	server   *http.Server
	left     atomic.Int64
	refused  atomic.Int64
	// over is called once when the page has received too much.
	over func()

	mu sync.Mutex
	// dialled is how the last attempt to reach each host:port ended.
	dialled map[string]error
}

// newProxy serves site until ctx ends. A Site without hosts is let nowhere.
func newProxy(ctx context.Context, site source.Site, guard fetch.Guard, over func()) (*proxy, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{site: site, dialer: guard.Dialer(), ctx: ctx, listener: l, over: sync.OnceFunc(over), dialled: map[string]error{}}
	p.dialer.Timeout = 15 * time.Second
	p.left.Store(maxTraffic)
	transport := &http.Transport{
		DialContext: p.dial, DisableCompression: true, MaxIdleConnsPerHost: 6, IdleConnTimeout: pageTimeout, ResponseHeaderTimeout: pageTimeout, MaxResponseHeaderBytes: 1 << 20,
	}
	forward := &httputil.ReverseProxy{
		Rewrite:      func(*httputil.ProxyRequest) {},
		Transport:    transport,
		ErrorLog:     log.New(io.Discard, "", 0),
		ErrorHandler: p.unanswered,
	}
	p.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodConnect:
			p.tunnel(w, r)
		case !r.URL.IsAbs() || fetch.Allowed(p.site, r.URL) != nil:
			p.refuse(w)
		default:
			forward.ServeHTTP(w, r)
		}
	})}
	go func() { _ = p.server.Serve(l) }() // always ErrServerClosed
	context.AfterFunc(ctx, func() {
		_ = p.server.Close()
		transport.CloseIdleConnections()
	})
	return p, nil
}

// address is what Chromium is told.
func (p *proxy) address() string { return "http://" + p.listener.Addr().String() }

func (p *proxy) refuse(w http.ResponseWriter) {
	p.refused.Add(1)
	http.Error(w, "this page may not go there", http.StatusForbidden)
}

// unanswered drops the connection of a request the Site did not answer: an
// answer of ours would be taken for the Site's.
func (p *proxy) unanswered(_ http.ResponseWriter, r *http.Request, err error) {
	if host := hostPort(r.URL); p.outcome(host) == nil {
		p.note(host, err)
	}
	panic(http.ErrAbortHandler)
}

// dial reaches a host and notes how that went.
func (p *proxy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	conn, err := p.dialer.DialContext(ctx, network, address)
	if err != nil {
		p.note(address, &undialled{err})
		return nil, err
	}
	p.note(address, nil)
	return &counted{Conn: conn, p: p}, nil
}

// undialled is why a host was not reached at all.
type undialled struct{ error }

func (u *undialled) Unwrap() error { return u.error }

func (p *proxy) note(address string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialled[address] = err
}

func (p *proxy) outcome(address string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dialled[address]
}

// reached tells how the host of u was last reached: whether it took the
// connection, and what went wrong.
func (p *proxy) reached(u *url.URL) (connected bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err, tried := p.dialled[hostPort(u)]
	var never *undialled
	return tried && !errors.As(err, &never), err
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "80"
		if u.Scheme == "https" {
			port = "443"
		}
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// tunnel serves CONNECT, which https and WebSockets use.
func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	if fetch.Allowed(p.site, &url.URL{Scheme: "https", Host: r.Host}) != nil {
		p.refuse(w)
		return
	}
	site, err := p.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		http.Error(w, "no connection", http.StatusBadGateway) // which no page sees
		return
	}
	defer func() { _ = site.Close() }()
	page, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = page.Close() }()
	// What the page sent along is already read.
	defer context.AfterFunc(p.ctx, func() {
		_ = page.Close()
		_ = site.Close()
	})()
	if _, err := io.WriteString(page, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(site, buffered.Reader)
		_ = site.Close()
	})
	both.Go(func() {
		_, _ = io.Copy(page, site)
		_ = page.Close()
	})
	both.Wait()
}

// counted is a connection whose bytes count against the page's bound.
type counted struct {
	net.Conn
	p *proxy
}

var errTraffic = errors.New("the page receives too much")

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.p.left.Add(int64(-n)) < 0 {
		c.p.over()
		return 0, errTraffic
	}
	return n, err
}
