package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// The file with the one-time code is looked at every claimEvery, and less often once
// the time has passed in which somebody waits for it.
const (
	claimEvery = time.Second
	claimSoon  = time.Minute
	claimLater = 15 * time.Second
)

// watchClaimCode prints the one-time code of READ-3, and again when it changes,
// until ctx ends. It writes to the console alone: a log would keep the code.
func watchClaimCode(ctx context.Context, path string, out io.Writer) {
	printed := ""
	tick := time.NewTicker(claimEvery)
	defer tick.Stop()
	began := time.Now()
	for {
		if code := readClaimCode(path); code != "" && code != printed {
			fmt.Fprintf(out, "One-time code to claim the administrator: %s\n", code)
			printed = code
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if time.Since(began) > claimSoon {
			tick.Reset(claimLater)
		}
	}
}

// readClaimCode returns the code in the file, or "" when there is none, when
// others may read it, or when it does not look like a code: it goes to a
// terminal.
func readClaimCode(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return ""
	}
	data, err := io.ReadAll(io.LimitReader(f, 256))
	code := strings.TrimSpace(string(data))
	if err != nil || !regexp.MustCompile(`^[A-Za-z0-9-]{4,64}$`).MatchString(code) {
		return ""
	}
	return code
}
