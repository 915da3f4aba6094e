// Package soak lets Mangrove's scraper live for a month with nobody there (H9): real
// Lanes, Jobs, Inventory and PostgreSQL, in virtual time, over stand-in Sites that
// misbehave by a seeded plan, with kills in between. It looks at library, database and
// the Sites' ledgers, and at nothing inside. Nothing imports it; what a kill between
// two lines does to files is shown by package faults, what HTTP does by package fetch.
package soak
