package web

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"

	"mangrove/internal/fault"
	"mangrove/reader/internal/account"
)

// Who may use a route, and with what. The zero value is none of them and is refused.
const (
	file   = "file" // public, and served without the database
	public = "public"
	// user is everybody who is signed in, guests too; a read key may look.
	user = "user"
	// pictures are what reading apps show, and feed what they read: both are reached
	// with their keys, and a feed asks for one.
	pictures = "picture"
	feed     = "feed"
	// member is everybody but guests.
	member = "member"
	// own is a person's own account, and self what a guest may not change of it.
	// keeper is what administrators do with people. No key reaches these: a key
	// that is lost must not make another.
	own           = "own"
	self          = "self"
	administrator = "administrator"
	keeper        = "keeper"
)

// admitted is which roles a route is for, and which scopes of keys reach it.
type admitted struct{ roles, scopes []string }

// admissions is the whole of who may what, in one table.
func admissions() map[string]admitted {
	all, but, run := account.Roles(), []string{account.Administrator, account.Member}, []string{account.Administrator}
	return map[string]admitted{
		pictures:      {all, []string{account.Whole, account.ReadScope, account.OPDSScope, account.AdminScope}},
		feed:          {all, []string{account.Whole, account.ReadScope, account.OPDSScope, account.AdminScope}},
		user:          {all, []string{account.Whole, account.ReadScope, account.AdminScope}},
		member:        {but, []string{account.Whole, account.AdminScope}},
		own:           {all, []string{account.Whole}},
		self:          {but, []string{account.Whole}},
		administrator: {run, []string{account.Whole, account.AdminScope}},
		keeper:        {run, []string{account.Whole}},
	}
}

// eventsPath is where a page listens for what changes.
const eventsPath = "/events"

type route struct {
	pattern string
	access  string
	handle  func(http.ResponseWriter, *http.Request) error
}

// routes is every address there is. What is not public needs a sign-in, and so
// does every address that is not here: a stranger cannot tell them apart.
func (s *Server) routes() []route {
	return []route{
		{"GET /static/{digest}/{file}", file, s.static},
		{"GET /favicon.ico", file, s.favicon},
		{"GET /manifest.webmanifest", file, s.manifest},
		{"GET /worker.js", file, s.worker},
		{"GET /offline", file, s.offline},
		{"GET /claim", public, s.claimPage},
		{"POST /claim", public, s.claim},
		{"GET /sign-in", public, s.signInPage},
		{"POST /sign-in", public, s.signIn},
		{"POST /sign-in/issuer", public, s.signInByIssuer},
		{"GET " + answerPath, public, s.issuerAnswer},
		{"POST /join/issuer", public, s.joinByIssuer},
		{"GET /join", public, s.joinPage},
		{"POST /join", public, s.join},

		{"POST /sign-out", own, s.signOut},
		{"GET /{$}", user, s.home},
		{"GET /library", user, s.library},
		{"GET /library/block", user, s.libraryPart},
		{"POST /library/select", user, s.actOnTitles},
		{"GET /collections", user, s.collections},
		{"POST /collections", member, s.newCollection},
		{"GET /collections/{collection}", user, s.collection},
		{"GET /collections/{collection}/block", user, s.collectionPart},
		{"POST /collections/{collection}", member, s.changeCollection},
		{"GET /collections/{collection}/cover", pictures, s.collectionCover},
		{"POST /collections/{collection}/cover", member, s.uploadCover},
		{"GET /search", user, s.search},
		{"GET /search/site/{site}", member, s.searchSite},
		{"GET /add", member, s.addPage},
		{"POST /add", member, s.add},
		{"GET /series/{title}", user, s.seriesPage},
		{"POST /series/{title}/reading", user, s.saveReading},
		{"POST /reading", user, s.saveReading},
		{"GET /sites/{site}/{series}", user, s.sitePage},
		{"POST /sites/{site}/{series}/follow", member, s.follow},
		{"POST /sites/{site}/{series}/unfollow", member, s.unfollow},
		{"POST /sites/{site}/{series}/poll", member, s.poll},
		{"POST /sites/{site}/{series}/finished", user, s.setFinished},
		{"POST /sites/{site}/{series}/collections", member, s.collectSeries},
		{"GET /covers/title/{title}", pictures, s.titleCover},
		{"GET /covers/site/{site}/{series}", pictures, s.siteCover},
		{"GET /read/{book}", user, s.read},
		{"GET /read/{book}/pages/{page}", pictures, s.page},
		{"GET /read/{book}/keep", user, s.keepPlan},
		{"GET /saved", user, s.saved},
		{"POST /read/{book}/progress", user, s.saveProgress},
		{"GET " + eventsPath, user, s.events},
		{"GET /me", own, s.me},
		{"POST /me/name", self, s.rename},
		{"POST /language", own, s.setLanguage},
		{"POST /me/password", self, s.changePassword},
		{"POST /me/link", self, s.link},
		{"POST /me/unlink", self, s.unlink},
		{"POST /me/sign-ins", self, s.endSignIns},
		{"POST /me/keys", self, s.newKey},
		{"POST /me/keys/{key}/revoke", self, s.revokeKey},

		{"GET /move-in", self, s.moveInPage},
		{"POST /move-in", self, s.moveIn},
		{"POST /move-in/folders", administrator, s.moveFoldersIn},
		{"GET /move-in/{import}", self, s.importPage},
		{"POST /move-in/{import}/items/{item}", self, s.changeItem},
		{"POST /move-in/{import}/adopt", self, s.adoptImport},
		{"POST /move-in/{import}/undo", self, s.undoImport},
		{"POST /move-in/{import}/forget", self, s.forgetImport},
		{"GET /move-out", self, s.moveOut},
		{"GET /move-out/everybody", keeper, s.moveAllOut},

		{"GET /sites/{site}/{series}/move", administrator, s.movePage},
		{"POST /sites/{site}/{series}/move", administrator, s.move},
		{"POST /sites/{site}/{series}/groups", administrator, s.preferGroups},
		{"POST /sites/{site}/{series}/again", administrator, s.fetchAgain},
		{"GET /worklist", administrator, s.worklist},
		{"POST /worklist/poll", administrator, s.pollWorklist},
		{"POST /worklist/mute", administrator, s.muteWorklist},
		{"POST /worklist/unmute", administrator, s.unmuteWorklist},
		{"POST /worklist/unfollow", administrator, s.unfollowWorklist},
		{"POST /settings/scraper/adaptive", administrator, s.setAdaptive},
		{"POST /settings/scraper/canary", administrator, s.setCanary},
		{"POST /settings/scraper/languages", administrator, s.setLanguages},
		{"POST /settings/scraper/sites/{site}/interval", administrator, s.setInterval},
		{"GET /lanes", administrator, s.lanes},
		{"POST /lanes/{site}/resume", administrator, s.resumeLane},
		{"POST /lanes/{site}/pause", administrator, s.pauseLane},
		{"POST /lanes/{site}/probe", administrator, s.probeLane},
		{"POST /lanes/{site}/pace", administrator, s.setPace},
		{"GET /settings/scraper", administrator, s.scraperPage},
		{"POST /settings/scraper/jobs", administrator, s.actOnJobs},
		{"POST /settings/scraper/hold", administrator, s.setHold},
		{"POST /settings/scraper/discovery", administrator, s.setDiscovery},
		{"POST /settings/scraper/floor", administrator, s.setFloor},
		{"GET /settings/scraper/unreadable", administrator, s.refusedPage},
		{"GET /settings/notifications", administrator, s.notificationsPage},
		{"POST /settings/notifications", administrator, s.addDestination},
		{"POST /settings/notifications/{destination}/test", administrator, s.testDestination},
		{"POST /settings/notifications/{destination}/remove", administrator, s.removeDestination},
		{"GET /jobs/{job}", administrator, s.jobPage},
		{"POST /jobs/{job}/accept", administrator, s.acceptMissing},
		{"POST /jobs/{job}", administrator, s.actOnJob},
		{"GET /settings/health", administrator, s.healthPage},
		{"GET /incidents", administrator, s.incidents},
		{"GET /incidents/{incident}", administrator, s.incident},
		{"GET /incidents/{incident}/bundle", administrator, s.incidentBundle},
		{"POST /incidents/{incident}/seen", administrator, s.incidentSeen},

		{"GET /settings/people", keeper, s.people},
		{"POST /settings/people", keeper, s.invite},
		{"POST /settings/people/{person}/code", keeper, s.newCode},
		{"POST /settings/people/{person}/role", keeper, s.setRole},
		{"POST /settings/people/{person}/sees", keeper, s.limitGuest},
		{"POST /settings/people/{person}/disable", keeper, s.disable},
		{"POST /settings/people/{person}/enable", keeper, s.enable},
		{"POST /settings/people/{person}/remove", keeper, s.remove},

		{"GET /", user, s.nothing},
	}
}

// serve answers one route. The request that fails is the one that knows who
// asked, so that the failure can be a page of theirs.
func (s *Server) serve(rt route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r = s.asked(r)
		defer func() {
			// One page's fault is one page's failure, in one log line.
			if p := recover(); p != nil {
				s.fail(w, r, fault.Newf(fault.Unknown, "answer", rt.pattern, "panic: %v\n%s", p, debug.Stack()))
			}
		}()
		r, ok, err := s.admit(rt, w, r)
		if ok {
			err = rt.handle(w, r)
		}
		if err != nil {
			s.fail(w, r, err)
		}
	}
}

// admit guards one route: the database first, then the claim, then who asks.
// When ok is false the answer is written or the error says why not.
func (s *Server) admit(rt route, w http.ResponseWriter, r *http.Request) (_ *http.Request, ok bool, err error) {
	if rt.access == file {
		return r, true, nil
	}
	if since, down := s.Database.Down(); down {
		s.databaseAway(w, r, since)
		return r, false, nil
	}
	claimed, err := s.isClaimed(r)
	if err != nil {
		return r, false, err
	}
	if !claimed && !s.mayClaim(r) {
		s.render(w, r, http.StatusForbidden, "claim-elsewhere", gatePage{Title: s.say(r.Context()).T("Not claimed yet"), Theme: theme(r)})
		return r, false, nil
	}
	if rt.access == public {
		return r, true, nil
	}
	if !claimed {
		return r, false, s.turnAway(w, r, "/claim")
	}
	r, ok, err = s.authenticated(r)
	switch {
	case errors.Is(err, account.ErrWrongKey):
		s.askForKey(w, "This key is not known here.")
		return r, false, nil
	case err != nil:
		return r, false, err
	case !ok && rt.access == feed:
		s.askForKey(w, "Sign in with your name and an app password.")
		return r, false, nil
	case !ok:
		to := "/sign-in"
		if here := within(r, r.URL.RequestURI()); r.Method == http.MethodGet && here != "/" {
			to += "?next=" + url.QueryEscape(here)
		}
		return r, false, s.turnAway(w, r, to)
	}
	c, rule := caller(r), admissions()[rt.access]
	if !slices.Contains(rule.roles, c.Role) {
		return r, false, notFound("a page")
	}
	if sees, err := s.sees(c, r); err != nil || !sees {
		return r, false, cmp.Or(err, notFound("a page"))
	}
	looks := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !slices.Contains(rule.scopes, c.Scope) || c.Scope != account.Whole && c.Scope != account.AdminScope && !looks {
		s.plain(w, http.StatusForbidden, "This key may not do that.")
		return r, false, nil
	}
	return r, true, nil
}

// askForKey tells a program how to say who it is. It is only told to one that
// has tried or that reads a feed: a browser would ask the person for it.
func (s *Server) askForKey(w http.ResponseWriter, sentence string) {
	w.Header().Set("WWW-Authenticate", `Basic realm="Mangrove", charset="UTF-8"`)
	s.plain(w, http.StatusUnauthorized, sentence)
}

// turnAway leads a page to where one signs in; anything else is told 401.
func (s *Server) turnAway(w http.ResponseWriter, r *http.Request, to string) error {
	if (r.Method == http.MethodGet || r.Method == http.MethodHead) && forWindow(r) {
		return redirect(w, r, to)
	}
	s.plain(w, http.StatusUnauthorized, "Sign in first.")
	return nil
}

func (s *Server) isClaimed(r *http.Request) (bool, error) {
	if s.claimed.Load() {
		return true, nil
	}
	claimed, err := s.Accounts.Claimed(r.Context())
	if claimed {
		s.claimed.Store(true)
	}
	return claimed, err
}

func (s *Server) nothing(http.ResponseWriter, *http.Request) error { return notFound("a page") }
