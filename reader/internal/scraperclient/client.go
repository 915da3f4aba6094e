// Package scraperclient is the private API of the scraper as plain Go: the only
// importer of its protobuf types, and the one place that knows how to be without
// the scraper (OWN-2). It remembers since when the scraper has been away, tries
// again by itself, and answers fault.Away at once meanwhile. It stores nothing
// and words nothing for a person.
package scraperclient

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"mangrove/internal/fault"
	"mangrove/internal/grpcserver"
	scraperv1 "mangrove/proto/gen/scraper/v1"
)

const (
	// callTimeout bounds one call: a page must not wait longer for the scraper's
	// word than a person would.
	callTimeout = 4 * time.Second
	// retryEvery is the pause between attempts to reach a scraper that is away,
	// and between looks at its status while it is there.
	retryEvery = 2 * time.Second
)

// AwayError is the cause inside a fault of class Away: since when the scraper
// has not answered.
type AwayError struct{ Since time.Time }

func (e *AwayError) Error() string {
	return "the scraper does not answer since " + e.Since.Format(time.RFC3339)
}

// Presence is what is known of the scraper's whereabouts.
type Presence struct {
	// Away is true while the scraper does not answer; Since is when that began.
	Away  bool
	Since time.Time
	// LastAnswer is when it answered last; zero if it never did.
	LastAnswer time.Time
	// Status is its last known state, nil before the first answer.
	Status *Status
}

// Client reaches the scraper. Make one with New and start Run.
type Client struct {
	conn  *grpc.ClientConn
	api   scraperv1.ScraperServiceClient
	queue scraperv1.QueueServiceClient
	moves scraperv1.MovingServiceClient
	log   *zap.Logger

	mu       sync.Mutex
	presence Presence
}

// New makes a client of the scraper's unix socket. It does not wait: until the
// first answer the scraper counts as away since now.
func New(socket string, log *zap.Logger) (*Client, error) {
	conn, err := grpcserver.DialUnix(socket)
	if err != nil {
		return nil, fault.New(fault.Invalid, "open", "the scraper's socket", err)
	}
	return &Client{
		conn: conn, api: scraperv1.NewScraperServiceClient(conn), queue: scraperv1.NewQueueServiceClient(conn),
		moves: scraperv1.NewMovingServiceClient(conn), log: log,
		presence: Presence{Away: true, Since: time.Now()},
	}, nil
}

// Close ends the connection and every call on it.
func (c *Client) Close() error { return c.conn.Close() }

// Presence answers from memory, never from the wire.
func (c *Client) Presence() Presence {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.presence
}

// answered notes that the scraper is there.
func (c *Client) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.presence.Away {
		c.log.Info("the scraper answers")
	}
	c.presence.Away, c.presence.Since, c.presence.LastAnswer = false, time.Time{}, time.Now()
}

// lost notes that it is not, and returns since when.
func (c *Client) lost(err error) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.presence.Away {
		c.presence.Away, c.presence.Since = true, time.Now()
		c.log.Warn("the scraper does not answer", zap.Error(err))
	}
	return c.presence.Since
}

// fail classifies the error of one call. A server of ours says the class of what
// it answers; a connection that ended has none, whatever gRPC still believes of it.
func (c *Client) fail(ctx context.Context, op, subject string, err error) error {
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	s, _ := status.FromError(err)
	_, answered := grpcserver.ClassOf(err)
	switch s.Code() {
	case codes.Unavailable:
		// Of the scraper it is a Site, or a database, that cannot be reached now.
		if answered {
			c.answered()
			return fault.New(fault.Network, op, subject, err)
		}
		return fault.New(fault.Away, op, subject, &AwayError{c.lost(err)})
	case codes.DeadlineExceeded, codes.Canceled, codes.Unimplemented:
		return fault.New(fault.Away, op, subject, &AwayError{c.lost(err)})
	}
	// Every other code is an answer.
	c.answered()
	switch s.Code() {
	case codes.NotFound:
		return fault.New(fault.NotFound, op, subject, err)
	case codes.InvalidArgument:
		return fault.New(fault.Invalid, op, subject, err)
	case codes.Aborted:
		return fault.New(fault.Stale, op, subject, err)
	case codes.AlreadyExists:
		return fault.New(fault.Conflict, op, subject, err)
	case codes.PermissionDenied:
		return fault.New(fault.Access, op, subject, err)
	}
	return fault.New(fault.Unknown, op, subject, err)
}

// call runs one unary call with the time limit and keeps the presence up to date.
func call[T any](ctx context.Context, c *Client, op, subject string, fn func(context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	out, err := fn(limited)
	if err != nil {
		return out, c.fail(ctx, op, subject, err)
	}
	c.answered()
	return out, nil
}

// Status asks for the scraper's state.
func (c *Client) Status(ctx context.Context) (Status, error) {
	resp, err := call(ctx, c, "ask", "the scraper's status", func(ctx context.Context) (*scraperv1.GetStatusResponse, error) {
		return c.api.GetStatus(ctx, &scraperv1.GetStatusRequest{})
	})
	if err != nil {
		return Status{}, err
	}
	s := fromStatus(resp)
	c.mu.Lock()
	c.presence.Status = &s
	c.mu.Unlock()
	return s, nil
}

// Library asks for the state of the library folder; it is answered at once.
func (c *Client) Library(ctx context.Context) (Library, error) {
	resp, err := call(ctx, c, "ask", "the library's state", func(ctx context.Context) (*scraperv1.GetLibraryResponse, error) {
		return c.api.GetLibrary(ctx, &scraperv1.GetLibraryRequest{})
	})
	return fromLibrary(resp.GetLibrary()), err
}

// ListSeries lists the Series the scraper knows, by title; origin keeps
// "listed" or "followed" ones, "" all.
func (c *Client) ListSeries(ctx context.Context, origin string) ([]Series, error) {
	resp, err := call(ctx, c, "list", "the Series", func(ctx context.Context) (*scraperv1.ListSeriesResponse, error) {
		return c.api.ListSeries(ctx, &scraperv1.ListSeriesRequest{Origin: origin})
	})
	if err != nil {
		return nil, err
	}
	var out []Series
	for _, s := range resp.GetSeries() {
		out = append(out, fromSeries(s))
	}
	return out, nil
}

// GetSeries answers everything known about one Series.
func (c *Client) GetSeries(ctx context.Context, key Key) (State, error) {
	var state *scraperv1.SeriesState
	for {
		resp, err := call(ctx, c, "ask about", key.Site+" "+key.SeriesID, func(ctx context.Context) (*scraperv1.GetSeriesResponse, error) {
			return c.api.GetSeries(ctx, &scraperv1.GetSeriesRequest{Key: toKey(key), Skip: int32(len(state.GetChapters()))})
		})
		if err != nil {
			return State{}, err
		}
		state = joined(state, resp.GetState())
		if !resp.GetMore() || len(resp.GetState().GetChapters()) == 0 {
			return fromState(state), nil
		}
	}
}

// ReportFile says that a file of the library could not be read.
func (c *Client) ReportFile(ctx context.Context, path string) error {
	_, err := call(ctx, c, "report", path, func(ctx context.Context) (*scraperv1.ReportFileResponse, error) {
		return c.api.ReportFile(ctx, &scraperv1.ReportFileRequest{Path: path})
	})
	return err
}

// joined is a state with the chapters of its next part; nil is none yet.
func joined(state, next *scraperv1.SeriesState) *scraperv1.SeriesState {
	if state == nil {
		return next
	}
	state.Chapters = append(state.Chapters, next.GetChapters()...)
	return state
}

// GetCover answers the cover the Site shows.
func (c *Client) GetCover(ctx context.Context, key Key) (Cover, error) {
	resp, err := call(ctx, c, "ask for the cover of", key.Site+" "+key.SeriesID, func(ctx context.Context) (*scraperv1.GetCoverResponse, error) {
		return c.api.GetCover(ctx, &scraperv1.GetCoverRequest{Key: toKey(key)})
	})
	if err != nil {
		return Cover{}, err
	}
	return Cover{MediaType: resp.GetMediaType(), SHA256: resp.GetSha256(), Data: resp.GetData()}, nil
}

// ApplyFollows sends one change of the follows, or the whole set.
func (c *Client) ApplyFollows(ctx context.Context, change FollowChange) (Applied, error) {
	resp, err := call(ctx, c, "send", "the follows", func(ctx context.Context) (*scraperv1.ApplyFollowsResponse, error) {
		return c.api.ApplyFollows(ctx, toFollowChange(change))
	})
	out := Applied{Revision: resp.GetRevision(), Moved: map[Key]Key{}}
	for _, m := range resp.GetMoved() {
		out.Moved[fromKey(m.GetFrom())] = fromKey(m.GetTo())
	}
	return out, err
}

// RequestPoll asks for a Forced Poll.
func (c *Client) RequestPoll(ctx context.Context, key Key) error {
	_, err := call(ctx, c, "ask to poll", key.Site+" "+key.SeriesID, func(ctx context.Context) (*scraperv1.RequestPollResponse, error) {
		return c.api.RequestPoll(ctx, &scraperv1.RequestPollRequest{Key: toKey(key)})
	})
	return err
}

// ListChanges answers the library's changes after a cursor.
func (c *Client) ListChanges(ctx context.Context, epoch string, after int64, limit int) (Changes, error) {
	resp, err := call(ctx, c, "list", "the library's changes", func(ctx context.Context) (*scraperv1.ListLibraryChangesResponse, error) {
		return c.api.ListLibraryChanges(ctx, &scraperv1.ListLibraryChangesRequest{Epoch: epoch, After: after, Limit: int32(limit)})
	})
	if err != nil {
		return Changes{}, err
	}
	out := Changes{Epoch: resp.GetEpoch(), Head: resp.GetHead()}
	for _, ch := range resp.GetChanges() {
		out.Changes = append(out.Changes, fromChange(ch))
	}
	return out, nil
}
