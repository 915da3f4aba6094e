package main

type libraryCommand struct {
	Rebuild    libraryRebuildCommand    `cmd:"" help:"Make the database know again what the library's folder holds."`
	Verify     libraryVerifyCommand     `cmd:"" help:"Read every file whole and say which no longer hold what was published."`
	FetchAgain libraryFetchAgainCommand `cmd:"" help:"Fetch one chapter once more, in place of the file that is there."`
}

// Help is shown by `mangrove library --help`.
func (libraryCommand) Help() string {
	return "What is in the library's folder outlives its database: each chapter says inside what it is, and mangrove.json in the folder of a Series what is known of that.\n\n" +
		libraryCodes + "Example: mangrove library verify"
}

const libraryCodes = "It works while the scraper runs, is stopped or is parked.\n\nExit codes: 0 done, 1 refused or something is rotten, 3 the database does not answer.\n\n"

type libraryRebuildCommand struct{}

// Help is shown by `mangrove library rebuild --help`.
func (libraryRebuildCommand) Help() string {
	return "For a database that was lost or made anew. Looks at every file, and at the mangrove.json of each Series. Nothing in the folder is changed, what the database " +
		"knows already stays, and no chapter that is there is fetched again. Who follows what, and what was read, is not in the folder: mangrove import brings that back from an export.\n\n" +
		libraryCodes + "Example: mangrove library rebuild"
}

// Run is `mangrove library rebuild`.
func (libraryRebuildCommand) Run(con console) error { return handOver(con, "library", "rebuild") }

type libraryVerifyCommand struct {
	Due bool `help:"Only what was not read whole for ninety days, as is done each night."`
}

// Help is shown by `mangrove library verify --help`.
func (libraryVerifyCommand) Help() string {
	return "Each page is compared with its digest from when it was downloaded. What is not the same becomes an incident; nothing is deleted and nothing fetched. " +
		"It takes as long as reading the whole library does, can be stopped at any time, and goes on where it was.\n\n" + libraryCodes + "Example: mangrove library verify"
}

// Run is `mangrove library verify`.
func (c libraryVerifyCommand) Run(con console) error {
	if c.Due {
		return handOver(con, "library", "verify", "--due")
	}
	return handOver(con, "library", "verify")
}

type libraryFetchAgainCommand struct {
	Site    string `arg:"" help:"The Site's key."`
	Series  string `arg:"" help:"The Series' id on its Site."`
	Chapter string `arg:"" help:"The chapter's id on its Site, as mangrove incident show names it."`
}

// Help is shown by `mangrove library fetch-again --help`.
func (libraryFetchAgainCommand) Help() string {
	return "For a file that is rotten or missing. The file that is there is shown until the new one is published, and then removed; what was read stays.\n\n" + libraryCodes +
		"Example: mangrove library fetch-again sample pepper-and-carrot episode-2"
}

// Run is `mangrove library fetch-again`.
func (c libraryFetchAgainCommand) Run(con console) error {
	return handOver(con, "library", "fetch-again", c.Site, c.Series, c.Chapter)
}
