package archtest

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// may is the import table: for each of our packages, which others of ours it may
// import outside tests. A new folder needs a row; a new arrow needs a reviewer.
// "x/..." stands for a whole subtree.
var may = map[string][]string{
	// The contracts and the database know nothing of ours.
	"proto": {}, "proto/gen/...": {}, "migrations": {},

	// The shared kit knows no service.
	"internal/fault":               {},
	"internal/failpoint":           {},
	"internal/config":              {},
	"internal/logging":             {},
	"internal/lifeline":            {},
	"internal/pulse":               {},
	"internal/redact":              {},
	"internal/special":             {},
	"internal/standing":            {"internal/durable", "internal/redact"},
	"internal/durable":             {"internal/failpoint", "internal/fault"},
	"internal/pg":                  {"internal/fault"},
	"internal/grpcserver":          {"internal/fault"},
	"internal/metrics":             {"internal/grpcserver"},
	"internal/metrics/metricstest": {"internal/metrics"},
	"internal/picture":             {"internal/fault"},
	"internal/cbz":                 {"internal/durable", "internal/fault", "internal/picture", "internal/unreadable"},
	"internal/pgcluster":           {"internal/config", "internal/durable", "internal/fault"},
	"internal/pgtest":              {"internal/pg", "migrations"},
	"internal/pgtest/cluster":      {"internal/config", "internal/pgcluster", "internal/pgtest"},
	"internal/pgtest/schema":       {"internal/pgcluster", "internal/pgtest", "migrations"},
	"internal/benchtest":           {},
	"internal/fakesite":            {},
	"internal/fakeissuer":          {},
	"internal/smalldisk":           {},
	"internal/kerneltest":          {},
	"internal/deploytest":          {},
	"internal/archtest":            {},
	"internal/e2e":                 {},
	"internal/unreadable":          {"internal/fault"},
	"internal/archive":             {"internal/cbz", "internal/durable", "internal/fault", "internal/picture", "internal/unreadable"},

	// The scraper: Site, fetch, source, lane, store, and back through rpc.
	"scraper/cmd/mangrove-scraper":               {"scraper/internal/...", "internal/...", "migrations", "proto/gen/..."},
	"scraper/internal/source":                    {"internal/fault"},
	"scraper/internal/label":                     {"scraper/internal/source"},
	"scraper/internal/source/sample":             {"scraper/internal/source", "scraper/internal/source/sample/samplesite", "internal/fault"},
	"scraper/internal/source/sample/samplesite":  {},
	"scraper/internal/source/mangadex":           {"scraper/internal/source", "scraper/internal/label", "internal/fault"},
	"scraper/internal/source/sourcetest":         {"scraper/internal/source", "scraper/internal/incident", "scraper/internal/poll", "internal/fault", "internal/fakesite"},
	"scraper/internal/source/declared":           {"scraper/internal/source", "scraper/internal/source/feed", "scraper/internal/source/opds", "scraper/internal/label", "internal/fault"},
	"scraper/internal/source/markup":             {"scraper/internal/source"},
	"scraper/internal/source/feed":               {"scraper/internal/source", "scraper/internal/source/markup", "scraper/internal/label", "internal/fault"},
	"scraper/internal/source/opds":               {"scraper/internal/source", "scraper/internal/source/markup", "scraper/internal/label", "internal/fault"},
	"scraper/internal/source/peppercarrot":       {"scraper/internal/source", "scraper/internal/source/markup"},
	"scraper/internal/source/all":                {"scraper/internal/source", "scraper/internal/source/sample", "scraper/internal/source/mangadex", "scraper/internal/source/peppercarrot"},
	"scraper/internal/fetch":                     {"internal/failpoint", "scraper/internal/source", "internal/fault", "internal/logging", "internal/special"},
	"scraper/internal/browser":                   {"scraper/internal/source", "scraper/internal/fetch", "internal/fault", "internal/config"},
	"scraper/internal/circuit":                   {"internal/fault"},
	"scraper/internal/poll":                      {"scraper/internal/source", "internal/fault"},
	"scraper/internal/canary":                    {"scraper/internal/fetch", "scraper/internal/poll", "scraper/internal/source", "internal/fault", "internal/redact"},
	"scraper/internal/live":                      {"scraper/internal/source"},
	"scraper/internal/checkpoint":                {"scraper/internal/source", "internal/fault", "internal/durable"},
	"scraper/internal/staging":                   {"internal/failpoint", "scraper/internal/source", "internal/cbz", "internal/picture", "internal/fault", "internal/durable"},
	"scraper/internal/publish":                   {"internal/failpoint", "internal/cbz", "internal/fault", "internal/durable"},
	"scraper/internal/inventory":                 {"scraper/internal/source", "scraper/internal/label", "internal/archive", "internal/cbz", "internal/fault", "internal/durable", "internal/unreadable"},
	"scraper/internal/inventory/inventorytest":   {"scraper/internal/inventory"},
	"scraper/internal/cover":                     {"internal/fault", "internal/durable", "internal/picture"},
	"scraper/internal/follow":                    {"scraper/internal/source"},
	"scraper/internal/sidecar":                   {"scraper/internal/source", "internal/durable", "internal/fault"},
	"scraper/internal/verify":                    {"scraper/internal/incident", "scraper/internal/inventory", "scraper/internal/source", "internal/archive", "internal/cbz", "internal/durable", "internal/fault"},
	"scraper/internal/job":                       {"scraper/internal/sidecar", "internal/failpoint", "scraper/internal/incident", "scraper/internal/inventory", "scraper/internal/source", "scraper/internal/poll", "scraper/internal/live", "scraper/internal/checkpoint", "scraper/internal/staging", "scraper/internal/publish", "internal/cbz", "internal/durable", "internal/fault"},
	"scraper/internal/queue":                     {"scraper/internal/inventory", "scraper/internal/source", "scraper/internal/job", "internal/fault"},
	"scraper/internal/stall":                     {"scraper/internal/source", "scraper/internal/job", "scraper/internal/checkpoint", "internal/fault"},
	"scraper/internal/lane":                      {"internal/failpoint", "scraper/internal/incident", "scraper/internal/source", "scraper/internal/poll", "scraper/internal/canary", "scraper/internal/circuit", "scraper/internal/job", "scraper/internal/live", "internal/fault"},
	"scraper/internal/tally":                     {"scraper/internal/canary", "scraper/internal/job", "scraper/internal/lane", "scraper/internal/poll", "scraper/internal/store", "internal/metrics"},
	"scraper/internal/faults":                    {},
	"scraper/internal/bench":                     {},
	"scraper/internal/soak":                      {},
	"scraper/internal/store":                     {"internal/failpoint", "scraper/internal/incident", "scraper/internal/sidecar", "scraper/internal/inventory", "scraper/internal/source", "scraper/internal/poll", "scraper/internal/canary", "scraper/internal/circuit", "scraper/internal/lane", "scraper/internal/job", "scraper/internal/queue", "scraper/internal/follow", "scraper/internal/verify", "internal/pg", "internal/fault"},
	"scraper/internal/rpc":                       {"scraper/internal/canary", "scraper/internal/incident", "scraper/internal/inventory", "scraper/internal/circuit", "scraper/internal/source", "scraper/internal/follow", "scraper/internal/job", "scraper/internal/lane", "scraper/internal/live", "scraper/internal/poll", "scraper/internal/queue", "scraper/internal/store", "internal/fault", "internal/redact", "proto/gen/..."},
	"scraper/internal/source/sourcetest/fixture": {"scraper/internal/incident", "internal/redact"},
	"scraper/internal/incident":                  {"scraper/internal/source", "scraper/internal/checkpoint", "internal/fault", "internal/redact"},

	// The reader.
	"reader/cmd/mangrove-reader":                {"reader/internal/...", "internal/...", "migrations"},
	"reader/internal/forwarded":                 {},
	"reader/internal/bench":                     {},
	"reader/internal/issuer":                    {"internal/special"},
	"reader/internal/account":                   {"reader/internal/forwarded", "reader/internal/issuer", "internal/fault", "internal/durable"},
	"reader/internal/scraperclient":             {"internal/fault", "internal/grpcserver", "proto/gen/..."},
	"reader/internal/scraperclient/scrapertest": {"internal/fault", "internal/grpcserver", "proto/gen/..."},
	"reader/internal/follow":                    {"reader/internal/scraperclient", "internal/fault"},
	"reader/internal/catalog":                   {"reader/internal/scraperclient", "internal/fault", "internal/cbz", "internal/unreadable"},
	"reader/internal/notify":                    {"reader/internal/scraperclient", "internal/fault", "internal/durable"},
	"reader/internal/collection":                {"internal/fault", "internal/durable", "internal/picture"},
	"reader/internal/progress":                  {"reader/internal/catalog", "internal/fault"},
	"reader/internal/reading":                   {"internal/fault"},
	"reader/internal/language":                  {},
	"reader/internal/backup":                    {},
	"reader/internal/backup/backuptest":         {},
	"reader/internal/moving":                    {"reader/internal/backup", "reader/internal/scraperclient", "internal/fault"},
	"reader/internal/pages/pagestest":           {"internal/cbz"},
	"reader/internal/pages":                     {"internal/archive", "internal/cbz", "internal/durable", "internal/fault", "internal/picture", "reader/internal/catalog"},
	"reader/internal/store":                     {"internal/fault", "internal/pg", "reader/internal/account", "reader/internal/backup", "reader/internal/catalog", "reader/internal/collection", "reader/internal/follow", "reader/internal/moving", "reader/internal/notify", "reader/internal/progress", "reader/internal/reading", "reader/internal/scraperclient"},
	"reader/internal/web":                       {"internal/fault", "internal/logging", "internal/standing", "internal/unreadable", "reader/internal/account", "reader/internal/backup", "reader/internal/catalog", "reader/internal/collection", "reader/internal/follow", "reader/internal/forwarded", "reader/internal/issuer", "reader/internal/language", "reader/internal/moving", "reader/internal/notify", "reader/internal/pages", "reader/internal/progress", "reader/internal/reading", "reader/internal/scraperclient"},

	// The supervisor judges with the database down and never opens it.
	"supervisor/cmd/mangrove":       {"supervisor/internal/...", "internal/...", "proto/gen/..."},
	"supervisor/internal/heartbeat": {},
	"supervisor/internal/gather":    {"supervisor/internal/budget", "supervisor/internal/service", "internal/metrics"},
	"supervisor/internal/child":     {"internal/lifeline", "internal/logging", "internal/fault"},
	"supervisor/internal/journal":   {},
	"supervisor/internal/probe":     {"internal/grpcserver"},
	"supervisor/internal/bench":     {},
	"supervisor/internal/budget":    {"internal/durable", "internal/fault"},
	"supervisor/internal/service":   {"supervisor/internal/budget", "internal/config"},
	"supervisor/internal/postgres":  {"supervisor/internal/child", "supervisor/internal/program", "supervisor/internal/service", "internal/config", "internal/durable", "internal/fault", "internal/pgcluster"},
	"supervisor/internal/trial":     {"internal/config", "internal/durable"},
	"supervisor/internal/chronicle": {"internal/durable", "internal/redact"},
	"supervisor/internal/control":   {"supervisor/internal/budget", "supervisor/internal/service", "supervisor/internal/trial", "internal/grpcserver", "internal/fault", "proto/gen/..."},
	"supervisor/internal/program":   {"supervisor/internal/child", "supervisor/internal/probe", "supervisor/internal/service", "internal/config", "internal/grpcserver"},
	"supervisor/internal/upgrade":   {"internal/durable"},
	"supervisor/internal/preflight": {"internal/config", "internal/durable", "internal/fault", "internal/pgcluster"},
}

// only says which packages alone may import something, outside tests.
var only = map[string][]string{
	// The browser starts Chromium, which the supervisor cannot: it is renewed and
	// ended with the pages it reads.
	"os/exec":               {"supervisor/internal/child", "scraper/internal/browser", "internal/pgtest/cluster", "internal/pgtest/schema"},
	"github.com/go-rod/rod": {"scraper/internal/browser"},
	// The browser speaks it to Chromium alone, as the proxy it goes out through.
	"net/http": {"internal/metrics", "supervisor/internal/gather", "supervisor/internal/heartbeat", "scraper/internal/fetch", "scraper/internal/browser", "scraper/internal/source/sample", "scraper/internal/source/sample/samplesite", "internal/fakesite", "internal/fakeissuer", "reader/cmd/mangrove-reader", "reader/internal/account", "reader/internal/forwarded", "reader/internal/issuer", "reader/internal/pages", "reader/internal/web", "reader/internal/store"},
	// What is counted is counted where it is wired; the packages that do the work
	// know no registry.
	"github.com/prometheus":      {"internal/metrics", "internal/metrics/metricstest", "supervisor/internal/gather", "scraper/internal/tally", "reader/cmd/mangrove-reader", "scraper/cmd/mangrove-scraper"},
	"mangrove/migrations":        {"internal/pgtest", "internal/pgtest/schema", "scraper/cmd/mangrove-scraper", "reader/cmd/mangrove-reader"},
	"github.com/jackc/pgx/v5":    {"internal/pg", "internal/pgtest", "internal/pgtest/schema", "migrations", "scraper/internal/store", "reader/internal/store", "scraper/cmd/mangrove-scraper", "reader/cmd/mangrove-reader"},
	"mangrove/proto/gen/scraper": {"reader/internal/scraperclient/scrapertest", "scraper/internal/rpc", "scraper/cmd/mangrove-scraper", "reader/internal/scraperclient"},
}

type pkg struct {
	ImportPath string
	Dir        string
	Imports    []string
	GoFiles    []string
}

// packages lists every package of ours in the workspace.
func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,GoFiles", "work")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 30 {
		t.Fatalf("only %d packages were listed", len(all))
	}
	return all
}

func matches(pattern, name string) bool {
	if root, whole := strings.CutSuffix(pattern, "/..."); whole {
		return name == root || strings.HasPrefix(name, root+"/")
	}
	return pattern == name
}

func row(name string) ([]string, bool) {
	if r, ok := may[name]; ok {
		return r, true
	}
	for pattern, r := range may {
		if strings.HasSuffix(pattern, "/...") && matches(pattern, name) {
			return r, true
		}
	}
	return nil, false
}

func TestImportTable(t *testing.T) {
	used := map[string]bool{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "mangrove/")
		allowed, ok := row(name)
		if !ok {
			t.Errorf("%s has no row in the import table", name)
			continue
		}
		used[name] = true
		for _, imp := range p.Imports {
			ours, isOurs := strings.CutPrefix(imp, "mangrove/")
			if isOurs && !slices.ContainsFunc(allowed, func(pattern string) bool { return matches(pattern, ours) }) {
				t.Errorf("%s imports %s, which its row does not allow", name, ours)
			}
			for what, who := range only {
				if (imp == what || strings.HasPrefix(imp, what+"/")) && !slices.Contains(who, name) {
					t.Errorf("%s imports %s; only %v may", name, imp, who)
				}
			}
		}
	}
	for name := range may {
		if !strings.HasSuffix(name, "/...") && !used[name] {
			t.Errorf("the import table has a row for %s, which does not exist", name)
		}
	}
}

// Every folder of Go has exactly one package doc, and it is more than a name.
func TestEveryPackageHasADoc(t *testing.T) {
	for _, p := range packages(t) {
		if strings.Contains(p.ImportPath, "/gen/") {
			continue
		}
		var docs []string
		for _, f := range p.GoFiles {
			parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if parsed.Doc != nil {
				docs = append(docs, f)
				if len(parsed.Doc.Text()) < 80 {
					t.Errorf("%s: the package doc in %s says too little", p.ImportPath, f)
				}
			}
		}
		if len(docs) != 1 {
			t.Errorf("%s has %d package docs (%v), want one", p.ImportPath, len(docs), docs)
		}
	}
}

// Names come from the glossary.
func TestNoPackageOfOddsAndEnds(t *testing.T) {
	for _, p := range packages(t) {
		last := p.ImportPath[strings.LastIndexByte(p.ImportPath, '/')+1:]
		if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "manager", "models", "types", "misc"}, last) {
			t.Errorf("%s is called after nothing it does", p.ImportPath)
		}
	}
}
