// Package preflight checks everything that can be known before a program is
// spawned, so that a wrong setting ends in one line that names it (SUP-3). It
// makes the folders of the data layout and holds what must stay held, the lock
// and the health port; it starts no service and changes nothing that a person
// made.
package preflight

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"mangrove/internal/config"
	"mangrove/internal/durable"
	"mangrove/internal/pgcluster"
)

// InstallPostgres is what to type where the PostgreSQL programs are missing.
const InstallPostgres = "sudo apt-get install --no-install-recommends postgresql"

// LockedError says that another supervisor lives on the data folder (SUP-7).
type LockedError struct {
	Folder string
	// PID is the other supervisor's, or 0 when it is not known.
	PID int
}

func (e *LockedError) Error() string {
	who := "another Mangrove"
	if e.PID > 0 {
		who += fmt.Sprintf(" (process %d)", e.PID)
	}
	return fmt.Sprintf("%s: %s already runs with %s; stop it or choose another folder", config.Data, who, e.Folder)
}

func wrong(name, format string, args ...any) error {
	return &config.SettingError{Name: name, Problem: fmt.Sprintf(format, args...)}
}

// Settings checks what the environment alone can say.
func Settings(c config.Config) error {
	if c.HTTP == c.Health {
		return wrong(config.Health, "%s is the address of %s too; give each its own", c.Health, config.HTTP)
	}
	if c.Metrics == c.HTTP || c.Metrics == c.Health {
		return wrong(config.Metrics, "%s is the address of %s or %s too; give each its own, or set it to nothing", c.Metrics, config.HTTP, config.Health)
	}
	if _, err := c.MetricsToken(); err != nil {
		return err
	}
	if _, err := c.IssuerSecret(); err != nil {
		return err
	}
	if c.Embedded() || c.DatabaseURL != "" || c.ThreeRoles() {
		return nil
	}
	for name, value := range map[string]config.Secret{
		config.DatabaseURLOwner: c.DatabaseURLOwner, config.DatabaseURLReader: c.DatabaseURLReader, config.DatabaseURLScraper: c.DatabaseURLScraper,
	} {
		if value == "" {
			return wrong(name, "is not set, though another role's address is; set all three, or %s alone", config.DatabaseURL)
		}
	}
	return nil
}

// Lock takes the data folder for this supervisor and leaves its number for the
// next one to name. It fails with a LockedError.
func Lock(c config.Config) (*durable.Lock, error) {
	path := filepath.Join(c.DataDir, "supervisor.lock")
	lock, err := durable.TakeLock(path)
	if errors.Is(err, durable.ErrLocked) {
		return nil, &LockedError{Folder: c.DataDir, PID: durable.Holder(path)}
	}
	if err != nil {
		return nil, wrong(config.Data, "%s cannot be locked: %s", c.DataDir, durable.Reason(err))
	}
	// A file system that grants a lock twice would let two supervisors in.
	if twice, err := durable.TakeLock(path); err == nil {
		_ = twice.Unlock()
		_ = lock.Unlock()
		return nil, wrong(config.Data, "%s lies on a file system without working locks; choose a local one", c.DataDir)
	}
	return lock, nil
}

// portWait is how long a taken port is waited for. After kill -9 of a supervisor
// its lock is free a little before the kernel has taken the reader's port back.
const portWait = 2 * time.Second

// Bound are the addresses that are the supervisor's own and stay bound.
type Bound struct {
	Health net.Listener
	// Metrics is nil when nobody is to be told.
	Metrics net.Listener
}

// Close gives back what is bound.
func (b Bound) Close() {
	for _, l := range []net.Listener{b.Health, b.Metrics} {
		if l != nil {
			_ = l.Close()
		}
	}
}

// Ports binds the addresses of health and of the metrics, which stay bound, and makes
// sure that the reader will be able to bind its own.
func Ports(c config.Config) (b Bound, err error) {
	until := time.Now().Add(portWait)
	defer func() {
		if err != nil {
			b.Close()
			b = Bound{}
		}
	}()
	if b.Health, err = bind(c.Health, until); err != nil {
		return b, portError(config.Health, c.Health, err)
	}
	if c.Metrics != "" {
		if b.Metrics, err = bind(c.Metrics, until); err != nil {
			return b, portError(config.Metrics, c.Metrics, err)
		}
	}
	reader, err := bind(c.HTTP, until)
	if err != nil {
		return b, portError(config.HTTP, c.HTTP, err)
	}
	_ = reader.Close()
	return b, nil
}

func bind(address string, until time.Time) (net.Listener, error) {
	for {
		l, err := net.Listen("tcp", address)
		if err == nil || !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(until) {
			return l, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func portError(name, address string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return wrong(name, "%s is taken by another program; stop that program or set another address, such as 127.0.0.1:9484", address)
	case errors.Is(err, fs.ErrPermission):
		return wrong(name, "%s may only be used by root; choose a port above 1023", address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return wrong(name, "%s is not an address of this machine", address)
	}
	return wrong(name, "%s cannot be used: %v", address, err)
}

// Programs returns the paths of the scraper's and the reader's programs, which
// stand beside ours.
func Programs(self string) (scraper, reader string, err error) {
	dir := filepath.Dir(self)
	scraper, reader = filepath.Join(dir, "mangrove-scraper"), filepath.Join(dir, "mangrove-reader")
	for _, path := range []string{scraper, reader} {
		info, err := os.Stat(path)
		if err != nil {
			return "", "", fmt.Errorf("%s is missing; it belongs beside mangrove: run `make build`", path)
		}
		if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
			return "", "", fmt.Errorf("%s cannot be executed; run: chmod 755 %s", path, path)
		}
	}
	return scraper, reader, nil
}

// Sockets refuses a data folder whose path leaves no room for our sockets.
func Sockets(c config.Config) error {
	for _, path := range []string{c.ControlSocket(), c.ScraperSocket(), c.ReaderSocket(), c.ScraperMetricsSocket(), c.ReaderMetricsSocket()} {
		if n := len(path); n > pgcluster.MaxSocketPath {
			return wrong(config.Data, "%s makes a socket's path %d bytes long, at most %d are possible; choose a path at least %d bytes shorter",
				c.DataDir, n, pgcluster.MaxSocketPath, n-pgcluster.MaxSocketPath)
		}
	}
	return nil
}

// Cluster is what the embedded default needs.
type Cluster struct {
	Layout   pgcluster.Layout
	Programs pgcluster.Programs
	Owner    pgcluster.Owner
}

// ClusterPaths checks where the embedded default would lie, before any folder
// is made: a path that is too long or that its user could not reach.
func ClusterPaths(c config.Config, euid int) (Cluster, error) {
	owner, err := pgcluster.ChooseOwner(euid)
	if err != nil {
		return Cluster{}, fmt.Errorf("the embedded database needs a user with a name: %w; set %s instead", err, config.DatabaseURL)
	}
	cl := Cluster{Layout: pgcluster.Layout{Root: filepath.Join(c.DataDir, "postgres")}, Owner: owner}
	if err := cl.Layout.CheckSocket(); err != nil {
		return Cluster{}, named(config.Data, err)
	}
	// What we make ourselves is made passable; only folders above count.
	above := pgcluster.Layout{Root: c.DataDir}
	if err := above.CheckReachable(owner); err != nil {
		return Cluster{}, named(config.Data, err)
	}
	return cl, nil
}

// Complete finishes cl once the folders are made: owner, programs, version.
func (cl Cluster) Complete(ctx context.Context, c config.Config, path string,
	version func(context.Context, pgcluster.Programs) (int, error)) (Cluster, error) {
	if err := cl.Layout.CheckReachable(cl.Owner); err != nil {
		return Cluster{}, named(config.Data, err)
	}
	if err := cl.Layout.CheckOwner(cl.Owner); err != nil {
		return Cluster{}, named(config.Data, err)
	}
	var err error
	cl.Programs, err = pgcluster.Find(pgcluster.Lookup{Bin: c.PostgresBin, Path: path})
	switch {
	case err != nil && c.PostgresBin != "":
		return Cluster{}, wrong(config.PostgresBin, "%s does not hold the programs postgres and initdb", c.PostgresBin)
	case err != nil:
		return Cluster{}, fmt.Errorf("%w; run: %s (or deploy/install.sh, or set %s)", err, InstallPostgres, config.DatabaseURL)
	}
	major, err := version(ctx, cl.Programs)
	if err != nil {
		return Cluster{}, wrong(config.PostgresBin, "the PostgreSQL programs in %s cannot be used: %v", cl.Programs.Dir, err)
	}
	if err := cl.Layout.CheckVersion(major); err != nil {
		return Cluster{}, named(config.Data, err)
	}
	return cl, nil
}

// named puts the setting's name before a folder's problem.
func named(setting string, err error) error {
	var f *pgcluster.FolderError
	if errors.As(err, &f) {
		return wrong(setting, "%s", f.Error())
	}
	return err
}
