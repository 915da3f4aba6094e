package preflight

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"mangrove/internal/config"
	"mangrove/internal/durable"
)

// marker is the file in a library's root by which the scraper knows it (INV-5).
const marker = ".mangrove-library"

// Listens makes sure that c's HTTP address could be listened on, while a reader listens
// on now. Where the port is the same one, ours holds it, and only the host is tried.
func Listens(c config.Config, now string) error {
	l, err := net.Listen("tcp", c.HTTP)
	if errors.Is(err, syscall.EADDRINUSE) {
		host, port, _ := net.SplitHostPort(c.HTTP)
		if _, held, _ := net.SplitHostPort(now); held == port {
			l, err = net.Listen("tcp", net.JoinHostPort(host, "0"))
		}
	}
	if err != nil {
		return portError(config.HTTP, c.HTTP, err)
	}
	return l.Close()
}

// Library makes sure that c's library folder is there, can be written into, and is a
// library or empty. Unlike a start it makes no folder: one that is missing is a typing
// error, or not mounted.
func Library(c config.Config, euid int) error {
	info, err := os.Stat(c.LibraryDir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return wrong(config.Library, "%s is not there; make it, or mount it, and put the library into it first", c.LibraryDir)
	case err != nil:
		return wrong(config.Library, "%s cannot be looked at: %s", c.LibraryDir, durable.Reason(err))
	case !info.IsDir():
		return wrong(config.Library, "%s is not a folder", c.LibraryDir)
	}
	if err := usable(config.Library, c.LibraryDir, 0o755, euid); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(c.LibraryDir, marker)); err == nil {
		return nil
	}
	dir, err := os.Open(c.LibraryDir)
	if err != nil {
		return wrong(config.Library, "%s cannot be looked at: %s", c.LibraryDir, durable.Reason(err))
	}
	defer func() { _ = dir.Close() }()
	if names, _ := dir.Readdirnames(1); len(names) > 0 {
		return wrong(config.Library, "%s holds something and is no library: it has no file %s", c.LibraryDir, marker)
	}
	return nil
}
