package store

import (
	"testing"

	"mangrove/scraper/internal/inventory"
)

// Whoever did not look decides nothing (INV-3).
func TestNothingIsLackingWithoutALook(t *testing.T) {
	t.Parallel()
	s := setup(t)
	if lacking, err := s.Lacking(t.Context(), inventory.Snapshot{}, key); err == nil {
		t.Errorf("it answered %v", lacking)
	}
}
