package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"go.uber.org/zap"

	"mangrove/internal/config"
	"mangrove/internal/fault"
	"mangrove/internal/pg"
	"mangrove/migrations"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/backup"
	"mangrove/reader/internal/follow"
	"mangrove/reader/internal/moving"
	"mangrove/reader/internal/scraperclient"
	"mangrove/reader/internal/store"
	"mangrove/reader/internal/web"
)

var errMoveUsage = &config.SettingError{Name: "usage", Problem: `mangrove-reader [import FILE NAME|"" [adopt] | export NAME|""]; no name means everybody`}

// mover is what both commands stand on.
type mover struct {
	store  *store.Store
	moving *moving.Service
	out    io.Writer
}

// move is the command line's import and export. It runs beside a reader that serves,
// on the same tables.
func move(ctx context.Context, command string, args []string, out io.Writer) error {
	err := tryMove(ctx, command, args, out)
	if moveCode(err) == config.ExitDatabase {
		return fmt.Errorf("the database does not answer: %w", err)
	}
	return err
}

func tryMove(ctx context.Context, command string, args []string, out io.Writer) error {
	adopts := command == "import" && len(args) == 3 && args[2] == "adopt"
	switch {
	case command == "export" && len(args) == 1, command == "import" && len(args) == 2, adopts:
	default:
		return errMoveUsage
	}
	cfg, err := config.FromEnvironment()
	if err != nil {
		return err
	}
	address, err := cfg.RoleURL("reader")
	if err != nil {
		return err
	}
	pool, err := pg.Open(ctx, address.Reveal(), pg.Options{Schema: "reader", MaxConns: 2})
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := migrations.Check(ctx, pool); err != nil {
		return err
	}
	scraper, err := scraperclient.New(cfg.ScraperSocket(), zap.NewNop())
	if err != nil {
		return err
	}
	defer func() { _ = scraper.Close() }()
	st := store.New(pool)
	m := mover{st, moving.New(st, scraper, follow.New(st, scraper, zap.NewNop())), out}
	if command == "export" {
		return m.export(ctx, args[0])
	}
	return m.bring(ctx, args[0], args[1], adopts)
}

// moveCode is the exit code of a command: 3 for a database that does not answer.
func moveCode(err error) int {
	var away *scraperclient.AwayError
	if (pg.Down(err) || fault.Is(err, fault.Away)) && !errors.As(err, &away) {
		return config.ExitDatabase
	}
	var setting *config.SettingError
	if errors.As(err, &setting) {
		return config.ExitSettings
	}
	return exitCode(err)
}

// export prints one person's file, or everybody's with "".
func (m mover) export(ctx context.Context, name string) error {
	people, err := m.people(ctx, name)
	if err != nil {
		return err
	}
	return backup.Write(m.out, people, time.Now())
}

func (m mover) people(ctx context.Context, name string) ([]backup.Person, error) {
	if name == "" {
		return m.moving.AllOut(ctx)
	}
	person, err := m.person(ctx, name)
	if err != nil {
		return nil, err
	}
	return m.moving.Out(ctx, person.ID, person.Name)
}

func (m mover) person(ctx context.Context, name string) (account.Person, error) {
	people, err := m.store.People(ctx)
	if err != nil {
		return account.Person{}, err
	}
	_, key, _ := account.FoldName(name)
	for _, p := range people {
		if _, theirs, _ := account.FoldName(p.Name); theirs == key && key != "" {
			return p, nil
		}
	}
	return account.Person{}, fmt.Errorf("nobody here is called %q", name)
}

// bring plans a file for one person, or with "" for everybody it names, and adopts it
// if that is asked for.
func (m mover) bring(ctx context.Context, file, name string, adopts bool) error {
	data, err := readFile(file)
	if err != nil {
		return err
	}
	names := []string{name}
	if name == "" {
		if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
			return fmt.Errorf("%s: only a file of mangrove export holds several people; name one with --user", filepath.Base(file))
		}
		e, err := backup.ReadExport(data)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		names = nil
		for _, p := range e.People {
			names = append(names, p.Name)
		}
	}
	// All of them before the first is planned: a name that is wrong changes nothing.
	var people []account.Person
	for _, name := range names {
		p, err := m.person(ctx, name)
		if err != nil {
			return err
		}
		people = append(people, p)
	}
	for n, p := range people {
		if err := m.bringOne(ctx, p, names[n], file, data, adopts); err != nil {
			return err
		}
	}
	return nil
}

func (m mover) bringOne(ctx context.Context, p account.Person, name, file string, data []byte, adopts bool) error {
	id, err := m.moving.Plan(ctx, p.ID, name, filepath.Base(file), bytes.NewReader(data))
	var wrong *backup.FileError
	var away *scraperclient.AwayError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("%s: %w", filepath.Base(file), wrong)
	case errors.As(err, &away):
		return fmt.Errorf("the scraper does not answer, and it alone knows which Sites are read here; nothing was changed: %w", err)
	case err != nil:
		return err
	}
	if err := m.tell(ctx, p, id); err != nil {
		return err
	}
	if !adopts {
		_, err = fmt.Fprintf(m.out, "This was a dry run: nothing has been changed. Adopt it with --adopt, or at Me → Move in and out.\n")
		return err
	}
	if err := m.moving.Adopt(ctx, p.ID, id); err != nil {
		return err
	}
	i, err := m.store.Import(ctx, p.ID, id)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(m.out, "%d Series adopted for %s. It can be undone for 30 days at Me → Move in and out.\n", i.All().Kept, plain(p.Name))
	return err
}

// told is how many Series of each word are printed.
const told = 50

// tell prints what was found; of what is matched only how many.
func (m mover) tell(ctx context.Context, p account.Person, id int64) error {
	i, err := m.store.Import(ctx, p.ID, id)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s for %s: %d Series, %d chapters, %d read\n", plain(i.Name), plain(p.Name), i.All().Items, i.All().Chapters, i.All().Read)
	for _, word := range moving.Words() {
		c := i.Counts[word]
		fmt.Fprintf(&b, "%-11s %d\n", word, c.Items)
		if word == moving.Matched || c.Items == 0 {
			continue
		}
		items, err := m.store.ImportItems(ctx, id, word, 0, told)
		if err != nil {
			return err
		}
		for _, item := range items {
			fmt.Fprintf(&b, "  %s: %s\n", plain(item.Title), plain(web.ReasonWords(item)))
		}
		if more := c.Items - len(items); more > 0 {
			fmt.Fprintf(&b, "  and %d more\n", more)
		}
	}
	_, err = io.WriteString(m.out, b.String())
	return err
}

// readFile reads a backup within bounds.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, backup.MaxFile+1))
}

// plain takes out what could command a terminal.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}
