package child

import (
	"context"
	"syscall"
)

// Run runs a program that ends by itself and returns how it ended and its last
// lines. When ctx ends first, the program is killed with its group.
func Run(ctx context.Context, spec Spec) (Exit, []string, error) {
	p, err := Start(spec)
	if err != nil {
		return Exit{}, nil, err
	}
	select {
	case <-p.Done():
		return p.Exit(), p.LastLines(), nil
	case <-ctx.Done():
		_ = p.Signal(syscall.SIGKILL)
		<-p.Done()
		return p.Exit(), p.LastLines(), ctx.Err()
	}
}
