package web

import (
	"net/http"
	"net/url"
	"runtime/debug"

	"mangrove/internal/fault"
	"mangrove/reader/internal/account"
)

// Who may use a route. The zero value is none of them and is refused.
const (
	file          = "file" // public, and served without the database
	public        = "public"
	user          = "user"
	administrator = "administrator"
)

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

		{"POST /sign-out", user, s.signOut},
		{"GET /{$}", user, s.home},
		{"GET /library", user, s.library},
		{"GET /search", user, s.search},
		{"GET /search/site/{site}", user, s.searchSite},
		{"GET /add", user, s.addPage},
		{"POST /add", user, s.add},
		{"GET /series/{title}", user, s.seriesPage},
		{"POST /series/{title}/reading", user, s.saveReading},
		{"POST /reading", user, s.saveReading},
		{"GET /sites/{site}/{series}", user, s.sitePage},
		{"POST /sites/{site}/{series}/follow", user, s.follow},
		{"POST /sites/{site}/{series}/unfollow", user, s.unfollow},
		{"POST /sites/{site}/{series}/poll", user, s.poll},
		{"POST /sites/{site}/{series}/finished", user, s.setFinished},
		{"GET /covers/title/{title}", user, s.titleCover},
		{"GET /covers/site/{site}/{series}", user, s.siteCover},
		{"GET /read/{book}", user, s.read},
		{"GET /read/{book}/pages/{page}", user, s.page},
		{"GET /read/{book}/keep", user, s.keepPlan},
		{"GET /saved", user, s.saved},
		{"POST /read/{book}/progress", user, s.saveProgress},
		{"GET /events", user, s.events},
		{"GET /me", user, s.me},

		{"GET /sites/{site}/{series}/move", administrator, s.movePage},
		{"POST /sites/{site}/{series}/move", administrator, s.move},
		{"POST /sites/{site}/{series}/groups", administrator, s.preferGroups},
		{"GET /worklist", administrator, s.worklist},
		{"POST /worklist/poll", administrator, s.pollWorklist},
		{"POST /worklist/mute", administrator, s.muteWorklist},
		{"POST /worklist/unmute", administrator, s.unmuteWorklist},
		{"POST /worklist/unfollow", administrator, s.unfollowWorklist},
		{"POST /settings/scraper/adaptive", administrator, s.setAdaptive},
		{"POST /settings/scraper/languages", administrator, s.setLanguages},
		{"POST /settings/scraper/sites/{site}/interval", administrator, s.setInterval},
		{"GET /lanes", administrator, s.lanes},
		{"POST /lanes/{site}/resume", administrator, s.resumeLane},
		{"POST /lanes/{site}/probe", administrator, s.probeLane},
		{"POST /lanes/{site}/pace", administrator, s.setPace},
		{"GET /settings/scraper", administrator, s.scraperPage},
		{"POST /settings/scraper/jobs", administrator, s.actOnJobs},
		{"POST /settings/scraper/hold", administrator, s.setHold},
		{"POST /settings/scraper/discovery", administrator, s.setDiscovery},
		{"POST /settings/scraper/floor", administrator, s.setFloor},
		{"GET /jobs/{job}", administrator, s.jobPage},
		{"POST /jobs/{job}/accept", administrator, s.acceptMissing},
		{"POST /jobs/{job}", administrator, s.actOnJob},
		{"GET /incidents", administrator, s.incidents},
		{"GET /incidents/{incident}", administrator, s.incident},
		{"GET /incidents/{incident}/bundle", administrator, s.incidentBundle},
		{"POST /incidents/{incident}/seen", administrator, s.incidentSeen},

		{"GET /", user, s.nothing},
	}
}

// serve answers one route. The request that fails is the one that knows who
// asked, so that the failure can be a page of theirs.
func (s *Server) serve(rt route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
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
		s.databaseAway(w, since)
		return r, false, nil
	}
	claimed, err := s.isClaimed(r)
	if err != nil {
		return r, false, err
	}
	if rt.access == public {
		return r, true, nil
	}
	if !claimed {
		return r, false, s.turnAway(w, r, "/claim")
	}
	r, ok, err = s.signedIn(w, r)
	if err != nil {
		return r, false, err
	}
	if !ok {
		to := "/sign-in"
		if r.Method == http.MethodGet && r.URL.Path != "/" {
			to += "?next=" + url.QueryEscape(r.URL.RequestURI())
		}
		return r, false, s.turnAway(w, r, to)
	}
	if rt.access != user && !(rt.access == administrator && who(r).Role == account.Administrator) {
		return r, false, notFound("a page")
	}
	return r, true, nil
}

// turnAway leads a page to where one signs in; anything else is told 401.
func (s *Server) turnAway(w http.ResponseWriter, r *http.Request, to string) error {
	dest := r.Header.Get("Sec-Fetch-Dest")
	if (r.Method == http.MethodGet || r.Method == http.MethodHead) && (dest == "" || dest == "document") {
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
