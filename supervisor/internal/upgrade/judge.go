package upgrade

import (
	"fmt"
	"slices"
	"time"
)

// Verdict is what became of a Job that was under way.
type Verdict string

// The verdicts.
const (
	// Moved: its checkpoint went on.
	Moved Verdict = "moved"
	// Ended: it is done, was cancelled, or its Site has it no longer.
	Ended Verdict = "ended"
	// Held: an operator or its Site keeps it from going on.
	Held Verdict = "held"
	// Waits: its Site's Lane works on another Job.
	Waits Verdict = "waits"
	// Stands: nothing of it was completed yet.
	Stands Verdict = "stands"
	// Aside: the new version set it aside.
	Aside Verdict = "set-aside"
	// Gone: the database does not know it.
	Gone Verdict = "gone"
)

// Service is how one service stands, in the supervisor's words.
type Service struct {
	Name, State, Reason string
	// Rests is true when nothing but a person starts it again.
	Rests bool
}

// Seen is what was seen of the new version at one moment.
type Seen struct {
	// Answers says whether a supervisor does, Version which.
	Answers bool
	Version string
	// Want are the services there must be, Services those that there are.
	Want     []string
	Services []Service
	// Progress is nil when it could not be read; Unread says why.
	Progress *Progress
	Unread   string
}

// Finding is the judgement on what was seen. One that is not final may change with the
// next look; when the time is up it stands as a failure.
type Finding struct {
	Final   bool
	Outcome Outcome
	Reason  Reason
	About   string
	Said    string
	Jobs    []Job
}

// UnderWayOf are the Jobs that a new version has to go on with: those that are worked
// on, and those in the queue of which something is completed.
func UnderWayOf(p Progress) []Job {
	out := []Job{}
	for _, j := range p.Jobs {
		if j.State == "downloading" || j.State == "inspecting" || j.State == "queued" && j.Fingerprint != "" {
			out = append(out, j)
		}
	}
	return out
}

// Judge judges what was seen after r's version was put in place.
func (r Record) Judge(s Seen) Finding {
	open := func(reason Reason, about, format string, args ...any) Finding {
		return Finding{Outcome: Failed, Reason: reason, About: about, Said: fmt.Sprintf(format, args...)}
	}
	final := func(f Finding) Finding { f.Final = true; return f }
	if !s.Answers {
		return open(Silent, "", "no supervisor answers")
	}
	if s.Version != r.Version {
		return final(open(WrongVersion, s.Version, "%s runs, and not %s", s.Version, r.Version))
	}
	for _, name := range s.Want {
		i := slices.IndexFunc(s.Services, func(x Service) bool { return x.Name == name })
		switch {
		case i < 0:
			return open(Services, name, "%s is not there yet", name)
		case s.Services[i].State == "serving":
		default:
			f := open(Services, name, "%s is %s", name, s.Services[i].State)
			if s.Services[i].Reason != "" {
				f.Said += ": " + s.Services[i].Reason
			}
			f.Final = s.Services[i].Rests
			return f
		}
	}
	if s.Progress == nil {
		return open(Unknown, "", "how far the downloads are could not be read: %s", s.Unread)
	}
	done := Finding{Final: true, Outcome: Resumed, Jobs: []Job{}}
	counts := map[Verdict]int{}
	var bad *Finding
	for _, before := range r.Before.Jobs {
		after := judgeJob(before, *s.Progress)
		done.Jobs = append(done.Jobs, after)
		counts[after.Verdict]++
		about := fmt.Sprintf("Job %d", before.Job)
		switch after.Verdict {
		case Aside:
			f := final(open(SetAside, about, "%s was set aside: %s", about, after.Reason))
			bad = &f
		case Gone:
			f := final(open(SetAside, about, "%s is not in the database any more", about))
			bad = &f
		case Stands:
			if bad == nil {
				f := open(Unmoved, about, "nothing more of %s was completed: it is %s", about, after.State)
				bad = &f
			}
		}
	}
	if bad != nil {
		bad.Jobs = done.Jobs
		return *bad
	}
	done.Said = "every service serves; " + words(counts)
	if len(r.Before.Jobs) == 0 {
		done.Outcome = Idle
		done.Said = "every service serves; nothing was being downloaded"
		if r.Before.Unread != "" {
			done.Said = "every service serves; what was being downloaded before is not known: " + r.Before.Unread
		}
	}
	return done
}

// words says how many Jobs there were of each verdict.
func words(counts map[Verdict]int) string {
	text := ""
	for _, v := range []struct {
		Verdict
		said string
	}{{Moved, "went on"}, {Ended, "ended"}, {Held, "held"}, {Waits, "waiting behind another of their Site"}} {
		if n := counts[v.Verdict]; n > 0 {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprintf("%d %s", n, v.said)
		}
	}
	return "Jobs that were under way: " + text
}

// judgeJob says what became of one Job.
func judgeJob(before Job, now Progress) Job {
	i := slices.IndexFunc(now.Jobs, func(j Job) bool { return j.Job == before.Job })
	if i < 0 {
		before.Verdict = Gone
		return before
	}
	after := now.Jobs[i]
	switch {
	case after.Fingerprint != "" && after.Fingerprint != before.Fingerprint:
		after.Verdict = Moved
	case after.State == "done" || after.State == "cancelled" || after.State == "unavailable":
		after.Verdict = Ended
	case after.State == "quarantined" && (after.Class == "network" || after.Class == "access"):
		after.Verdict = Held
	case after.State == "quarantined":
		after.Verdict = Aside
	case after.State == "ready": // what there is to fetch was found out, and waits for a word
		after.Verdict = Moved
	case after.State == "paused" || after.State == "retry_wait" || len(now.Holds) > 0:
		after.Verdict = Held
	case after.Circuit != "" && after.Circuit != "closed":
		after.Verdict = Held
	case before.State == "inspecting" && (after.State == "queued" || after.State == "downloading"):
		after.Verdict = Moved
	case after.State == "queued" && slices.ContainsFunc(now.Jobs, func(j Job) bool {
		return j.Job != after.Job && j.Site == after.Site && (j.State == "downloading" || j.State == "inspecting")
	}):
		after.Verdict = Waits
	default:
		after.Verdict = Stands
	}
	return after
}

// End is r as the finding leaves it.
func (r Record) End(f Finding, after Side, now time.Time) Record {
	after.Jobs = f.Jobs
	if after.Jobs == nil {
		after.Jobs = []Job{}
	}
	r.Outcome, r.Reason, r.About, r.Said, r.Ended, r.After = f.Outcome, f.Reason, f.About, f.Said, now, &after
	r.Rollback = r.back(after)
	return r
}

// Abandon is r after a step that was not done.
func (r Record) Abandon(step Reason, said string, now time.Time) Record {
	r.Outcome, r.Reason, r.Said, r.Ended = Failed, step, said, now
	if step == NotStarted || r.Fallback.Version != r.Before.Version {
		r.Rollback = Unsure // a start migrates before it fails
	}
	return r
}

// back says whether the programs to go back to run on the schema that there is now: they
// refuse one that is newer than theirs, and theirs is the one there was.
func (r Record) back(after Side) Rollback {
	switch {
	case r.Fallback.Schema == 0 || after.Schema == 0:
		return Unsure
	case r.Fallback.Schema == after.Schema:
		return Programs
	}
	return Downgrade
}

// WayBack says how to go back, one step a line.
func (r Record) WayBack() []string {
	lines := []string{"stop Mangrove"}
	backup := "the backup that was made before"
	if r.Fallback.Backup != nil {
		backup = r.Fallback.Backup.Path
	}
	switch r.Rollback {
	case Downgrade:
		lines = append(lines, fmt.Sprintf("mangrove migrate --down-to %d, with the new programs (docs/runbooks/downgrade.md); or put %s back, which loses what came since", r.Fallback.Schema, backup))
	case Unsure:
		schema := "the schema before"
		if r.Fallback.Schema != 0 {
			schema = fmt.Sprintf("schema %d", r.Fallback.Schema)
		}
		lines = append(lines, fmt.Sprintf("the database may be newer than %s: if the old programs refuse it, take it back first (docs/runbooks/downgrade.md), or put %s back", schema, backup))
	}
	for _, name := range []string{"mangrove", "mangrove-scraper", "mangrove-reader"} {
		lines = append(lines, fmt.Sprintf("mv -f %s/%s.before %s/%s", r.Kept, name, r.Kept, name))
	}
	lines = append(lines, "start Mangrove, and look: mangrove check")
	if r.Reason == Services {
		lines = append(lines, "a service that was parked stays so, whatever was put in place: mangrove reset-budget NAME, then mangrove start NAME")
	}
	return lines
}
