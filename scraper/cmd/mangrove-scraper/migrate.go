package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"mangrove/internal/config"
	"mangrove/internal/durable"
	"mangrove/internal/pg"
	"mangrove/migrations"
)

// migrate prepares the database and leaves each service's address in a file only
// its owner can read. It is safe to run at every start and however many run it.
// With to not below zero it goes back to that version instead, for a downgrade.
func migrate(ctx context.Context, cfg config.Config, to int64) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	if err := os.MkdirAll(cfg.SecretsDir(), 0o700); err != nil {
		return &exit{config.ExitConfig, fmt.Errorf("%s: %s cannot be made: %s", config.Data, cfg.SecretsDir(), durable.Reason(err))}
	}
	setting := config.DatabaseURL
	d := migrations.Database{AdminURL: cfg.DatabaseURL.Reveal()}
	urls := map[string]string{"reader": cfg.DatabaseURLReader.Reveal(), "scraper": cfg.DatabaseURLScraper.Reveal()}
	switch {
	case cfg.ThreeRoles():
		setting = config.DatabaseURLOwner
		d.OwnerURL = cfg.DatabaseURLOwner.Reveal()
	case d.AdminURL == "":
		return &exit{config.ExitConfig, fmt.Errorf("%s: is not set; run `mangrove migrate`, which knows the database, or set it", config.DatabaseURL)}
	default:
		for role, password := range map[string]*string{"reader": &d.ReaderPassword, "scraper": &d.ScraperPassword} {
			*password = keptPassword(urlFile(cfg, role))
			var err error
			if urls[role], err = migrations.RoleURL(d.AdminURL, "mangrove_"+role, *password); err != nil {
				return &exit{config.ExitConfig, fmt.Errorf("%s: %w", config.DatabaseURL, err)}
			}
		}
	}
	if to >= 0 {
		if err := downgrade(ctx, cfg, d, to); err != nil {
			return migrateFailure(setting, err)
		}
		return nil
	}
	if err := migrations.Apply(ctx, d); err != nil {
		return migrateFailure(setting, err)
	}
	for role, u := range urls {
		if err := durable.WriteFile(urlFile(cfg, role), []byte(u+"\n"), 0o600); err != nil {
			return &exit{config.ExitConfig, fmt.Errorf("%s: %s cannot be written: %s", config.Data, urlFile(cfg, role), durable.Reason(err))}
		}
	}
	return nil
}

// migrateFailure words why the database could not be prepared, in one line that
// names the setting and holds no secret.
func migrateFailure(setting string, err error) error {
	var pgErr *pgconn.PgError
	switch {
	case errors.Is(err, migrations.ErrNewer):
		return &exit{config.ExitConfig, fmt.Errorf("%s: %w; install that version again", setting, err)}
	case errors.As(err, &pgErr) && !pg.Down(err):
		if strings.HasPrefix(pgErr.Code, "28") {
			return &exit{config.ExitDatabase, fmt.Errorf("%s: the server refused the sign-in: %s", setting, pgErr.Message)}
		}
		return &exit{config.ExitConfig, fmt.Errorf("%s: %s", setting, oneLine(err))}
	case pg.Down(err):
		return &exit{config.ExitDatabase, fmt.Errorf("%s: the database does not answer: %s", setting, connectReason(err))}
	}
	return &exit{config.ExitConfig, fmt.Errorf("%s: %s", setting, oneLine(err))}
}

// connectReason is the last, most telling part of a connection error, whose whole
// text repeats the address.
func connectReason(err error) string {
	parts := strings.Split(oneLine(err), ": ")
	return parts[len(parts)-1]
}

func oneLine(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}

func urlFile(cfg config.Config, role string) string {
	return filepath.Join(cfg.SecretsDir(), role+".url")
}

// keptPassword is the password the role was given before, or a new one.
func keptPassword(file string) string {
	if data, err := os.ReadFile(file); err == nil {
		if u, err := url.Parse(strings.TrimSpace(string(data))); err == nil && u.User != nil {
			if p, ok := u.User.Password(); ok && p != "" && !strings.ContainsAny(p, `'\`) {
				return p
			}
		}
	}
	return rand.Text()
}
