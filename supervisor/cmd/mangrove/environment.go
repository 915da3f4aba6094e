package main

import (
	"path/filepath"
	"slices"
	"strings"

	"mangrove/internal/config"
)

// inherited are the variables that every child is given if we have them. All
// others stay with us (C33).
var inherited = []string{"PATH", "HOME", "LANG", "TZ", "TMPDIR"}

// environment is a child's whole environment: the inherited variables, those of
// ours it is allowed (passed on only if set), and the ones in set.
func environment(environ []string, allowed []string, set ...string) []string {
	var out []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(inherited, name) || slices.Contains(allowed, name) {
			out = append(out, kv)
		}
	}
	return append(out, set...)
}

// common are the settings every child is given, checked and made absolute.
func common(c config.Config) []string {
	return []string{config.Data + "=" + c.DataDir, config.Library + "=" + c.LibraryDir, config.LogLevel + "=" + c.LogLevel}
}

func scraperEnvironment(environ []string, c config.Config) []string {
	return environment(environ, []string{config.AllowAddresses, config.SampleURL, config.Chromium, config.ChromiumUnsandboxed},
		append(common(c), config.DatabaseURLFile+"="+filepath.Join(c.SecretsDir(), "scraper.url"))...)
}

func readerEnvironment(environ []string, c config.Config) []string {
	return environment(environ, []string{config.Hosts, config.BasePath, config.TrustedProxies, config.PlainHTTP, config.ClaimFrom, config.Thumbnails,
		config.OIDCIssuer, config.OIDCClientID, config.OIDCClientSecretFile, config.OIDCName, config.OIDCAdmit, config.OIDCGroup},
		append(common(c), config.HTTP+"="+c.HTTP, config.DatabaseURLFile+"="+filepath.Join(c.SecretsDir(), "reader.url"))...)
}

// migrateEnvironment holds the one address that may change the schema; admin is
// the embedded cluster's, or "".
func migrateEnvironment(environ []string, c config.Config, admin string) []string {
	set := common(c)
	switch {
	case admin != "":
		set = append(set, config.DatabaseURL+"="+admin)
	case c.ThreeRoles():
		set = append(set, config.DatabaseURLOwner+"="+c.DatabaseURLOwner.Reveal(),
			config.DatabaseURLReader+"="+c.DatabaseURLReader.Reveal(), config.DatabaseURLScraper+"="+c.DatabaseURLScraper.Reveal())
	default:
		set = append(set, config.DatabaseURL+"="+c.DatabaseURL.Reveal())
	}
	return environment(environ, nil, set...)
}
