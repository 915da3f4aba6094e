package main

import (
	"fmt"
	"text/tabwriter"

	"mangrove/internal/config"
)

// setting is one variable, worded for a person.
type setting struct{ name, meaning, fallback string }

// settingTable words every setting a person may set, in the order of config.Names.
func settingTable() []setting {
	return []setting{
		{config.Data, "the data folder, an absolute path", "/var/lib/mangrove as root, else ~/.local/share/mangrove"},
		{config.Library, "the library folder, an absolute path", "library inside the data folder"},
		{config.HTTP, "where the reader listens, host:port", "127.0.0.1:8484"},
		{config.Health, "where gRPC health listens, host:port", "127.0.0.1:8485"},
		{config.Metrics, "where Prometheus is answered, host:port; set to nothing, nowhere", "127.0.0.1:8486"},
		{config.MetricsTokenFile, "a file with the token that whoever asks for the metrics must know, mode 0600; needed for an address that other machines reach", "none"},
		{config.Hosts, "host names the reader answers to, separated by commas", "localhost and addresses only"},
		{config.BasePath, "the path the reader lives under behind a reverse proxy, such as /books", "none"},
		{config.TrustedProxies, "addresses or ranges of reverse proxies whose forwarding headers are believed", "none"},
		{config.PlainHTTP, "yes takes away the warning that pages come without encryption", "no"},
		{config.ClaimFrom, "addresses or ranges that may claim the library, besides this machine", "this machine only"},
		{config.OIDCIssuer, "the address of an OpenID Connect issuer that people may sign in with, exactly as it calls itself", "none"},
		{config.OIDCClientID, "the name by which that issuer knows Mangrove", "none"},
		{config.OIDCClientSecretFile, "a file with the secret that belongs to it, mode 0600", "a client without a secret"},
		{config.OIDCName, "what people know the issuer by; the button says it", "the issuer's host"},
		{config.OIDCAdmit, "linked lets those in who are linked or invited; members makes a member of everybody the issuer vouches for", "linked"},
		{config.OIDCGroup, "a group that everybody who comes through the issuer needs", "none"},
		{config.Thumbnails, "MiB that the covers made for the pages may take on the disk", "1024"},
		{config.HeartbeatURL, "an address outside this machine that is asked each minute while all is well, so that somebody misses it", "none"},
		{config.LogLevel, "debug, info, warn or error", "info"},
		{config.DatabaseURL, "a PostgreSQL 14 or newer to use instead of the embedded one", "the embedded one"},
		{config.DatabaseURLOwner, "with the next two: one address per role instead", "none"},
		{config.DatabaseURLReader, "the address of the role mangrove_reader", "none"},
		{config.DatabaseURLScraper, "the address of the role mangrove_scraper", "none"},
		{config.DatabaseURLFile, "for a service started by hand: a file with its address, mode 0600", "none"},
		{config.PostgresBin, "the folder of the programs postgres and initdb", "looked for"},
		{config.AllowAddresses, "private addresses or ranges the scraper may read from", "none"},
		{config.SampleURL, "where the sample Site is read from", "the built-in copy"},
		{config.Chromium, "the program of the browser for Sites that need one", "looked for"},
		{config.ChromiumUnsandboxed, "yes runs it without its sandbox, which lets a hostile page further in", "no"},
	}
}

type settingsCommand struct {
	List   settingsListCommand   `cmd:"" default:"1" help:"List the settings, with defaults and where each comes from."`
	Try    settingsTryCommand    `cmd:"" help:"Put a setting on trial: it goes back by itself unless it is kept."`
	Keep   settingsKeepCommand   `cmd:"" help:"Keep the setting that is on trial."`
	Forget settingsForgetCommand `cmd:"" help:"Forget a kept value, while Mangrove is stopped."`
}

// Help is shown by `mangrove settings --help`.
func (settingsCommand) Help() string {
	return "Settings are environment variables. What can change while Mangrove runs is set in the browser instead; the listen address, the library folder and the database can be put on " +
		"trial, so that a wrong one does not lock you out.\n\n" + settingsCodes + "Example: mangrove settings"
}

const settingsCodes = "Exit codes: 0 done, 1 refused or it went back, 2 a wrong setting, 3 no supervisor answers.\n\n"

type settingsListCommand struct{}

// Help is shown by `mangrove settings list --help`.
func (settingsListCommand) Help() string {
	return "Values are not printed: some are secret.\n\nExample: mangrove settings list"
}

// Run is `mangrove settings`. Values are not printed: some are secret.
func (settingsListCommand) Run(con console) error {
	_, kept, err := keptSettings()
	if err != nil {
		kept = nil // the list helps to mend that
	}
	w := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SETTING\tFROM\tMEANING\tDEFAULT")
	for _, s := range settingTable() {
		from := "default"
		switch {
		case given(s.name) != "":
			from = "environment"
		case kept[s.name] != "":
			from = "kept"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.name, from, s.meaning, s.fallback)
	}
	return w.Flush()
}

type versionCommand struct{}

// Help is shown by `mangrove version --help`.
func (versionCommand) Help() string { return "Example: mangrove version" }

// Run is `mangrove version`.
func (versionCommand) Run(con console) error {
	_, err := fmt.Fprintln(con.out, "mangrove "+version)
	return err
}
