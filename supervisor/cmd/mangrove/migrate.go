package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"mangrove/internal/config"
	"mangrove/internal/logging"
	"mangrove/supervisor/internal/child"
	"mangrove/supervisor/internal/postgres"
	"mangrove/supervisor/internal/service"
)

type migrateCommand struct {
	DownTo int64 `default:"-1" help:"Go back to this version, for a downgrade. The ages of failures are saved first and taken back by the next upgrade."`
}

// Help is shown by `mangrove migrate --help`.
func (migrateCommand) Help() string {
	return "`mangrove up` does this by itself. Use this command to migrate before a start, for example from a deployment.\n\n" +
		"Exit codes: 0 done, 2 a wrong setting or an unreachable database, 78 the database is newer than this program.\n\n" +
		"Example: MANGROVE_DATABASE_URL=postgres://mangrove@db/mangrove mangrove migrate"
}

// Run migrates the configured database. With the embedded default and no
// supervisor running, the private server is started for the while.
func (m migrateCommand) Run(con console) error {
	var args []string
	if m.DownTo >= 0 {
		args = []string{"downgrade", strconv.FormatInt(m.DownTo, 10)}
	}
	c, err := configured()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if c.Embedded() {
		if status, err := askStatus(ctx, c); err == nil && serves(status, "postgres") {
			scraper, _, err := siblings()
			if err != nil {
				return err
			}
			return migrate(ctx, c, nil, scraper, clusterLayout(c).AdminURL("mangrove"), args...)
		}
	}
	s, err := prepare(ctx, c, con, false)
	if err != nil {
		return err
	}
	defer s.close()
	if s.postgres == nil {
		return migrate(ctx, c, s.family, s.scraperPath, "", args...)
	}
	defer s.group.stop(nil)
	keeper := s.group.start(s.postgres, s.budget(postgres.Name), nil)
	waits, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	parked := func() { giveUp(errParked) }
	if err := s.group.await(waits, keeper, service.Serving, parked); err != nil {
		if errors.Is(context.Cause(waits), errParked) {
			return errParked
		}
		return err
	}
	return migrate(ctx, c, s.family, s.scraperPath, s.postgres.Layout.AdminURL("mangrove"), args...)
}

// errParked ends a migration whose database would have to be started by an operator.
var errParked = errors.New("the database is parked after three failures within an hour; start Mangrove and look at: mangrove status")

// migrate runs `mangrove-scraper migrate`, which owns the schema, and turns its
// exit code into an error that names what to mend. The child prints one line
// and no secret; that line is all that is repeated. Other args than the default
// "migrate" go back instead.
func migrate(ctx context.Context, c config.Config, family *child.Family, scraper, admin string, args ...string) error {
	if len(args) == 0 {
		args = []string{"migrate"}
	}
	log := logging.Rotated(filepath.Join(c.LogDir(), "migrate.log"))
	defer func() { _ = log.Close() }()
	exit, lines, err := child.Run(ctx, child.Spec{
		Path: scraper, Args: args, Env: migrateEnvironment(os.Environ(), c, admin), Log: log, Family: family, Life: true,
	})
	if err != nil {
		return err
	}
	said := exit.String()
	if len(lines) > 0 {
		said = strings.TrimPrefix(lines[len(lines)-1], filepath.Base(scraper)+": ")
	}
	name := config.DatabaseURL
	if c.ThreeRoles() {
		name = config.DatabaseURLOwner
	}
	switch exit.Code {
	case config.ExitOK:
		return nil
	case config.ExitDatabase:
		if admin != "" {
			return coded(config.ExitDatabase, "the embedded database does not answer: %s", said)
		}
		// The line may name the setting itself.
		return &config.SettingError{Name: name, Problem: strings.TrimPrefix(said, name+": ")}
	case config.ExitConfig:
		return coded(config.ExitConfig, "%s", said)
	}
	return coded(config.ExitFailure, "the database cannot be migrated: %s", said)
}
