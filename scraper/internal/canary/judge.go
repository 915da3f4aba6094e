package canary

import (
	"errors"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/fetch"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// Series judges the reading of a known Series. chapters is how many its list had when
// it was last read well, 0 when that is not known.
func Series(k Known, r poll.Result, chapters int) (Outcome, error) {
	switch r.Outcome {
	case poll.NotFound:
		if k.Declared {
			return Gone, r.Err
		}
		// That is the Series' own end, and its Poll says so.
		return Away, r.Err
	case poll.NoChapter:
		return NoChapter, r.Err
	case poll.Errors, poll.Unfetchable, poll.Refused, poll.Unreachable:
		return failed(r.Outcome, r.Err), r.Err
	}
	if n := len(r.Reading.Chapters); 2*n < chapters {
		return Fewer, source.Unparsed(k.URL, "the list has %d chapters where there were %d", n, chapters)
	}
	return OK, nil
}

// Pages judges the page list of a chapter. owed is true when it has had pages before;
// of another, an empty list is the Site's own word (JOB-10).
func Pages(site source.Site, ch source.Chapter, pages []source.Page, err error, owed bool) (Outcome, error) {
	switch {
	case fault.Is(err, fault.Page), fault.Is(err, fault.NotFound):
		// The list that was just read names it.
		return NoPages, err
	case err != nil:
		return failed(poll.Judge(err), err), err
	case len(pages) == 0 && owed:
		return NoPages, source.Unparsed(ch.URL, "the chapter has no page where it had some")
	}
	for i, p := range pages {
		if err := fetch.Askable(site, p.URL); err != nil || p.Identity == "" {
			return BadPages, source.Unparsed(ch.URL, "page %d of %d has no address that may be asked", i+1, len(pages))
		}
	}
	return OK, nil
}

// failed is the word for a read that yielded nothing.
func failed(o poll.Outcome, err error) Outcome {
	switch o {
	case poll.Errors:
		return Errors
	case poll.Refused:
		return Refused
	case poll.Unfetchable:
		var elsewhere *source.Elsewhere
		switch {
		case source.ProposedMove(err) != "":
			return Moved
		case fault.Is(err, fault.Parser) && !errors.As(err, &elsewhere):
			return NoLandmark
		}
	}
	return Away
}

// line is the one line of a classified error.
func line(err error) string {
	if err == nil {
		return ""
	}
	return fault.Line(err)
}
