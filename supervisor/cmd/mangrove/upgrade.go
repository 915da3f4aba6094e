package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"mangrove/internal/config"
	"mangrove/internal/durable"
	"mangrove/supervisor/internal/child"
	"mangrove/supervisor/internal/service"
	"mangrove/supervisor/internal/upgrade"
)

type upgradeCommand struct {
	Begin  upgradeBeginCommand  `cmd:"" help:"Keep how everything stands, before a new version is put in place."`
	Backup upgradeBackupCommand `cmd:"" help:"Keep which backup belongs to the attempt that has begun."`
	Verify upgradeVerifyCommand `cmd:"" help:"See the new version work, and what was being downloaded go on."`
	Fail   upgradeFailCommand   `cmd:"" help:"End the attempt that has begun: a step of it was not done."`
	List   upgradeListCommand   `cmd:"" help:"List the attempts, newest first."`
	Show   upgradeShowCommand   `cmd:"" help:"Show the record of one attempt."`
}

// Help is shown by `mangrove upgrade --help`.
func (upgradeCommand) Help() string {
	return "deploy/release.sh puts a new version in place and uses these commands; so can a script of yours. Each attempt leaves one record in the folder upgrades of the data folder.\n\n" +
		upgradeCodes + "Example: mangrove upgrade list"
}

const upgradeCodes = "Exit codes: 0 done, 1 refused or it does not work, 2 a wrong setting.\n\n"

// askProgram bounds how long a program may take to say its version.
const askProgram = 30 * time.Second

type upgradeBeginCommand struct {
	Installed string `required:"" help:"The folder in which the programs of now lie, and the new ones are to be put."`
	Note      string `help:"Why this attempt will be different, when two before it failed in the same way."`
}

// Help is shown by `mangrove upgrade begin --help`.
func (upgradeBeginCommand) Help() string {
	return "Say it to the new program, from the folder of the new programs, while the old ones run. It keeps the versions, the schema, and how far each Job is that is under way. A third " +
		"attempt with the same version, after two that failed in the same way, is refused without --note.\n\n" + upgradeCodes +
		"Example: mangrove upgrade begin --installed /usr/local/bin"
}

// Run is `mangrove upgrade begin`.
func (cmd upgradeBeginCommand) Run(con console) error {
	c, err := configured()
	if err != nil {
		return err
	}
	installed, err := filepath.Abs(cmd.Installed)
	if err != nil {
		return err
	}
	lock, err := lockUpgrades(c)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	next := upgrade.Record{Version: version, Kept: installed, Note: noteOf(cmd.Note), Rollback: upgrade.Programs}
	if next.Programs, err = newPrograms(); err != nil {
		return err
	}
	next.Before = standsBefore(c, installed)
	all, err := upgrade.Records(c.DataDir)
	if err != nil {
		return coded(config.ExitFailure, "%s", err)
	}
	r, ended, err := upgrade.Begin(all, next, time.Now())
	if ended != nil {
		if werr := writeRecord(c, *ended); werr != nil {
			return werr
		}
	}
	if errors.Is(err, upgrade.ErrNote) {
		return coded(config.ExitFailure, "%s; mend what it names, or say why it will be different: --note \"...\"", err)
	}
	if err != nil {
		return err
	}
	if err := writeRecord(c, r); err != nil {
		return err
	}
	said := "nothing is being downloaded"
	if n := len(r.Before.Jobs); n > 0 {
		said = fmt.Sprintf("%d Jobs are under way", n)
	}
	if r.Before.Unread != "" {
		said = "what is being downloaded is not known: " + r.Before.Unread
	}
	_, err = fmt.Fprintf(con.out, "attempt %d: %s is to take the place of %s; %s\n", r.Number, r.Version, r.Before.Version, printable(said))
	return err
}

// maxNote bounds a note, in bytes.
const maxNote = 1000

func noteOf(text string) string {
	text = strings.TrimSpace(printable(text))
	return strings.ToValidUTF8(text[:min(len(text), maxNote)], "")
}

// lockUpgrades makes the folder of the records and keeps a second attempt from
// beginning at the same time.
func lockUpgrades(c config.Config) (*durable.Lock, error) {
	if err := os.Mkdir(upgrade.Folder(c.DataDir), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, coded(config.ExitFailure, "%s cannot be made: %s; does MANGROVE_DATA name the data folder, and is it yours?", upgrade.Folder(c.DataDir), durable.Reason(err))
	}
	lock, err := durable.TakeLock(filepath.Join(upgrade.Folder(c.DataDir), "lock"))
	if errors.Is(err, durable.ErrLocked) {
		return nil, coded(config.ExitFailure, "another mangrove upgrade is at work on %s; wait for it", c.DataDir)
	}
	if err != nil {
		return nil, coded(config.ExitFailure, "%s cannot be locked: %s", upgrade.Folder(c.DataDir), durable.Reason(err))
	}
	return lock, nil
}

// newPrograms describes the three programs of this version, and makes sure that they
// are of one.
func newPrograms() ([]upgrade.File, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find our own program: %w", err)
	}
	scraper, reader, err := siblings()
	if err != nil {
		return nil, err
	}
	out := []upgrade.File{}
	for _, path := range []string{self, scraper, reader} {
		if path != self {
			if got, err := versionOf(path); err != nil || got != version {
				return nil, coded(config.ExitFailure, "%s is of version %q and %s of %q (%v); build the three together: make build", path, got, self, version, err)
			}
		}
		f, err := describe(path)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// versionOf asks a program for its version.
func versionOf(path string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askProgram)
	defer cancel()
	exit, lines, err := child.Run(ctx, child.Spec{Path: path, Args: []string{"version"}, Env: environment(os.Environ(), nil)})
	switch {
	case err != nil:
		return "", err
	case exit.Code != config.ExitOK || len(lines) != 1:
		return "", fmt.Errorf("%s", exit)
	}
	return strings.TrimPrefix(lines[0], "mangrove "), nil
}

// describe reads a file whole.
func describe(path string) (upgrade.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return upgrade.File{}, coded(config.ExitFailure, "%s cannot be read: %s", path, durable.Reason(err))
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err != nil {
		return upgrade.File{}, coded(config.ExitFailure, "%s cannot be read: %s", path, durable.Reason(err))
	}
	return upgrade.File{Path: path, Size: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// standsBefore is how everything stands while the old version runs.
func standsBefore(c config.Config, installed string) upgrade.Side {
	before := upgrade.Side{Version: "unknown", Jobs: []upgrade.Job{}}
	if answer, err := askStatus(context.Background(), c); err == nil {
		before.Version, before.Running = answer.GetVersion(), true
	} else if v, err := versionOf(filepath.Join(installed, "mangrove")); err == nil {
		before.Version = v
	}
	p, unread := readProgress(nil)
	before.Unread = unread
	if p != nil {
		before.Schema, before.Jobs = p.Database, upgrade.UnderWayOf(*p)
	}
	return before
}

// readProgress has the scraper's program say how far the downloads are, and those Jobs
// besides. It is nil when that program cannot, with the reason.
func readProgress(jobs []upgrade.Job) (_ *upgrade.Progress, unread string) {
	args := []string{"progress"}
	for _, j := range jobs {
		args = append(args, strconv.FormatInt(j.Job, 10))
	}
	var out strings.Builder
	exit, lines, err := runScraper(&child.Spec{Args: args, Log: &out})
	if err != nil {
		return nil, printable(err.Error())
	}
	if exit.Code != config.ExitOK {
		said := exit.String()
		if len(lines) > 0 {
			said = strings.TrimPrefix(lines[len(lines)-1], "mangrove-scraper: ")
		}
		return nil, printable(said)
	}
	var p upgrade.Progress
	for line := range strings.Lines(out.String()) {
		var j upgrade.Job
		switch {
		case p.Program == 0 && json.Unmarshal([]byte(line), &p) == nil:
		case json.Unmarshal([]byte(line), &j) == nil && j.Job != 0:
			p.Jobs = append(p.Jobs, j)
		}
	}
	if p.Program == 0 {
		return nil, "the scraper's program said nothing that is understood"
	}
	return &p, ""
}

// writeRecord keeps r.
func writeRecord(c config.Config, r upgrade.Record) error {
	if err := r.Write(c.DataDir); err != nil {
		return coded(config.ExitFailure, "%s cannot be written: %s", r.File(c.DataDir), durable.Reason(err))
	}
	return nil
}

// begun is the attempt that has begun and was not judged, with the settings it is of.
func begun() (config.Config, upgrade.Record, error) {
	c, err := configured()
	if err != nil {
		return c, upgrade.Record{}, err
	}
	all, err := upgrade.Records(c.DataDir)
	if err != nil {
		return c, upgrade.Record{}, coded(config.ExitFailure, "%s", err)
	}
	if len(all) == 0 || all[len(all)-1].Outcome != upgrade.UnderWay {
		return c, upgrade.Record{}, coded(config.ExitFailure, "no attempt has begun on %s; begin one: mangrove upgrade begin --installed FOLDER", c.DataDir)
	}
	return c, all[len(all)-1], nil
}

type upgradeBackupCommand struct {
	File string `arg:"" help:"The backup, whole."`
}

// Help is shown by `mangrove upgrade backup --help`.
func (upgradeBackupCommand) Help() string {
	return "Reads the file to its end and keeps its path, size and digest in the record, so that the way back names it. It makes no backup.\n\n" + upgradeCodes +
		"Example: mangrove upgrade backup /srv/backup/mangrove-2026-12-01.tar.gz"
}

// Run is `mangrove upgrade backup`.
func (cmd upgradeBackupCommand) Run(con console) error {
	c, r, err := begun()
	if err != nil {
		return err
	}
	path, err := filepath.Abs(cmd.File)
	if err != nil {
		return err
	}
	f, err := describe(path)
	if err != nil {
		return err
	}
	if f.Size == 0 {
		return coded(config.ExitFailure, "%s is empty: that is no backup", path)
	}
	r.Backup = &f
	if r.Fallback.Version == r.Before.Version && r.Fallback.Backup == nil {
		r.Fallback.Backup = &f
	}
	if err := writeRecord(c, r); err != nil {
		return err
	}
	_, err = fmt.Fprintf(con.out, "attempt %d: its backup is %s (%d MiB)\n", r.Number, path, (f.Size+1<<20-1)>>20)
	return err
}

type upgradeFailCommand struct {
	Step string `arg:"" enum:"not-stopped,no-backup,not-swapped,not-started" help:"Which step was not done: not-stopped, no-backup, not-swapped or not-started."`
	Said string `arg:"" optional:"" help:"What was said, in one line."`
}

// Help is shown by `mangrove upgrade fail --help`.
func (upgradeFailCommand) Help() string {
	return "Ends the attempt as failed, and says how to go back.\n\n" + upgradeCodes + "Example: mangrove upgrade fail no-backup \"the disk is full\""
}

// Run is `mangrove upgrade fail`.
func (cmd upgradeFailCommand) Run(con console) error {
	c, r, err := begun()
	if err != nil {
		return err
	}
	r = r.Abandon(upgrade.Reason(cmd.Step), noteOf(cmp.Or(cmd.Said, "that step was not done")), time.Now())
	if err := writeRecord(c, r); err != nil {
		return err
	}
	writeFailure(con.out, c, r)
	return nil
}

type upgradeVerifyCommand struct {
	Within time.Duration `default:"15m" help:"How long it may take until every service serves and every Job that was under way has gone on; pages come as slowly as their Site is asked."`
}

// Help is shown by `mangrove upgrade verify --help`.
func (upgradeVerifyCommand) Help() string {
	return "Waits until the new version answers, every service serves, and of each Job that was under way something more is completed, or it has ended, or an operator or its Site holds it. " +
		"What cannot change by waiting ends it at once. A failure says how to go back.\n\n" + upgradeCodes + "Example: mangrove upgrade verify --within 5m"
}

// lookEvery is how often the new version is looked at.
const lookEvery = time.Second

// Run is `mangrove upgrade verify`.
func (cmd upgradeVerifyCommand) Run(con console) error {
	c, r, err := begun()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	deadline := time.Now().Add(cmd.Within)
	for {
		seen, side := look(ctx, c, r)
		found := r.Judge(seen)
		if found.Final || time.Now().After(deadline) {
			if !found.Final {
				found.Said += fmt.Sprintf(", within %s", cmd.Within)
			}
			if side.Schema == 0 { // the way back depends on it
				if p, _ := readProgress(nil); p != nil {
					side.Schema = p.Database
				}
			}
			return verified(con, c, r.End(found, side, time.Now()))
		}
		select {
		case <-ctx.Done():
			return coded(config.ExitFailure, "attempt %d was not judged: %s; go on with: mangrove upgrade verify", r.Number, found.Said)
		case <-time.After(lookEvery):
		}
	}
}

// look sees how the new version stands now.
func look(ctx context.Context, c config.Config, r upgrade.Record) (upgrade.Seen, upgrade.Side) {
	seen := upgrade.Seen{Want: []string{"scraper", "reader"}}
	side := upgrade.Side{}
	if c.Embedded() {
		seen.Want = append([]string{"postgres"}, seen.Want...)
	}
	answer, err := askStatus(ctx, c)
	if err != nil {
		return seen, side
	}
	seen.Answers, seen.Version = true, answer.GetVersion()
	side.Version, side.Running = seen.Version, true
	for _, s := range answer.GetServices() {
		state := service.State(s.GetState())
		rests := state == service.RepairRequired || state == service.Stopped || state == service.Blocked && s.GetNextStart() == nil
		seen.Services = append(seen.Services, upgrade.Service{Name: s.GetName(), State: s.GetState(), Reason: printable(cmp.Or(s.GetReason(), s.GetLastExit())), Rests: rests})
	}
	if !slices.ContainsFunc(seen.Want, func(name string) bool { return !serves(answer, name) }) {
		seen.Progress, seen.Unread = readProgress(r.Before.Jobs)
		side.Unread = seen.Unread
		if seen.Progress != nil {
			side.Schema = seen.Progress.Database
		}
	}
	return seen, side
}

// verified keeps and tells how the attempt ended.
func verified(con console, c config.Config, r upgrade.Record) error {
	if err := writeRecord(c, r); err != nil {
		return err
	}
	if r.Outcome == upgrade.Failed {
		writeFailure(con.out, c, r)
		return &saidError{config.ExitFailure}
	}
	_, err := fmt.Fprintf(con.out, "attempt %d: %s is in place of %s (%s): %s\nrecord: %s\n", r.Number, r.Version, r.Before.Version, r.Outcome, printable(r.Said), r.File(c.DataDir))
	return err
}

// writeFailure says what failed and how to go back.
func writeFailure(out io.Writer, c config.Config, r upgrade.Record) {
	fmt.Fprintf(out, "attempt %d: %s FAILED (%s): %s\nrecord: %s\nlook first: mangrove status, mangrove logs; the runbooks say what each state needs\nto go back to %s:\n",
		r.Number, r.Version, r.Reason, printable(r.Said), r.File(c.DataDir), r.Fallback.Version)
	if !r.Swapped() {
		fmt.Fprintln(out, "  no program was changed: start Mangrove again")
		return
	}
	for i, line := range r.WayBack() {
		fmt.Fprintf(out, "  %d. %s\n", i+1, line)
	}
}

type upgradeListCommand struct{}

// Help is shown by `mangrove upgrade list --help`.
func (upgradeListCommand) Help() string {
	return "One line each: number, when, from and to which version, how it ended and why.\n\n" + upgradeCodes + "Example: mangrove upgrade list"
}

// Run is `mangrove upgrade list`.
func (upgradeListCommand) Run(con console) error {
	c, err := configured()
	if err != nil {
		return err
	}
	all, err := upgrade.Records(c.DataDir)
	if err != nil {
		return coded(config.ExitFailure, "%s", err)
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(con.out, "no upgrade was recorded on "+c.DataDir)
		return err
	}
	w := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ATTEMPT\tBEGUN\tFROM\tTO\tOUTCOME\tSAID")
	for _, r := range slices.Backward(all) {
		said := r.Said
		if r.Reason != "" {
			said = string(r.Reason) + ": " + said
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", r.Number, r.Begun.Local().Format("2006-01-02 15:04"), printable(r.Before.Version), printable(r.Version), r.Outcome, printable(said))
	}
	return w.Flush()
}

type upgradeShowCommand struct {
	N int `arg:"" help:"The attempt's number."`
}

// Help is shown by `mangrove upgrade show --help`.
func (upgradeShowCommand) Help() string {
	return "Prints the record as it is kept: versions, digests, schema, backup, the way back, and how far each Job was before and after.\n\n" + upgradeCodes + "Example: mangrove upgrade show 3"
}

// Run is `mangrove upgrade show`.
func (cmd upgradeShowCommand) Run(con console) error {
	c, err := configured()
	if err != nil {
		return err
	}
	all, err := upgrade.Records(c.DataDir)
	if err != nil {
		return coded(config.ExitFailure, "%s", err)
	}
	i := slices.IndexFunc(all, func(r upgrade.Record) bool { return r.Number == cmd.N })
	if i < 0 {
		return coded(config.ExitFailure, "there is no attempt %d; mangrove upgrade list lists them", cmd.N)
	}
	out := json.NewEncoder(con.out)
	out.SetIndent("", "  ")
	return out.Encode(all[i])
}
