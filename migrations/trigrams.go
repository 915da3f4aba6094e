package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// createTrigrams makes the search's extension. Where it may be made by a role that
// is no superuser, the role needs CREATE on the database.
const createTrigrams = "CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA reader"

// ErrNoTrigrams means that the search cannot work: the server does not bring
// pg_trgm, or the role may not make it.
var ErrNoTrigrams = errors.New("the database has no pg_trgm in its schema reader, which the search needs, and Mangrove's role may not make it")

// trigrams sees to it that the extension is there before a migration needs it, and
// says what an administrator of the database can do where it cannot be made.
func trigrams(ctx context.Context, db *sql.DB) error {
	var schema string
	const where = "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'"
	err := db.QueryRowContext(ctx, where).Scan(&schema)
	switch {
	case err == nil && schema == "reader":
		return nil
	case err == nil:
		return fmt.Errorf("%w. It lies in the schema %s; run as an administrator of this database: ALTER EXTENSION pg_trgm SET SCHEMA reader", ErrNoTrigrams, schema)
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	if _, err := db.ExecContext(ctx, createTrigrams); lacks(err) {
		return fmt.Errorf("%w. Run as an administrator of this database: %s (%w)", ErrNoTrigrams, createTrigrams, err)
	} else if err != nil {
		return fmt.Errorf("make pg_trgm: %w", err)
	}
	return nil
}

// lacks reports whether an extension was refused or is not on the server.
func lacks(err error) bool {
	return isCode(err, "42501") || isCode(err, "0A000") || isCode(err, "58P01")
}
