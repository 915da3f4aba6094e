package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecimal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10.5": "10.5", " 7 ": "7", "-1": "-1", "0": "0", "10.50": "10.50",
		"": "", "Extra": "", "NaN": "", "1e3": "", "９": "", "1.": "", ".5": "", "--1": "", "1.2.3": "", "0x1": "", "+1": "",
		"1234567890": "", "1.1234567": "", "1234567890123456789012345678901234567890": "", "'; DROP": "",
	} {
		if got := Decimal(text); got != want {
			t.Errorf("Decimal(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestSortBooks(t *testing.T) {
	t.Parallel()
	books := []Book{
		{ID: 1, Number: "10"}, {ID: 2, Number: "2.5"}, {ID: 3, Number: ""}, {ID: 4, Number: "2"}, {ID: 5, Number: "-1"},
		{ID: 6, Number: "2", SourceOrder: 9}, {ID: 7, Number: "", SourceOrder: 3},
	}
	SortBooks(books)
	var got []int64
	for _, b := range books {
		got = append(got, b.ID)
	}
	if d := cmp.Diff([]int64{5, 6, 4, 2, 1, 7, 3}, got); d != "" {
		t.Error(d)
	}
}
