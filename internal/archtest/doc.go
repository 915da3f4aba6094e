// Package archtest holds the import table of docs/architecture.md and the rule
// that every package says what lives in it, as tests. It contains no product
// code and nothing imports it.
package archtest
