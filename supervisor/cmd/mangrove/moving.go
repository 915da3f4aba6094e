package main

import "path/filepath"

type importCommand struct {
	File      string `arg:"" help:"A .tachibk of Mihon, a zip of Kotatsu, or a .json of mangrove export."`
	User      string `xor:"who" required:"" help:"Whose library it comes into."`
	Everybody bool   `xor:"who" required:"" help:"Of a file of mangrove export: everybody in it who has that name here."`
	Adopt     bool   `help:"Adopt it at once, instead of only saying what would happen."`
}

const movingCodes = "The database must run, and for import the scraper too: it knows which Sites are read here.\n\nExit codes: 0 done, 1 refused, 3 the database does not answer.\n\n"

// Help is shown by `mangrove import --help`.
func (importCommand) Help() string {
	return "Says of each Series whether it is matched, ambiguous, unknown or without an adapter, and why. Nothing is changed without --adopt. What was found is kept, and stands at " +
		"Me → Move in and out, where it can be adopted, too, and undone for 30 days. Nobody is moved back in a chapter.\n\n" + movingCodes + "Example: mangrove import library.tachibk --user mo"
}

// Run is `mangrove import`.
func (c importCommand) Run(con console) error {
	// The program is started elsewhere.
	file, err := filepath.Abs(c.File)
	if err != nil {
		return err
	}
	args := []string{"import", file, c.User}
	if c.Adopt {
		args = append(args, "adopt")
	}
	return handOverTo(runReader, con, args...)
}

type exportCommand struct {
	User string `help:"Only this person; everybody if left out."`
}

// Help is shown by `mangrove export --help`.
func (exportCommand) Help() string {
	return "Prints one JSON file that a person can read. mangrove import, or Me → Move in and out, takes it back.\n\n" + movingCodes + "Example: mangrove export --user mo > mo.json"
}

// Run is `mangrove export`.
func (c exportCommand) Run(con console) error {
	return handOverTo(runReader, con, "export", c.User)
}
