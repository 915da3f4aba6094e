package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheIssuer(t *testing.T) {
	const address, client = "MANGROVE_OIDC_ISSUER=https://auth.example.com/realms/home", "MANGROVE_OIDC_CLIENT_ID=mangrove"
	for _, tt := range []struct {
		env  []string
		want Issuer
		// says is part of the error; "" wants none.
		says string
	}{
		{nil, Issuer{}, ""},
		{[]string{address, client}, Issuer{Address: "https://auth.example.com/realms/home", ClientID: "mangrove", Name: "auth.example.com", Admit: AdmitLinked}, ""},
		{
			[]string{"MANGROVE_OIDC_ISSUER=http://127.0.0.1:9091/", client, "MANGROVE_OIDC_NAME=Harbour", "MANGROVE_OIDC_ADMIT=members", "MANGROVE_OIDC_GROUP=readers", "MANGROVE_OIDC_CLIENT_SECRET_FILE=/etc/s"},
			Issuer{Address: "http://127.0.0.1:9091/", ClientID: "mangrove", Name: "Harbour", Admit: AdmitMembers, Group: "readers", SecretFile: "/etc/s"}, "",
		},
		{[]string{client}, Issuer{}, "without MANGROVE_OIDC_ISSUER"},
		{[]string{address}, Issuer{}, "MANGROVE_OIDC_CLIENT_ID: is not set"},
		{[]string{"MANGROVE_OIDC_ISSUER=http://auth.example.com", client}, Issuer{}, "https://"},
		{[]string{"MANGROVE_OIDC_ISSUER=http://10.0.0.1", client}, Issuer{}, "https://"},
		{[]string{"MANGROVE_OIDC_ISSUER=auth.example.com", client}, Issuer{}, "is not an address"},
		{[]string{"MANGROVE_OIDC_ISSUER=https://a:b@auth.example.com", client}, Issuer{}, "is not an address"},
		{[]string{"MANGROVE_OIDC_ISSUER=https://auth.example.com/?x", client}, Issuer{}, "is not an address"},
		{[]string{address, client, "MANGROVE_OIDC_CLIENT_SECRET_FILE=secret"}, Issuer{}, "absolute"},
		{[]string{address, client, "MANGROVE_OIDC_ADMIT=everybody"}, Issuer{}, "linked or members"},
		{[]string{address, client, "MANGROVE_OIDC_NAME=" + strings.Repeat("x", 41)}, Issuer{}, "1 to 40"},
		{[]string{address, client, "MANGROVE_OIDC_CLIENT_SECRET=x"}, Issuer{}, "no such setting"},
	} {
		t.Run(strings.Join(tt.env, " "), func(t *testing.T) {
			c, err := Load(tt.env, 1000, "/home/mo")
			var s *SettingError
			if tt.says != "" {
				if !errors.As(err, &s) || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%v, want one line that says %q", err, tt.says)
				}
				return
			}
			if d := cmp.Diff(tt.want, c.Issuer); err != nil || d != "" {
				t.Errorf("%v (-want +got)\n%s", err, d)
			}
		})
	}
}

func TestTheSecretOfTheIssuer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	c := Config{Issuer: Issuer{SecretFile: file}}
	for _, tt := range []struct {
		text string
		mode os.FileMode
		says string
	}{{"between us\n", 0o644, "chmod 600"}, {"\n", 0o600, "is empty"}, {"between us\n", 0o600, ""}} {
		if err := errors.Join(os.WriteFile(file, []byte(tt.text), 0o600), os.Chmod(file, tt.mode)); err != nil {
			t.Fatal(err)
		}
		secret, err := c.IssuerSecret()
		if tt.says == "" && (err != nil || secret.Reveal() != "between us") || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%q, mode %o: %v, want %q", tt.text, tt.mode, err, tt.says)
		}
	}
	if secret, err := (Config{}).IssuerSecret(); err != nil || secret != "" {
		t.Errorf("without a file: %v, %v", secret, err)
	}
}
