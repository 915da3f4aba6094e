//go:build !faults

package failpoint

import "os"

// Reach says that a step is reached.
func Reach(string) {}

// Torn is Reach in the middle of writing data to f.
func Torn(string, *os.File, []byte) {}

// Fail returns the error an operation on path shall end with, or nil.
func Fail(string, string) error { return nil }
