package scraperclient

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// MaxBulk is how many Series one bulk request may name.
const MaxBulk = 1000

// WorklistQuery says which failing Series are wanted. Empty words filter
// nothing, nor does a zero time; Sort is "oldest", "newest" or "title", "" being
// the oldest first.
type WorklistQuery struct {
	Site, Outcome, Sort string
	// Before keeps failures that began before then.
	Before time.Time
	// Muted asks for the muted failures instead of the others.
	Muted         bool
	Offset, Limit int
}

// Failing is one failing Series. LastGoodRead is zero if it was never read well.
type Failing struct {
	Series                               Series
	Failure                              Failure
	LastGoodRead, NextPollAt, ForcedPoll time.Time
	// Proposal is where it may have moved to.
	Proposal Proposal
	// Muted is when a person muted the failure; zero while it is shown.
	Muted time.Time
	// IncidentID is that of a page that is not understood, 0 without one.
	IncidentID int64
}

// OutcomeCount counts failing Series by word: those shown, and those muted.
type OutcomeCount struct {
	Outcome      string
	Count, Muted int
}

// Worklist is one page of the failing Series, and what stands above it.
type Worklist struct {
	Items []Failing
	// Total counts what the filters keep; Counts are by word over the asked Site.
	Total  int
	Counts []OutcomeCount
	// Lanes are the Lanes in trouble, one item a Site (POLL-8).
	Lanes []Lane
	// CountingSince is set while some Lane has not had a full cycle (POLL-11).
	CountingSince time.Time
}

// Pass is one run of a Lane over its due Series, with a count for each outcome.
type Pass struct {
	Started, Ended                               time.Time
	EndReason                                    string
	OK, NotFound, NoChapter, Unfetchable, Errors int
	Refused, Unreachable                         int
	NewChapters                                  int
}

// Failing counts the reads that write a failure row.
func (p Pass) Failing() int { return p.NotFound + p.NoChapter + p.Unfetchable + p.Errors }

// Read counts the Series of which the Site answered something.
func (p Pass) Read() int { return p.OK + p.Failing() }

// LaneDetail is a Lane with what it did in the last fourteen days.
type LaneDetail struct {
	Lane
	// Failing counts failure rows, Muted those of them that are muted.
	Series, Failing, Muted, Jobs int
	// NextDue is zero without any Series, LastGoodRead before the first.
	NextDue, LastGoodRead time.Time
	// Passes are oldest first.
	Passes []Pass
	// CountingSince is set until the Lane has had a full cycle (POLL-11).
	CountingSince time.Time
	// CircuitDetail words why the circuit is not closed; RetryAfter is what the
	// Site asked for (CIRC-5).
	CircuitDetail string
	RetryAfter    time.Time
	// Current is the title being worked on.
	Current string
	// Pacing is the least time between two requests, LeastPacing the Site's own,
	// below which none can be chosen.
	Pacing, LeastPacing time.Duration
	// Rate is how many requests a minute were really sent over the last ten
	// minutes, nil while nobody works the Lane.
	Rate *float64
	// Searchable is true when SearchSite asks this Site.
	Searchable bool
	// Canary is how the Site's known Series was read; nil where none is.
	Canary *Canary
}

// Canary says whether a Site's adapter still reads a Series it is known to read.
type Canary struct {
	// State is "untried", "well", "doubtful" or "failing", Outcome the word of the last
	// reading that said something.
	State, Outcome string
	Key            Key
	// Title is "" where nobody follows the Series.
	Title string
	// Ran and Good are the last reading and the last good one, FailingSince the first
	// bad one of those that follow one another, Next the next; zero for none.
	Ran, Good, FailingSince, Next time.Time
	// Evidence words why the last bad reading was bad.
	Evidence string
	// IncidentID is that of the incident that waits, 0 without one.
	IncidentID int64
}

// Lanes are all Lanes: those that need a person first, then resting, then well.
type Lanes struct {
	Lanes []LaneDetail
	// PrunedBefore is the time before which no Pass is kept.
	PrunedBefore time.Time
	// Unread are descriptions of Sites that are not read.
	Unread []UnreadDescription
}

// UnreadDescription is a file that should describe a Site and has mistakes.
type UnreadDescription struct {
	// File is its name below the data folder.
	File     string
	Problems []DescriptionProblem
	// Kept is true when its Site goes on as it was described before.
	Kept bool
}

// DescriptionProblem is one thing that is wrong with a file; Line and Column are 0
// where it has no place.
type DescriptionProblem struct {
	Line, Column int
	Message      string
}

// NewChapter is a chapter announced as new.
type NewChapter struct {
	Series    Series
	Chapter   Chapter
	Announced time.Time
}

// RequestPolls asks for Forced Polls of at most MaxBulk Series and returns how
// many have one waiting now. Unknown Series are passed over.
func (c *Client) RequestPolls(ctx context.Context, keys []Key) (int, error) {
	r := &scraperv1.RequestPollsRequest{Keys: toKeys(keys)}
	resp, err := call(ctx, c, "ask to poll", "several Series", func(ctx context.Context) (*scraperv1.RequestPollsResponse, error) {
		return c.api.RequestPolls(ctx, r)
	})
	return int(resp.GetStamped()), err
}

// SetMuted mutes the failures of at most MaxBulk Series, or shows them again, and
// returns how many that changed. Series that do not fail are passed over.
func (c *Client) SetMuted(ctx context.Context, keys []Key, muted bool) (int, error) {
	r := &scraperv1.SetMutedRequest{Keys: toKeys(keys), Muted: muted}
	resp, err := call(ctx, c, "mute", "several Series", func(ctx context.Context) (*scraperv1.SetMutedResponse, error) {
		return c.api.SetMuted(ctx, r)
	})
	return int(resp.GetChanged()), err
}

// ListWorklist lists failing Series.
func (c *Client) ListWorklist(ctx context.Context, q WorklistQuery) (Worklist, error) {
	r := &scraperv1.ListWorklistRequest{
		Site: q.Site, Outcome: q.Outcome, Sort: q.Sort, Offset: int32(q.Offset), Limit: int32(q.Limit), Muted: q.Muted,
	}
	if !q.Before.IsZero() {
		r.FailingBefore = timestamppb.New(q.Before)
	}
	resp, err := call(ctx, c, "list", "the Worklist", func(ctx context.Context) (*scraperv1.ListWorklistResponse, error) {
		return c.api.ListWorklist(ctx, r)
	})
	if err != nil {
		return Worklist{}, err
	}
	out := Worklist{Total: int(resp.GetTotal()), CountingSince: when(resp.GetCountingSince())}
	for _, i := range resp.GetItems() {
		out.Items = append(out.Items, Failing{
			Series: fromSeries(i.GetSeries()), Failure: Failure{Outcome: i.GetFailure().GetOutcome(), Since: when(i.GetFailure().GetFailingSince())},
			LastGoodRead: when(i.GetLastGoodRead()), NextPollAt: when(i.GetNextPollAt()), ForcedPoll: when(i.GetForcedPollAt()),
			Proposal: Proposal{i.GetProposedUrl(), i.GetProposedBecause()}, Muted: when(i.GetMutedAt()), IncidentID: i.GetIncidentId(),
		})
	}
	for _, n := range resp.GetCounts() {
		out.Counts = append(out.Counts, OutcomeCount{n.GetOutcome(), int(n.GetCount()), int(n.GetMuted())})
	}
	for _, l := range resp.GetLanes() {
		out.Lanes = append(out.Lanes, fromLane(l))
	}
	return out, nil
}

// ListLanes answers each Lane's live state and its Passes.
func (c *Client) ListLanes(ctx context.Context) (Lanes, error) { return c.lanes(ctx, false) }

// ListSites answers each Lane's live state without its Passes.
func (c *Client) ListSites(ctx context.Context) ([]LaneDetail, error) {
	l, err := c.lanes(ctx, true)
	return l.Lanes, err
}

func (c *Client) lanes(ctx context.Context, brief bool) (Lanes, error) {
	resp, err := call(ctx, c, "list", "the Lanes", func(ctx context.Context) (*scraperv1.ListLanesResponse, error) {
		return c.api.ListLanes(ctx, &scraperv1.ListLanesRequest{Brief: brief})
	})
	if err != nil {
		return Lanes{}, err
	}
	out := Lanes{PrunedBefore: when(resp.GetPrunedBefore())}
	for _, l := range resp.GetLanes() {
		out.Lanes = append(out.Lanes, fromLaneDetail(l))
	}
	for _, u := range resp.GetUnread() {
		one := UnreadDescription{File: u.GetFile(), Kept: u.GetKept()}
		for _, p := range u.GetProblems() {
			one.Problems = append(one.Problems, DescriptionProblem{int(p.GetLine()), int(p.GetColumn()), p.GetMessage()})
		}
		out.Unread = append(out.Unread, one)
	}
	return out, nil
}

func fromSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func fromLaneDetail(l *scraperv1.LaneDetail) LaneDetail {
	out := LaneDetail{
		Lane: fromLane(l.GetLane()), Series: int(l.GetSeries()), Failing: int(l.GetFailing()), Muted: int(l.GetMuted()), Jobs: int(l.GetJobs()),
		NextDue: when(l.GetNextDueAt()), LastGoodRead: when(l.GetLastGoodRead()), CountingSince: when(l.GetCountingSince()),
		CircuitDetail: l.GetCircuitDetail(), RetryAfter: when(l.GetRetryAfter()), Current: l.GetCurrent(),
		Pacing: fromSeconds(l.GetPacingSeconds()), LeastPacing: fromSeconds(l.GetLeastPacingSeconds()), Rate: l.RequestsPerMinute, //nolint:protogetter // nil says that nothing is known
		Searchable: l.GetSearchable(),
	}
	if k := l.GetCanary(); k != nil {
		out.Canary = &Canary{
			State: k.GetState(), Outcome: k.GetOutcome(), Key: fromKey(k.GetKey()), Title: k.GetTitle(), Ran: when(k.GetRanAt()), Good: when(k.GetGoodAt()),
			FailingSince: when(k.GetFailingSince()), Next: when(k.GetNextAt()), Evidence: k.GetEvidence(), IncidentID: k.GetIncidentId(),
		}
	}
	for _, p := range l.GetPasses() {
		out.Passes = append(out.Passes, Pass{
			Started: when(p.GetStartedAt()), Ended: when(p.GetEndedAt()), EndReason: p.GetEndReason(), OK: int(p.GetOk()),
			NotFound: int(p.GetNotFound()), NoChapter: int(p.GetNoChapter()), Unfetchable: int(p.GetUnfetchable()), Errors: int(p.GetErrors()),
			Refused: int(p.GetRefused()), Unreachable: int(p.GetUnreachable()), NewChapters: int(p.GetNewChapters()),
		})
	}
	return out
}

// ListNewChapters lists chapters announced as new, newest first.
func (c *Client) ListNewChapters(ctx context.Context, limit int) ([]NewChapter, error) {
	resp, err := call(ctx, c, "list", "new chapters", func(ctx context.Context) (*scraperv1.ListNewChaptersResponse, error) {
		return c.api.ListNewChapters(ctx, &scraperv1.ListNewChaptersRequest{Limit: int32(limit)})
	})
	if err != nil {
		return nil, err
	}
	var out []NewChapter
	for _, n := range resp.GetChapters() {
		out = append(out, NewChapter{fromSeries(n.GetSeries()), fromChapter(n.GetChapter()), when(n.GetAnnouncedAt())})
	}
	return out, nil
}
