package store

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fault"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/follow"
)

// invited adds a person with a role and a password.
func invited(t *testing.T, s *Store, name, role string) account.User {
	t.Helper()
	ctx := context.Background()
	hash := account.HashCode(name)
	u, ok, err := s.Invite(ctx, name, name, role, hash, time.Now().Add(time.Hour))
	if err != nil || !ok {
		t.Fatalf("invite: %v, %v", ok, err)
	}
	if _, ok, err := s.Redeem(ctx, name, hash, "hash of "+name); err != nil || !ok {
		t.Fatalf("redeem: %v, %v", ok, err)
	}
	return u
}

func TestWordsOfPeople(t *testing.T) {
	t.Parallel()
	s := open(t)
	quoted := regexp.MustCompile(`'([^']+)'`)
	for constraint, want := range map[string][]string{
		"users_role_check":         account.Roles(),
		"user_codes_purpose_check": {account.Invitation, account.Reset},
		"api_keys_scope_check":     account.Scopes(),
		"sessions_method_check":    {account.ByPassword, account.ByIssuer},
	} {
		var text string
		if err := s.pool.QueryRow(context.Background(), "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = $1", constraint).Scan(&text); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			got = append(got, m[1])
		}
		want = slices.Sorted(slices.Values(want))
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-Go +database)\n%s", constraint, d)
		}
	}
}

func TestAnInvitationIsUsedOnce(t *testing.T) {
	t.Parallel()
	s, ctx := open(t), context.Background()
	claimed(t, s, "mo")
	hash := account.HashCode("a code")
	u, ok, err := s.Invite(ctx, "Ada", "ada", account.Member, hash, time.Now().Add(time.Hour))
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, ok, err := s.Invite(ctx, "ADA", "ada", account.Guest, account.HashCode("x"), time.Now().Add(time.Hour)); ok || err != nil {
		t.Errorf("a taken name: %v, %v", ok, err)
	}
	if _, _, err := s.UserByName(ctx, "ada"); !fault.Is(err, fault.NotFound) {
		t.Errorf("somebody without a password can sign in: %v", err)
	}
	for _, tt := range []struct {
		name string
		hash []byte
	}{{"mo", hash}, {"ada", account.HashCode("b code")}} {
		if _, ok, err := s.Redeem(ctx, tt.name, tt.hash, "h"); ok || err != nil {
			t.Errorf("%s: %v, %v", tt.name, ok, err)
		}
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for range 20 {
		wg.Go(func() {
			got, ok, err := s.Redeem(ctx, "ada", hash, "new")
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if ok {
				won++
				if got.ID != u.ID || got.Role != account.Member {
					t.Errorf("got %+v", got)
				}
			}
		})
	}
	wg.Wait()
	if won != 1 {
		t.Errorf("the code was used %d times", won)
	}
	if _, hash, err := s.UserByName(ctx, "ada"); hash != "new" || err != nil {
		t.Errorf("got %q, %v", hash, err)
	}
	// A second code is for a reset, and an expired one is none.
	if _, purpose, err := s.SetCode(ctx, u.ID, hash, time.Now().Add(time.Hour), time.Now().Add(time.Second)); purpose != account.Reset || err != nil {
		t.Errorf("got %q, %v", purpose, err)
	}
	if _, err := s.pool.Exec(ctx, "UPDATE user_codes SET created_at = now() - interval '2 hours', expires_at = now() - interval '1 second'"); err != nil {
		t.Fatal(err)
	}
	if ok, _ := s.CodeMatches(ctx, "ada", hash); ok {
		t.Error("an expired code matches")
	}
	if _, ok, _ := s.Redeem(ctx, "ada", hash, "h"); ok {
		t.Error("an expired code was taken")
	}
}

func TestTheLastAdministratorStays(t *testing.T) {
	t.Parallel()
	s, ctx := open(t), context.Background()
	mo := claimed(t, s, "mo")
	ada := invited(t, s, "ada", account.Member)
	waiting, _, err := s.Invite(ctx, "kim", "kim", account.Administrator, account.HashCode("kim"), time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"lower": s.SetRole(ctx, mo.ID, account.Administrator, account.Member), "disable": s.Disable(ctx, mo.ID), "remove": s.Remove(ctx, mo.ID),
	} {
		if !errors.Is(err, account.ErrLast) {
			t.Errorf("%s the last who can sign in: %v", name, err)
		}
	}
	if err := s.SetRole(ctx, ada.ID, account.Guest, account.Administrator); !errors.Is(err, account.ErrChanged) {
		t.Errorf("a change from a role that is not there: %v", err)
	}
	if err := s.Disable(ctx, waiting.ID); err != nil {
		t.Error(err)
	}
	if err := s.Disable(ctx, waiting.ID); !errors.Is(err, account.ErrChanged) {
		t.Errorf("disabled twice: %v", err)
	}
	if err := s.SetRole(ctx, ada.ID, account.Member, account.Administrator); err != nil {
		t.Fatal(err)
	}
	// Two lower, disable and remove each other at once, many times: one is left.
	acts := map[string]func(id int64) error{
		"lower":   func(id int64) error { return s.SetRole(ctx, id, account.Administrator, account.Member) },
		"disable": func(id int64) error { return s.Disable(ctx, id) },
	}
	for name, act := range acts {
		for range 40 {
			if _, err := s.pool.Exec(ctx, "UPDATE users SET role = 'administrator', disabled_at = NULL WHERE id = ANY($1)", []int64{mo.ID, ada.ID}); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for _, id := range []int64{mo.ID, ada.ID} {
				wg.Go(func() {
					if err := act(id); err != nil && !errors.Is(err, account.ErrLast) {
						t.Errorf("%s: %v", name, err)
					}
				})
			}
			wg.Wait()
			var left int
			if err := s.pool.QueryRow(ctx, "SELECT count(*) FROM users WHERE role = 'administrator' AND disabled_at IS NULL AND password_hash IS NOT NULL").Scan(&left); err != nil {
				t.Fatal(err)
			}
			if left != 1 {
				t.Fatalf("%s: %d administrators are left", name, left)
			}
		}
	}
}

func TestRemovingAPersonTakesWhatIsTheirs(t *testing.T) {
	t.Parallel()
	s, ctx := open(t), context.Background()
	mo := claimed(t, s, "mo")
	ada := invited(t, s, "ada", account.Administrator)
	if _, err := s.Follow(ctx, follow.Wish{UserID: mo.ID, Key: sample, Title: "T", Languages: []string{}}); err != nil {
		t.Fatal(err)
	}
	if err := s.AddSignIn(ctx, account.HashCode("x"), mo.ID, "Firefox", account.ByPassword, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.AddKey(ctx, mo.ID, "k", account.ReadScope, account.HashCode("k"), "abcd", 1); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, ok, err := s.AddKey(ctx, mo.ID, "k", account.ReadScope, account.HashCode("l"), "abcd", 1); ok || err != nil {
		t.Errorf("one key too many: %v, %v", ok, err)
	}
	people, err := s.People(ctx)
	if err != nil || len(people) != 2 || people[1].Name != "mo" || people[1].Follows != 1 || people[1].UsedAt.IsZero() || !people[0].UsedAt.IsZero() {
		t.Errorf("got %+v, %v", people, err)
	}
	before, err := s.Wanted(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(ctx, mo.ID); err != nil {
		t.Fatal(err)
	}
	after, err := s.Wanted(ctx)
	if err != nil || len(after.Follows) != 0 || after.Revision != before.Revision+1 {
		t.Errorf("the follows: %+v, %v", after, err)
	}
	for _, table := range []string{"sessions", "api_keys", "bookmarks"} {
		var n int
		if err := s.pool.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s has %d rows, %v", table, n, err)
		}
	}
	// Whoever claimed the library is gone; it is claimed all the same.
	if c, err := s.Claim(ctx); err != nil || !c.Claimed {
		t.Errorf("the claim: %+v, %v", c, err)
	}
	// A refused removal takes no revision.
	if err := s.Remove(ctx, ada.ID); !errors.Is(err, account.ErrLast) {
		t.Errorf("got %v", err)
	}
	if again, _ := s.Wanted(ctx); again.Revision != after.Revision {
		t.Errorf("revision %d after %d", again.Revision, after.Revision)
	}
}

func TestSignInsBelongToSomebody(t *testing.T) {
	t.Parallel()
	s, ctx := open(t), context.Background()
	mo, ada := claimed(t, s, "mo"), invited(t, s, "ada", account.Member)
	hash := func(text string) []byte { return account.HashCode(text) }
	for name, user := range map[string]int64{"desk": mo.ID, "phone": mo.ID, "hers": ada.ID} {
		if err := s.AddSignIn(ctx, hash(name), user, name, account.ByPassword, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	in, u, err := s.SignedIn(ctx, hash("hers"))
	if err != nil || u.Name != "ada" || in.Device != "hers" {
		t.Fatalf("got %+v of %+v, %v", in, u, err)
	}
	if ok, err := s.EndSignIn(ctx, mo.ID, in.ID); ok || err != nil {
		t.Errorf("ended somebody else's: %v, %v", ok, err)
	}
	// Use is written once a minute.
	if err := s.TouchSignIn(ctx, in.ID, time.Minute, time.Now().Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if again, _, _ := s.SignedIn(ctx, hash("hers")); !again.UsedAt.Equal(in.UsedAt) {
		t.Error("the use was written twice in a minute")
	}
	if _, err := s.pool.Exec(ctx, "UPDATE sessions SET created_at = now() - interval '1 hour', used_at = now() - interval '61 seconds'"); err != nil {
		t.Fatal(err)
	}
	if err := s.TouchSignIn(ctx, in.ID, time.Minute, time.Now().Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if again, _, _ := s.SignedIn(ctx, hash("hers")); time.Since(again.UsedAt) > 10*time.Second || time.Until(again.ExpiresAt) < time.Hour {
		t.Errorf("after a minute: %+v", again)
	}
	desk, _, _ := s.SignedIn(ctx, hash("desk"))
	if err := s.EndOtherSignIns(ctx, mo.ID, desk.ID); err != nil {
		t.Fatal(err)
	}
	if list, err := s.SignIns(ctx, mo.ID); err != nil || len(list) != 1 || list[0].ID != desk.ID {
		t.Errorf("left: %+v, %v", list, err)
	}
	// A disabled person is nobody, at once and by every way.
	if _, ok, err := s.AddKey(ctx, ada.ID, "k", account.AdminScope, hash("key"), "abcd", 9); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := s.Disable(ctx, ada.ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.SignedIn(ctx, hash("hers")); !fault.Is(err, fault.NotFound) {
		t.Errorf("the sign-in of somebody disabled: %v", err)
	}
	if _, _, err := s.KeyUser(ctx, hash("key")); !fault.Is(err, fault.NotFound) {
		t.Errorf("the key of somebody disabled: %v", err)
	}
	if _, _, err := s.UserByName(ctx, "ada"); !fault.Is(err, fault.NotFound) {
		t.Errorf("the password of somebody disabled: %v", err)
	}
	if _, _, err := s.SetCode(ctx, ada.ID, hash("c"), time.Now().Add(time.Hour), time.Now().Add(time.Hour)); !fault.Is(err, fault.NotFound) {
		t.Errorf("a code for somebody disabled: %v", err)
	}
	// What has ended is nobody's, and is removed.
	if _, err := s.pool.Exec(ctx, "UPDATE sessions SET created_at = now() - interval '2 hours', used_at = now() - interval '2 hours', expires_at = now() - interval '1 second'"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.SignedIn(ctx, hash("desk")); !fault.Is(err, fault.NotFound) {
		t.Errorf("an ended sign-in: %v", err)
	}
	if err := s.PruneAccounts(ctx); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := s.pool.QueryRow(ctx, "SELECT count(*) FROM sessions").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d sign-ins are left, %v", n, err)
	}
}

func TestPasswordsChangeFromWhatTheyWere(t *testing.T) {
	t.Parallel()
	s, ctx := open(t), context.Background()
	mo := claimed(t, s, "mo")
	invited(t, s, "ada", account.Member)
	if ok, err := s.SetPassword(ctx, mo.ID, "another", "new", 0); ok || err != nil {
		t.Errorf("from another: %v, %v", ok, err)
	}
	if ok, err := s.SetPassword(ctx, mo.ID, "hash", "new", 0); !ok || err != nil {
		t.Errorf("from its own: %v, %v", ok, err)
	}
	if ok, err := s.Rename(ctx, mo.ID, "Ada", "ada"); ok || err != nil {
		t.Errorf("to a taken name: %v, %v", ok, err)
	}
	if ok, err := s.Rename(ctx, mo.ID, "Mo the Second", "mo the second"); !ok || err != nil {
		t.Errorf("to a free name: %v, %v", ok, err)
	}
	if _, hash, err := s.UserByName(ctx, "mo the second"); hash != "new" || err != nil {
		t.Errorf("got %q, %v", hash, err)
	}
}

// plainHasher keeps passwords readable, so that a test of who may do what does
// not wait for argon2id.
type plainHasher struct{}

func (plainHasher) Hash(_ context.Context, password string) (string, error) {
	return "hash of " + password, nil
}

func (plainHasher) Verify(_ context.Context, encoded, password string) (bool, error) {
	return encoded == "hash of "+password, nil
}

func TestRequestsBecomeCallers(t *testing.T) {
	t.Parallel()
	s, ctx := open(t), context.Background()
	claimed(t, s, "mo")
	ada := invited(t, s, "ada", account.Member)
	accounts, err := account.New(ctx, s, plainHasher{}, "/books")
	if err != nil {
		t.Fatal(err)
	}
	secrets := map[string]string{}
	for _, scope := range account.Scopes() {
		k, secret, err := accounts.NewKey(ctx, ada.ID, " a  key ", scope)
		if err != nil || k.Name != "a key" || !strings.HasSuffix(secret, k.LastSigns) {
			t.Fatalf("%s: %+v, %v", scope, k, err)
		}
		secrets[scope] = secret
	}
	var rows string
	if err := s.pool.QueryRow(ctx, "SELECT string_agg(k::text, ' ') FROM api_keys k").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	for scope, secret := range secrets {
		if strings.Contains(rows, secret) {
			t.Errorf("the key of scope %s is kept readable", scope)
		}
	}
	request := func(change func(*http.Request)) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "https://manga.example/books/", nil)
		change(r)
		return r
	}
	w := httptest.NewRecorder()
	if err := accounts.Begin(w, request(func(*http.Request) {}), ada.ID, true); err != nil {
		t.Fatal(err)
	}
	cookie := w.Result().Cookies()[0]
	if cookie.Name != "__Secure-mangrove" || cookie.Path != "/books" || !cookie.Secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode {
		t.Errorf("the cookie: %+v", cookie)
	}
	for _, tt := range []struct {
		name   string
		change func(*http.Request)
		scope  string
		err    error
	}{
		{"nothing", func(*http.Request) {}, "", nil},
		{"cookie", func(r *http.Request) { r.AddCookie(cookie) }, account.Whole, nil},
		{"cookie of another name", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "mangrove", Value: cookie.Value}) }, "", nil},
		{"cookie cut short", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value[1:]}) }, "", nil},
		{"huge cookie", func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: cookie.Name, Value: strings.Repeat("x", 64<<10)})
		}, "", nil},
		{"header", func(r *http.Request) { r.Header.Set("X-API-Key", secrets["read"]) }, account.ReadScope, nil},
		{"bearer", func(r *http.Request) { r.Header.Set("Authorization", "bearer "+secrets["admin"]) }, account.AdminScope, nil},
		{"basic", func(r *http.Request) { r.SetBasicAuth("ADA", secrets["opds"]) }, account.OPDSScope, nil},
		{"basic, typed in capitals", func(r *http.Request) {
			r.SetBasicAuth("ada", strings.ToUpper(strings.ReplaceAll(secrets["opds"], "-", "")))
		}, account.OPDSScope, nil},
		{"basic of another", func(r *http.Request) { r.SetBasicAuth("mo", secrets["opds"]) }, "", account.ErrWrongKey},
		{"basic with the password", func(r *http.Request) { r.SetBasicAuth("ada", "ada") }, "", account.ErrWrongKey},
		{"wrong key beside a cookie", func(r *http.Request) { r.AddCookie(cookie); r.Header.Set("X-API-Key", "x") }, "", account.ErrWrongKey},
		{"empty key", func(r *http.Request) { r.Header.Set("X-API-Key", "") }, "", account.ErrWrongKey},
		{"another scheme", func(r *http.Request) { r.Header.Set("Authorization", "Digest x") }, "", account.ErrWrongKey},
		{"another case", func(r *http.Request) { r.Header.Set("X-API-Key", strings.ToLower(secrets["read"])) }, "", account.ErrWrongKey},
		{"a digest", func(r *http.Request) { r.Header.Set("X-API-Key", string(account.HashCode(secrets["read"]))) }, "", account.ErrWrongKey},
	} {
		c, ok, err := accounts.Authenticate(request(tt.change))
		if !errors.Is(err, tt.err) || ok != (tt.scope != "") || c.Scope != tt.scope || ok && c.ID != ada.ID {
			t.Errorf("%s: got %+v, %v, %v; want scope %q, %v", tt.name, c, ok, err, tt.scope, tt.err)
		}
	}
	// Wrong keys from one address are slowed; the right one from there is not.
	var tooMany *account.TooManyError
	for range 40 {
		_, _, err = accounts.Authenticate(request(func(r *http.Request) { r.Header.Set("X-API-Key", "wrong") }))
	}
	if !errors.As(err, &tooMany) || tooMany.Wait <= 0 {
		t.Errorf("after forty wrong keys: %v", err)
	}
	if _, ok, err := accounts.Authenticate(request(func(r *http.Request) { r.Header.Set("X-API-Key", secrets["read"]) })); !ok || err != nil {
		t.Errorf("the right key is slowed: %v, %v", ok, err)
	}
	keys, err := accounts.Keys(ctx, ada.ID)
	if err != nil || len(keys) != 3 || keys[2].UsedAt.IsZero() {
		t.Fatalf("got %+v, %v", keys, err)
	}
	if ok, err := s.RevokeKey(ctx, ada.ID+1, keys[2].ID); ok || err != nil {
		t.Errorf("revoked somebody else's: %v, %v", ok, err)
	}
	if err := accounts.RevokeKey(ctx, ada.ID, keys[2].ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := accounts.Authenticate(request(func(r *http.Request) { r.Header.Set("X-API-Key", secrets["read"]) })); !errors.As(err, &tooMany) {
		t.Errorf("a revoked key: %v", err)
	}
	// Signing in again ends the sign-in of before.
	w = httptest.NewRecorder()
	if err := accounts.Begin(w, request(func(r *http.Request) { r.AddCookie(cookie) }), ada.ID, false); err != nil {
		t.Fatal(err)
	}
	if second := w.Result().Cookies()[0]; second.Value == cookie.Value || second.MaxAge != 0 {
		t.Errorf("the second cookie: %+v", second)
	}
	if _, ok, _ := accounts.Authenticate(request(func(r *http.Request) { r.AddCookie(cookie) })); ok {
		t.Error("the old id lives on after a new sign-in")
	}
}
