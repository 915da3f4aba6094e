// Package standing is how the supervisor tells others how its services stand: one
// file in the data folder, written whole and read by whoever may (ADR 0016). It
// carries no powers: who reads it can do nothing with it. The package decides nothing
// about a service, and keeps nothing but that file.
package standing

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"mangrove/internal/durable"
	"mangrove/internal/redact"
)

const (
	// Every is how often it is written although nothing has changed: a report older
	// than a few times that is a supervisor that has gone.
	Every = 10 * time.Second
	// format is the file's; a reader of another one reads nothing.
	format = 1
	// maxFile bounds what is read, in bytes, and maxServices how many services.
	maxFile     = 256 << 10
	maxServices = 16
)

// Report is how everything stood at one moment.
type Report struct {
	Format int `json:"format"`
	// At is when it was written, Started when the supervisor was.
	At      time.Time `json:"at"`
	Started time.Time `json:"started"`
	Version string    `json:"version"`
	// Limit is how many failures within an hour park a service (SUP-2).
	Limit int `json:"limit"`
	// Services are in start order.
	Services []Service `json:"services"`
}

// Service is how one service stood.
type Service struct {
	Name string `json:"name"`
	// State is the supervisor's word for it, such as "repair-required".
	State string    `json:"state"`
	Since time.Time `json:"since"`
	// Left is how many failures its budget still allows, FreesAt when a spent one
	// allows a start again, NextStart when it is started by itself.
	Left      int        `json:"left"`
	FreesAt   *time.Time `json:"frees_at,omitempty"`
	NextStart *time.Time `json:"next_start,omitempty"`
	// Reason says why it waits or is blocked.
	Reason string `json:"reason,omitempty"`
	// Exits are the failures that are remembered, oldest first.
	Exits []Exit `json:"exits,omitempty"`
	// Next is what an operator may do next, in one line.
	Next string `json:"next,omitempty"`
}

// Exit is one failure.
type Exit struct {
	At   time.Time `json:"at"`
	What string    `json:"what"`
	// LastLines is what was printed before it.
	LastLines []string `json:"last_lines,omitempty"`
}

// Moment is t for a report: nil for the zero time.
func Moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Write puts r where path says, whole or not at all, for its owner and group. What a
// program printed loses what may be secret. It is not synced: after a lost machine
// there is nothing to tell.
func Write(path string, r Report) error {
	r.Format, r.At = format, time.Now()
	for i := range r.Services {
		s := &r.Services[i]
		s.Reason = redact.Line(s.Reason)
		exits := make([]Exit, len(s.Exits)) // the caller's own stay as they are
		for j, e := range s.Exits {
			exits[j] = Exit{At: e.At, What: redact.Line(e.What)}
			for _, line := range e.LastLines {
				exits[j].LastLines = append(exits[j].LastLines, redact.Line(line))
			}
		}
		s.Exits = exits
	}
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("tell how the services stand: %w", err)
	}
	return durable.ReplaceFile(path, data, 0o640)
}

// Read returns the last report in path.
func Read(path string) (Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return Report{}, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return Report{}, err
	}
	var r Report
	if len(data) > maxFile {
		return Report{}, fmt.Errorf("%s: longer than %d bytes", path, maxFile)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return Report{}, fmt.Errorf("%s: %w", path, err)
	}
	if r.Format != format || r.At.IsZero() || len(r.Services) > maxServices {
		return Report{}, fmt.Errorf("%s: no report of this version", path)
	}
	return r, nil
}
