// Package browser reads the pages that are only there once their scripts have
// run. It keeps one Chromium for all Sites that ask for it: started when the
// first page is asked for, confined, watched, renewed now and then, and gone
// with everything it started when the scraper ends, however it ends.
//
// Each page has a browser context and a guarded proxy of its own, so that what
// it sends obeys the rules of package fetch and nothing is left of it for the
// next page. The package lists no Site, paces nothing, classifies nothing by
// itself (fetch does) and refuses to answer a challenge, to disguise itself, to
// keep cookies, to download, and to start a browser without its sandbox unless
// the operator said so.
//
// It is the only importer of rod, of which it uses the protocol and not the
// launcher: rod's would fetch a browser of its own and run a helper from a
// temporary folder.
package browser
