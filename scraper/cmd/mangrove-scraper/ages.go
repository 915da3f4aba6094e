package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.uber.org/zap"

	"mangrove/internal/config"
	"mangrove/internal/durable"
	"mangrove/internal/pg"
	"mangrove/migrations"
	"mangrove/scraper/internal/store"
)

// agesFile keeps the ages of failures across a downgrade (POLL-11).
func agesFile(cfg config.Config) string {
	return filepath.Join(cfg.DataDir, "scraper", "failure-ages.json")
}

// maxAges bounds what is read back.
const maxAges = 64 << 20

// downgrade saves the ages of failures and takes the database back to version.
func downgrade(ctx context.Context, cfg config.Config, d migrations.Database, version int64) error {
	address := d.OwnerURL
	if d.AdminURL != "" {
		address = d.AdminURL
	}
	pool, err := pg.Open(ctx, address, pg.Options{Schema: store.Schema, MaxConns: 1})
	if err != nil {
		return err
	}
	defer pool.Close()
	ages, err := store.New(pool).Ages(ctx)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(ages, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(agesFile(cfg)), 0o700); err != nil {
		return durable.Classify("create", filepath.Dir(agesFile(cfg)), err)
	}
	if err := durable.WriteFile(agesFile(cfg), data, 0o600); err != nil {
		return err
	}
	if err := migrations.Down(ctx, d, version); err != nil {
		return err
	}
	fmt.Printf("the database is at version %d; the ages of %d failing Series are kept in %s\n", version, len(ages), agesFile(cfg))
	return nil
}

// takeAges takes back what a downgrade saved, for the Series known again; the rest
// is kept for the next start. A file that cannot be read is left where it is.
func takeAges(ctx context.Context, cfg config.Config, db *store.Store, log *zap.Logger) error {
	file := agesFile(cfg)
	info, err := os.Stat(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var ages []store.Age
	if err == nil && info.Size() > maxAges {
		err = errors.New("it is too large")
	}
	if err == nil {
		var data []byte
		if data, err = os.ReadFile(file); err == nil {
			err = json.Unmarshal(data, &ages)
		}
	}
	if err != nil {
		log.Warn("the saved ages of failures cannot be read", zap.String("file", file), zap.Error(err))
		return nil
	}
	left, err := db.TakeAges(ctx, ages)
	if err != nil {
		return err
	}
	log.Info("ages of failures taken back", zap.Int("taken", len(ages)-len(left)), zap.Int("left", len(left)))
	if len(left) == 0 {
		return durable.Classify("remove", file, os.Remove(file))
	}
	data, err := json.MarshalIndent(left, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(file, data, 0o600)
}
