package preflight

import (
	"net"
	"strings"
	"testing"
	"time"

	"mangrove/internal/config"
)

// A killed supervisor's lock is free before its reader's port is: a start right
// after it waits for that instead of blaming another program.
func TestAPortThatIsJustBeingGivenBack(t *testing.T) {
	t.Parallel()
	dying, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(200*time.Millisecond, func() { _ = dying.Close() })
	bound, err := Ports(config.Config{HTTP: dying.Addr().String(), Health: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	bound.Close()
}

func TestAPortThatStaysTaken(t *testing.T) {
	t.Parallel()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	for name, c := range map[string]config.Config{
		config.HTTP:    {HTTP: other.Addr().String(), Health: "127.0.0.1:0"},
		config.Health:  {HTTP: "127.0.0.1:0", Health: other.Addr().String()},
		config.Metrics: {HTTP: "127.0.0.1:0", Health: "127.0.0.1:0", Metrics: other.Addr().String()},
	} {
		_, err := Ports(c)
		if err == nil || !strings.Contains(err.Error(), name+": "+other.Addr().String()+" is taken by another program") {
			t.Errorf("%v, want %s named", err, name)
		}
	}
}
