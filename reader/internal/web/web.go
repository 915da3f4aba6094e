// Package web is the reader's pages for browsers: routes, templates, the small
// scripts and styles beside them, and the only place that words a failure for a
// person. Everything is denied unless the route table says otherwise (C8). It
// decides nothing about titles, progress or follows: those are the packages it
// asks through the small interfaces below.
package web

import (
	"context"
	"html/template"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/standing"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/follow"
	"mangrove/reader/internal/forwarded"
	"mangrove/reader/internal/issuer"
	"mangrove/reader/internal/language"
	"mangrove/reader/internal/pages"
	"mangrove/reader/internal/progress"
	"mangrove/reader/internal/reading"
	"mangrove/reader/internal/scraperclient"
)

// Accounts says who a person is.
type Accounts interface {
	Claimed(ctx context.Context) (bool, error)
	Claim(ctx context.Context, peer, code, name, password string) (account.User, error)
	SignIn(ctx context.Context, peer, name, password string) (account.User, error)
	Authenticate(r *http.Request) (account.Caller, bool, error)
	Begin(w http.ResponseWriter, r *http.Request, userID int64, stay bool) error
	End(w http.ResponseWriter, r *http.Request) error
	SignIns(ctx context.Context, userID int64) ([]account.SignIn, error)
	EndSignIn(ctx context.Context, userID, id int64) error
	EndOtherSignIns(ctx context.Context, userID, keep int64) error
	ChangePassword(ctx context.Context, c account.Caller, peer, old, password string) error
	Rename(ctx context.Context, userID int64, name string) error
	SetLanguage(ctx context.Context, userID int64, tag string) error
	Keys(ctx context.Context, userID int64) ([]account.Key, error)
	NewKey(ctx context.Context, userID int64, name, scope string) (account.Key, string, error)
	RevokeKey(ctx context.Context, userID, id int64) error
	Redeem(ctx context.Context, peer, code, name, password string) (account.User, error)
	Keeping
	Vouching
}

// Vouching is what becomes of people whom an issuer vouches for.
type Vouching interface {
	Await(w http.ResponseWriter, r *http.Request, a account.Attempt) error
	Awaited(w http.ResponseWriter, r *http.Request, state string) (account.Attempt, error)
	IssuerDone(r *http.Request)
	BeginByIssuer(w http.ResponseWriter, r *http.Request, userID int64, stay bool) error
	SignInByIdentity(ctx context.Context, id account.Identity) (account.User, error)
	SignInOrAdmit(ctx context.Context, id account.Identity, proposed string) (account.User, error)
	CheckInvitation(ctx context.Context, peer, code, name string) (account.Invitee, error)
	JoinByIdentity(ctx context.Context, in account.Invitee, id account.Identity) (account.User, error)
	Ways(ctx context.Context, userID int64, issuer string) (account.Ways, error)
	Link(ctx context.Context, userID int64, id account.Identity) error
	Unlink(ctx context.Context, c account.Caller, issuer string) error
}

// Keeping is what administrators do with people.
type Keeping interface {
	People(ctx context.Context) ([]account.Person, error)
	Invite(ctx context.Context, name, role string) (account.Invited, error)
	NewCode(ctx context.Context, userID int64) (account.Invited, error)
	SetRole(ctx context.Context, userID int64, from, to string) error
	Disable(ctx context.Context, userID int64) error
	Enable(ctx context.Context, userID int64) error
	Remove(ctx context.Context, userID int64) error
}

// Shelves is the catalog with each person's places and follows in it.
type Shelves interface {
	Shelf(ctx context.Context, userID int64) ([]catalog.Card, error)
	Title(ctx context.Context, id int64) (catalog.Title, error)
	TitleByKey(ctx context.Context, key scraperclient.Key) (catalog.Title, error)
	Book(ctx context.Context, id int64) (catalog.Book, error)
	Pages(ctx context.Context, bookID int64) ([]catalog.Page, error)
	Page(ctx context.Context, bookID int64, position int) (catalog.Placed, error)
	SaveIndex(ctx context.Context, bookID int64, pages []catalog.Page) error
	Refused(ctx context.Context, limit int) ([]catalog.Refused, error)
	CountRefused(ctx context.Context) (int, error)
	CoverBook(ctx context.Context, titleID int64) (bookID int64, fingerprint string, err error)
	Shelved(ctx context.Context, titleID, userID int64) ([]progress.Shelved, error)
	RecentTitles(ctx context.Context, userID int64, limit int) ([]int64, error)
	SaveMark(ctx context.Context, m progress.Mark) (progress.Place, error)
	SetFinished(ctx context.Context, userID, titleID int64, bookIDs []int64, finished bool) error
	ReadingSettings(ctx context.Context, userID, titleID int64) (s reading.Settings, every, ok bool, err error)
	SaveReadingSettings(ctx context.Context, userID, titleID int64, s reading.Settings) (reading.Settings, error)
	Wish(ctx context.Context, userID int64, key scraperclient.Key) (follow.Wish, bool, error)
	Browsing
	Collecting
}

// Browsing is how a library is looked through and who may.
type Browsing interface {
	ShelfBlock(ctx context.Context, userID int64, q catalog.ShelfQuery) ([]catalog.Card, error)
	ShelfLetters(ctx context.Context, userID int64, q catalog.ShelfQuery) ([]int, error)
	ShelfCounts(ctx context.Context, userID int64) (catalog.ShelfCounts, error)
	ShelfChoices(ctx context.Context, userID int64) (map[string][]catalog.Choice, error)
	Find(ctx context.Context, userID int64, query string) ([]catalog.Card, error)
	SeesTitle(ctx context.Context, userID, titleID int64) (bool, error)
	SeesBook(ctx context.Context, userID, bookID int64) (bool, error)
	SeesSeries(ctx context.Context, userID int64, key scraperclient.Key) (bool, error)
}

// Scraper is what pages ask the scraper.
type Scraper interface {
	Presence() scraperclient.Presence
	ListSeries(ctx context.Context, origin string) ([]scraperclient.Series, error)
	GetSeries(ctx context.Context, key scraperclient.Key) (scraperclient.State, error)
	GetCover(ctx context.Context, key scraperclient.Key) (scraperclient.Cover, error)
	RequestPoll(ctx context.Context, key scraperclient.Key) error
	WatchSeries(ctx context.Context, key scraperclient.Key, changed func(scraperclient.State)) error
	ReportFile(ctx context.Context, path string) error
	RecogniseAddress(ctx context.Context, address string) (scraperclient.Recognised, error)
	SearchSite(ctx context.Context, site, query string) ([]scraperclient.Series, error)
	Operating
}

// Follows keeps wishes and tells the scraper.
type Follows interface {
	Follow(ctx context.Context, w follow.Wish) error
	Unfollow(ctx context.Context, userID int64, key scraperclient.Key) error
	UnfollowAll(ctx context.Context, userID int64, keys []scraperclient.Key) error
	Move(ctx context.Context, key scraperclient.Key, address string) (scraperclient.Key, error)
	// Wake sends the whole set soon.
	Wake()
}

// Catalog tells when the catalog changes.
type Catalog interface{ Changed() <-chan struct{} }

// Database tells whether the database answers, and else since when it does not.
type Database interface {
	Down() (since time.Time, down bool)
}

// Options are what the pages stand on.
type Options struct {
	Accounts Accounts
	Shelves  Shelves
	Scraper  Scraper
	Follows  Follows
	Notify   Notifying
	Moving   Moving
	Catalog  Catalog
	Database Database
	Files    *pages.Library
	Covers   *pages.Covers
	Uploads  *pages.Uploads
	// Standing is the supervisor's last word on how its services stand.
	Standing func() (standing.Report, error)
	// Issuer is who people may sign in with besides a password; nil for nobody.
	Issuer *issuer.Issuer
	// AdmitMembers makes a member of everybody whom it vouches for.
	AdmitMembers bool
	// Hosts are the names answered to besides localhost and addresses (C2).
	Hosts []string
	// BasePath is the path the library lives under, "" for the root.
	BasePath string
	// TrustedProxies are believed about who asks, and over what (C6).
	TrustedProxies []netip.Prefix
	// PlainHTTP says that pages without encryption are meant (C4).
	PlainHTTP bool
	// ClaimFrom are those, besides this machine, whom an unclaimed library
	// answers (C7).
	ClaimFrom []netip.Prefix
	// Measure measures what a route answers, under its pattern; nil measures nothing.
	Measure func(route string, h http.Handler) http.Handler
	Log     *zap.Logger
	// Stopping is closed when the program stops, so that streams end by themselves.
	Stopping <-chan struct{}
}

// Server is the pages.
type Server struct {
	Options
	assets assets
	// templates are those of each language, by its tag.
	templates map[string]*template.Template
	languages *language.Languages
	costly    *account.Limits
	// claimed only ever turns true; then nobody asks the database again.
	claimed atomic.Bool
	// lastReport is what the scraper last said of itself, for when it is away.
	lastReport atomic.Pointer[scraperReport]
	// reporting is true while the scraper is told of a file that could not be read.
	reporting atomic.Bool
	// streams counts open event streams.
	streams atomic.Int32
	// failing are the Series that fail, for the shelves.
	failing failingNow
}

// New makes the pages.
func New(o Options) (*Server, error) {
	a, err := loadAssets()
	if err != nil {
		return nil, err
	}
	s := &Server{Options: o, assets: a, costly: account.NewLimits()}
	if s.languages, err = language.Load(); err != nil {
		return nil, err
	}
	if s.templates, err = s.loadTemplates(); err != nil {
		return nil, err
	}
	return s, nil
}

// measured is what answers a route, measured unless it is a stream, which lasts as
// long as somebody looks.
func (s *Server) measured(rt route, path string) http.Handler {
	if s.Measure == nil || path == eventsPath {
		return s.serve(rt)
	}
	return s.Measure(path, s.serve(rt))
}

// Handler answers every request. Outermost is what a named proxy says, so that
// everything after it sees the browser's own scheme, host and address; then the
// cross-origin check, the host allow-list, the headers and the size limit; none of them wraps the
// ResponseWriter, which would turn sendfile off. Measure does, and keeps it.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, rt := range s.routes() {
		method, path, _ := strings.Cut(rt.pattern, " ")
		mux.Handle(method+" "+s.BasePath+path, s.measured(rt, path))
	}
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pageHeaders(w.Header(), r)
		s.plain(w, http.StatusForbidden, s.say(s.asked(r).Context()).T("This request came from another site, so nothing was done."))
	}))
	return forwarded.Handler(s.TrustedProxies, cross.Handler(s.knownHost(s.headers(s.bounded(s.below(mux))))))
}
