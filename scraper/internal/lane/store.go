package lane

import (
	"context"
	"time"

	"mangrove/scraper/internal/canary"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// Due is a Series whose turn to be polled has come.
type Due struct {
	Key source.Key
	URL string
	// Title is what the Site called it when it was last read, "" before that.
	Title      string
	Validators source.Validators
	// Forced is true for a Forced Poll (POLL-6).
	Forced bool
	// Download is true when new chapters are to be fetched without asking.
	Download bool
	// Known is true once the Series has been read: only then can a chapter be new.
	Known bool
	// CoverURL and CoverSHA256 are of the cover kept so far.
	CoverURL, CoverSHA256 string
	// Moved is true until the first good read after a person moved it here: its
	// chapters are then known under the ids of another place.
	Moved bool
}

// Unchanged is a correct read that said nothing new: the Site answered that its
// page is the one already read.
type Unchanged struct {
	Key      source.Key
	At, Next time.Time
	Why      NextReason
}

// Good is what a correct read left behind.
type Good struct {
	// New are chapters never seen before, of a Series read before (POLL-12).
	New []source.Chapter
	// CoverURL is where the Site shows the cover now.
	CoverURL string
}

// Pass is the row of one run of a Lane over its due Series.
type Pass struct {
	Site           string
	Started, Ended time.Time
	EndReason      EndReason
	Counts         map[poll.Outcome]int
	NewChapters    int
}

// EndReason says why a Pass ended.
type EndReason string

// The reasons.
const (
	EndComplete    EndReason = "complete"
	EndRefused     EndReason = "refused"
	EndUnreachable EndReason = "unreachable"
	EndOutage      EndReason = "outage"
	EndStopped     EndReason = "stopped"
)

// EndReasons lists every reason once.
func EndReasons() []EndReason {
	return []EndReason{EndComplete, EndRefused, EndUnreachable, EndOutage, EndStopped}
}

// Activity is what a Lane is doing now.
type Activity string

// The activities.
const (
	Idle        Activity = "idle"
	Polling     Activity = "polling"
	Inspecting  Activity = "inspecting"
	Downloading Activity = "downloading"
)

// Activities lists every activity once.
func Activities() []Activity { return []Activity{Idle, Polling, Inspecting, Downloading} }

// Because says why a move is proposed.
type Because string

// The reasons of a proposal.
const (
	// Redirect: the Site sends readers there for good.
	Redirect Because = "redirect"
	// SameTitle: the Series is gone from the Site, which lists one of its title
	// under another id.
	SameTitle Because = "same_title"
)

// Becauses lists every reason of a proposal once.
func Becauses() []Because { return []Because{Redirect, SameTitle} }

// Proposal is where a Series may have moved to, for a person to decide.
type Proposal struct {
	URL     string
	Because Because
}

// Trouble is the Lane-level item of POLL-8: a whole Site refused or out of reach.
type Trouble string

// The troubles.
const (
	NoTrouble          Trouble = ""
	TroubleRefused     Trouble = "refused"
	TroubleUnreachable Trouble = "unreachable"
)

// Troubles lists every trouble once.
func Troubles() []Trouble { return []Trouble{NoTrouble, TroubleRefused, TroubleUnreachable} }

// Store keeps what a Lane knows.
type Store interface {
	// DueSeries lists Series whose time has come, Forced Polls first.
	DueSeries(ctx context.Context, site string, now time.Time, limit int) ([]Due, error)
	// NextDue is when the next Series is due; zero if there is none.
	NextDue(ctx context.Context, site string) (time.Time, error)
	// Witness is the Series last read ok, other than those given (POLL-9).
	Witness(ctx context.Context, site string, except []string) (w Due, ok bool, err error)
	// RecordGood deletes the failure row, stores what was read and when and why
	// then the Series is due again.
	RecordGood(ctx context.Context, d Due, r source.Reading, now, next time.Time, why NextReason) (Good, error)
	// RecordUnchanged does for reads that changed nothing what RecordGood does,
	// for all of them in one statement (POLL-3).
	RecordUnchanged(ctx context.Context, reads []Unchanged) error
	// Releases are when the chapters of a Series appeared, as far as is known.
	Releases(ctx context.Context, key source.Key) ([]time.Time, error)
	// PollInterval is the operator's choice for a Site, 0 for none (A7).
	PollInterval(ctx context.Context, site string) (time.Duration, error)
	// AdaptiveInterval is the operator's setting, off by default.
	AdaptiveInterval(ctx context.Context) (bool, error)
	// RecordFailure is the one upsert of POLL-3. It is called for the four
	// outcomes that write, and for no other; written is false where the row said
	// so already.
	RecordFailure(ctx context.Context, key source.Key, o poll.Outcome, now time.Time) (written bool, err error)
	// Propose records where a Series may have moved to (POLL-13, A12).
	Propose(ctx context.Context, key source.Key, p Proposal, now time.Time) error
	// Advance sets when a Series that was not read well is due again.
	Advance(ctx context.Context, key source.Key, next time.Time) error
	SetActivity(ctx context.Context, site string, a Activity, seriesID string) error
	// SetTrouble records the Lane's trouble; since stays while the word does.
	SetTrouble(ctx context.Context, site string, t Trouble, now time.Time) error
	RecordPass(ctx context.Context, p Pass) error
	Circuit(ctx context.Context, site string) (circuit.Circuit, error)
	// MoveCircuit is compare-and-set on from's state and since.
	MoveCircuit(ctx context.Context, from, to circuit.Circuit) (moved bool, err error)
	// QuarantinedSince lists the Jobs of a Site that its adapter could not read,
	// newest first.
	QuarantinedSince(ctx context.Context, site string, since time.Time) ([]job.Job, error)
	// SetHold stops all downloads.
	SetHold(ctx context.Context, kind, detail string, now time.Time) error
	// Canary reads the Lane's canary, and whether it is tried at all.
	Canary(ctx context.Context, site string) (CanaryPlan, error)
	// KnownSeries is the declared Series, or with "" the followed one that was read
	// well last; ok is false when there is none.
	KnownSeries(ctx context.Context, site, declared string) (k canary.Known, ok bool, err error)
	// MoveCanary is compare-and-set on from's state and next trial.
	MoveCanary(ctx context.Context, from, to canary.Canary) (moved bool, err error)
	// SaveCover records the digest of the cover kept for a Series.
	SaveCover(ctx context.Context, key source.Key, url, sha256 string) error
}

// CanaryPlan is a Lane's canary and what decides whether it is tried.
type CanaryPlan struct {
	canary.Canary
	// Every is how far apart the trials lie; 0 is never.
	Every time.Duration
	// Followed is true while anybody follows anything of the Site.
	Followed bool
}

// Queue hands out Jobs.
type Queue interface {
	// Next is the Job whose unit of work comes next on a Site, if any may run.
	Next(ctx context.Context, site string, now time.Time) (j job.Job, ok bool, err error)
	// Retrying is the Job that waits for its one retry, if any may run.
	Retrying(ctx context.Context, site string, now time.Time) (j job.Job, ok bool, err error)
	// NextRetry is when a waiting Job wants to be tried again; zero if none does.
	NextRetry(ctx context.Context, site string) (time.Time, error)
	// Request orders a download; skipped says why there was none to order.
	Request(ctx context.Context, key source.Key) (skipped string, err error)
}

// Runner does the units of work of Jobs.
type Runner interface {
	Inspect(ctx context.Context, j job.Job) error
	Step(ctx context.Context, j job.Job) error
	// PageList reads the page list of a chapter, no sooner than the Site allows.
	PageList(ctx context.Context, key source.Key, ch source.Chapter) ([]source.Page, error)
	// Stop ends the unit of a Job at its next checkpoint, if it is under way.
	Stop(jobID int64)
}
