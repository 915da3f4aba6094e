package sourcetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// Incident replays the bundle of an incident that was unpacked into folder, and
// fails as long as the adapter does not read what broke it.
func Incident(t *testing.T, a source.Adapter, folder string) {
	t.Helper()
	if err := Replay(t.Context(), a, folder); err != nil {
		t.Errorf("%s: %v", folder, err)
	}
}

// Replay has the adapter read what the incident in folder has kept: the page list
// of its chapter if it names one, else the page of its Series.
func Replay(ctx context.Context, a source.Adapter, folder string) error {
	data, err := os.ReadFile(filepath.Join(folder, "incident.json"))
	if err != nil {
		return err
	}
	var r incident.Report
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	f := &recording{}
	for _, e := range r.Evidence {
		body, err := os.ReadFile(filepath.Join(folder, filepath.Base(e.File)))
		if err != nil {
			return err
		}
		f.answers = append(f.answers, recorded{e, body, false})
	}
	if len(f.answers) == 0 {
		return fmt.Errorf("the incident has no evidence")
	}
	first := source.Subject(r.Evidence[0].Address)
	if r.ChapterID == "" {
		return poll.Check(ctx, a, f, source.Ask{SeriesID: r.SeriesID, URL: first}).Err
	}
	pages, err := a.Pages(ctx, f, source.Key{Site: r.Site, SeriesID: r.SeriesID}, source.Chapter{ID: r.ChapterID, URL: first})
	if err == nil && len(pages) == 0 {
		err = source.Unparsed(first, "no page was found")
	}
	return err
}

// recorded is one answer of an incident, and whether it has been given.
type recorded struct {
	incident.Answer
	body  []byte
	given bool
}

// recording answers what was answered then: by path, since the values of a query
// were not kept, and in the order in which it came.
type recording struct{ answers []recorded }

func (f *recording) Get(_ context.Context, r source.Request) (*source.Response, error) {
	found := -1
	for i := range f.answers {
		if pathOf(f.answers[i].Address) != pathOf(r.URL) && len(f.answers) > 1 {
			continue
		}
		if found < 0 || f.answers[found].given {
			found = i
		}
	}
	if found < 0 {
		return nil, fault.Newf(fault.NotFound, "get", source.Subject(r.URL), "the incident did not keep this answer")
	}
	a := &f.answers[found]
	a.given = true
	switch {
	case a.Status == 404 || a.Status == 410:
		return nil, fault.New(fault.NotFound, "get", a.Address, &source.Status{Code: a.Status})
	case a.Status == 401 || a.Status == 403 || a.Status == 429:
		return nil, fault.New(fault.Access, "get", a.Address, &source.Status{Code: a.Status}).WithEvidence(fault.Answered)
	case a.Status >= 400:
		return nil, fault.New(fault.Network, "get", a.Address, &source.Status{Code: a.Status}).WithEvidence(fault.Answered)
	}
	return &source.Response{URL: r.URL, MediaType: a.MediaType, Body: a.body}, nil
}

func pathOf(address string) string {
	u, err := url.Parse(source.Subject(address))
	if err != nil {
		return address
	}
	return u.Path
}
