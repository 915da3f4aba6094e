package web

import (
	"encoding/hex"
	"slices"
)

// volume is the chapters of one volume, or of none.
type volume struct {
	ID, Name, Sub string
	Open          bool
	Rows          []row
}

// volumesOf groups rows, which are newest first. Where no chapter names a
// volume there is one group without a name.
func (t tongue) volumesOf(rows []row) []volume {
	var out []volume
	at := map[string]int{}
	for _, r := range rows {
		i, ok := at[r.volume]
		if !ok {
			i = len(out)
			at[r.volume] = i
			out = append(out, volume{Name: r.volume})
		}
		out[i].Rows = append(out[i].Rows, r)
	}
	if len(out) == 0 {
		return nil
	}
	if len(out) == 1 && out[0].Name == "" {
		out[0].Open = true
		return out
	}
	open := false
	for i := range out {
		v := &out[i]
		v.ID, v.Sub = "vol-"+hex.EncodeToString([]byte(v.Name)), t.volumeSub(v.Rows)
		if v.Name == "" {
			v.Name = t.T("No volume yet")
		} else {
			v.Name = t.T("Volume %s", v.Name)
		}
		for _, r := range v.Rows {
			v.Open = v.Open || r.current || r.Arriving
		}
		open = open || v.Open
	}
	if !open {
		out[0].Open = true
	}
	return out
}

func (t tongue) volumeSub(rows []row) string {
	here, read := 0, 0
	for _, r := range rows {
		if r.Here {
			here++
		}
		if r.Finished {
			read++
		}
	}
	first, last := rows[len(rows)-1].number, rows[0].number
	text := ""
	switch {
	case first != "" && last != "" && first != last:
		text = t.T("Ch. %s–%s", first, last) + " · "
	case first != "":
		text = t.T("Ch. %s", first) + " · "
	}
	switch {
	case here == len(rows) && read == here:
		return text + t.T("all %d here, read", here)
	case here == len(rows):
		return text + t.T("all %d here", here)
	}
	return text + t.T("%d of %d here", here, len(rows))
}

// coverage is what the library has of what the Site lists (JOB-8): an
// observation of its own, never mixed with a Job.
type coverage struct {
	Have, Total     int
	Cells           []string
	HasNow, HasGone bool
	// Refused counts those whose file is here and cannot be read.
	Refused  int
	Sentence string
}

// coverageOf draws one cell a chapter, oldest first.
func (t tongue) coverageOf(rows []row) coverage {
	c := coverage{Total: len(rows)}
	for _, r := range slices.Backward(rows) {
		cell := ""
		switch {
		case r.Here && r.Gone:
			cell, c.HasGone = "gone", true
		case r.Here:
			cell = "in"
		case r.Refused:
			cell = "refused"
			c.Refused++
		case r.Arriving:
			cell, c.HasNow = "now", true
		}
		if r.Here {
			c.Have++
		}
		c.Cells = append(c.Cells, cell)
	}
	c.Sentence = t.T("%s of %s are in the library.", t.number(c.Have), t.T("%d chapters", c.Total))
	if c.Refused > 0 {
		c.Sentence += " " + t.T("%d files cannot be read.", c.Refused)
	}
	return c
}
