package web

import (
	"cmp"
	"slices"
	"strings"

	"mangrove/reader/internal/catalog"
)

// sortWord words an order.
func (t tongue) sortWord(sort string) string {
	return map[string]string{
		catalog.SortTitle: t.T("Title"), catalog.SortRead: t.T("Last read"), catalog.SortAdded: t.T("Recently added"), catalog.SortLatest: t.T("Latest chapter"),
		catalog.SortUnread: t.T("Most unread"),
	}[sort]
}

// toolbar words a view of the library.
func (v *libraryView) toolbar(say tongue, q libraryQuery, n catalog.ShelfCounts) {
	state := func(word, text string, n int) {
		if n > 0 || word == "" || q.State == word {
			v.Chips = append(v.Chips, chip{Href: q.with(func(q *libraryQuery) { q.State = word }).address(), Word: text, Count: say.number(n), Current: q.State == word})
		}
	}
	state("", say.T("All"), n.All)
	state(catalog.StateUnread, say.T("Unread"), n.Unread)
	state(catalog.StateReading, say.T("In progress"), n.Reading)
	state(catalog.StateRead, say.T("Read"), n.Read)
	state(catalog.StateGone, say.T("Not all here"), n.Gone)
	v.Chips = append(v.Chips, chip{Href: q.with(func(q *libraryQuery) { q.State = catalog.StateFailing }).address(), Word: say.T("Failing"), Current: q.State == catalog.StateFailing})
	for _, sort := range catalog.Sorts() {
		v.Sorts = append(v.Sorts, choiceOf{Value: sort, Label: say.sortWord(sort), Chosen: q.Sort == sort})
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
func (t tongue) filtersOf(q libraryQuery, choices map[string][]catalog.Choice) (out []filter) {
	add := func(name, label, none, chosen string, word func(catalog.Choice) string) {
		f := filter{Name: name, Label: label, None: none}
		found := chosen == ""
		for _, c := range choices[name] {
			found = found || c.Value == chosen
			f.Choices = append(f.Choices, choiceOf{Value: c.Value, Label: t.T("%s (%d)", word(c), c.Titles), Chosen: c.Value == chosen})
		}
		if !found {
			f.Choices = append(f.Choices, choiceOf{Value: chosen, Label: word(catalog.Choice{Value: chosen}), Chosen: true})
		}
		slices.SortFunc(f.Choices, func(a, b choiceOf) int { return strings.Compare(strings.ToLower(a.Label), strings.ToLower(b.Label)) })
		if len(f.Choices) > 0 {
			out = append(out, f)
		}
	}
	add("site", t.T("Site"), t.T("Every Site"), q.Site, func(c catalog.Choice) string { return cmp.Or(c.Name, c.Value) })
	add("status", t.T("Status"), t.T("Any"), q.Status, func(c catalog.Choice) string { return upperFirst(t.status(c.Value)) })
	add("language", t.T("Language"), t.T("Any"), q.Language, func(c catalog.Choice) string { return t.in().Name(c.Value) })
	add("tag", t.T("Tag"), t.T("Any"), q.Tag, func(c catalog.Choice) string { return c.Value })
	return out
}
