// Package heartbeat tells something outside this machine that all is well (SUP-10):
// a monitor on the machine cannot report the machine's death. It asks one address of
// the operator's choice now and then for as long as every service serves, and falls
// silent otherwise, so that whoever listens out there misses it. It invents no
// destination, says nothing about the library, and decides nothing by the answer.
package heartbeat

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"go.uber.org/zap"
)

// Bounds of one beat.
const (
	patience  = 10 * time.Second
	mostBytes = 4 << 10
	// recheck is how soon it is looked whether all is well again.
	recheck = 5 * time.Second
)

// Heartbeat is one destination.
type Heartbeat struct {
	// Address is asked with GET; it may hold a secret and is never logged.
	Address string
	// Every is how often.
	Every time.Duration
	// Well reports whether every service serves.
	Well func() bool
	// Version is what the User-Agent says.
	Version string
	Log     *zap.Logger
}

// Run beats until ctx ends. What goes wrong is logged once until it goes well again.
func (h Heartbeat) Run(ctx context.Context) {
	client := &http.Client{
		Timeout: patience,
		// An answer that leads elsewhere is an answer: nobody else is asked.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	taken := true
	for {
		wait := h.Every
		if !h.Well() {
			// It is well again sooner than a beat is due, most often.
			wait = min(wait, recheck)
		} else {
			err := h.beat(ctx, client)
			if now := err == nil; now != taken && ctx.Err() == nil {
				taken = now
				h.Log.Warn("the heartbeat", zap.Bool("taken", taken), zap.NamedError("why", err))
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// errNotTaken is an answer that says no.
var errNotTaken = errors.New("it was answered with an error")

// beat asks once. Its error never holds the address.
func (h Heartbeat) beat(ctx context.Context, client *http.Client) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.Address, nil)
	if err != nil {
		return errors.New("its address cannot be asked")
	}
	r.Header.Set("User-Agent", "Mangrove/"+h.Version)
	resp, err := client.Do(r)
	if err != nil {
		return errors.New("it was not answered")
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, mostBytes))
	if resp.StatusCode >= http.StatusBadRequest {
		return errNotTaken
	}
	return nil
}
