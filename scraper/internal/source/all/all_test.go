package all

import (
	"testing"

	"mangrove/scraper/internal/source/sample"
)

// Only the sample Site, which is our own, has Series before somebody follows one:
// no other is asked anything by itself.
func TestOnlyTheSampleListsSeries(t *testing.T) {
	adapters, end, err := Adapters(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	seen := map[string]bool{}
	for _, a := range adapters {
		key := a.Site().Key
		if seen[key] {
			t.Errorf("two adapters are called %s", key)
		}
		seen[key] = true
		if listed := a.Listed(); len(listed) > 0 && key != sample.Key {
			t.Errorf("%s lists %v", key, listed)
		}
	}
}
