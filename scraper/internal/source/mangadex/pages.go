package mangadex

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"mangrove/scraper/internal/source"
)

// assignment is the image server the API assigns for a chapter.
type assignment struct {
	Result  string `json:"result"`
	BaseURL string `json:"baseUrl"`
	Chapter *struct {
		Hash  string    `json:"hash"`
		Data  *[]string `json:"data"`
		Saver *[]string `json:"dataSaver"`
	} `json:"chapter"`
}

// Pages asks which server has a chapter's pages. Its name and token change with
// every asking; a page is known by its file, which is named by its content.
func (a *Adapter) Pages(ctx context.Context, f source.Fetcher, _ source.Key, ch source.Chapter) ([]source.Page, error) {
	if !isID(ch.ID) {
		return nil, source.Unparsed(Key+"/"+ch.ID, "this is no chapter's id of MangaDex")
	}
	// Servers on other ports are not dialled (SEC-2).
	resp, err := f.Get(ctx, source.Request{URL: a.at("/at-home/server/"+ch.ID, url.Values{"forcePort443": {"true"}}), Want: source.WantJSON})
	if err != nil {
		return nil, err
	}
	if len(resp.Body) > maxBody {
		return nil, source.NoLandmark(resp.URL, "end within bounds")
	}
	var s assignment
	err = json.Unmarshal(resp.Body, &s)
	if s.Result == "error" {
		_, err := open(resp, "assignment")
		return nil, err
	}
	if s.Result != "ok" {
		return nil, source.NoLandmark(resp.URL, `"result": "ok"`)
	}
	if err != nil {
		return nil, unparsed(resp.URL, err)
	}
	if s.Chapter == nil {
		return nil, source.Unparsed(resp.URL, "no chapter came with the server")
	}
	files := s.Chapter.Data
	if a.quality != "data" {
		files = s.Chapter.Saver
	}
	switch {
	case files == nil:
		return nil, source.Unparsed(resp.URL, "the chapter has no list of files")
	case len(*files) == 0:
		// The Site's own word that it has no page here.
		return nil, nil
	case len(*files) > maxPages:
		return nil, source.Unparsed(resp.URL, "the chapter has %d pages, more than %d", len(*files), maxPages)
	case !isFile(s.Chapter.Hash) || !a.isServer(s.BaseURL):
		return nil, source.Unparsed(resp.URL, "the server or the chapter's hash is not of the documented shape")
	}
	pages := make([]source.Page, len(*files))
	for i, file := range *files {
		if !isFile(file) {
			return nil, source.Unparsed(resp.URL, "the name of page %d is not of the documented shape", i+1)
		}
		pages[i] = source.Page{URL: strings.TrimRight(s.BaseURL, "/") + "/" + a.quality + "/" + s.Chapter.Hash + "/" + file, Identity: file}
	}
	return pages, nil
}

// maxPages is how many pages a chapter may have (B35).
const maxPages = 2000

// isServer reports whether an address can be an image server's; whether it may
// be asked is decided by the Site's hosts.
func (a *Adapter) isServer(address string) bool {
	u, err := url.Parse(address)
	return err == nil && len(address) <= 1000 && u.Scheme == a.api.Scheme && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// isFile reports whether s is a plain file name, which needs no escaping and
// leads nowhere.
func isFile(s string) bool {
	return s != "" && len(s) <= 200 && s[0] != '.' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
}
