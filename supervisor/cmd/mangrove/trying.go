package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/config"
	"mangrove/supervisor/internal/child"
	"mangrove/supervisor/internal/chronicle"
	"mangrove/supervisor/internal/preflight"
	"mangrove/supervisor/internal/service"
	"mangrove/supervisor/internal/trial"
)

// servesWithin is how long what a trial concerned may take to serve with the value
// before; the keepers go on after it.
const servesWithin = 2 * time.Minute

// concerned are the services that a trial concerns, while it lasts.
type concerned struct {
	mu       sync.Mutex
	names    []string
	failures chan string
}

func (c *concerned) set(names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names = names
}

// spare reports whether a failure of a service is the tried value's, and tells it.
func (c *concerned) spare(name, what string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.names {
		if n == name {
			select {
			case c.failures <- name + " ended (" + what + ")":
			default:
			}
			return true
		}
	}
	return false
}

// spared is a budget that a failure of a value on trial does not spend: it is answered
// by going back.
type spared struct {
	service.Budget
	spare func(what string) bool
}

// Fail keeps a failure, unless it is spared.
func (s spared) Fail(what string, lines []string) (parked bool, reason string) {
	if s.spare(what) {
		return false, ""
	}
	return s.Budget.Fail(what, lines)
}

// inForce are the settings now.
func (s *system) inForce() config.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tried != nil {
		return *s.tried
	}
	return s.config
}

// address is where a browser finds the reader now.
func (s *system) address() string {
	c := s.inForce()
	return address(c.HTTP, c.BasePath)
}

// recoverTrial takes back what an earlier supervisor had on trial. We hold the lock, so
// there is no other.
func (s *system) recoverTrial() error {
	_, err := trial.Recover(trial.FileOf(s.config.DataDir), s.tellTrial)
	return err
}

// trials makes what tries settings on this system.
func (s *system) trials() *trial.Keeper {
	s.onTrial.failures = make(chan string, 1)
	s.observers = append(s.observers, func(now service.Status) {
		if now.State == service.Blocked {
			s.onTrial.spare(now.Name, "blocked: "+now.Reason)
		}
	})
	return trial.NewKeeper(trial.FileOf(s.config.DataDir), triedOn{s})
}

// tellTrial tells of one step: to the log, the chronicle and the console.
func (s *system) tellTrial(step trial.Step) {
	s.log.Info("setting", zap.String("name", step.Name), zap.String("from", string(step.From)), zap.String("to", string(step.To)),
		zap.String("act", string(step.Event)), zap.String("reason", step.Why))
	s.events.Tell(chronicle.Event{Event: "setting", Name: step.Name, From: string(step.From), To: string(step.Event), Reason: step.Why})
	switch step.Event {
	case trial.Begin:
		s.say(step.Name + " is on trial")
	case trial.Keep:
		s.say(step.Name + " is kept")
	case trial.Back, trial.Found:
		s.say(fmt.Sprintf("%s went back to the value before: %s", step.Name, step.Why))
	}
	if step.To == trial.None {
		s.onTrial.set(nil)
	}
}

// act does an operator's act on one service, and the chronicle tells of it.
func (s *system) act(ctx context.Context, name string, act service.Act) (string, error) {
	said, err := s.group.act(ctx, name, act)
	e := chronicle.Event{Event: "operator", Name: name, To: string(act), Reason: said}
	if err != nil {
		e.Reason = err.Error()
	}
	s.events.Tell(e)
	return said, err
}

// chronicled tells of every change of a service that somebody may ask about.
func (s *system) chronicled() func(service.Status) {
	var mu sync.Mutex
	before := map[string]service.State{}
	return func(now service.Status) {
		mu.Lock()
		was := before[now.Name]
		before[now.Name] = now.State
		mu.Unlock()
		if was == now.State {
			return
		}
		e := chronicle.Event{Event: "service", Name: now.Name, From: string(was), To: string(now.State), Reason: now.Reason}
		if now.State == service.BackingOff || now.State == service.RepairRequired && now.LastExit != "" {
			e.Reason = now.LastExit
		}
		s.events.Tell(e)
	}
}

// triedOn is the system as trials see it.
type triedOn struct{ s *system }

// Given says where a setting comes from that nobody can change here.
func (t triedOn) Given(name string) string { return given(name) }

// Failures says why something on trial does not serve any more.
func (t triedOn) Failures() <-chan string { return t.s.onTrial.failures }

// Tell tells of one step.
func (t triedOn) Tell(step trial.Step) { t.s.tellTrial(step) }

// concerns are the services that read a setting.
func concerns(name string) []string {
	if name == config.HTTP {
		return []string{"reader"}
	}
	return []string{"scraper", "reader"}
}

// Check says what speaks against a value, in one line that names what would be right.
func (t triedOn) Check(ctx context.Context, name, value string) error {
	s := t.s
	kept, err := trial.FileOf(s.config.DataDir).Read()
	if err != nil {
		return err
	}
	kept.Kept[name] = value
	next, err := over(kept.Kept)
	if err != nil {
		return err
	}
	now := s.inForce()
	if next.HTTP == now.HTTP && next.LibraryDir == now.LibraryDir && next.DatabaseURL == now.DatabaseURL {
		return fmt.Errorf("%s has that value already", name)
	}
	if err := preflight.Settings(next); err != nil {
		return err
	}
	for _, word := range concerns(name) {
		if at, ok := s.statusOf(word); !ok || at.State != service.Serving {
			return fmt.Errorf("%s does not serve, so nothing could be told from a trial; look at mangrove status first", word)
		}
	}
	switch name {
	case config.HTTP:
		return preflight.Listens(next, now.HTTP)
	case config.Library:
		if err := preflight.Library(next, os.Geteuid()); err != nil {
			return err
		}
		return s.knowsLibrary(ctx, next)
	}
	return s.knowsDatabase(ctx, next)
}

func (s *system) statusOf(name string) (service.Status, bool) {
	for _, now := range s.group.statuses() {
		if now.Name == name {
			return now, true
		}
	}
	return service.Status{}, false
}

// knowsLibrary has the scraper's program look whether a folder is this database's
// library: with another one it would hold all downloads (INV-5).
func (s *system) knowsLibrary(ctx context.Context, c config.Config) error {
	var out strings.Builder
	exit, lines, err := child.Run(ctx, child.Spec{Path: s.scraperPath, Args: []string{"check"}, Env: scraperEnvironment(os.Environ(), c), Log: &out, Family: s.family, Life: true})
	if err != nil {
		return err
	}
	for line := range strings.Lines(out.String()) {
		var p part
		if json.Unmarshal([]byte(line), &p) != nil || p.Part != "library" {
			continue
		}
		if !p.Well {
			return fmt.Errorf("%s: %s; copy the library there first, with its hidden files", config.Library, printable(p.Said))
		}
		return nil
	}
	return fmt.Errorf("%s: %s could not be looked at (%s, %s)", config.Library, c.LibraryDir, exit, printable(strings.Join(lines, " ")))
}

// knowsDatabase has it look whether a database answers and is Mangrove's.
func (s *system) knowsDatabase(ctx context.Context, c config.Config) error {
	if c.Embedded() {
		if s.postgres == nil {
			return fmt.Errorf("the embedded database does not run, so going back to it cannot be tried; stop Mangrove, mangrove settings forget %s, and start it", config.DatabaseURL)
		}
		return nil
	}
	exit, lines, err := child.Run(ctx, child.Spec{Path: s.scraperPath, Args: []string{"database"}, Env: migrateEnvironment(os.Environ(), c, ""), Family: s.family, Life: true})
	if err != nil {
		return err
	}
	if exit.Code == config.ExitOK {
		return nil
	}
	said := exit.String()
	if len(lines) > 0 {
		said = strings.TrimPrefix(lines[len(lines)-1], "mangrove-scraper: ")
	}
	return errors.New(printable(said))
}

// listens reports whether the reader takes connections: its loop turns a little earlier.
func listens(c config.Config) bool {
	at, err := url.Parse(address(c.HTTP, ""))
	if err != nil {
		return false
	}
	conn, err := net.DialTimeout("tcp", at.Host, statusLimit)
	if err != nil {
		return false
	}
	_ = conn.Close() // nothing was asked
	return true
}

// Apply puts the values in force and restarts what name concerns.
func (t triedOn) Apply(ctx context.Context, values map[string]string, name string, trying bool) error {
	s := t.s
	c, err := over(values)
	if err != nil {
		return err
	}
	names := concerns(name)
	if trying {
		s.onTrial.set(names)
	} else {
		// What fails until it is restarted is the tried value's still.
		defer s.onTrial.set(nil)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, servesWithin)
		defer cancel()
	}
	s.mu.Lock()
	s.tried = &c
	s.mu.Unlock()
	if name == config.DatabaseURL {
		admin := ""
		if c.Embedded() && s.postgres != nil {
			admin = s.postgres.Layout.AdminURL("mangrove")
		}
		// It also writes down how the two services reach it.
		if err := migrate(ctx, c, s.family, s.scraperPath, admin); err != nil {
			return err
		}
	}
	before := map[string]int{}
	for _, word := range names {
		at, _ := s.statusOf(word)
		if at.State == service.Stopped {
			continue // an operator's word; it reads the setting when it is started
		}
		before[word] = at.PID
		// Refused is what starts by itself, and reads the setting then.
		if _, err := s.group.act(ctx, word, service.ActRestart); err != nil && ctx.Err() != nil {
			return err
		}
	}
	if !trying {
		s.onTrial.set(nil)
	}
	for word, pid := range before {
		for {
			at, _ := s.statusOf(word)
			if at.State == service.Serving && at.PID != pid && (word != "reader" || listens(c)) {
				break
			}
			if at.State == service.RepairRequired || at.State == service.Blocked && at.NextStart.IsZero() {
				return fmt.Errorf("%s is %s: %s", word, at.State, at.Reason)
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s is %s: %w", word, at.State, ctx.Err())
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	return nil
}
