// Program mangrove is the supervisor, `mangrove up`, and the operator's command
// line. It starts the database, the scraper and the reader and keeps each one
// running; it never opens the database itself, so that it can judge with the
// database down: what needs the data is done by the program that owns it.
package main

import (
	"fmt"
	"os"
)

func main() {
	code, err := run(os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, line(err))
	}
	os.Exit(code)
}
