package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"mangrove/internal/config"
	"mangrove/internal/durable"
	supervisorv1 "mangrove/proto/gen/supervisor/v1"
	"mangrove/supervisor/internal/child"
	"mangrove/supervisor/internal/service"
)

type checkCommand struct {
	JSON bool `name:"json" help:"For scripts: one JSON object."`
}

// Help is shown by `mangrove check --help`.
func (checkCommand) Help() string {
	return "Looks at every part and says in one line each whether it is well: the supervisor, the services, the database, the library folder, the space that is free for it and for the data, the metrics, " +
		"Chromium if a Site needs it, and the descriptions of Sites. It changes nothing.\n\n" +
		"Exit codes: 0 all is well, 1 something is not, 2 a wrong setting, 3 no supervisor answers (the rest is looked at all the same).\n\n" +
		"Examples: mangrove check, mangrove check --json"
}

// part is one part of the installation; said is what was seen, in one line.
type part struct {
	Part string `json:"part"`
	Well bool   `json:"well"`
	Said string `json:"said"`
}

// errNotWell ends a check whose lines have said what is not.
var errNotWell = &saidError{config.ExitFailure}

// Run is `mangrove check` (OBS-4).
func (cmd checkCommand) Run(con console) error {
	c, err := configured()
	if err != nil {
		return err
	}
	parts, answers := checkParts(c)
	well := answers
	for _, p := range parts {
		well = well && p.Well
	}
	if cmd.JSON {
		err = json.NewEncoder(con.out).Encode(struct {
			Well    bool   `json:"well"`
			Answers bool   `json:"answers"`
			Parts   []part `json:"parts"`
		}{well, answers, parts})
	} else {
		err = writeParts(con.out, parts)
	}
	switch {
	case err != nil:
		return err
	case !answers:
		return &saidError{exitNotRunning}
	case !well:
		return errNotWell
	}
	return nil
}

// checkParts looks at everything; answers says whether a supervisor does.
func checkParts(c config.Config) (parts []part, answers bool) {
	status, err := askStatus(context.Background(), c)
	if err != nil {
		parts = append(parts, part{Part: "supervisor", Said: fmt.Sprintf("none answers for %s: %s; start it with: mangrove up", c.DataDir, err)})
	} else {
		parts = append(parts, part{"supervisor", true, fmt.Sprintf("%s, running since %s", status.GetVersion(), status.GetStartedAt().AsTime().Local().Format("2006-01-02 15:04:05"))})
	}
	for _, s := range status.GetServices() {
		parts = append(parts, servicePart(s))
	}
	parts = append(parts, dataPart(c.DataDir))
	if err == nil {
		parts = append(parts, metricsPart(status.GetMetrics()))
	}
	if c.Issuer.Address != "" {
		parts = append(parts, issuerPart(c))
	}
	return append(parts, scraperParts()...), err == nil
}

// dataFloor is how much must be free where the data folder lies: the private database
// writes there at every step, and stops when it cannot.
const dataFloor = 512 << 20

// dataPart looks at the room that is left for the database, the logs and the budgets.
func dataPart(dir string) part {
	p := part{Part: "data"}
	free, err := durable.Room(dir)
	if err != nil {
		p.Said = fmt.Sprintf("%s cannot be looked at: %s", dir, durable.Reason(err))
		return p
	}
	p.Well, p.Said = free >= dataFloor, fmt.Sprintf("%.1f GiB are free for the data folder %s", float64(free)/(1<<30), dir)
	if !p.Well {
		p.Said += fmt.Sprintf("; keep %d MiB free, the database stops without", dataFloor>>20)
	}
	return p
}

// metricsPart asks whether somebody listens where Prometheus is answered.
func metricsPart(address string) part {
	p := part{Part: "metrics", Well: true, Said: "answered nowhere, as " + config.Metrics + " says"}
	if address == "" {
		return p
	}
	p.Said = "answered at " + address
	at, err := url.Parse(address)
	if err == nil {
		var conn net.Conn
		if conn, err = net.DialTimeout("tcp", at.Host, statusLimit); err == nil {
			_ = conn.Close() // nothing was asked
		}
	}
	if err != nil {
		p.Well, p.Said = false, "nobody answers at "+address
	}
	return p
}

// issuerPart says whether the reader could ask the issuer. It does not ask: that
// is the reader's, and the issuer may be away with all being well here.
func issuerPart(c config.Config) part {
	if _, err := c.IssuerSecret(); err != nil {
		return part{Part: "issuer", Said: err.Error()}
	}
	return part{"issuer", true, fmt.Sprintf("%s (%s) may vouch for people, %s; it is asked when somebody signs in with it", c.Issuer.Name, c.Issuer.Address, c.Issuer.Admit)}
}

// servicePart words how one service stands.
func servicePart(s *supervisorv1.Service) part {
	p := part{Part: s.GetName(), Well: s.GetState() == string(service.Serving)}
	p.Said = fmt.Sprintf("%s since %s", s.GetState(), s.GetSince().AsTime().Local().Format("2006-01-02 15:04:05"))
	if s.GetReason() != "" {
		p.Said += ": " + printable(s.GetReason())
	}
	if s.GetNextAct() != "" {
		p.Said += "; next: " + s.GetNextAct()
	}
	return p
}

// scraperParts has the scraper's own program look at what only it knows. Where that
// program cannot, that is the one part.
func scraperParts() []part {
	var out strings.Builder
	exit, lines, err := runScraper(&child.Spec{Args: []string{"check"}, Log: &out})
	var parts []part
	for line := range strings.Lines(out.String()) {
		var p part
		if json.Unmarshal([]byte(line), &p) == nil && p.Part != "" {
			p.Said = printable(p.Said)
			parts = append(parts, p)
		}
	}
	switch {
	case err != nil:
		return append(parts, part{Part: "scraper's program", Said: printable(err.Error())})
	case exit.Code != config.ExitOK:
		said := exit.String()
		if len(lines) > 0 {
			said = printable(lines[len(lines)-1])
		}
		return append(parts, part{Part: "scraper's program", Said: said})
	}
	return parts
}

// writeParts prints one line a part.
func writeParts(out io.Writer, parts []part) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, p := range parts {
		mark := "ok"
		if !p.Well {
			mark = "NOT"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", mark, p.Part, p.Said)
	}
	return w.Flush()
}

// logNames are the programs that have a log.
func logNames() []string { return []string{"supervisor", "postgres", "migrate", "scraper", "reader"} }

// errNoLogs is said of a data folder on which nothing ever ran.
func errNoLogs(c config.Config) error {
	return coded(config.ExitFailure, "there are no logs in %s; Mangrove has not run there: mangrove up", filepath.Clean(c.LogDir()))
}
