package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"mangrove/internal/config"
	supervisorv1 "mangrove/proto/gen/supervisor/v1"
	"mangrove/supervisor/internal/preflight"
	"mangrove/supervisor/internal/trial"
)

// tryLimit is how long a trial may take until it serves or went back, beyond the time
// that it was given.
const tryLimit = 5 * time.Minute

type settingsTryCommand struct {
	Name    string        `arg:"" enum:"MANGROVE_HTTP,MANGROVE_LIBRARY,MANGROVE_DATABASE_URL" help:"Which setting: MANGROVE_HTTP, MANGROVE_LIBRARY or MANGROVE_DATABASE_URL."`
	Value   string        `arg:"" optional:"" help:"The value to try; - reads it from standard input, which a database address with a password needs."`
	Default bool          `help:"Try the default."`
	For     time.Duration `default:"2m" help:"How long it stays without being kept, from 10s to 1h."`
}

// Help is shown by `mangrove settings try --help`.
func (settingsTryCommand) Help() string {
	return "Looks first whether the value can work: the address can be listened on, the folder is this library, the database answers and is Mangrove's. Then restarts only what it concerns. " +
		"Unless mangrove settings keep comes in time, or when a service does not serve with it, the value before is put back by itself, also after a kill or a lost machine, and no crash " +
		"budget is spent. What is downloaded or written during a trial of a library or a database stays where it was written: hold downloads first (mangrove pause --all).\n\n" + settingsCodes +
		"Examples: mangrove settings try MANGROVE_HTTP 0.0.0.0:8484, mangrove settings try MANGROVE_DATABASE_URL - < address"
}

// Run is `mangrove settings try`.
func (cmd settingsTryCommand) Run(con console) error {
	c, err := config.FromEnvironment()
	if err != nil {
		return err
	}
	value, err := cmd.value()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), cmd.For+tryLimit)
	defer cancel()
	return asked(con, c, func(api supervisorv1.SupervisorServiceClient) (string, error) {
		answer, err := api.TrySetting(ctx, &supervisorv1.TrySettingRequest{Name: cmd.Name, Value: value, Seconds: int64(cmd.For / time.Second)})
		return answer.GetSaid(), err
	})
}

// maxValue bounds what is read of standard input, in bytes.
const maxValue = 4 << 10

// value is the one to try. A password does not stand on a command line, where everybody
// on the machine reads it.
func (cmd settingsTryCommand) value() (string, error) {
	switch {
	case cmd.Default == (cmd.Value != ""):
		return "", coded(config.ExitSettings, "name a value, or say --default")
	case cmd.Value == "-":
		lines := bufio.NewScanner(os.Stdin)
		lines.Buffer(nil, maxValue)
		if !lines.Scan() || strings.TrimSpace(lines.Text()) == "" {
			return "", coded(config.ExitSettings, "standard input holds no value")
		}
		return strings.TrimSpace(lines.Text()), nil
	}
	if u, err := url.Parse(cmd.Value); cmd.Name == config.DatabaseURL && err == nil && u.User != nil {
		if _, secret := u.User.Password(); secret {
			return "", coded(config.ExitSettings, "the address holds a password, which everybody on this machine could read; give it on standard input: mangrove settings try %s - < FILE", cmd.Name)
		}
	}
	return cmd.Value, nil
}

type settingsKeepCommand struct{}

// Help is shown by `mangrove settings keep --help`.
func (settingsKeepCommand) Help() string {
	return "Look first whether everything works with it, from where it has to. A kept value holds until another is kept; the environment goes before it.\n\n" + settingsCodes +
		"Example: mangrove settings keep"
}

// Run is `mangrove settings keep`.
func (settingsKeepCommand) Run(con console) error {
	c, err := config.FromEnvironment()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), actLimit)
	defer cancel()
	return asked(con, c, func(api supervisorv1.SupervisorServiceClient) (string, error) {
		answer, err := api.KeepSetting(ctx, &supervisorv1.KeepSettingRequest{})
		return answer.GetSaid(), err
	})
}

// asked asks the running supervisor something and prints what it says.
func asked(con console, c config.Config, do func(supervisorv1.SupervisorServiceClient) (string, error)) error {
	said := ""
	err := ask(c, func(api supervisorv1.SupervisorServiceClient) (err error) {
		said, err = do(api)
		return err
	})
	st, answered := status.FromError(err)
	switch {
	case err == nil:
		_, err = fmt.Fprintln(con.out, printable(said))
		return err
	case answered && st.Code() == codes.FailedPrecondition:
		return coded(config.ExitFailure, "%s", st.Message())
	case answered && st.Code() == codes.DeadlineExceeded:
		return coded(config.ExitFailure, "it takes long; look at mangrove status")
	case answered:
		err = errNotRunning
	}
	return coded(exitNotRunning, "no Mangrove answers for the data folder %s (%w)", c.DataDir, err)
}

type settingsForgetCommand struct {
	Name string `arg:"" enum:"MANGROVE_HTTP,MANGROVE_LIBRARY,MANGROVE_DATABASE_URL" help:"Which setting: MANGROVE_HTTP, MANGROVE_LIBRARY or MANGROVE_DATABASE_URL."`
}

// Help is shown by `mangrove settings forget --help`.
func (settingsForgetCommand) Help() string {
	return "For a kept value with which Mangrove does not start any more. It works only while Mangrove is stopped; while it runs, try the default.\n\n" +
		"Exit codes: 0 done, 1 nothing was kept, 2 a wrong setting, 75 Mangrove runs.\n\n" +
		"Example: mangrove settings forget MANGROVE_HTTP"
}

// Run is `mangrove settings forget`.
func (cmd settingsForgetCommand) Run(con console) error {
	c, err := config.FromEnvironment()
	if err != nil {
		return err
	}
	lock, err := preflight.Lock(c)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	file := trial.FileOf(c.DataDir)
	s, err := file.Read()
	if err != nil {
		return settings(err)
	}
	if s.Kept[cmd.Name] == "" {
		return coded(config.ExitFailure, "no value of %s is kept on %s; those kept are %v", cmd.Name, c.DataDir, keptNames(s))
	}
	delete(s.Kept, cmd.Name)
	s.Trial = nil // nobody tries it any more
	if err := file.Write(s); err != nil {
		return coded(config.ExitFailure, "%s cannot be written: %s", file, errors.Unwrap(err))
	}
	if err := ownedLike(c.DataDir, string(file)); err != nil {
		return coded(config.ExitFailure, "%s is root's now, and its owner cannot read it: %s", file, err)
	}
	_, err = fmt.Fprintf(con.out, "%s has its default again at the next start\n", cmd.Name)
	return err
}

// ownedLike gives what root wrote to whom the data folder belongs to.
func ownedLike(folder, file string) error {
	info, err := os.Stat(folder)
	if err != nil || os.Geteuid() != 0 {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return os.Lchown(file, int(st.Uid), int(st.Gid))
}

func keptNames(s trial.Settings) []string {
	out := []string{}
	for _, name := range trial.Names() {
		if s.Kept[name] != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
