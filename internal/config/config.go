// Package config turns the environment into one checked struct. Everything a
// person sets before start is a variable beginning with MANGROVE_; what can be
// changed while Mangrove runs lives in the database instead. The package reads
// nothing but the environment: it opens no file but a named secret, and dials
// nothing.
package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Exit codes all three programs share; the supervisor acts on the last two (SUP-3).
const (
	ExitOK       = 0
	ExitFailure  = 1
	ExitSettings = 2  // a wrong setting, said in one line
	ExitDatabase = 3  // a command that needs the database did not reach it
	ExitLock     = 75 // EX_TEMPFAIL: another process owns the lock; do not restart me
	ExitConfig   = 78 // EX_CONFIG: configuration or schema; do not restart me
)

const prefix = "MANGROVE_"

// The variables. A name beginning with MANGROVE_ that is not listed is an error.
const (
	Data    = "MANGROVE_DATA"
	Library = "MANGROVE_LIBRARY"
	HTTP    = "MANGROVE_HTTP"
	Health  = "MANGROVE_HEALTH"
	// Metrics is where Prometheus is answered; set to nothing it is nowhere.
	Metrics          = "MANGROVE_METRICS"
	MetricsTokenFile = "MANGROVE_METRICS_TOKEN_FILE"
	Hosts            = "MANGROVE_HOSTS"
	BasePath         = "MANGROVE_BASE_PATH"
	TrustedProxies   = "MANGROVE_TRUSTED_PROXIES"
	// PlainHTTP has the one value that accepts pages without encryption.
	PlainHTTP            = "MANGROVE_PLAIN_HTTP"
	ClaimFrom            = "MANGROVE_CLAIM_FROM"
	OIDCIssuer           = "MANGROVE_OIDC_ISSUER"
	OIDCClientID         = "MANGROVE_OIDC_CLIENT_ID"
	OIDCClientSecretFile = "MANGROVE_OIDC_CLIENT_SECRET_FILE"
	OIDCName             = "MANGROVE_OIDC_NAME"
	OIDCAdmit            = "MANGROVE_OIDC_ADMIT"
	OIDCGroup            = "MANGROVE_OIDC_GROUP"
	HeartbeatURL         = "MANGROVE_HEARTBEAT_URL"
	LogLevel             = "MANGROVE_LOG_LEVEL"
	DatabaseURL          = "MANGROVE_DATABASE_URL"
	DatabaseURLOwner     = "MANGROVE_DATABASE_URL_OWNER"
	DatabaseURLReader    = "MANGROVE_DATABASE_URL_READER"
	DatabaseURLScraper   = "MANGROVE_DATABASE_URL_SCRAPER"
	DatabaseURLFile      = "MANGROVE_DATABASE_URL_FILE"
	PostgresBin          = "MANGROVE_POSTGRES_BIN"
	AllowAddresses       = "MANGROVE_ALLOW_ADDRESSES"
	SampleURL            = "MANGROVE_SAMPLE_URL"
	Chromium             = "MANGROVE_CHROMIUM"
	// ChromiumUnsandboxed has the one value that takes Chromium's sandbox away.
	ChromiumUnsandboxed = "MANGROVE_CHROMIUM_UNSANDBOXED"
	// Thumbnails is how many MiB the covers that were made may take.
	Thumbnails = "MANGROVE_THUMBNAILS"
)

// A gibibyte holds the covers of some ten thousand titles in both sizes.
const (
	defaultThumbnails = 1024
	minThumbnails     = 16
)

// Names lists every variable, for help and for the supervisor's allow-list.
func Names() []string {
	return []string{
		Data, Library, HTTP, Health, Metrics, MetricsTokenFile, Hosts, BasePath, TrustedProxies, PlainHTTP, ClaimFrom,
		OIDCIssuer, OIDCClientID, OIDCClientSecretFile, OIDCName, OIDCAdmit, OIDCGroup, HeartbeatURL, LogLevel, DatabaseURL, DatabaseURLOwner, DatabaseURLReader, DatabaseURLScraper, DatabaseURLFile, PostgresBin, AllowAddresses, SampleURL,
		Chromium, ChromiumUnsandboxed, Thumbnails,
	}
}

// Secret is a setting that must never be printed. Its String hides it.
type Secret string

// String hides the value.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(hidden)"
}

// GoString hides the value from %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalText hides the value from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Reveal returns the value for the one place that needs it.
func (s Secret) Reveal() string { return string(s) }

// Config is the checked environment.
type Config struct {
	// DataDir and LibraryDir are absolute and clean.
	DataDir, LibraryDir string
	// HTTP and Health are host:port, loopback unless set otherwise.
	HTTP, Health string
	// Metrics is the host:port of the metrics, loopback unless set otherwise; "" is none.
	Metrics string
	// MetricsTokenFile holds what whoever asks for the metrics must know; "" asks nothing.
	MetricsTokenFile string
	// Hosts are names the reader answers to besides localhost and addresses (C2).
	Hosts []string
	// BasePath is the path the reader lives under: "" for the root, else "/books"
	// with one slash before and none behind.
	BasePath string
	// TrustedProxies are the reverse proxies whose forwarding headers are believed.
	TrustedProxies []netip.Prefix
	// PlainHTTP takes the warning away that pages come without encryption (C4).
	PlainHTTP bool
	// ClaimFrom are addresses, besides this machine's own, that a library which
	// nobody has claimed yet answers to (C7).
	ClaimFrom []netip.Prefix
	// Issuer is who people may sign in with, besides a password.
	Issuer Issuer
	// HeartbeatURL is asked while all is well (SUP-10); "" asks nobody.
	HeartbeatURL Secret
	// LogLevel is "debug", "info", "warn" or "error".
	LogLevel string
	// DatabaseURL replaces the embedded default: a role that may create roles.
	DatabaseURL Secret
	// Owner, Reader and Scraper addresses, one per role, instead of DatabaseURL.
	DatabaseURLOwner, DatabaseURLReader, DatabaseURLScraper Secret
	// DatabaseURLFile holds the address of the one role a service was given.
	DatabaseURLFile string
	// PostgresBin is the folder of the PostgreSQL programs; "" looks for them.
	PostgresBin string
	// AllowAddresses are private ranges the scraper may dial all the same (SEC-2).
	AllowAddresses []netip.Prefix
	// SampleURL reads the sample Site from there instead of the built-in copy.
	SampleURL string
	// Chromium is the browser's program for Sites that need one; "" looks for it.
	Chromium string
	// ChromiumUnsandboxed runs it without its sandbox, where that cannot start.
	ChromiumUnsandboxed bool
	// Thumbnails is how many MiB the reader's covers may take on the disk.
	Thumbnails int64
}

// SettingError names the setting that is wrong, what is wrong with it and what
// would be right.
type SettingError struct {
	Name, Problem string
}

func (e *SettingError) Error() string { return e.Name + ": " + e.Problem }

func wrong(name, format string, args ...any) error {
	return &SettingError{name, fmt.Sprintf(format, args...)}
}

// Load reads environ (as os.Environ gives it) and home, the user's home folder
// or "", for the default data folder of an ordinary user.
func Load(environ []string, uid int, home string) (Config, error) {
	env := map[string]string{}
	xdg := ""
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if name == "XDG_DATA_HOME" {
			xdg = value
		}
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		if !slices.Contains(Names(), name) {
			return Config{}, wrong(name, "no such setting%s", nearest(name))
		}
		if strings.ContainsAny(value, "\x00\n\r") {
			return Config{}, wrong(name, "holds a line break; remove it")
		}
		env[name] = value
	}
	c := Config{
		HTTP: "127.0.0.1:8484", Health: "127.0.0.1:8485", Metrics: "127.0.0.1:8486", LogLevel: "info",
		DatabaseURL:        Secret(env[DatabaseURL]),
		DatabaseURLOwner:   Secret(env[DatabaseURLOwner]),
		DatabaseURLReader:  Secret(env[DatabaseURLReader]),
		DatabaseURLScraper: Secret(env[DatabaseURLScraper]),
		DatabaseURLFile:    env[DatabaseURLFile],
		PostgresBin:        env[PostgresBin],
	}
	var err error
	if c.DataDir, err = folder(Data, env[Data], defaultData(uid, home, xdg)); err != nil {
		return Config{}, err
	}
	if c.LibraryDir, err = folder(Library, env[Library], filepath.Join(c.DataDir, "library")); err != nil {
		return Config{}, err
	}
	for name, to := range map[string]*string{HTTP: &c.HTTP, Health: &c.Health} {
		if env[name] != "" {
			*to = env[name]
		}
		if err := listenAddress(name, *to); err != nil {
			return Config{}, err
		}
	}
	if err := c.metrics(env); err != nil {
		return Config{}, err
	}
	if err := c.issuer(env); err != nil {
		return Config{}, err
	}
	if v := env[LogLevel]; v != "" {
		if !slices.Contains([]string{"debug", "info", "warn", "error"}, v) {
			return Config{}, wrong(LogLevel, "%q is not debug, info, warn or error", v)
		}
		c.LogLevel = v
	}
	for _, name := range []string{DatabaseURL, DatabaseURLOwner, DatabaseURLReader, DatabaseURLScraper} {
		if err := databaseAddress(name, env[name]); err != nil {
			return Config{}, err
		}
	}
	three := 0
	for _, s := range []Secret{c.DatabaseURLOwner, c.DatabaseURLReader, c.DatabaseURLScraper} {
		if s != "" {
			three++
		}
	}
	if c.DatabaseURL != "" && three > 0 {
		return Config{}, wrong(DatabaseURL, "is set together with an address per role; set one or the other")
	}
	for _, h := range splitList(env[Hosts]) {
		if strings.ContainsAny(h, "/ :") {
			return Config{}, wrong(Hosts, "%q is not a host name; give names without scheme or port, separated by commas", h)
		}
		c.Hosts = append(c.Hosts, strings.ToLower(h))
	}
	if c.BasePath, err = basePath(env[BasePath]); err != nil {
		return Config{}, err
	}
	for name, to := range map[string]*[]netip.Prefix{AllowAddresses: &c.AllowAddresses, TrustedProxies: &c.TrustedProxies, ClaimFrom: &c.ClaimFrom} {
		if *to, err = prefixes(name, env[name]); err != nil {
			return Config{}, err
		}
	}
	for _, p := range c.TrustedProxies {
		if p.Bits() == 0 {
			return Config{}, wrong(TrustedProxies, "%s is everybody, and anybody could then say who they are; name the proxies", p)
		}
	}
	if v := env[HeartbeatURL]; v != "" {
		u, err := url.Parse(v)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return Config{}, wrong(HeartbeatURL, "is not an http address")
		}
		c.HeartbeatURL = Secret(v)
	}
	if v := env[SampleURL]; v != "" {
		u, err := url.Parse(v)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
			return Config{}, wrong(SampleURL, "is not an http address")
		}
		c.SampleURL = strings.TrimRight(v, "/")
	}
	if c.Chromium = env[Chromium]; c.Chromium != "" && !filepath.IsAbs(c.Chromium) {
		return Config{}, wrong(Chromium, "%q is not an absolute path", c.Chromium)
	}
	c.Thumbnails = defaultThumbnails
	if v := env[Thumbnails]; v != "" {
		n, err := strconv.ParseInt(v, 10, 32)
		if err != nil || n < minThumbnails {
			return Config{}, wrong(Thumbnails, "%q is not a number of MiB, %d or more", v, minThumbnails)
		}
		c.Thumbnails = n
	}
	for name, to := range map[string]*bool{ChromiumUnsandboxed: &c.ChromiumUnsandboxed, PlainHTTP: &c.PlainHTTP} {
		switch v := env[name]; v {
		case "", "no":
		case "yes":
			*to = true
		default:
			return Config{}, wrong(name, "%q is not yes or no", v)
		}
	}
	return c, nil
}

// FromEnvironment is Load with this process's own environment.
func FromEnvironment() (Config, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return Load(os.Environ(), os.Geteuid(), home)
}

// ThreeRoles reports whether an address per role was given.
func (c Config) ThreeRoles() bool {
	return c.DatabaseURLOwner != "" && c.DatabaseURLReader != "" && c.DatabaseURLScraper != ""
}

// Embedded reports whether the private cluster is to be used.
func (c Config) Embedded() bool {
	return c.DatabaseURL == "" && c.DatabaseURLOwner == "" && c.DatabaseURLReader == "" && c.DatabaseURLScraper == ""
}

// RunDir holds the unix sockets.
func (c Config) RunDir() string { return filepath.Join(c.DataDir, "run") }

// SecretsDir holds one file per secret, mode 0600.
func (c Config) SecretsDir() string { return filepath.Join(c.DataDir, "secrets") }

// LogDir holds the rotated logs.
func (c Config) LogDir() string { return filepath.Join(c.DataDir, "logs") }

// ScraperSocket is where the private API and the scraper's health answer.
func (c Config) ScraperSocket() string { return filepath.Join(c.RunDir(), "scraper.sock") }

// ReaderSocket is where the reader's health answers.
func (c Config) ReaderSocket() string { return filepath.Join(c.RunDir(), "reader.sock") }

// ControlSocket is where the supervisor answers the command line.
func (c Config) ControlSocket() string { return filepath.Join(c.RunDir(), "supervisor.sock") }

// StatusFile is where the supervisor tells how its services stand (ADR 0016).
func (c Config) StatusFile() string { return filepath.Join(c.RunDir(), "status.json") }

// ClaimCodeFile holds the one-time code until the administrator is claimed (READ-3).
func (c Config) ClaimCodeFile() string { return filepath.Join(c.DataDir, "reader", "claim-code") }

// RoleURL returns the database address of one role ("reader" or "scraper"):
// the one set for it, or the content of the file the supervisor named. A file
// readable by others is refused (C32).
func (c Config) RoleURL(role string) (Secret, error) {
	name, own := DatabaseURLReader, c.DatabaseURLReader
	if role == "scraper" {
		name, own = DatabaseURLScraper, c.DatabaseURLScraper
	}
	if own != "" {
		return own, nil
	}
	file := c.DatabaseURLFile
	if file == "" {
		return "", wrong(name, "is not set; start this program through `mangrove up`, or set it")
	}
	return secretFile(DatabaseURLFile, file)
}

// secretFile reads the file that a setting names; one readable by others is refused.
func secretFile(name, file string) (Secret, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", wrong(name, "cannot be read: %v", errors.Unwrap(err))
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", wrong(name, "%s is readable by others; run chmod 600 %s", file, file)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", wrong(name, "cannot be read: %v", errors.Unwrap(err))
	}
	return Secret(strings.TrimSpace(string(data))), nil
}

func defaultData(uid int, home, xdg string) string {
	switch {
	case uid == 0:
		return "/var/lib/mangrove"
	case filepath.IsAbs(xdg):
		return filepath.Join(xdg, "mangrove")
	case home != "":
		return filepath.Join(home, ".local", "share", "mangrove")
	}
	return ""
}

func folder(name, value, fallback string) (string, error) {
	if value == "" {
		value = fallback
	}
	if value == "" {
		return "", wrong(name, "is not set and there is no home folder to default to")
	}
	if !filepath.IsAbs(value) {
		return "", wrong(name, "%q is not an absolute path", value)
	}
	value = filepath.Clean(value)
	if value == "/" {
		return "", wrong(name, "may not be the root folder")
	}
	return value, nil
}

func listenAddress(name, value string) error {
	host, port, err := net.SplitHostPort(value)
	if err != nil {
		return wrong(name, "%q is not host:port", value)
	}
	if _, err := net.LookupPort("tcp", port); err != nil || port == "" {
		return wrong(name, "%q is not a port", port)
	}
	if host != "" && host != "localhost" {
		if _, err := netip.ParseAddr(host); err != nil {
			return wrong(name, "%q is not an address; give an IP address or localhost", host)
		}
	}
	return nil
}

func databaseAddress(name, value string) error {
	if value == "" {
		return nil
	}
	u, err := url.Parse(value)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		return wrong(name, "is not an address of the form postgres://user@host/database")
	}
	return nil
}

// basePath reads the path the reader lives under. What a browser or a proxy could
// read in two ways is refused: the path stands in every address.
func basePath(value string) (string, error) {
	if value == "" || value == "/" {
		return "", nil
	}
	value = strings.TrimSuffix(value, "/")
	if !strings.HasPrefix(value, "/") || path.Clean(value) != value || strings.Trim(value, basePathSigns) != "" {
		return "", wrong(BasePath, "%q is not a path such as /books, of letters, digits, dots, dashes and underscores", value)
	}
	return value, nil
}

const basePathSigns = "/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_~"

// prefixes reads a list of addresses and ranges.
func prefixes(name, value string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, p := range splitList(value) {
		prefix, err := netip.ParsePrefix(p)
		if err != nil {
			addr, aerr := netip.ParseAddr(p)
			if aerr != nil {
				return nil, wrong(name, "%q is not an address or a range such as 192.168.1.0/24", p)
			}
			prefix = netip.PrefixFrom(addr, addr.BitLen())
		}
		out = append(out, prefix.Masked())
	}
	return out, nil
}

func splitList(value string) []string {
	var out []string
	for _, s := range strings.Split(value, ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// nearest suggests the setting a typing error was meant for.
func nearest(name string) string {
	best, bestDistance := "", 4
	for _, n := range Names() {
		if d := distance(name, n); d < bestDistance {
			best, bestDistance = n, d
		}
	}
	if best == "" {
		return "; `mangrove settings` lists them"
	}
	return "; did you mean " + best + "?"
}

// distance is the number of single-letter edits between a and b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			above := row[j]
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(row[j]+1, row[j-1]+1, diagonal+cost)
			diagonal = above
		}
	}
	return row[len(b)]
}
