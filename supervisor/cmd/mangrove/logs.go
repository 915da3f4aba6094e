package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"mangrove/internal/config"
	"mangrove/supervisor/internal/journal"
)

type logsCommand struct {
	Service string `arg:"" optional:"" enum:"supervisor,postgres,migrate,scraper,reader," default:"" help:"Whose: supervisor, postgres, migrate, scraper or reader; all if left out."`
	Follow  bool   `short:"f" help:"Go on with what is written from now on, until Ctrl-C."`
	Lines   int    `short:"n" default:"50" help:"How many of the last lines."`
}

// Help is shown by `mangrove logs --help`.
func (logsCommand) Help() string {
	return "Prints the last lines of one program or of all, in the order in which they were written, older files included. It reads the files in the data folder and needs nobody to be running.\n\n" +
		"Exit codes: 0 printed, 1 there are no logs, 2 a wrong setting.\n\n" +
		"Examples: mangrove logs scraper -n 200, mangrove logs --follow"
}

// Run is `mangrove logs`.
func (cmd logsCommand) Run(con console) error {
	c, err := config.FromEnvironment()
	if err != nil {
		return err
	}
	if cmd.Lines < 0 {
		return coded(config.ExitSettings, "-n is how many lines: 0 or more")
	}
	names := logNames()
	if cmd.Service != "" {
		names = []string{cmd.Service}
	}
	lines, found, err := lastLines(c, names, cmd.Lines)
	if err != nil {
		return err
	}
	if !found && !cmd.Follow {
		return errNoLogs(c)
	}
	for _, l := range lines {
		l.write(con.out, len(names) > 1)
	}
	if !cmd.Follow {
		return nil
	}
	return follow(c, names, con.out)
}

// follow prints what is written from now on, until a person ends it.
func follow(c config.Config, names []string, out io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var one sync.Mutex
	var all sync.WaitGroup
	failed := make([]error, len(names))
	for i, name := range names {
		all.Go(func() {
			failed[i] = journal.Log{Dir: c.LogDir(), Name: name}.Follow(ctx, func(text string) {
				one.Lock()
				defer one.Unlock()
				logLine{name: name, text: text}.write(out, len(names) > 1)
			})
		})
	}
	all.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// logLine is one line of a program's log, and when it was written as far as it says.
type logLine struct {
	name, text string
	at         time.Time
}

func (l logLine) write(out io.Writer, named bool) {
	if named {
		fmt.Fprintf(out, "%-10s  ", l.name)
	}
	fmt.Fprintln(out, printable(l.text))
}

// lastLines are the last n lines of the programs together, by time. A line that does
// not say when it was written stays behind the one before it.
func lastLines(c config.Config, names []string, n int) (lines []logLine, found bool, err error) {
	for _, name := range names {
		texts, err := journal.Log{Dir: c.LogDir(), Name: name}.Last(max(n, 1))
		if err != nil {
			return nil, false, fmt.Errorf("read the log of %s: %w", name, err)
		}
		found = found || len(texts) > 0
		var at time.Time
		for _, text := range texts {
			if written, ok := writtenAt(text); ok {
				at = written
			}
			lines = append(lines, logLine{name, text, at})
		}
	}
	slices.SortStableFunc(lines, func(a, b logLine) int { return a.at.Compare(b.at) })
	return lines[max(0, len(lines)-n):], found, nil
}

// writtenAt reads when a line was written: ours say it in JSON, PostgreSQL's begin
// with it.
func writtenAt(text string) (time.Time, bool) {
	if strings.HasPrefix(text, "{") {
		var l struct {
			Time time.Time `json:"time"`
		}
		err := json.Unmarshal([]byte(text), &l)
		return l.Time, err == nil && !l.Time.IsZero()
	}
	const server = "2006-01-02 15:04:05.000 MST"
	if len(text) < len(server) {
		return time.Time{}, false
	}
	at, err := time.Parse(server, text[:len(server)])
	return at, err == nil
}
