package fault

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
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

// Each class of a Job has its part of the page that says what it is and what to do
// (B35), under its own word.
func TestEveryClassOfAJobIsDescribed(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/classes.md")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, row := range Table() {
		if row.Job {
			want = append(want, string(row.Class))
		}
	}
	for _, part := range strings.Split(string(page), "\n## ")[1:] {
		word, text, _ := strings.Cut(part, "\n")
		got = append(got, word)
		if len(strings.TrimSpace(text)) < 80 {
			t.Errorf("nothing is said of %s", word)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("described are %v, want %v", got, want)
	}
}
