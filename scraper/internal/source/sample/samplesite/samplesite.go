// Package samplesite is the web site behind the sample adapter: a small Site of
// one Series, Pepper&Carrot by David Revoy (CC BY 4.0), with three episodes, so
// that Mangrove can be tried and tested end to end without asking anything of
// anybody else's server. It serves plain HTML and images, and with SiteHandler
// any other catalogue in the same markup. It refuses to know the adapter that
// reads it, keeps no state and opens no port.
//
// # The markup contract
//
// Adapter, tests and stand-ins rely on the following and on nothing else. Every
// address is absolute on the Site; an empty value is an empty attribute.
//
// The list of Series, at /:
//
//	<main id="catalogue">
//	  <ul class="titles">
//	    <li data-series-id="ID"><a href="/series/ID"><img class="cover" src="/images/…"> <span class="title">…</span></a></li>
//
// A Series, at /series/ID. Chapters are newest first; status is "ongoing",
// "completed", "hiatus", "cancelled" or empty, direction "ltr" or "rtl":
//
//	<main id="series" data-series-id="ID" data-status="ongoing" data-language="en" data-direction="ltr">
//	  <h1 class="title">…</h1>
//	  <span class="author">…</span>
//	  <img class="cover" src="/images/…">
//	  <p class="description">…</p>
//	  <ul class="tags"><li>…</li></ul>
//	  <p class="licence"><a rel="license" href="…">…</a></p>
//	  <ol class="chapters">
//	    <li data-chapter-id="CHAPTER" data-number="3" data-volume="" data-language="en" data-group="" data-external="">
//	      <a href="/series/ID/CHAPTER"><span class="number">Episode 3</span> <span class="title">…</span></a>
//	      <time datetime="2014-10-03">3 October 2014</time></li>
//
// A chapter with data-external is only linked: its <a href> is that address and
// it has no page here.
//
// A chapter, at /series/ID/CHAPTER, its images in reading order:
//
//	<main id="chapter" data-series-id="ID" data-chapter-id="CHAPTER" data-number="3" data-language="en" data-pages="10">
//	  <h1 class="title">…</h1>
//	  <ol class="pages">
//	    <li data-page="1"><img src="/images/…" alt="Page 1"></li>
//
// What does not exist is a 404 page with <main id="missing"> and an
// <h1> that says "No such title", "No such episode" or "No such page"; an image
// that does not exist is a 404 in plain text. Pages and images carry ETag and
// Last-Modified and answer conditional requests with 304, ranges of images with
// 206. /credits is the list of credits in plain text.
package samplesite

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"time"
)

//go:embed content site.html site.css
var files embed.FS

// Catalogue is everything a Site lists.
type Catalogue struct {
	// Title is the name of the Site.
	Title string
	// Series are in the order of the front page.
	Series []Series
}

// Series is one title and its chapters.
type Series struct {
	// ID is the last part of its address.
	ID          string
	Title       string
	Author      string
	Description string
	// Status is ongoing, completed, hiatus, cancelled or empty.
	Status string
	// Language is a BCP 47 tag; Direction is "ltr" or "rtl".
	Language  string
	Direction string
	Tags      []string
	// Licence is the text of the licence line, LicenceURL where it links.
	Licence, LicenceURL string
	// Cover is an image by its path in the content.
	Cover string
	// Chapters are oldest first.
	Chapters []Chapter
}

// Chapter is one chapter of a Series.
type Chapter struct {
	// ID is the last part of its address.
	ID string
	// Number and Volume are as a person writes them: "3", "10.5", or empty.
	Number, Volume string
	Title          string
	// Published is a day; it is also the Last-Modified of the images.
	Published time.Time
	Language  string
	// Group names who made the release, if anybody says.
	Group string
	// External is the address of a chapter that is only linked.
	External string
	// Pages are images by their paths in the content, in reading order.
	Pages []string
}

// Handler serves the sample Site as it is shipped.
func Handler() http.Handler {
	content, catalogue, err := Shipped()
	if err != nil {
		panic(err) // the embedded files are fixed at build time and under test
	}
	return SiteHandler(content, catalogue)
}

// Shipped returns the embedded content and its catalogue.
func Shipped() (fs.FS, Catalogue, error) {
	content, err := fs.Sub(files, "content")
	if err != nil {
		return nil, Catalogue{}, err
	}
	catalogue, err := PepperAndCarrot(content)
	return content, catalogue, err
}

// PepperAndCarrot is the catalogue of the episodes that content holds, in the
// folders ep01 to ep05. The pages of one are all its files by name: the cover
// (…E01.jpg), the title (…E01P00.jpg) and on. A folder that is not there is
// left out.
func PepperAndCarrot(content fs.FS) (Catalogue, error) {
	s := Series{
		ID:     "pepper-and-carrot",
		Title:  "Pepper&Carrot",
		Author: "David Revoy",
		Description: "Pepper is a young witch of Chaosah, Carrot her ginger cat. Between potion contests, " +
			"markets and midnight flights, magic seldom does quite what the two had in mind.",
		Status: "ongoing", Language: "en", Direction: "ltr",
		Tags:    []string{"Fantasy", "Comedy", "Magic", "All ages"},
		Licence: "Pepper&Carrot by David Revoy, www.peppercarrot.com, CC BY 4.0. Pages scaled to 992 pixels wide.", LicenceURL: "https://creativecommons.org/licenses/by/4.0/",
	}
	// The days of episodes 4 and 5, which are not shipped, are near the true ones.
	for i, episode := range []struct {
		title     string
		published time.Time
	}{
		{"Potion of Flight", day(2014, time.May, 10)},
		{"Rainbow potions", day(2014, time.July, 25)},
		{"The secret ingredients", day(2014, time.October, 3)},
		{"Stroke of genius", day(2014, time.November, 28)},
		{"Special holiday episode", day(2014, time.December, 19)},
	} {
		folder := fmt.Sprintf("ep%02d", i+1)
		entries, err := fs.ReadDir(content, folder)
		if err != nil || len(entries) == 0 {
			continue
		}
		chapter := Chapter{
			ID: fmt.Sprintf("episode-%d", i+1), Number: fmt.Sprint(i + 1), Title: episode.title,
			Published: episode.published, Language: "en",
		}
		for _, e := range entries { // by name: "E01.jpg" sorts before "E01P00.jpg"
			if imageType(e.Name()) != "" {
				chapter.Pages = append(chapter.Pages, path.Join(folder, e.Name()))
			}
		}
		s.Chapters = append(s.Chapters, chapter)
	}
	if len(s.Chapters) == 0 || len(s.Chapters[0].Pages) == 0 {
		return Catalogue{}, fmt.Errorf("sample Site: the content holds no episodes")
	}
	s.Cover = s.Chapters[0].Pages[0]
	return Catalogue{Title: "The Sample Shelf", Series: []Series{s}}, nil
}

func day(year int, month time.Month, d int) time.Time {
	return time.Date(year, month, d, 12, 0, 0, 0, time.UTC)
}

// find returns the element with an id.
func find[T any](list []T, id func(T) string, want string) (T, bool) {
	i := slices.IndexFunc(list, func(v T) bool { return id(v) == want })
	if i < 0 {
		var none T
		return none, false
	}
	return list[i], true
}
