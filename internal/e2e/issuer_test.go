package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"mangrove/internal/config"
	"mangrove/internal/fakeissuer"
)

// TestSigningInWithAnIssuer is the way there and back in a real browser, whose
// policy holds a form's redirects to this site.
func TestSigningInWithAnIssuer(t *testing.T) {
	turn(t)
	f := fakeissuer.New()
	t.Cleanup(f.Close)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(fakeissuer.Secret), 0o600); err != nil {
		t.Fatal(err)
	}
	m := newMangrove(t, config.OIDCIssuer, f.Address(), config.OIDCClientID, fakeissuer.ClientID, config.OIDCClientSecretFile, secret, config.OIDCName, "Harbour")
	m.start()
	ada := m.visit("ada", desktop)
	ada.claim()
	ada.open("/me")
	ada.click("form[action$='/me/link'] button")
	ada.until("linked", `() => location.pathname === '/me' && document.querySelector('[role=status]')?.textContent.includes('Linked')`)
	kim := m.visit("kim", phone)
	kim.open("/library")
	kim.click("[formaction$='/sign-in/issuer']")
	kim.at("/library")
	kim.open("/me")
	kim.until("a sign-in by the issuer", `() => document.body.textContent.includes('with Harbour')`)
}
