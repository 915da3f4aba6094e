package web

import (
	"slices"
	"strings"

	"mangrove/reader/internal/scraperclient"
)

// groupsView is whose releases of a Series are preferred, and whose there are.
type groupsView struct{ Preferred, Known, Example string }

// shownGroups bounds how many groups a Series page names.
const shownGroups = 30

// groupsOf is nil where there is nothing to choose, or nobody who may.
func groupsOf(st *scraperclient.State, may bool) *groupsView {
	if !may {
		return nil
	}
	var known []string
	for _, c := range st.Chapters {
		for _, g := range c.Groups {
			if !slices.Contains(known, g) && len(known) < shownGroups {
				known = append(known, g)
			}
		}
	}
	if len(known) == 0 && len(st.PreferredGroups) == 0 {
		return nil
	}
	slices.Sort(known)
	v := &groupsView{Preferred: strings.Join(st.PreferredGroups, ", "), Known: strings.Join(known, ", ")}
	if len(known) > 0 {
		v.Example = known[0]
	}
	return v
}
