package rpc

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/source"
)

// RecogniseSeries says of each Series of another program whether a Site here reads it.
func (s *Server) RecogniseSeries(_ context.Context, r *scraperv1.RecogniseSeriesRequest) (*scraperv1.RecogniseSeriesResponse, error) {
	if len(r.GetSeries()) > maxKeys {
		return nil, fault.Newf(fault.Invalid, "recognise", "Series", "%d at once, at most %d", len(r.GetSeries()), maxKeys)
	}
	adapters := s.Adapters.All()
	sites := slices.Sorted(maps.Keys(adapters))
	named := map[string][]string{}
	out := &scraperv1.RecogniseSeriesResponse{}
	for _, f := range r.GetSeries() {
		if len(f.GetAddress()) > maxAddress || len(f.GetSource()) > maxID {
			return nil, fault.Newf(fault.Invalid, "recognise", "Series", "an address or a name is too long")
		}
		called, seen := named[f.GetSource()]
		if !seen {
			for _, site := range sites {
				if isCalled(adapters[site].Site(), f.GetSource()) {
					called = append(called, site)
				}
			}
			named[f.GetSource()] = called
		}
		out.Series = append(out.Series, recogniseForeign(adapters, sites, called, f.GetAddress()))
	}
	return out, nil
}

// recogniseForeign tries a whole address with every Site. One without its host is
// put on the hosts of the Sites that have the source's name, and on no others.
func recogniseForeign(adapters map[string]source.Adapter, sites, called []string, address string) *scraperv1.RecognisedSeries {
	read := func(site, address string) *scraperv1.RecognisedSeries {
		id, url, ok := adapters[site].Recognise(address)
		if !ok || len(id) > maxID {
			return nil
		}
		return &scraperv1.RecognisedSeries{
			Word: "read", Key: keyMessage(source.Key{Site: site, SeriesID: id}), Url: url, SiteName: adapters[site].Site().Name,
		}
	}
	if strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") {
		for _, site := range sites {
			if got := read(site, address); got != nil {
				return got
			}
		}
	} else if address != "" {
		for _, site := range called {
			for _, host := range adapters[site].Site().Hosts {
				if strings.HasPrefix(host, "*") {
					continue
				}
				for _, scheme := range []string{"https://", "http://"} {
					if got := read(site, scheme+host+"/"+strings.TrimLeft(address, "/")); got != nil {
						return got
					}
				}
			}
		}
	}
	if len(called) > 0 {
		return &scraperv1.RecognisedSeries{Word: "unread", SiteName: adapters[called[0]].Site().Name}
	}
	return &scraperv1.RecognisedSeries{Word: "no-adapter"}
}

// isCalled reports whether another program's name for a source is that of a Site:
// its name, its key, or a host without what stands behind its last point. Case,
// spaces and signs do not count.
func isCalled(site source.Site, name string) bool {
	name = letters(name)
	if name == "" {
		return false
	}
	if name == letters(site.Name) || name == letters(site.Key) {
		return true
	}
	return slices.ContainsFunc(site.Hosts, func(host string) bool {
		host = strings.TrimPrefix(strings.TrimPrefix(host, "*."), "www.")
		label, _, _ := strings.Cut(host, ":")
		if end := strings.LastIndexByte(label, '.'); end > 0 {
			label = label[:end]
		}
		return name == letters(label)
	})
}

// letters keeps letters and digits, in lower case.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// AdoptFolder makes files of another program chapters of a Series.
func (s *Server) AdoptFolder(ctx context.Context, r *scraperv1.AdoptFolderRequest) (*scraperv1.AdoptFolderResponse, error) {
	key, err := keyOf(r.GetKey())
	if err != nil {
		return nil, err
	}
	if r.GetFolder() == "" || key.Site == inventory.LocalSite {
		return nil, fault.Newf(fault.Invalid, "adopt", "a folder", "it has no name, or no Series to go to")
	}
	files, listed, err := s.Store.AdoptFolder(ctx, r.GetFolder(), key, time.Now())
	if err != nil {
		return nil, err
	}
	s.Hub.LibraryChanged()
	s.Hub.Changed(key)
	s.Library.Invalidate()
	return &scraperv1.AdoptFolderResponse{Files: int32(files), Chapters: int32(listed)}, nil
}

// ReturnFolder takes that back.
func (s *Server) ReturnFolder(ctx context.Context, r *scraperv1.ReturnFolderRequest) (*scraperv1.ReturnFolderResponse, error) {
	files, err := s.Store.ReturnFolder(ctx, r.GetFolder())
	if err != nil {
		return nil, err
	}
	s.Hub.LibraryChanged()
	s.Library.Invalidate()
	return &scraperv1.ReturnFolderResponse{Files: int32(files)}, nil
}
