// Program cluster runs a command beside a throw-away PostgreSQL whose address
// it puts into MANGROVE_TEST_DATABASE_URL:
//
//	go run mangrove/internal/pgtest/cluster -- go test work
//
// The cluster lives in a temporary folder without any sync to disk, listens on
// a unix socket only, and is gone when the command ends, however it ends. The
// program is for tests: it trusts whoever reaches the socket.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
	}
	os.Exit(code)
}
