package queue

// Files are what published chapters come to.
type Files struct {
	Chapters, Pages int
	// Bytes is their size.
	Bytes int64
}

// Estimate is about what is still to be fetched; whoever shows it says "about".
type Estimate struct {
	Chapters, Pages int
	// Bytes is 0 when nothing is known that it could be taken from.
	Bytes int64
}

// pagesOfAChapter stands in where neither the Series nor its Site has a chapter
// in the library.
const pagesOfAChapter = 20

// About estimates what is to come: pages that are counted already, and
// uncounted more chapters of the average length of the Series' own chapters, or
// else of its Site's.
func About(chapters, counted, uncounted int, own, site Files) Estimate {
	e := Estimate{Chapters: chapters, Pages: counted}
	of := own
	if of.Chapters == 0 {
		of = site
	}
	if of.Chapters == 0 {
		e.Pages += uncounted * pagesOfAChapter
		return e
	}
	e.Pages += (uncounted*of.Pages + of.Chapters/2) / of.Chapters
	e.Bytes = of.Bytes / int64(max(1, of.Pages)) * int64(e.Pages)
	return e
}
