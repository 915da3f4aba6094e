package main

import (
	"fmt"
	"io"
	"sync"

	"mangrove/internal/durable"
)

// spoken is a log that says on the console when it cannot be written, once, and when
// it can again: nobody would find it in the log. Whoever writes goes on either way.
type spoken struct {
	log  io.Writer
	name string
	say  func(string)

	mu   sync.Mutex
	lost int
}

// Write passes p on.
func (s *spoken) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.log.Write(p)
	switch {
	case err != nil:
		if s.lost++; s.lost == 1 {
			s.say(fmt.Sprintf("The log of %s cannot be written: %s. Everything goes on without it.", s.name, durable.Reason(err)))
		}
	case s.lost > 0:
		s.say(fmt.Sprintf("The log of %s is written again; %d lines are missing.", s.name, s.lost))
		s.lost = 0
	}
	return n, err
}
