package main

import (
	"context"
	"io"

	"mangrove/internal/config"
)

// streams are where a tool reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// site runs the tools for those who describe or mend a Site. They need neither the
// database nor a data folder. A tool is a word here and a function beside.
func site(ctx context.Context, args []string, s streams) error {
	switch {
	case len(args) >= 2 && len(args) <= 3 && args[0] == "check":
		cfg, err := config.FromEnvironment()
		if err != nil {
			return &exit{config.ExitSettings, err}
		}
		return siteCheck(ctx, cfg, args[1:], s)
	case len(args) == 1 && args[0] == "label":
		return siteLabel(ctx, s)
	}
	return &exit{config.ExitSettings, errUsage}
}
