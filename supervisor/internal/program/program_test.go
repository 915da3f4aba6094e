package program

import (
	"syscall"
	"testing"
	"time"

	"mangrove/supervisor/internal/child"
)

// shell is a program that is up when it has printed a line.
func shell(t *testing.T, text string) *child.Process {
	t.Helper()
	p, err := child.Start(child.Spec{Path: "/bin/sh", Args: []string{"-c", text}, Env: []string{"PATH=/usr/bin:/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	for len(p.LastLines()) == 0 {
		<-time.After(time.Millisecond)
	}
	return p
}

// TestTheStepsOfAStop: a program that ends at the first is left to it, one that is deaf
// gets the next when its grace is over, or when a person is in a hurry (SUP-8, F46).
// It shows P3.
func TestTheStepsOfAStop(t *testing.T) {
	t.Parallel()
	hurried := make(chan struct{})
	close(hurried)
	const deaf = `trap '' TERM; echo up; while :; do sleep 1; done`
	tests := []struct {
		name, text string
		grace      time.Duration
		hurry      <-chan struct{}
		want       string
		least      time.Duration
	}{
		{"it ends", `trap 'exit 4' TERM; echo up; while :; do sleep 0.05; done`, time.Minute, nil, "exit code 4", 0},
		{"it is deaf", deaf, 300 * time.Millisecond, nil, "signal: killed", 300 * time.Millisecond},
		{"somebody is in a hurry", deaf, time.Minute, hurried, "signal: killed", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := shell(t, tt.text)
			began := time.Now()
			Running{p, []Step{{syscall.SIGTERM, tt.grace, true}, {syscall.SIGKILL, 0, false}}}.Stop(tt.hurry)
			if took := time.Since(began); p.Exit().String() != tt.want || took < tt.least || took > 20*time.Second {
				t.Errorf("it ended with %s after %s, want %s", p.Exit(), took, tt.want)
			}
		})
	}
}
