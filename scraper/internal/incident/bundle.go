package incident

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"mangrove/internal/fault"
	"mangrove/internal/redact"
	"mangrove/scraper/internal/checkpoint"
	"mangrove/scraper/internal/source"
)

// MaxBundle bounds a bundle, in bytes. Three answers that cannot be compressed,
// a checkpoint and the rest fit in it.
const MaxBundle = 1 << 20

// format numbers the form of incident.json.
const format = 1

// maxCheckpoint bounds a checkpoint that is kept, maxReport an incident.json that
// is read.
const (
	maxCheckpoint = 64 << 10
	maxReport     = 256 << 10
)

// Report is incident.json: the list of what leaves in a bundle. What is not here
// does not leave.
type Report struct {
	Format     int        `json:"format"`
	Version    string     `json:"mangrove"`
	ID         int64      `json:"id"`
	Kind       string     `json:"kind"`
	About      string     `json:"about"`
	Site       string     `json:"site"`
	SeriesID   string     `json:"series_id,omitempty"`
	JobID      int64      `json:"job_id,omitempty"`
	ChapterID  string     `json:"chapter_id,omitempty"`
	Subject    string     `json:"subject,omitempty"`
	Reason     string     `json:"reason"`
	Decided    []Decision `json:"decided"`
	At         time.Time  `json:"at"`
	LastAt     time.Time  `json:"last_at"`
	Seen       int        `json:"seen"`
	ResolvedAt *time.Time `json:"resolved_at,omitempty"`
	Resolution string     `json:"resolution,omitempty"`
	Evidence   []Answer   `json:"evidence"`
}

// Answer is one answer in a Report; its body is the file beside it.
type Answer struct {
	File      string            `json:"file"`
	Address   string            `json:"address"`
	Status    int               `json:"status"`
	MediaType string            `json:"media_type"`
	Headers   map[string]string `json:"headers,omitempty"`
	Size      int64             `json:"size"`
	Cut       bool              `json:"cut"`
	Removed   int               `json:"removed"`
}

// report is what of in leaves in its bundle.
func report(in Incident, version string) Report {
	r := Report{
		Format: format, Version: version, ID: in.ID, Kind: string(in.Kind), About: string(in.About), Site: in.Key.Site, SeriesID: in.Key.SeriesID,
		JobID: in.JobID, ChapterID: in.ChapterID, Subject: in.Subject, Reason: in.Reason, Decided: in.Decided, At: in.At.UTC(), LastAt: in.LastAt.UTC(), Seen: in.Seen,
		Resolution: string(in.Resolution), Evidence: []Answer{},
	}
	if !in.ResolvedAt.IsZero() {
		at := in.ResolvedAt.UTC()
		r.ResolvedAt = &at
	}
	for i, e := range in.Evidence {
		a := Answer{
			File: fmt.Sprintf("evidence-%d.%s", i+1, redact.Extension(e.MediaType, e.Body)), Address: e.Address, Status: e.Status, MediaType: e.MediaType,
			Size: e.Size, Cut: e.Cut, Removed: e.Removed, Headers: map[string]string{},
		}
		for _, h := range e.Headers {
			a.Headers[h.Name] = h.Value
		}
		r.Evidence = append(r.Evidence, a)
	}
	return r
}

// BundleName is what the bundle of an incident is called.
func BundleName(id int64) string { return fmt.Sprintf("incident-%d.zip", id) }

// FixtureCommand is the one command that makes a test of a bundle.
const FixtureCommand = "go run ./scraper/internal/source/sourcetest/fixture"

func readme(r Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Incident %d of Mangrove %s: %s, %s.\n\n%s\n\nWhat was decided, in order:\n", r.ID, r.Version, r.Kind, r.Site, r.Reason)
	for _, d := range r.Decided {
		fmt.Fprintf(&b, "- %s\n", d)
	}
	fmt.Fprintf(&b, "\nincident.json tells it to a program, evidence-N is what the Site answered, the last answer last, checkpoint.json what the Job had done.\n"+
		"%s stands where something secret may have been.\n\nTo make a test of it, in a checkout of Mangrove:\n\n    %s %s\n\n"+
		"It puts the page into the adapter's testdata and prints the test to add. The test fails until the adapter reads the page.\n", redact.Mark, FixtureCommand, BundleName(r.ID))
	return b.String()
}

// Bundle makes the bundle of an incident that was read whole.
func Bundle(in Incident, version string) ([]byte, error) {
	r := report(in, version)
	told, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fault.New(fault.Unknown, "write", "a bundle", err)
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	put := func(name string, data []byte) {
		if err != nil || data == nil {
			return
		}
		var w io.Writer
		if w, err = z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: in.At.UTC()}); err == nil {
			_, err = w.Write(data)
		}
	}
	put("README.txt", []byte(readme(r)))
	put("incident.json", append(told, '\n'))
	put("checkpoint.json", in.Checkpoint)
	for i, e := range in.Evidence {
		put(r.Evidence[i].File, append([]byte{}, e.Body...))
	}
	if cerr := z.Close(); err == nil {
		err = cerr
	}
	if err == nil && out.Len() > MaxBundle {
		err = fmt.Errorf("it would have %d bytes, at most %d", out.Len(), MaxBundle)
	}
	if err != nil {
		return nil, fault.New(fault.Unknown, "write", "a bundle", err)
	}
	return out.Bytes(), nil
}

// ErrNoBundle is why a file is not read as a bundle.
var ErrNoBundle = errors.New("this is no bundle of an incident")

// Open reads a bundle: its report, and the bodies by file name. A bundle may come
// from anybody: only what a report lists is read, and no more than fits in one.
func Open(data []byte) (Report, map[string][]byte, error) {
	var r Report
	if len(data) > MaxBundle {
		return r, nil, fmt.Errorf("%w: it has %d bytes", ErrNoBundle, len(data))
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return r, nil, fmt.Errorf("%w: %w", ErrNoBundle, err)
	}
	read := func(name string, limit int64) ([]byte, error) {
		f, err := z.Open(name)
		if err != nil {
			return nil, fmt.Errorf("%w: it lacks %s", ErrNoBundle, name)
		}
		defer func() { _ = f.Close() }()
		data, err := io.ReadAll(io.LimitReader(f, limit+1))
		if err == nil && int64(len(data)) > limit {
			err = errors.New("it is too large")
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrNoBundle, name, err)
		}
		return data, nil
	}
	told, err := read("incident.json", maxReport)
	if err != nil {
		return r, nil, err
	}
	if err := json.Unmarshal(told, &r); err != nil || r.Format != format {
		return r, nil, fmt.Errorf("%w: incident.json is of another form", ErrNoBundle)
	}
	if len(r.Evidence) > source.MaxSeen || !plainKey(r.Site) {
		return r, nil, fmt.Errorf("%w: incident.json is malformed", ErrNoBundle)
	}
	bodies := map[string][]byte{}
	for i, a := range r.Evidence {
		if !evidenceName(a.File, i+1) {
			return r, nil, fmt.Errorf("%w: %q is no name of evidence", ErrNoBundle, a.File)
		}
		if bodies[a.File], err = read(a.File, source.MaxBody); err != nil {
			return r, nil, err
		}
	}
	return r, bodies, nil
}

// evidenceName reports whether a file is called as the i-th answer is.
func evidenceName(name string, i int) bool {
	for _, ext := range []string{"html", "json", "xml", "txt", "bin"} {
		if name == fmt.Sprintf("evidence-%d.%s", i, ext) {
			return true
		}
	}
	return false
}

// plainKey reports whether a Site's key may name a folder.
func plainKey(site string) bool {
	for _, c := range site {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return site != "" && len(site) <= 64 && site[0] != '-'
}

// Checkpoints returns what reads the checkpoint of a Series of one Site, bounded:
// of very many published chapters only the last are named.
func Checkpoints(library string, site source.Site) func(source.Key) []byte {
	return func(key source.Key) []byte {
		c, ok := checkpoint.Load(checkpoint.Path(library, site, key))
		if !ok {
			return nil
		}
		for {
			data, err := json.MarshalIndent(c, "", "  ")
			switch {
			case err != nil:
				return nil
			case len(data) <= maxCheckpoint:
				return data
			case len(c.Published) == 0:
				return nil
			}
			c.Published = c.Published[(len(c.Published)+1)/2:]
		}
	}
}
