package pgcluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// MinMajor is the oldest PostgreSQL that Mangrove runs on.
const MinMajor = 14

// ErrNoPrograms means that no folder with both programs was found.
var ErrNoPrograms = errors.New("the PostgreSQL server programs are not installed")

// Lookup says where to look for the programs.
type Lookup struct {
	// Bin is the folder a person named, or "" to look for one.
	Bin string
	// Path is the search path, as in PATH.
	Path string
	// Versions is the folder whose children are named by major version; ""
	// means Debian's /usr/lib/postgresql.
	Versions string
}

// Programs is a folder that holds both postgres and initdb.
type Programs struct{ Dir string }

// Postgres is the path of the server program.
func (p Programs) Postgres() string { return filepath.Join(p.Dir, "postgres") }

// Initdb is the path of the program that makes a cluster.
func (p Programs) Initdb() string { return filepath.Join(p.Dir, "initdb") }

// Find returns the programs: the named folder and no other if one is named,
// else those on the search path, else the highest version Debian installed. It
// fails with ErrNoPrograms, wrapped with the named folder if there is one.
func Find(l Lookup) (Programs, error) {
	if l.Bin != "" {
		if !complete(l.Bin) {
			return Programs{}, fmt.Errorf("%w in %s", ErrNoPrograms, l.Bin)
		}
		return Programs{l.Bin}, nil
	}
	for _, dir := range filepath.SplitList(l.Path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		// A link on the path leads to the folder that has initdb beside it.
		real, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres"))
		if err == nil && complete(filepath.Dir(real)) {
			return Programs{filepath.Dir(real)}, nil
		}
	}
	root := l.Versions
	if root == "" {
		root = "/usr/lib/postgresql"
	}
	best, bestMajor := "", 0
	entries, _ := os.ReadDir(root)
	for _, e := range entries {
		major, err := strconv.Atoi(e.Name())
		dir := filepath.Join(root, e.Name(), "bin")
		if err == nil && major > bestMajor && complete(dir) {
			best, bestMajor = dir, major
		}
	}
	if best == "" {
		return Programs{}, ErrNoPrograms
	}
	return Programs{best}, nil
}

func complete(dir string) bool {
	for _, name := range []string{"postgres", "initdb"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
			return false
		}
	}
	return true
}

// ParseVersion reads the major version out of what `postgres --version` prints,
// such as "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", and refuses
// one older than MinMajor.
func ParseVersion(output string) (int, error) {
	m := regexp.MustCompile(`\(PostgreSQL\) (\d+)`).FindStringSubmatch(output)
	if m == nil {
		return 0, fmt.Errorf("postgres --version printed %.80q", output)
	}
	major, err := strconv.Atoi(m[1])
	if err != nil {
		return 0, fmt.Errorf("postgres --version printed %.80q", output)
	}
	if major < MinMajor {
		return 0, fmt.Errorf("PostgreSQL %d is too old; Mangrove needs %d or newer", major, MinMajor)
	}
	return major, nil
}
