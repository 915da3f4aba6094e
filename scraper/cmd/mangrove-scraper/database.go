package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"mangrove/internal/config"
	"mangrove/migrations"
)

// database looks whether the database that MANGROVE_DATABASE_URL names answers and is
// one of Mangrove's that this program may use. It changes nothing there.
func database(ctx context.Context, cfg config.Config, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	if cfg.DatabaseURL == "" {
		return &exit{config.ExitConfig, fmt.Errorf("%s: is not set", config.DatabaseURL)}
	}
	version, err := migrations.Current(ctx, migrations.Database{AdminURL: cfg.DatabaseURL.Reveal()})
	switch {
	case errors.Is(err, migrations.ErrOlder):
		return &exit{config.ExitConfig, fmt.Errorf("%s: that database holds no Mangrove; copy yours there first (pg_dump, pg_restore)", config.DatabaseURL)}
	case err != nil:
		return migrateFailure(config.DatabaseURL, err)
	}
	_, err = fmt.Fprintf(out, "answers, migrated to version %d\n", version)
	return err
}
