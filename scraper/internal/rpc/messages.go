package rpc

import (
	"context"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
)

// maxID bounds a key's parts.
const maxID = 512

func keyOf(k *scraperv1.SeriesKey) (source.Key, error) {
	key := source.Key{Site: k.GetSite(), SeriesID: k.GetSeriesId()}
	if key.Site == "" || key.SeriesID == "" || len(key.Site) > maxID || len(key.SeriesID) > maxID || strings.ContainsRune(key.Site+key.SeriesID, 0) {
		return key, fault.Newf(fault.Invalid, "read", "a Series key", "it is empty or too long")
	}
	return key, nil
}

func keyMessage(k source.Key) *scraperv1.SeriesKey {
	return &scraperv1.SeriesKey{Site: k.Site, SeriesId: k.SeriesID}
}

func stamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

func (s *Server) siteName(site string) string {
	if a, ok := s.Adapters.Get(site); ok {
		return a.Site().Name
	}
	if site == inventory.LocalSite {
		return "Library folder"
	}
	return site
}

func (s *Server) series(r store.SeriesRow) *scraperv1.Series {
	return &scraperv1.Series{
		Key: keyMessage(r.Key), Title: r.Series.Title, NativeTitle: r.Series.NativeTitle, AltTitles: r.Series.AltTitles, Authors: r.Series.Authors,
		Description: r.Series.Description, Url: r.Series.URL, Status: r.Series.Status, Tags: r.Series.Tags, License: r.Series.License,
		SiteName: s.siteName(r.Key.Site), HasCover: r.CoverSHA256 != "", Origin: r.Origin, ReadingDirection: r.Series.Direction,
	}
}

func chapter(c source.Chapter) *scraperv1.Chapter {
	return &scraperv1.Chapter{
		ChapterId: c.ID, Number: c.Number, Volume: c.Volume, Title: c.Title, Language: c.Language, Groups: c.Groups,
		SourceOrder: int32(c.Order), PublishedAt: stamp(c.Published), Url: c.URL,
	}
}

// undescribed is what a Lane shows behind the key of a Site that no adapter reads
// any longer: its Series stay known, and nothing is asked.
const undescribed = " (its description is gone)"

func (s *Server) lane(l store.LaneRow) *scraperv1.Lane {
	name := s.siteName(l.Site)
	needs := ""
	var site source.Site
	if a, ok := s.Adapters.Get(l.Site); !ok {
		name = l.Site + undescribed
	} else if site = a.Site(); site.Browser && s.Browser != nil && s.Browser() != nil {
		needs = "browser"
	}
	out := &scraperv1.Lane{
		Site: l.Site, SiteName: name, Circuit: string(l.Circuit.State), CircuitReason: string(l.Circuit.Reason),
		CircuitUntil: stamp(l.Circuit.Until), Activity: string(l.Activity), Trouble: string(l.Trouble), TroubleSince: stamp(l.TroubleSince),
		Needs: needs, IntervalSeconds: lane.Ordinary(site, l.Interval).Seconds(),
	}
	if !l.Circuit.Asking() {
		out.CircuitSince = stamp(l.Circuit.Since)
	}
	return out
}

func change(c store.LibraryChange, series *scraperv1.Series) *scraperv1.LibraryChange {
	ch := chapter(c.Chapter)
	ch.LibraryState = c.State
	return &scraperv1.LibraryChange{
		Revision: c.Revision, Path: c.Path, Removed: c.State == "removed", Key: keyMessage(c.Key), SeriesTitle: c.SeriesTitle, Chapter: ch,
		Pages: int32(c.Pages), Size: c.Size, Fingerprint: c.Fingerprint, PublishedAt: stamp(c.Published), Series: series,
		MissingPages: numbers(c.Missing), ReplacedBy: c.ReplacedBy, Kind: c.Kind, Unreadable: c.Unreadable,
	}
}

func numbers(list []int) []int32 {
	var out []int32
	for _, n := range list {
		out = append(out, int32(n))
	}
	return out
}

// state gathers everything a Series page shows that the scraper knows.
func (s *Server) state(ctx context.Context, key source.Key) (*scraperv1.SeriesState, error) {
	row, err := s.Store.Series(ctx, key)
	if err != nil {
		return nil, err
	}
	out := &scraperv1.SeriesState{
		Series: s.series(row), LastGoodRead: stamp(row.LastGoodRead), NextPollAt: stamp(row.NextPoll),
		ForcedPollAt: stamp(row.ForcedPoll), Polled: !row.Polled.IsZero(),
		NextPollReason: string(row.NextReason),
	}
	if !row.ForcedPoll.IsZero() {
		out.NextPollReason = "forced"
	}
	out.MovedAt = stamp(row.Moved)
	if out.PreferredGroups, err = s.Store.PreferredGroups(ctx, key); err != nil {
		return nil, err
	}
	proposal, err := s.Store.Proposal(ctx, key)
	if err != nil {
		return nil, err
	}
	out.ProposedUrl, out.ProposedBecause = proposal.URL, string(proposal.Because)
	failure, failing, err := s.Store.Failure(ctx, key)
	if err != nil {
		return nil, err
	}
	if failing {
		out.Failure = &scraperv1.Failure{Outcome: string(failure.Outcome), FailingSince: stamp(failure.Since)}
	}
	lanes, err := s.Store.Lanes(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range lanes {
		if l.Site == key.Site {
			out.Lane = s.lane(l)
		}
	}
	inJob := map[string]store.JobChapter{}
	j, hasJob, err := s.Store.LatestJob(ctx, key)
	if err != nil {
		return nil, err
	}
	if hasJob {
		chapters, err := s.Store.JobChapters(ctx, j.ID)
		if err != nil {
			return nil, err
		}
		out.Job = jobMessage(j, chapters)
		for _, c := range chapters {
			inJob[c.ChapterID] = c
		}
	}
	known, err := s.Store.Chapters(ctx, key)
	if err != nil {
		return nil, err
	}
	files, err := s.Store.FilesOfSeries(ctx, key)
	if err != nil {
		return nil, err
	}
	progress, _ := s.Hub.Progress(key)
	for _, k := range known {
		m := chapter(k.Chapter)
		m.FirstSeenAt, m.GoneSince = stamp(k.FirstSeen), stamp(k.GoneSince)
		m.LibraryState = "absent"
		if state, ok := files[k.ID]; ok {
			m.LibraryState = state
		}
		if c, ok := inJob[k.ID]; ok && m.LibraryState == "absent" {
			switch {
			case c.State == job.ChapterSetAside:
				m.DownloadState, m.SetAsideReason = string(c.State), c.Reason
			case j.State.Outstanding():
				m.DownloadState = string(c.State)
			}
		}
		if progress.ChapterID == k.ID && m.LibraryState == "absent" {
			m.PagesDone, m.PagesTotal = int32(progress.Done), int32(progress.Total)
		}
		out.Chapters = append(out.Chapters, m)
	}
	return out, nil
}

func jobMessage(j job.Job, chapters []store.JobChapter) *scraperv1.Job {
	out := &scraperv1.Job{
		Id: j.ID, State: string(j.State), Reason: j.Reason, Class: string(j.Class), RetryAt: stamp(j.RetryAt), ChangedAt: stamp(j.ChangedAt),
		ChaptersTotal: int32(len(chapters)),
	}
	for _, c := range chapters {
		if c.State == job.ChapterPublished || c.State == job.ChapterSetAside {
			out.ChaptersDone++
		}
	}
	return out
}
