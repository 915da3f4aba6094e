package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"mangrove/internal/config"
	"mangrove/supervisor/internal/preflight"
)

// version is set when the program is linked and never changed.
var version = "unknown"

// exitNotRunning is the exit code of `mangrove status` when no supervisor
// answers: 3, as for a service manager's "program is not running".
const exitNotRunning = 3

// commands is the command line.
type commands struct {
	Up       upCommand       `cmd:"" help:"Start Mangrove and keep it running until Ctrl-C."`
	Status   statusCommand   `cmd:"" help:"Show how each service stands."`
	Start    startCommand    `cmd:"" help:"Start one service, or give a Job the word it waits for."`
	Stop     stopCommand     `cmd:"" help:"Stop one service until it is started again."`
	Restart  restartCommand  `cmd:"" help:"Stop one service and start it again."`
	Check    checkCommand    `cmd:"" help:"Say of each part whether it is well."`
	Logs     logsCommand     `cmd:"" help:"Print the last lines of the logs, or follow them."`
	Doctor   doctorCommand   `cmd:"" help:"Pack what a bug report needs, without secrets."`
	Reset    resetCommand    `cmd:"" name:"reset-budget" help:"Forgive a service its failures."`
	Migrate  migrateCommand  `cmd:"" help:"Bring the database to this version."`
	Upgrade  upgradeCommand  `cmd:"" help:"Put a new version in place so that it is seen to work."`
	Queue    queueCommand    `cmd:"" help:"List the Jobs of the queue."`
	Pause    pauseCommand    `cmd:"" help:"Pause a Job or a Site, or hold all downloads."`
	Resume   resumeCommand   `cmd:"" help:"Let a paused Job go on, or ask a Site again whose circuit is paused or resting."`
	Release  releaseCommand  `cmd:"" help:"End a Hold on all downloads."`
	Retry    retryCommand    `cmd:"" help:"Put a Job that was set aside back in the queue."`
	Cancel   cancelCommand   `cmd:"" help:"End a Job. What is in the library stays."`
	Import   importCommand   `cmd:"" help:"Bring in what somebody follows and has read, from a backup."`
	Export   exportCommand   `cmd:"" help:"Print what people follow and have read, as one file."`
	Incident incidentCommand `cmd:"" help:"Look at what went wrong, and save it for a report."`
	Library  libraryCommand  `cmd:"" help:"Rebuild, verify and mend the library."`
	Site     siteCommand     `cmd:"" help:"Look at how Sites are read."`
	Settings settingsCommand `cmd:"" help:"List the settings, with defaults."`
	Archive  archiveCommand  `cmd:"" help:"Put the supervisor's append-only log aside, while Mangrove is stopped."`
	Version  versionCommand  `cmd:"" help:"Print the version."`

	Completion completionCommand `cmd:"" help:"Print the completion for a shell."`
}

// console is where a command writes for a person.
type console struct{ out, err io.Writer }

// codeError is an error with the exit code it ends in.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string { return e.err.Error() }
func (e *codeError) Unwrap() error { return e.err }

// saidError is the exit code of a program that has said itself what was wrong.
type saidError struct{ code int }

func (e *saidError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

func coded(code int, format string, args ...any) error {
	return &codeError{code, fmt.Errorf(format, args...)}
}

// run parses args, runs the command and returns the exit code. The error, if
// any, is for the one line on standard error.
func run(args []string, out, errOut io.Writer) (int, error) {
	var c commands
	asked := -1
	parser, err := newParser(&c, console{out, errOut}, kong.Exit(func(code int) { asked = code }))
	if err != nil {
		return config.ExitFailure, err
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	selected, err := parser.Parse(args)
	if asked >= 0 {
		return asked, nil
	}
	if err != nil {
		return config.ExitSettings, fmt.Errorf("%w; `mangrove --help` lists the commands", err)
	}
	err = selected.Run(console{out, errOut})
	if said := (*saidError)(nil); errors.As(err, &said) {
		return said.code, nil
	}
	return exitCode(err), err
}

// newParser makes the parser of the command line.
func newParser(c *commands, con console, more ...kong.Option) (*kong.Kong, error) {
	return kong.New(c, append([]kong.Option{
		kong.Name("mangrove"), kong.Description("Mangrove, a self-hosted manga library.\n\nExample: mangrove up"),
		kong.Writers(con.out, con.err), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	}, more...)...)
}

// exitCode sorts an error: wrong settings are 2, a lock 75, the rest 1 unless
// the error says so itself.
func exitCode(err error) int {
	var c *codeError
	var setting *config.SettingError
	var locked *preflight.LockedError
	switch {
	case err == nil:
		return config.ExitOK
	case errors.As(err, &c):
		return c.code
	case errors.As(err, &setting):
		return config.ExitSettings
	case errors.As(err, &locked):
		return config.ExitLock
	}
	return config.ExitFailure
}

// line is an error as one line, whatever it quotes.
func line(err error) string { return "mangrove: " + printable(err.Error()) }

// printable takes line breaks and what could command a terminal out of text.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || (r >= 0x7f && r < 0xa0) {
			return ' '
		}
		return r
	}, text)
}
