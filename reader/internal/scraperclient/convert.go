package scraperclient

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// when is the zero time for an unset timestamp; AsTime would say 1970.
func when(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

func fromKey(k *scraperv1.SeriesKey) Key {
	return Key{Site: k.GetSite(), SeriesID: k.GetSeriesId()}
}

func toKey(k Key) *scraperv1.SeriesKey {
	return &scraperv1.SeriesKey{Site: k.Site, SeriesId: k.SeriesID}
}

func toKeys(keys []Key) []*scraperv1.SeriesKey {
	out := make([]*scraperv1.SeriesKey, len(keys))
	for i, k := range keys {
		out[i] = toKey(k)
	}
	return out
}

func fromSeries(s *scraperv1.Series) Series {
	return Series{
		Key: fromKey(s.GetKey()), Title: s.GetTitle(), NativeTitle: s.GetNativeTitle(), AltTitles: s.GetAltTitles(), Authors: s.GetAuthors(),
		Description: s.GetDescription(), URL: s.GetUrl(), Status: s.GetStatus(), Tags: s.GetTags(), License: s.GetLicense(),
		SiteName: s.GetSiteName(), HasCover: s.GetHasCover(), Origin: s.GetOrigin(), Direction: s.GetReadingDirection(),
	}
}

func fromChapter(c *scraperv1.Chapter) Chapter {
	return Chapter{
		ID: c.GetChapterId(), Number: c.GetNumber(), Volume: c.GetVolume(), Title: c.GetTitle(), Language: c.GetLanguage(),
		Groups: c.GetGroups(), SourceOrder: int(c.GetSourceOrder()), PublishedAt: when(c.GetPublishedAt()),
		FirstSeenAt: when(c.GetFirstSeenAt()), GoneSince: when(c.GetGoneSince()), LibraryState: c.GetLibraryState(),
		DownloadState: c.GetDownloadState(), PagesDone: int(c.GetPagesDone()), PagesTotal: int(c.GetPagesTotal()),
		SetAsideReason: c.GetSetAsideReason(), URL: c.GetUrl(),
	}
}

func fromLane(l *scraperv1.Lane) Lane {
	return Lane{
		Site: l.GetSite(), SiteName: l.GetSiteName(), Circuit: l.GetCircuit(), CircuitReason: l.GetCircuitReason(),
		CircuitSince: when(l.GetCircuitSince()), CircuitUntil: when(l.GetCircuitUntil()), Activity: l.GetActivity(),
		Trouble: l.GetTrouble(), TroubleSince: when(l.GetTroubleSince()), Needs: l.GetNeeds(),
		Interval: time.Duration(l.GetIntervalSeconds() * float64(time.Second)),
	}
}

func fromState(s *scraperv1.SeriesState) State {
	out := State{
		Series: fromSeries(s.GetSeries()), LastGoodRead: when(s.GetLastGoodRead()), NextPollAt: when(s.GetNextPollAt()),
		ForcedPoll: when(s.GetForcedPollAt()), Polled: s.GetPolled(),
		NextPollReason: s.GetNextPollReason(), Proposal: Proposal{s.GetProposedUrl(), s.GetProposedBecause()}, MovedAt: when(s.GetMovedAt()),
		PreferredGroups: s.GetPreferredGroups(),
	}
	for _, c := range s.GetChapters() {
		out.Chapters = append(out.Chapters, fromChapter(c))
	}
	if f := s.GetFailure(); f != nil {
		out.Failure = &Failure{Outcome: f.GetOutcome(), Since: when(f.GetFailingSince())}
	}
	if j := s.GetJob(); j != nil {
		job := fromJob(j)
		out.Job = &job
	}
	if s.GetLane() != nil {
		lane := fromLane(s.GetLane())
		out.Lane = &lane
	}
	return out
}

func fromStatus(s *scraperv1.GetStatusResponse) Status {
	out := Status{
		Version: s.GetVersion(), StartedAt: when(s.GetStartedAt()), LibraryEpoch: s.GetLibraryEpoch(),
		LibraryRevision: s.GetLibraryRevision(), FollowsRevision: s.GetFollowsRevision(),
		SeriesFailing: int(s.GetSeriesFailing()), SeriesMuted: int(s.GetSeriesMuted()), JobsOutstanding: int(s.GetJobsOutstanding()),
		JobsReady: int(s.GetJobsReady()), JobsQuarantined: int(s.GetJobsQuarantined()), Library: fromLibrary(s.GetLibrary()),
	}
	for _, l := range s.GetLanes() {
		lane := fromLane(l)
		if lane.Activity == "downloading" {
			out.DownloadsRunning++
		}
		out.Lanes = append(out.Lanes, lane)
	}
	return out
}

func fromLibrary(l *scraperv1.LibraryState) Library {
	return Library{
		Status: l.GetStatus(), Files: int(l.GetFiles()), Missing: int(l.GetMissing()), PassedOver: int(l.GetPassedOver()), Bytes: l.GetBytes(),
		LookedAt: when(l.GetLookedAt()), Why: l.GetWhy(), AgainAt: when(l.GetAgainAt()), Watched: l.GetWatched(),
	}
}

func fromChange(c *scraperv1.LibraryChange) Change {
	out := Change{
		Revision: c.GetRevision(), Path: c.GetPath(), Removed: c.GetRemoved() || c.GetChapter().GetLibraryState() == "missing", Series: fromSeries(c.GetSeries()),
		Chapter: fromChapter(c.GetChapter()), Pages: int(c.GetPages()), Size: c.GetSize(), Fingerprint: c.GetFingerprint(),
		PublishedAt: when(c.GetPublishedAt()), Missing: c.GetMissingPages(), ReplacedBy: c.GetReplacedBy(),
		Kind: c.GetKind(), Unreadable: c.GetUnreadable(),
	}
	// A tombstone may carry the key and the title alone.
	out.Series.Key = fromKey(c.GetKey())
	if out.Series.Title == "" {
		out.Series.Title = c.GetSeriesTitle()
	}
	return out
}

func toFollowChange(c FollowChange) *scraperv1.ApplyFollowsRequest {
	out := &scraperv1.ApplyFollowsRequest{Revision: c.Revision, Whole: c.Whole}
	for _, f := range c.Follows {
		out.Follows = append(out.Follows, &scraperv1.Follow{Key: toKey(f.Key), Download: f.Download, Languages: f.Languages, Url: f.URL, Title: f.Title})
	}
	for _, k := range c.Unfollowed {
		out.Unfollowed = append(out.Unfollowed, toKey(k))
	}
	return out
}
