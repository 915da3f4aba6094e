package trial

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mangrove/internal/config"
	"mangrove/internal/durable"
)

// format is the file's; maxFile bounds what is read, in bytes.
const (
	format  = 1
	maxFile = 64 << 10
)

// Names are the settings that can be tried, each once.
func Names() []string { return []string{config.HTTP, config.Library, config.DatabaseURL} }

// Settings is what the data folder says of settings, besides the environment, which
// goes before it.
type Settings struct {
	Format int `json:"format"`
	// Kept are the values that an operator kept, by name.
	Kept map[string]string `json:"kept"`
	// Trial is what is on trial, nil for nothing.
	Trial *Trial `json:"trial,omitempty"`
}

// Trial is one setting on trial.
type Trial struct {
	Name string `json:"name"`
	// Value is the one that is tried, "" for the default.
	Value string    `json:"value"`
	State State     `json:"state"`
	Begun time.Time `json:"begun"`
	Until time.Time `json:"until"`
}

// InForce are the values that hold, by name; one that is "" is the default.
func (s Settings) InForce() map[string]string {
	out := maps.Clone(s.Kept)
	if out == nil {
		out = map[string]string{}
	}
	if t := s.Trial; t != nil && (t.State == Applying || t.State == Trying) {
		out[t.Name] = t.Value
	}
	return out
}

// File is where the settings of a data folder lie. It may hold the password of a database.
type File string

// FileOf is the file of a data folder.
func FileOf(data string) File { return File(filepath.Join(data, "settings.json")) }

// Read reads the file strictly; none is no settings. A data folder that cannot be
// entered, or is none, has none either: what is wrong with it is said by others.
func (f File) Read() (Settings, error) {
	none := Settings{Kept: map[string]string{}}
	file, err := os.Open(string(f))
	if _, serr := os.Lstat(string(f)); err != nil && serr != nil {
		return none, nil
	}
	if err != nil {
		return none, durable.Classify("read", string(f), err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return none, durable.Classify("read", string(f), err)
	}
	var s Settings
	decode := json.NewDecoder(bytes.NewReader(text))
	decode.DisallowUnknownFields()
	if len(text) > maxFile || decode.Decode(&s) != nil || s.Format != format || s.Kept == nil || !s.known() {
		return none, fmt.Errorf("%s is not understood; set its values in the environment and move it away", f)
	}
	return s, nil
}

// known reports whether s names only what can be tried.
func (s Settings) known() bool {
	for name := range s.Kept {
		if !slices.Contains(Names(), name) {
			return false
		}
	}
	t := s.Trial
	return t == nil || slices.Contains(Names(), t.Name) && t.State != None && slices.Contains(States(), t.State)
}

// Write replaces the file, synced, whole or not at all.
func (f File) Write(s Settings) error {
	s.Format = format
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(string(f), append(text, '\n'), 0o600)
}
