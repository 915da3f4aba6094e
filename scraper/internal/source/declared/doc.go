// Package declared reads Sites that a person describes in a YAML file instead of
// in Go: one file a Site, its name the Site's key. It turns a description of pages
// into an adapter, and that of a feed or a catalog into those of packages feed and
// opds, says with file, line and column what is wrong with one, and
// notices when the files change. What a page says is bounded, and addresses are
// kept within the Site's hosts. It runs no script, repairs no markup, guesses no
// selector, and asks a Site only through the Fetcher it is handed.
package declared
