package store

import (
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/job"
)

// Tell returns a Store that tells of every change of state it has committed: one
// line of events.log each. What is told has happened; telling cannot fail it.
func (s *Store) Tell(log *incident.EventLog) *Store {
	told := *s
	told.events = log
	return &told
}

// moved tells that a Job went from one state to another.
func (s *Store) moved(from job.State, j job.Job) {
	s.events.Tell(incident.Event{
		Event: "job", Site: j.Key.Site, Series: j.Key.SeriesID, Job: j.ID, From: string(from), To: string(j.State), Class: string(j.Class), Reason: j.Reason,
	})
}
