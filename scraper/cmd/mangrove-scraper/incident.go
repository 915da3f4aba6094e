package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"mangrove/internal/durable"
	"mangrove/internal/fault"
	"mangrove/internal/redact"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/store"
)

// operation is one thing an operator asks for: what it says, or why not.
type operation = func(context.Context, *store.Store, *incident.Recorder) (string, error)

// incidents chooses what is asked of incidents; nil for a usage error.
func incidents(args []string) operation {
	if len(args) == 1 && args[0] == "list" {
		return func(ctx context.Context, db *store.Store, _ *incident.Recorder) (string, error) {
			return listIncidents(ctx, db)
		}
	}
	if len(args) < 2 {
		return nil
	}
	id, err := strconv.ParseInt(args[1], 10, 64)
	switch {
	case err != nil || id < 1:
	case len(args) == 2 && args[0] == "show":
		return func(ctx context.Context, db *store.Store, _ *incident.Recorder) (string, error) {
			return showIncident(ctx, db, id)
		}
	case len(args) == 3 && args[0] == "save":
		return func(ctx context.Context, db *store.Store, _ *incident.Recorder) (string, error) {
			return saveIncident(ctx, db, id, args[2])
		}
	}
	return nil
}

// listIncidents is one line an incident, newest first.
func listIncidents(ctx context.Context, db *store.Store) (string, error) {
	rows, err := db.Incidents(ctx, false, 0, incident.Kept)
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return "there are no incidents", nil
	}
	var b strings.Builder
	for i, r := range rows {
		if i > 0 {
			b.WriteString("\n")
		}
		state := "waits"
		if r.Resolution != incident.Unresolved {
			state = string(r.Resolution)
		}
		fmt.Fprintf(&b, "%-6d %s  %-8s %-7s %-9s %s", r.ID, r.LastAt.Local().Format("2006-01-02 15:04"), r.Kind, r.About, state, what(r))
		if r.Seen > 1 {
			fmt.Fprintf(&b, " (%d times)", r.Seen)
		}
		b.WriteString(": " + plainLine(r.Reason))
	}
	return b.String(), nil
}

// what names what an incident is about.
func what(r store.IncidentRow) string {
	name := r.Key.Site
	switch {
	case r.Key.SeriesID != "" && name != "":
		name = r.Key.String()
	case name == "":
		name = "the library"
	}
	if r.ChapterID != "" {
		name += " chapter " + r.ChapterID
	}
	if r.JobID != 0 {
		name += fmt.Sprintf(", Job %d", r.JobID)
	}
	return plainLine(name)
}

// plainText is plainLine for each line of a text.
func plainText(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = plainLine(l)
	}
	return strings.Join(lines, "\n")
}

// shownText is how much of each answer is printed; the bundle has the rest.
const shownText = 4 << 10

func showIncident(ctx context.Context, db *store.Store, id int64) (string, error) {
	r, err := db.Incident(ctx, id)
	if err != nil {
		return "", missing(id, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Incident %d: %s, about a %s\n%s\n", r.ID, r.Kind, r.About, what(r))
	if r.Subject != "" {
		fmt.Fprintf(&b, "at %s\n", plainLine(r.Subject))
	}
	fmt.Fprintf(&b, "because %s\n", plainLine(r.Reason))
	fmt.Fprintf(&b, "first %s, last %s, seen %d\n", r.At.Local().Format(time.RFC3339), r.LastAt.Local().Format(time.RFC3339), r.Seen)
	if r.Resolution != incident.Unresolved {
		fmt.Fprintf(&b, "resolved %s (%s)\n", r.ResolvedAt.Local().Format(time.RFC3339), r.Resolution)
	}
	b.WriteString("\nDecided, in order:\n")
	for _, d := range r.Decided {
		fmt.Fprintf(&b, "- %s %s\n", d.At.Local().Format("15:04:05"), plainLine(d.String()))
	}
	if len(r.Checkpoint) > 0 {
		fmt.Fprintf(&b, "\nCheckpoint: %s\n", plainLine(string(r.Checkpoint)))
	}
	for i, e := range r.Evidence {
		fmt.Fprintf(&b, "\nAnswer %d: %s %d %s, %d bytes, %d kept, %d places removed\n", i+1, plainLine(e.Address), e.Status, plainLine(e.MediaType), e.Size, len(e.Body), e.Removed)
		for _, h := range e.Headers {
			fmt.Fprintf(&b, "%s: %s\n", plainLine(h.Name), plainLine(h.Value))
		}
		if redact.Extension(e.MediaType, e.Body) == "bin" {
			continue
		}
		text := strings.ToValidUTF8(string(e.Body[:min(len(e.Body), shownText)]), "\uFFFD")
		fmt.Fprintf(&b, "\n%s\n", plainText(text))
	}
	fmt.Fprintf(&b, "\nIts bundle: mangrove incident save %d", r.ID)
	return b.String(), nil
}

func saveIncident(ctx context.Context, db *store.Store, id int64, path string) (string, error) {
	r, err := db.Incident(ctx, id)
	if err != nil {
		return "", missing(id, err)
	}
	bundle, err := incident.Bundle(r.Incident, version)
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%s is there already; name another file", path)
	}
	if err == nil {
		_, err = f.Write(bundle)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			_ = os.Remove(path)
		}
	}
	if err != nil {
		return "", fmt.Errorf("%s cannot be written: %s", path, durable.Reason(err))
	}
	return fmt.Sprintf("the bundle of incident %d is in %s (%d bytes); to make a test of it, in a checkout: %s %s", id, path, len(bundle), incident.FixtureCommand, path), nil
}

// missing words the absence of an incident for an operator.
func missing(id int64, err error) error {
	if fault.Is(err, fault.NotFound) {
		return fmt.Errorf("there is no incident %d; the newest %d are kept, and `mangrove incident list` lists them", id, incident.Kept)
	}
	return err
}
