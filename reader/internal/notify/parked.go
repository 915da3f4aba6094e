package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"mangrove/internal/durable"
	"mangrove/internal/fault"
)

// filed are the addresses that are told of a parked service. They lie in a private
// file beside the database, because a service is parked when the database may be
// what is broken.
type filed struct {
	Addresses []string `json:"addresses"`
}

// keep writes the file if it says something else; without an address there is none.
func keep(path string, to []Destination) error {
	var f filed
	for _, d := range to {
		if slices.Contains(d.Kinds, Parked) {
			f.Addresses = append(f.Addresses, d.Address)
		}
	}
	if len(f.Addresses) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return durable.Classify("remove", path, err)
		}
		return nil
	}
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if was, err := os.ReadFile(path); err == nil && bytes.Equal(was, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return durable.Classify("create", path, err)
	}
	return durable.ReplaceFile(path, data, 0o600)
}

// TellParked tells everybody who wants to know that a service is parked. It needs
// neither the database nor another service: it is the supervisor's last word.
// Without the file nobody wants to know.
func TellParked(ctx context.Context, path, service, why string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return durable.Classify("read", path, err)
	}
	var f filed
	if err := json.Unmarshal(data, &f); err != nil {
		return fault.Newf(fault.Unknown, "read", path, "it is not what was written there")
	}
	title, body := digest([]Notice{{Kind: Parked, Text: plain(service) + ": " + plain(why)}}, 1)
	body += "\n\nNothing is started a fourth time. On the machine, type: mangrove status"
	var failed []error
	for _, address := range f.Addresses {
		if err := send(ctx, address, title, body); err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d could not be told: %w", len(failed), len(f.Addresses), errors.Join(failed...))
	}
	return nil
}
