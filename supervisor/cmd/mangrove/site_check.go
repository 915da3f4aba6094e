package main

import "path/filepath"

type siteCheckCommand struct {
	File string `arg:"" help:"The description, a .yaml file."`
	URL  string `arg:"" optional:"" help:"The address of a Series, a chapter or a search on the Site."`
}

// Help is shown by `mangrove site check --help`.
func (siteCheckCommand) Help() string {
	return "Says what is wrong with a description, with file, line and column. With an address it asks the Site, as slowly as a Lane would, and shows what each key finds there and " +
		"what a Poll would end in; from a Series it goes on to the page list of its first chapter.\n\nExit codes: 0 all is well, 1 something is to be mended.\n\n" +
		"Example: mangrove site check comic.yaml https://comic.example/series/one"
}

// Run is `mangrove site check`.
func (c siteCheckCommand) Run(con console) error {
	// The program is started elsewhere.
	file, err := filepath.Abs(c.File)
	if err != nil {
		return err
	}
	args := []string{"site", "check", file}
	if c.URL != "" {
		args = append(args, c.URL)
	}
	return handOver(con, args...)
}
