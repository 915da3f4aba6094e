package job_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/scraper/internal/job"
)

func TestTheLanguagesOfAFollowThatNamesNone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ chosen, listed, own, want []string }{
		"the settings'":              {[]string{"de", "en"}, []string{"fr", "de"}, []string{"fr"}, []string{"de", "en"}},
		"a region of it":             {[]string{"pt"}, []string{"pt-BR"}, []string{"en"}, []string{"pt"}},
		"not listed on this Site":    {[]string{"de"}, []string{"fr"}, []string{"fr"}, []string{"fr"}},
		"nothing chosen":             {nil, []string{"fr", "de"}, []string{"fr"}, []string{"fr"}},
		"no language is told":        {[]string{"de"}, []string{""}, []string{"fr"}, []string{"fr"}},
		"nothing known of it so far": {[]string{"de"}, nil, []string{"fr"}, []string{"fr"}},
	} {
		if d := cmp.Diff(tt.want, job.ByDefault(tt.chosen, tt.listed, tt.own)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
