package lane

import (
	"fmt"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/job"
)

// pattern is two different Jobs that the adapter could not read within an hour:
// it is the Site that changed, not a title. An operator is shown both (D6).
func pattern(site string, newest, before job.Job) error {
	return fault.Newf(fault.Parser, "read", site, "two Jobs within an hour could not be read: %s; %s", brief(newest), brief(before))
}

// brief names a Job and why it was quarantined, short enough for two in a line.
func brief(j job.Job) string {
	why := []rune(j.Reason)
	if len(why) > 100 {
		why = append(why[:99], '…')
	}
	return fmt.Sprintf("Job %d of %s (%s)", j.ID, j.Key.SeriesID, string(why))
}
