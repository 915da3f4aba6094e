package web

import (
	"cmp"
	"slices"
	"strings"

	"mangrove/reader/internal/catalog"
)

// sortWord words an order.
func sortWord(sort string) string {
	return map[string]string{
		catalog.SortTitle: "Title", catalog.SortRead: "Last read", catalog.SortAdded: "Recently added", catalog.SortLatest: "Latest chapter", catalog.SortUnread: "Most unread",
	}[sort]
}

// toolbar words a view of the library.
func (v *libraryView) toolbar(q libraryQuery, n catalog.ShelfCounts) {
	state := func(word, text string, n int) {
		if n > 0 || word == "" || q.State == word {
			v.Chips = append(v.Chips, chip{Href: q.with(func(q *libraryQuery) { q.State = word }).address(), Word: text, Count: thousands(n), Current: q.State == word})
		}
	}
	state("", "All", n.All)
	state(catalog.StateUnread, "Unread", n.Unread)
	state(catalog.StateReading, "In progress", n.Reading)
	state(catalog.StateRead, "Read", n.Read)
	state(catalog.StateGone, "Not all here", n.Gone)
	v.Chips = append(v.Chips, chip{Href: q.with(func(q *libraryQuery) { q.State = catalog.StateFailing }).address(), Word: "Failing", Current: q.State == catalog.StateFailing})
	for _, sort := range catalog.Sorts() {
		v.Sorts = append(v.Sorts, choiceOf{Value: sort, Label: sortWord(sort), Chosen: q.Sort == sort})
	}
	v.Grid, v.Rows = q.with(func(q *libraryQuery) { q.List = false }).address(), q.with(func(q *libraryQuery) { q.List = true }).address()
	v.Clear = libraryQuery{Sort: q.Sort, List: q.List}.address()
	if q.State != "" {
		v.Hidden = append(v.Hidden, hiddenField{"state", q.State})
	}
	if q.List {
		v.Hidden = append(v.Hidden, hiddenField{"view", "list"})
	}
}

// filtersOf are the choices behind the button: those that there is something to
// choose in, and those that are made.
func filtersOf(q libraryQuery, choices map[string][]catalog.Choice) (out []filter) {
	add := func(name, label, none, chosen string, word func(catalog.Choice) string) {
		f := filter{Name: name, Label: label, None: none}
		found := chosen == ""
		for _, c := range choices[name] {
			found = found || c.Value == chosen
			f.Choices = append(f.Choices, choiceOf{Value: c.Value, Label: word(c) + " (" + thousands(c.Titles) + ")", Chosen: c.Value == chosen})
		}
		if !found {
			f.Choices = append(f.Choices, choiceOf{Value: chosen, Label: word(catalog.Choice{Value: chosen}), Chosen: true})
		}
		slices.SortFunc(f.Choices, func(a, b choiceOf) int { return strings.Compare(strings.ToLower(a.Label), strings.ToLower(b.Label)) })
		if len(f.Choices) > 0 {
			out = append(out, f)
		}
	}
	add("site", "Site", "Every Site", q.Site, func(c catalog.Choice) string { return cmp.Or(c.Name, c.Value) })
	add("status", "Status", "Any", q.Status, func(c catalog.Choice) string { return upperFirst(c.Value) })
	add("language", "Language", "Any", q.Language, func(c catalog.Choice) string { return languageName(c.Value) })
	add("tag", "Tag", "Any", q.Tag, func(c catalog.Choice) string { return c.Value })
	return out
}
