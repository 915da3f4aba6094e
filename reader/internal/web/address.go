package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/scraperclient"
)

// The addresses of things, in one place.

func seriesAddress(titleID int64) string { return "/series/" + strconv.FormatInt(titleID, 10) }

func siteAddress(key scraperclient.Key) string {
	return "/sites/" + url.PathEscape(key.Site) + "/" + url.PathEscape(key.SeriesID)
}

// addAddress leads to the follow page of an address; title is what it was called
// where it was found, "" if nowhere.
func addAddress(address, title string) string {
	v := url.Values{"address": {address}}
	if title != "" {
		v.Set("title", title)
	}
	return "/add?" + v.Encode()
}

// moveAddress leads to the preview of a move; without an address, to the form.
func moveAddress(key scraperclient.Key, address string) string {
	a := siteAddress(key) + "/move"
	if address != "" {
		a += "?" + url.Values{"address": {address}}.Encode()
	}
	return a
}

// readAddress leads to a page of a book; page counts from 0, the address from 1.
func readAddress(bookID int64, page int) string {
	a := "/read/" + strconv.FormatInt(bookID, 10)
	if page > 0 {
		a += "?page=" + strconv.Itoa(page+1)
	}
	return a
}

// pageAddress is one page's picture; page counts from 0, the address from 1.
func pageAddress(bookID int64, page int, fingerprint string) string {
	return fmt.Sprintf("/read/%d/pages/%d?v=%s", bookID, page+1, short(fingerprint))
}

// titleCover is a cover's address; version changes with the picture.
func titleCover(titleID int64, version string) string {
	return "/covers/title/" + strconv.FormatInt(titleID, 10) + "?v=" + url.QueryEscape(short(version))
}

func siteCoverAddress(key scraperclient.Key) string {
	return "/covers/site/" + url.PathEscape(key.Site) + "/" + url.PathEscape(key.SeriesID) + "?v=" + coverMonth()
}

// coverMonth is how often a Site's cover is asked for again: it may change one
// day, and nobody says when.
func coverMonth() string { return time.Now().Format("2006-01") }

func short(fingerprint string) string { return fingerprint[:min(len(fingerprint), 12)] }

// number reads an id or a page number of an address. Everything that is not a
// plain positive number is an address that does not exist.
func number(text string) (int64, error) {
	if text == "" || text[0] < '1' || text[0] > '9' {
		return 0, notFound("a number")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, notFound("a number")
	}
	return n, nil
}

func keyOf(r *http.Request) scraperclient.Key {
	return scraperclient.Key{Site: r.PathValue("site"), SeriesID: r.PathValue("series")}
}

func titleKey(t catalog.Title) scraperclient.Key {
	return scraperclient.Key{Site: t.Site, SeriesID: t.SeriesID}
}

func queryEscape(s string) string { return url.QueryEscape(s) }
