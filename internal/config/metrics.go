package config

import (
	"net"
	"path/filepath"
)

// leastToken is the fewest characters of a token that is not guessed.
const leastToken = 16

// metrics reads where the metrics are told. A variable that is set to nothing turns
// them off: without it they are on, for this machine alone.
func (c *Config) metrics(env map[string]string) error {
	if v, set := env[Metrics]; set {
		c.Metrics = v
	}
	if c.MetricsTokenFile = env[MetricsTokenFile]; c.MetricsTokenFile != "" && !filepath.IsAbs(c.MetricsTokenFile) {
		return wrong(MetricsTokenFile, "%q is not an absolute path", c.MetricsTokenFile)
	}
	if c.Metrics == "" {
		return nil
	}
	if err := listenAddress(Metrics, c.Metrics); err != nil {
		return err
	}
	if c.MetricsTokenFile == "" && !loopback(c.Metrics) {
		return wrong(Metrics, "%s can be reached from other machines, and the metrics say what is read here; set %s to a file with a token of at least %d characters, or give an address such as 127.0.0.1:8486",
			c.Metrics, MetricsTokenFile, leastToken)
	}
	return nil
}

// MetricsToken is what whoever asks for the metrics must know, "" for nothing.
func (c Config) MetricsToken() (Secret, error) {
	if c.MetricsTokenFile == "" {
		return "", nil
	}
	token, err := secretFile(MetricsTokenFile, c.MetricsTokenFile)
	if err == nil && len(token) < leastToken {
		err = wrong(MetricsTokenFile, "%s holds fewer than %d characters; run: openssl rand -hex 32 > %s", c.MetricsTokenFile, leastToken, c.MetricsTokenFile)
	}
	return token, err
}

// ScraperMetricsSocket is where the scraper tells the supervisor its metrics.
func (c Config) ScraperMetricsSocket() string {
	return filepath.Join(c.RunDir(), "scraper-metrics.sock")
}

// ReaderMetricsSocket is where the reader does.
func (c Config) ReaderMetricsSocket() string { return filepath.Join(c.RunDir(), "reader-metrics.sock") }

// loopback reports whether an address that was checked is this machine's alone.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	return thisMachine(host)
}
