package config

import (
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Who may come through the issuer, besides those who are linked.
const (
	AdmitLinked  = "linked"
	AdmitMembers = "members"
)

// maxIssuerName bounds what the button says.
const maxIssuerName = 40

// Issuer is the issuer of OpenID Connect that people may sign in with. Without an
// address there is none.
type Issuer struct {
	// Address is exactly what the issuer calls itself.
	Address, ClientID string
	// SecretFile holds the client's secret; "" for a client that has none.
	SecretFile string
	// Name is what people know it by.
	Name string
	// Admit is AdmitLinked or AdmitMembers.
	Admit string
	// Group is the group that everybody who comes through it needs; "" asks for none.
	Group string
}

// issuer reads who may sign in with an issuer, and with which.
func (c *Config) issuer(env map[string]string) error {
	i := Issuer{
		Address: env[OIDCIssuer], ClientID: env[OIDCClientID], SecretFile: env[OIDCClientSecretFile],
		Name: strings.TrimSpace(env[OIDCName]), Admit: env[OIDCAdmit], Group: env[OIDCGroup],
	}
	if i.Address == "" {
		for _, name := range []string{OIDCClientID, OIDCClientSecretFile, OIDCName, OIDCAdmit, OIDCGroup} {
			if env[name] != "" {
				return wrong(name, "is set without %s; set that, too, or remove this", OIDCIssuer)
			}
		}
		return nil
	}
	u, err := url.Parse(i.Address)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || len(i.Address) > 500 {
		return wrong(OIDCIssuer, "is not an address such as https://auth.example.com")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !thisMachine(u.Hostname())) {
		return wrong(OIDCIssuer, "does not begin with https://; without encryption it may only be on this machine")
	}
	if i.ClientID == "" {
		return wrong(OIDCClientID, "is not set; it is the name by which the issuer knows Mangrove")
	}
	if i.SecretFile != "" && !filepath.IsAbs(i.SecretFile) {
		return wrong(OIDCClientSecretFile, "%q is not an absolute path", i.SecretFile)
	}
	if i.Name == "" {
		i.Name = u.Hostname()
		if len(i.Name) > maxIssuerName {
			i.Name = i.Name[:maxIssuerName]
		}
	}
	if utf8.RuneCountInString(i.Name) > maxIssuerName || !utf8.ValidString(i.Name) || strings.ContainsFunc(i.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return wrong(OIDCName, "is not a name of 1 to %d letters that can be seen", maxIssuerName)
	}
	switch i.Admit {
	case "":
		i.Admit = AdmitLinked
	case AdmitLinked, AdmitMembers:
	default:
		return wrong(OIDCAdmit, "%q is not linked or members", i.Admit)
	}
	c.Issuer = i
	return nil
}

// thisMachine reports whether a host of an address is this machine and no other.
func thisMachine(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// IssuerSecret is what Mangrove proves to the issuer that it is Mangrove with; ""
// when no file is named.
func (c Config) IssuerSecret() (Secret, error) {
	if c.Issuer.SecretFile == "" {
		return "", nil
	}
	secret, err := secretFile(OIDCClientSecretFile, c.Issuer.SecretFile)
	if err == nil && secret == "" {
		err = wrong(OIDCClientSecretFile, "%s is empty; put the client's secret into it", c.Issuer.SecretFile)
	}
	return secret, err
}
