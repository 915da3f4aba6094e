package grpcserver

import (
	"errors"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Spare keeps one file handle back for a listener that has to answer when the process
// can open nothing more (F64): the next connection gets it, one at a time, and it is
// taken back when that connection ends.
func Spare(l net.Listener) net.Listener {
	s := &spare{Listener: l}
	s.takeBack()
	return s
}

type spare struct {
	net.Listener
	mu     sync.Mutex
	handle *os.File
}

// Accept waits for a connection. Where it cannot be opened even with the spare handle,
// the error is that of the listener, which a server may try again after.
func (s *spare) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if !errors.Is(err, unix.EMFILE) && !errors.Is(err, unix.ENFILE) || !s.give() {
		return c, err
	}
	if c, err = s.Listener.Accept(); err != nil {
		s.takeBack()
		return nil, err
	}
	return &borrowing{Conn: c, end: s.takeBack}, nil
}

func (s *spare) give() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handle == nil {
		return false
	}
	err := s.handle.Close()
	s.handle = nil
	return err == nil
}

func (s *spare) takeBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handle == nil {
		s.handle, _ = os.Open(os.DevNull) // without it, the listener is as any other
	}
}

// borrowing is a connection that has the spare handle.
type borrowing struct {
	net.Conn
	once sync.Once
	end  func()
}

// Close ends the connection and takes the handle back.
func (b *borrowing) Close() error {
	err := b.Conn.Close()
	b.once.Do(b.end)
	return err
}
