//go:build bench

package bench

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"mangrove/internal/benchtest"
)

// pages is how many a chapter has, size about how large each is.
const (
	pages = 100
	size  = 300 << 10
	// slice is how long one contender is asked in a round.
	slice  = 3 * time.Second
	rounds = 5
)

func TestMain(m *testing.M) { benchtest.Main(m, "../../..") }

// contender serves pages.
type contender struct {
	name   string
	client *http.Client
	at     func(page int) string
	// pids are the processes whose time counts.
	pids func() []int
}

// TestPagesBesideNginx asks both for the same bytes in turn.
func TestPagesBesideNginx(t *testing.T) {
	up, err := filepath.Abs("../../../bin/mangrove")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(up); err != nil {
		t.Skip("bin/mangrove is not built")
	}
	dir, err := os.MkdirTemp("/tmp", "mgp-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	files := drawn(t)
	all := []contender{mangrove(t, up, dir, files)}
	if path, err := exec.LookPath("nginx"); err == nil {
		all = append(all, nginx(t, path, dir, files))
	} else {
		benchtest.Skipped("pages beside nginx", "not installed")
	}
	for _, c := range all {
		resp, err := c.client.Get(c.at(0))
		if err != nil {
			t.Fatal(c.name, ": ", err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK || !bytes.Equal(body, files[0]) {
			t.Fatalf("%s answers %d with %d bytes", c.name, resp.StatusCode, len(body))
		}
	}
	for _, connections := range []int{1, 64} {
		rates, costs := map[string][]float64{}, map[string][]float64{}
		for range rounds {
			for _, c := range all {
				n, cpu := ask(t, c, connections)
				rates[c.name] = append(rates[c.name], float64(n)/slice.Seconds())
				costs[c.name] = append(costs[c.name], cpu.Seconds()*1e6/float64(max(n, 1)))
			}
		}
		rate := fmt.Sprintf("pages out of a CBZ, %d connections: rate", connections)
		cost := fmt.Sprintf("pages out of a CBZ, %d connections: processor time", connections)
		benchtest.Report(rate, median(rates["mangrove"]), "a second", 0)
		benchtest.Report(cost, median(costs["mangrove"]), "us a page", 0)
		if len(all) > 1 {
			benchtest.Beside(rate, median(rates["mangrove"]), median(rates["nginx"]), "a second", "nginx")
			benchtest.Beside(cost, median(costs["mangrove"]), median(costs["nginx"]), "us a page", "nginx")
		}
	}
}

// ask asks for pages over some connections for a slice of time.
func ask(t *testing.T, c contender, connections int) (n int, cpu time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), slice)
	defer cancel()
	before := spent(c.pids())
	var done atomic.Int64
	var group sync.WaitGroup
	for range connections {
		group.Go(func() {
			for ctx.Err() == nil {
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.at(rand.IntN(pages)), nil)
				if err != nil {
					t.Error(err)
					return
				}
				resp, err := c.client.Do(r)
				if err != nil {
					if ctx.Err() == nil {
						t.Error(c.name, ": ", err)
					}
					return
				}
				n, err := io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if ctx.Err() != nil {
					return
				}
				if err != nil || resp.StatusCode != http.StatusOK || n < size/2 {
					t.Errorf("%s: %d, %d bytes, %v", c.name, resp.StatusCode, n, err)
					return
				}
				done.Add(1)
			}
		})
	}
	group.Wait()
	return int(done.Load()), spent(c.pids()) - before
}

// spent is the processor time of processes so far.
func spent(pids []int) (total time.Duration) {
	for _, pid := range pids {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		user, _ := strconv.Atoi(fields[11])
		system, _ := strconv.Atoi(fields[12])
		total += time.Duration(user+system) * 10 * time.Millisecond
	}
	return total
}

func median(list []float64) float64 {
	list = slices.Clone(list)
	slices.Sort(list)
	return list[len(list)/2]
}

// drawn are pages of noise, of about the size that pages have, each with its own bytes.
func drawn(t *testing.T) (out [][]byte) {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 800, 1200))
	for i := range img.Pix {
		img.Pix[i] = byte(rand.IntN(256))
	}
	var first bytes.Buffer
	for quality := 20; first.Len() < size && quality <= 95; quality += 5 {
		first.Reset()
		if err := jpeg.Encode(&first, img, &jpeg.Options{Quality: quality}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range pages {
		img.SetGray(n, 0, color.Gray{Y: byte(n * 2)})
		// A comment of its own makes each another file without drawing it anew.
		note := []byte(fmt.Sprintf("page %03d", n))
		page := append([]byte{}, first.Bytes()[:2]...)
		page = append(page, 0xff, 0xfe, 0, byte(len(note)+2))
		page = append(page, note...)
		out = append(out, append(page, first.Bytes()[2:]...))
	}
	return out
}

// mangrove serves the pages out of a CBZ that somebody else put into its library, to
// a person who is signed in.
func mangrove(t *testing.T, up, dir string, files [][]byte) contender {
	t.Helper()
	library := filepath.Join(dir, "library", "Bench")
	if err := os.MkdirAll(library, 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(library, "Bench 1.cbz"))
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(out)
	for n, data := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("%03d.jpg", n+1), Method: zip.Store})
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	address, data := freePort(t), filepath.Join(dir, "data")
	cmd := exec.Command(up, "up")
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "MANGROVE_DATA=" + data, "MANGROVE_LIBRARY=" + filepath.Dir(library), "MANGROVE_HTTP=" + address, "MANGROVE_HEALTH=" + freePort(t),
	}
	var console said
	cmd.Stdout = &console
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Signal(syscall.SIGINT); _ = cmd.Wait() })
	code := ""
	eventually(t, "the code is printed", func() bool {
		m := regexp.MustCompile(`administrator: ([A-Z0-9-]+)`).FindStringSubmatch(console.String())
		if m != nil {
			code = m[1]
		}
		return m != nil
	})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	base := "http://" + address
	resp, err := client.PostForm(base+"/claim", url.Values{"code": {code}, "name": {"bench"}, "password": {"a bench reads all night"}})
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	at := ""
	eventually(t, "the chapter is in the library", func() bool {
		var m [][]byte
		for _, want := range []string{`href="(/series/[0-9]+)`, `href="(/read/[0-9]+)`, `src="(/read/[0-9]+/pages/)1(\?v=[^"]+)"`} {
			page := "/library"
			if m != nil {
				page = string(m[1])
			}
			resp, err := client.Get(base + page)
			if err != nil {
				return false
			}
			body, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if m = regexp.MustCompile(want).FindSubmatch(body); m == nil {
				return false
			}
		}
		at = base + string(m[1]) + "%d" + string(m[2])
		return true
	})
	return contender{"mangrove", client, func(page int) string { return fmt.Sprintf(at, page+1) }, func() []int { return processes("mangrove-reader", data) }}
}

// nginx serves the same bytes as loose files, to anybody.
func nginx(t *testing.T, path, dir string, files [][]byte) contender {
	t.Helper()
	root := filepath.Join(dir, "loose")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	for n, data := range files {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("%03d.jpg", n+1)), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	address := freePort(t)
	conf := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf("daemon off;\npid %s/nginx.pid;\nerror_log /dev/null;\nworker_processes auto;\nevents {}\nhttp { access_log off; sendfile on; tcp_nopush on; types { image/jpeg jpg; }\n"+
		"client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;\n"+
		"server { listen %s; root %s; } }\n", dir, address, root)
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "-c", conf)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Wait() })
	eventually(t, "nginx serves", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return contender{
		"nginx", &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}, func(page int) string { return fmt.Sprintf("http://%s/%03d.jpg", address, page+1) },
		func() []int { return childrenOf(cmd.Process.Pid) },
	}
}

// processes are those of a program that were given a word in their environment.
func processes(program, word string) (out []int) {
	found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range found {
		line, _ := os.ReadFile(file)
		env, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "environ"))
		name, _, _ := bytes.Cut(line, []byte{0})
		if filepath.Base(string(name)) == program && bytes.Contains(env, []byte(word)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			out = append(out, pid)
		}
	}
	return out
}

func childrenOf(parent int) (out []int) {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", parent, parent))
	for _, word := range strings.Fields(string(data)) {
		pid, _ := strconv.Atoi(word)
		out = append(out, pid)
	}
	return out
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for until := time.Now().Add(2 * time.Minute); !f(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("never: ", what)
		}
	}
}

// said is what a program has printed so far.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
