package rpc_test

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/poll"
)

func TestMutingLeavesTheListAndTheCounts(t *testing.T) {
	t.Parallel()
	e := setup(t)
	ctx := t.Context()
	since := time.Date(2026, 8, 12, 6, 0, 0, 0, time.UTC)
	if _, err := e.db.RecordFailure(ctx, key, poll.NotFound, since); err != nil {
		t.Fatal(err)
	}
	list := func(r *scraperv1.ListWorklistRequest) *scraperv1.ListWorklistResponse {
		t.Helper()
		got, err := e.ListWorklist(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for i, muted := range []bool{true, false} {
		got, err := e.SetMuted(ctx, &scraperv1.SetMutedRequest{Keys: []*scraperv1.SeriesKey{message(key), {Site: "x", SeriesId: "y"}}, Muted: muted})
		if err != nil || got.GetChanged() != 1 {
			t.Fatalf("muted %v: %v, %v; want one", muted, got, err)
		}
		shown, hidden := list(&scraperv1.ListWorklistRequest{Muted: !muted}), list(&scraperv1.ListWorklistRequest{Muted: muted})
		if len(shown.GetItems()) != 0 || shown.GetTotal() != 0 || len(hidden.GetItems()) != 1 || hidden.GetTotal() != 1 {
			t.Errorf("muted %v: on one list %v, on the other %v", muted, shown, hidden)
		}
		if at := hidden.GetItems()[0].GetMutedAt(); (at != nil) != muted {
			t.Errorf("muted %v: muted at %v", muted, at)
		}
		count := shown.GetCounts()[0]
		st, err := e.GetStatus(ctx, &scraperv1.GetStatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		lanes, err := e.ListLanes(ctx, &scraperv1.ListLanesRequest{})
		if err != nil {
			t.Fatal(err)
		}
		n := int32(1 - i)
		if count.GetMuted() != n || count.GetCount() != 1-n || st.GetSeriesMuted() != n || st.GetSeriesFailing() != 1 ||
			lanes.GetLanes()[0].GetMuted() != n || lanes.GetLanes()[0].GetFailing() != 1 {
			t.Errorf("muted %v: counts %v, status %v, Lane %v", muted, count, st, lanes.GetLanes()[0])
		}
		if f, failing, err := e.db.Failure(ctx, key); err != nil || !failing || !f.Since.Equal(since) {
			t.Errorf("muted %v: the failure row became %v (%v, %v)", muted, f, failing, err)
		}
	}
}

func TestTheWorklistByAge(t *testing.T) {
	t.Parallel()
	e := setup(t)
	since := time.Date(2026, 8, 12, 6, 0, 0, 0, time.UTC)
	if _, err := e.db.RecordFailure(t.Context(), key, poll.NotFound, since); err != nil {
		t.Fatal(err)
	}
	for before, want := range map[time.Time]int32{since: 0, since.Add(time.Second): 1} {
		got, err := e.ListWorklist(t.Context(), &scraperv1.ListWorklistRequest{FailingBefore: timestamppb.New(before)})
		if err != nil || got.GetTotal() != want || len(got.GetItems()) != int(want) {
			t.Errorf("before %v: %v, %v; want %d", before, got, err, want)
		}
	}
	bad := &timestamppb.Timestamp{Seconds: 1 << 60}
	if _, err := e.ListWorklist(t.Context(), &scraperv1.ListWorklistRequest{FailingBefore: bad}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a time that is none: %v", err)
	}
	if _, err := e.SetMuted(t.Context(), &scraperv1.SetMutedRequest{Keys: make([]*scraperv1.SeriesKey, 1001)}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("1,001 Series at once: %v", err)
	}
}

// A failure is a row, never a number (B23): nothing that says of one Series that
// it fails has a counter, nor a time beside the stamp (B24).
func TestNoNumberSaysThatASeriesFails(t *testing.T) {
	t.Parallel()
	fields := func(m protoreflect.ProtoMessage) map[string]string {
		out := map[string]string{}
		d := m.ProtoReflect().Descriptor().Fields()
		for i := range d.Len() {
			f := d.Get(i)
			switch {
			case f.Name() == "incident_id":
				// It names another thing, which has a life of its own.
			case f.Kind() == protoreflect.MessageKind:
				out[string(f.Name())] = string(f.Message().Name())
			case f.Kind() == protoreflect.StringKind, f.Kind() == protoreflect.BoolKind:
				out[string(f.Name())] = f.Kind().String()
			default:
				t.Errorf("%s.%s is a number (%s)", m.ProtoReflect().Descriptor().Name(), f.Name(), f.Kind())
			}
		}
		return out
	}
	if got := fields(&scraperv1.Failure{}); len(got) != 2 || got["outcome"] != "string" || got["failing_since"] != "Timestamp" {
		t.Errorf("a failure is %v, want its word and since when", got)
	}
	fields(&scraperv1.WorklistItem{})
	fields(&scraperv1.SeriesState{})
}
