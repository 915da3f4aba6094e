package grpcserver_test

import (
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"mangrove/internal/grpcserver"
)

// A process that can open nothing more still answers, one after the other (F64). It is
// not parallel: no other test could open anything either.
func TestASpareHandleAnswers(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := grpcserver.Spare(inner)
	t.Cleanup(func() { _ = l.Close() })
	// Who asks has opened a socket before.
	var askers [3]int
	for i := range askers {
		if askers[i], err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(askers[i]) })
	}
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: min(256, before.Max), Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	var filling []*os.File
	t.Cleanup(func() {
		for _, f := range filling {
			_ = f.Close()
		}
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	})
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		filling = append(filling, f)
	}
	address := &unix.SockaddrInet4{Port: inner.Addr().(*net.TCPAddr).Port, Addr: [4]byte{127, 0, 0, 1}}
	for i, asker := range askers {
		if err := unix.Connect(asker, address); err != nil {
			t.Fatal(err)
		}
		c, err := l.Accept()
		if err != nil {
			t.Fatalf("connection %d: %v", i+1, err)
		}
		if _, err := c.Write([]byte("here")); err != nil {
			t.Error(err)
		}
		got := make([]byte, 8)
		if n, err := unix.Read(asker, got); err != nil || string(got[:n]) != "here" {
			t.Errorf("connection %d got %q, %v", i+1, got[:n], err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(filling) < 10 {
		t.Errorf("%d handles filled the table: this test shows nothing", len(filling))
	}
}
