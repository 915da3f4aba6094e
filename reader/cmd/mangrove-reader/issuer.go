package main

import (
	"go.uber.org/zap"

	"mangrove/internal/config"
	"mangrove/reader/internal/issuer"
)

// openIssuer is the issuer that people may sign in with, nil for none. It is not
// asked anything yet.
func openIssuer(cfg config.Config, log *zap.Logger) (*issuer.Issuer, error) {
	if cfg.Issuer.Address == "" {
		return nil, nil
	}
	secret, err := cfg.IssuerSecret()
	if err != nil {
		return nil, err
	}
	return issuer.New(issuer.Settings{
		Address: cfg.Issuer.Address, ClientID: cfg.Issuer.ClientID, Secret: secret.Reveal(), Name: cfg.Issuer.Name, Group: cfg.Issuer.Group,
	}, log)
}
