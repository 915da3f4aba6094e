package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mangrove/internal/config"
)

// scanned is set for the process that scans an address from another network namespace.
const scanned = "SCAN_ADDRESS"

// TestOnlyTheReaderAnswersFromOutside scans every port of this machine from another
// network namespace, as another machine would: of what Mangrove listens on, the reader
// alone answers there, and only because it was told to listen for others (features D22,
// SEC-1).
func TestOnlyTheReaderAnswersFromOutside(t *testing.T) {
	if address := os.Getenv(scanned); address != "" {
		if err := json.NewEncoder(os.Stderr).Encode(scan(address)); err != nil {
			t.Fatal(err)
		}
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root makes a network namespace")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("there is no ip to make a network namespace with")
	}
	t.Parallel()
	threeAtOnce <- struct{}{}
	t.Cleanup(func() { <-threeAtOnce })
	namespace, here := outside(t)
	m := newMangrove(t)
	_, port, err := net.SplitHostPort(m.address)
	if err != nil {
		t.Fatal(err)
	}
	m.env[config.HTTP] = "0.0.0.0:" + port
	m.start()
	m.serving()
	var ours []string
	for _, a := range m.listening() {
		ours = append(ours, fmt.Sprint(a.Port()))
	}
	// Health and metrics are there to be found.
	for _, name := range []string{config.HTTP, config.Health, config.Metrics} {
		if _, p, _ := net.SplitHostPort(m.env[name]); !slices.Contains(ours, p) {
			t.Errorf("nothing of ours listens on %s, %s: %q", name, m.env[name], ours)
		}
	}
	cmd := exec.Command("ip", "netns", "exec", namespace, os.Args[0], "-test.run=^TestOnlyTheReaderAnswersFromOutside$")
	cmd.Env = append(os.Environ(), scanned+"="+here)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("scan: %v\n%s", err, said.String())
	}
	var found result
	if err := json.Unmarshal([]byte(said.String()), &found); err != nil {
		t.Fatalf("the scan said %q: %v", said.String(), err)
	}
	var open []string
	for _, p := range found.Open {
		// Other programs of this machine may answer too.
		if slices.Contains(ours, p) {
			open = append(open, p)
		}
	}
	if !slices.Equal(open, []string{port}) {
		t.Errorf("from outside %q of ours answer, want the reader's %s alone; we listen on %q", open, port, m.listening())
	}
	if !slices.Contains(found.HTTP, port) {
		t.Errorf("the reader speaks no HTTP outside: %+v", found)
	}
}

// result is what a scan found: ports that took a connection, and of those the ones that
// answered a request of HTTP.
type result struct{ Open, HTTP []string }

// scan tries every port of an address.
func scan(address string) (found result) {
	var mu sync.Mutex
	var all sync.WaitGroup
	ports := make(chan int)
	for range 64 {
		all.Go(func() {
			for p := range ports {
				at := net.JoinHostPort(address, fmt.Sprint(p))
				conn, err := net.DialTimeout("tcp", at, 10*time.Second)
				if err != nil {
					continue
				}
				_ = conn.Close()
				client := http.Client{Timeout: 10 * time.Second}
				answer, err := client.Get("http://" + at + "/")
				mu.Lock()
				found.Open = append(found.Open, fmt.Sprint(p))
				if err == nil {
					_ = answer.Body.Close()
					found.HTTP = append(found.HTTP, fmt.Sprint(p))
				}
				mu.Unlock()
			}
		})
	}
	for p := 1; p < 1<<16; p++ {
		ports <- p
	}
	close(ports)
	all.Wait()
	return found
}

// outside makes a network namespace with a line to this one, and returns its name and
// the address of this machine as it is seen from there. It skips where the kernel lets
// nobody make one.
func outside(t *testing.T) (namespace, here string) {
	t.Helper()
	id := os.Getpid()
	namespace = fmt.Sprintf("mangrove-%d", id)
	ours, theirs := fmt.Sprintf("mg%da", id%1e7), fmt.Sprintf("mg%db", id%1e7)
	// The range that is set apart for tests between networks, four addresses of it.
	network := fmt.Sprintf("198.18.%d.", id%256)
	here = network + "1"
	t.Cleanup(func() {
		_ = exec.Command("ip", "link", "del", ours).Run() // is gone with the namespace, too
		_ = exec.Command("ip", "netns", "del", namespace).Run()
	})
	for _, args := range [][]string{
		{"netns", "add", namespace},
		{"link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", namespace},
		{"addr", "add", here + "/30", "dev", ours},
		{"link", "set", ours, "up"},
		{"-n", namespace, "addr", "add", network + "2/30", "dev", theirs},
		{"-n", namespace, "link", "set", theirs, "up"},
		{"-n", namespace, "link", "set", "lo", "up"},
	} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Skipf("no network namespace can be made here: ip %s: %v: %s", strings.Join(args, " "), err, out)
		}
	}
	return namespace, here
}
