// Program schema prints the schema that the migrations add up to, for
// migrations/schema.sql: the same text on every machine, so that a difference
// is a change. It needs the server that `make generate` starts, and it leaves
// no database behind.
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
	err := run(ctx, os.Getenv, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "schema:", err)
		os.Exit(1)
	}
}
