package notify

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nicholas-fedor/shoutrrr"
	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"mangrove/internal/fault"
)

// sendTime bounds one message.
const sendTime = 30 * time.Second

// longestAddress bounds an address, longestText a message.
const (
	longestAddress = 2000
	longestText    = 3000
)

// Check reads the address of a destination and says whether a message could be sent
// there, without sending one. Its error is Invalid and never holds the address.
func Check(address string) error {
	if address == "" || len(address) > longestAddress {
		return fault.Newf(fault.Invalid, "read", "the address", "it is empty or longer than %d signs", longestAddress)
	}
	if strings.HasPrefix(address, "logger:") {
		return fault.Newf(fault.Invalid, "read", "the address", "a log is not where people look")
	}
	if _, err := shoutrrr.CreateSender(address); err != nil {
		return fault.Newf(fault.Invalid, "read", "the address", "%s", without(err, address))
	}
	return nil
}

// send sends one message and waits for the answer. Its error never holds the
// address or a part of it.
func send(ctx context.Context, address, title, body string) error {
	s, err := shoutrrr.CreateSender(address)
	if err != nil {
		return fault.Newf(fault.Invalid, "send", "a message", "%s", without(err, address))
	}
	s.Timeout = sendTime
	if len(body) > longestText {
		body = strings.ToValidUTF8(body[:longestText], "") + "…"
	}
	params := types.Params{}
	params.SetTitle(title)
	select {
	case err := <-s.SendAsync(body, &params):
		switch {
		case errors.Is(err, router.ErrServiceTimeout):
			return fault.Newf(fault.Network, "send", "a message", "no answer within %s", sendTime)
		case err != nil:
			return fault.Newf(fault.Network, "send", "a message", "%s", without(err, address))
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// without is what err says, in one bounded line, with the address and everything
// in it that may be a secret taken out.
func without(err error, address string) string {
	secrets := []string{address}
	if u, perr := url.Parse(address); perr == nil {
		password, _ := u.User.Password()
		secrets = append(secrets, u.String(), u.Redacted(), u.User.String(), u.User.Username(), password, u.RawQuery, u.Path, u.EscapedPath(), u.Fragment)
		secrets = append(secrets, strings.Split(u.Path, "/")...)
		for _, values := range u.Query() {
			secrets = append(secrets, values...)
		}
		if !named(u.Host) {
			secrets = append(secrets, u.Host)
		}
	}
	// The longest first: a short one may be part of it.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	text := err.Error()
	for _, secret := range secrets {
		if len(secret) > 2 {
			text = strings.ReplaceAll(text, secret, "…")
			text = strings.ReplaceAll(text, url.QueryEscape(secret), "…")
		}
	}
	return plain(text)
}
