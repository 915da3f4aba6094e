package pgcluster

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mangrove/internal/durable"
)

// Admin is the cluster's superuser. It signs in without a password, by being
// the right user of the operating system.
const Admin = "mangrove_admin"

// identMap names the map from users of the operating system to Admin.
const identMap = "mangrove"

// AdminURL is the address of database as Admin, for pgx and libpq alike.
func (l Layout) AdminURL(database string) string {
	// Slashes stay readable; what would end the value early does not.
	host := strings.ReplaceAll(url.QueryEscape(l.Run()), "%2F", "/")
	return "postgres://" + Admin + "@/" + database + "?host=" + host
}

// Access is the content of pg_hba.conf: who may connect, and how.
type Access string

// The two accesses.
const (
	// Guarded lets the admin in by peer and the two services' roles by
	// password, over the socket, and nobody else.
	Guarded Access = "# Written by Mangrove when it made this cluster.\n" +
		"local all      " + Admin + "                    peer map=" + identMap + "\n" +
		"local mangrove mangrove_reader,mangrove_scraper  scram-sha-256\n"
	// Open trusts whoever can reach the socket, for clusters thrown away after a test.
	Open Access = "local all all trust\n"
)

// Ident is the content of pg_ident.conf: which users of the operating system
// are Admin. Repeated names stand once.
func Ident(users ...string) string {
	var b strings.Builder
	b.WriteString("# Written by Mangrove when it made this cluster.\n")
	var seen []string
	for _, u := range users {
		if u == "" || slices.Contains(seen, u) || strings.ContainsAny(u, "\"\n\r") {
			continue
		}
		seen = append(seen, u)
		fmt.Fprintf(&b, "%s %q %s\n", identMap, u, Admin)
	}
	return b.String()
}

// InitArgs are initdb's arguments for a cluster in dir. unsafe leaves out the
// syncs, for a cluster that is thrown away.
func InitArgs(dir string, unsafe bool) []string {
	args := []string{
		"-D", dir, "-U", Admin, "--encoding=UTF8", "--locale=C.UTF-8", "--data-checksums",
		"--auth-local=peer", "--auth-host=reject", "--no-instructions",
	}
	if unsafe {
		args = append(args, "--no-sync")
	}
	return args
}

// ServerArgs are the server's arguments: on its socket only, never on a
// network. extra settings, "name=value", come last and win.
func (l Layout) ServerArgs(extra ...string) []string {
	args := []string{"-D", l.Data(), "-k", l.Run()}
	settings := append([]string{
		"listen_addresses=",
		"port=5432",
		"unix_socket_permissions=0700",
		"shared_buffers=64MB",
		"logging_collector=off",
		"log_destination=stderr",
		"log_line_prefix=%m [%p] ",
		// Details of an error quote rows, and the text of a statement may be
		// one that sets a password: neither belongs in a log (OBS-3).
		"log_error_verbosity=terse",
		"log_min_error_statement=panic",
	}, extra...)
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	return args
}

// Create makes the cluster if there is none: in a folder beside its final name,
// renamed when complete, so that a crash half-way leaves nothing that looks
// like a cluster. initdb runs the program with the given arguments as o.
func (l Layout) Create(o Owner, access Access, unsafe bool, initdb func(args []string) error) error {
	if l.Exists() {
		return nil
	}
	if leftovers, err := filepath.Glob(filepath.Join(l.Root, "making-*")); err == nil {
		for _, dir := range leftovers {
			if err := os.RemoveAll(dir); err != nil {
				return fmt.Errorf("remove an unfinished cluster: %w", err)
			}
		}
	}
	// An empty data folder, as a mount point may leave, is no cluster.
	if err := os.Remove(l.Data()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &FolderError{l.Data(), "is neither a PostgreSQL cluster nor empty; move it away"}
	}
	making := filepath.Join(l.Root, "making-"+strconv.Itoa(os.Getpid()))
	if err := initdb(InitArgs(making, unsafe)); err != nil {
		return fmt.Errorf("make the cluster: %w", err)
	}
	for name, content := range map[string]string{
		"pg_hba.conf":   string(access),
		"pg_ident.conf": Ident(o.Name, "postgres", "root", ownName()),
	} {
		file := filepath.Join(making, name)
		if err := durable.WriteFile(file, []byte(content), 0o600); err != nil {
			return err
		}
		if os.Geteuid() == 0 {
			if err := os.Lchown(file, int(o.UID), int(o.GID)); err != nil {
				return fmt.Errorf("hand %s to %s: %w", name, o.Name, err)
			}
		}
	}
	if err := os.Rename(making, l.Data()); err != nil {
		return fmt.Errorf("put the cluster in place: %w", err)
	}
	return durable.SyncDir(l.Root)
}

func ownName() string { return UserName(uint32(os.Geteuid())) }

// UserName is the name of the user uid, or the number where it has none.
func UserName(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}
