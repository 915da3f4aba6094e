// Package fetch is the only HTTP client of the scraper. Everything it asks
// passes a request slot of the Site's Lane, goes to the Site's declared hosts,
// dials no private address (SEC-2), is bounded in time and size, and comes back
// either as what was asked for or as an error classified here, where the
// evidence is. It parses nothing and never repeats what a Site refused.
package fetch
