package issuer

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"go.uber.org/zap"
	"golang.org/x/oauth2"
)

const (
	// skew is by how much two clocks may differ.
	skew = time.Minute
	// fresh is how old a token may be: it was asked for a moment ago.
	fresh = 10 * time.Minute
	// maxSubject is what the standard allows.
	maxSubject = 255
	// maxCode bounds what a browser brings back.
	maxCode = 4096
)

// claims are what is read of a token.
type claims struct {
	Authorized string          `json:"azp"`
	Preferred  string          `json:"preferred_username"`
	Name       string          `json:"name"`
	Groups     json.RawMessage `json:"groups"`
}

// Answer turns what a browser brought back into who it is. The caller has seen to
// it that the state belongs to the browser, and to this question alone.
func (i *Issuer) Answer(ctx context.Context, q Question, answer url.Values) (Vouched, error) {
	v, err := i.answer(ctx, q, answer)
	if err != nil && ctx.Err() == nil {
		// What the token or the code was is nobody's business; the errors do not hold them.
		i.log.Warn("somebody was not signed in by the issuer", zap.String("issuer", i.Address), why(err))
	}
	return v, err
}

func (i *Issuer) answer(ctx context.Context, q Question, answer url.Values) (Vouched, error) {
	if iss := answer.Get("iss"); iss != "" && iss != i.Address {
		return Vouched{}, fmt.Errorf("%w: it comes from another issuer", ErrUnconfirmed)
	}
	switch word := answer.Get("error"); word {
	case "":
	case "server_error", "temporarily_unavailable":
		return Vouched{}, fmt.Errorf("%w: it says %s", ErrAway, word)
	default:
		return Vouched{}, fmt.Errorf("%w: it says %.60q", ErrDenied, word)
	}
	code := answer.Get("code")
	if code == "" || len(code) > maxCode {
		return Vouched{}, fmt.Errorf("%w: there is no code in it", ErrUnconfirmed)
	}
	k, err := i.look(ctx)
	if err != nil {
		return Vouched{}, err
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, i.http), 2*patience)
	defer cancel()
	c := k.oauth
	c.RedirectURL = q.Redirect
	token, err := c.Exchange(ctx, code, oauth2.VerifierOption(q.Verifier))
	if err != nil {
		return Vouched{}, unreachable(err)
	}
	id, err := i.verify(ctx, k, q, token)
	if err != nil {
		return Vouched{}, err
	}
	return i.vouch(ctx, k, id, token)
}

// caught is a key set that keeps why a signature was not verified: a key that
// could not be fetched is no forgery.
type caught struct {
	oidc.KeySet
	err error
}

// VerifySignature is the key set's own.
func (c *caught) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	payload, err := c.KeySet.VerifySignature(ctx, jwt)
	c.err = err
	return payload, err
}

// verify checks that the token is the issuer's, for Mangrove, for this question
// and of just now.
func (i *Issuer) verify(ctx context.Context, k *known, q Question, token *oauth2.Token) (*oidc.IDToken, error) {
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, fmt.Errorf("%w: no token says who it is", ErrUnconfirmed)
	}
	keys := &caught{KeySet: k.keys}
	id, err := oidc.NewVerifier(i.Address, keys, &oidc.Config{
		ClientID: i.ClientID, SupportedSigningAlgs: k.algs, Now: func() time.Time { return time.Now().Add(-skew) },
	}).Verify(ctx, raw)
	if err != nil {
		if keys.err != nil {
			return nil, unreachable(keys.err)
		}
		return nil, fmt.Errorf("%w: %w", ErrUnconfirmed, err)
	}
	var said claims
	if err := id.Claims(&said); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnconfirmed, err)
	}
	var wrong string
	switch now := time.Now(); {
	// The library lets one through whose issuer is spelled otherwise; identity is
	// the issuer's very address.
	case id.Issuer != i.Address:
		wrong = "the token is of another issuer"
	case subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(q.Nonce)) != 1:
		wrong = "the token answers another question"
	case said.Authorized != "" && said.Authorized != i.ClientID, len(id.Audience) > 1 && said.Authorized == "":
		wrong = "the token was made for somebody else"
	case id.IssuedAt.After(now.Add(skew)):
		wrong = "the token is of the future; compare the clocks"
	case id.IssuedAt.Before(now.Add(-fresh - skew)):
		wrong = "the token is old; compare the clocks"
	case id.Subject == "" || len(id.Subject) > maxSubject:
		wrong = "the token names nobody"
	case id.AccessTokenHash != "" && id.VerifyAccessToken(token.AccessToken) != nil:
		wrong = "the two tokens do not belong together"
	}
	if wrong != "" {
		return nil, fmt.Errorf("%w: %s", ErrUnconfirmed, wrong)
	}
	return id, nil
}

// vouch reads the groups and a name to propose. Some issuers say these only when
// they are asked once more.
func (i *Issuer) vouch(ctx context.Context, k *known, id *oidc.IDToken, token *oauth2.Token) (Vouched, error) {
	var said claims
	if err := id.Claims(&said); err != nil {
		return Vouched{}, fmt.Errorf("%w: %w", ErrUnconfirmed, err)
	}
	if missing := said.Preferred == "" && said.Name == "" || i.Group != "" && said.Groups == nil; missing && k.provider.UserInfoEndpoint() != "" {
		more, err := k.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
		switch {
		case err != nil && i.Group != "":
			return Vouched{}, unreachable(err)
		case err != nil:
			i.log.Debug("the issuer says no more about somebody", why(err))
		case more.Subject != id.Subject:
			return Vouched{}, fmt.Errorf("%w: it tells of somebody else", ErrUnconfirmed)
		default:
			var extra claims
			if err := more.Claims(&extra); err != nil {
				return Vouched{}, fmt.Errorf("%w: %w", ErrUnconfirmed, err)
			}
			if said.Preferred == "" && said.Name == "" {
				said.Preferred, said.Name = extra.Preferred, extra.Name
			}
			if said.Groups == nil {
				said.Groups = extra.Groups
			}
		}
	}
	if i.Group != "" && !slices.Contains(groups(said.Groups), i.Group) {
		return Vouched{}, ErrGroup
	}
	v := Vouched{Subject: id.Subject, Name: said.Preferred}
	if v.Name == "" {
		v.Name = said.Name
	}
	return v, nil
}

// groups reads a list of groups, or one.
func groups(raw json.RawMessage) []string {
	var many []string
	if json.Unmarshal(raw, &many) == nil {
		return many
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	return nil
}
