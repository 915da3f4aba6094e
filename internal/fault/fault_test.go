package fault

import (
	"errors"
	"fmt"
	"testing"
)

func TestTableHasEachClassOnce(t *testing.T) {
	seen := map[Class]bool{}
	for _, row := range Table() {
		if seen[row.Class] {
			t.Errorf("class %q stands twice in the table", row.Class)
		}
		seen[row.Class] = true
		if got := Lookup(row.Class); got != row {
			t.Errorf("Lookup(%q) = %+v, want %+v", row.Class, got, row)
		}
	}
	if got := Lookup("never heard of"); got.Class != Unknown {
		t.Errorf("Lookup of a strange word = %q, want %q", got.Class, Unknown)
	}
}

func TestOf(t *testing.T) {
	cause := errors.New("connection reset")
	err := fmt.Errorf("poll: %w", New(Network, "get", "https://example.org/a", cause))
	if got := Of(err); got != Network {
		t.Errorf("Of(%v) = %q, want %q", err, got, Network)
	}
	if !errors.Is(err, cause) {
		t.Errorf("the cause is lost in %v", err)
	}
	if got := Of(errors.New("plain")); got != Unknown {
		t.Errorf("Of(plain) = %q, want %q", got, Unknown)
	}
	if got := Of(nil); got != "" {
		t.Errorf("Of(nil) = %q, want none", got)
	}
}
