package incident

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

// What the Site answered is kept where it tells something.
func TestWhatTells(t *testing.T) {
	t.Parallel()
	noRead := fault.Newf(fault.Network, "get", "x", "no answer").WithEvidence(fault.NoRead)
	for _, tt := range []struct {
		kind  fault.Class
		cause error
		want  bool
	}{
		{fault.Parser, source.Unparsed("x", "no list"), true}, {fault.Access, nil, true}, {fault.Page, errors.New("x"), true}, {fault.Unknown, nil, true},
		{fault.Network, fault.Newf(fault.Network, "get", "x", "503").WithEvidence(fault.Answered), true}, {fault.Network, noRead, false},
		{fault.Storage, nil, false}, {fault.Conflict, nil, false}, {fault.Stall, nil, false},
	} {
		if got := tells(tt.kind, tt.cause); got != tt.want {
			t.Errorf("%s, %v: %v, want %v", tt.kind, tt.cause, got, tt.want)
		}
	}
}

// A Recorder that is not there, or has nowhere to keep anything, does nothing; a
// kind that is none is unknown.
func TestARecorderThatIsNotThere(t *testing.T) {
	t.Parallel()
	var none *Recorder
	for _, r := range []*Recorder{none, {Log: zap.NewNop()}} {
		r.Record(t.Context(), Happening{Kind: fault.Parser})
		r.End(t.Context(), End{})
		r.Acted("seen", source.Key{})
	}
	for kind, want := range map[fault.Class]fault.Class{fault.Stall: fault.Stall, fault.Unavailable: fault.Unknown, "nonsense": fault.Unknown, "": fault.Unknown} {
		if got := known(kind); got != want {
			t.Errorf("%q is %q, want %q", kind, got, want)
		}
	}
}

// Text of a Site is bounded before it is stored.
func TestAnIncidentIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 5000) + "\x00\xff"
	r := &Recorder{Log: zap.NewNop()}
	in := r.incident(Happening{Kind: fault.Parser, Key: source.Key{Site: long, SeriesID: long}, ChapterID: long, Cause: source.Unparsed(long, "%s", long)}, &unit{}, nil, time.Now())
	for name, text := range map[string]string{"site": in.Key.Site, "series": in.Key.SeriesID, "chapter": in.ChapterID, "subject": in.Subject, "reason": in.Reason} {
		if len(text) > maxLine || strings.ContainsAny(text, "\x00") {
			t.Errorf("the %s has %d bytes", name, len(text))
		}
	}
}
