package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"mangrove/internal/config"
	"mangrove/supervisor/internal/trial"
)

// given says where a setting comes from that the data folder has no say in, or "".
func given(name string) string {
	names := []string{name}
	if name == config.DatabaseURL {
		names = append(names, config.DatabaseURLOwner, config.DatabaseURLReader, config.DatabaseURLScraper)
	}
	for _, kv := range os.Environ() {
		if n, value, _ := strings.Cut(kv, "="); value != "" && slices.Contains(names, n) {
			return "the environment (" + n + ")"
		}
	}
	return ""
}

// over is the environment, and beneath it the values that the data folder says.
func over(values map[string]string) (config.Config, error) {
	environ := os.Environ()
	for name, value := range values {
		if value != "" && given(name) == "" {
			environ = append(environ, name+"="+value)
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return config.Load(environ, os.Geteuid(), home)
}

// keptSettings are the settings that a start begins with: the environment, and beneath
// it what was kept. What is on trial does not outlive its supervisor.
func keptSettings() (config.Config, map[string]string, error) {
	c, err := config.FromEnvironment()
	if err != nil {
		return c, nil, err
	}
	s, err := trial.FileOf(c.DataDir).Read()
	if err != nil {
		return c, nil, settings(err)
	}
	c, err = over(s.Kept)
	return c, s.Kept, keptHint(err, s.Kept)
}

// configured are the settings that are in force: those on trial too, while a supervisor
// tries them.
func configured() (config.Config, error) {
	c, kept, err := keptSettings()
	if err != nil {
		return c, err
	}
	s, err := trial.FileOf(c.DataDir).Read()
	if err != nil || s.Trial == nil {
		return c, err
	}
	if _, err := askStatus(context.Background(), c); err != nil {
		return c, nil
	}
	c, err = over(s.InForce())
	return c, keptHint(err, kept)
}

// keptHint says of a wrong setting that it was kept here: nobody would find it in the
// environment.
func keptHint(err error, kept map[string]string) error {
	var wrong *config.SettingError
	if !errors.As(err, &wrong) || kept[wrong.Name] == "" || given(wrong.Name) != "" {
		return err
	}
	return &config.SettingError{Name: wrong.Name, Problem: wrong.Problem + "; that value was kept by mangrove settings: mangrove settings forget " + wrong.Name + " goes back to the default"}
}
