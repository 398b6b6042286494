package devicetest_test

import (
	"context"
	"testing"

	"rdmaprep/sim/devicetest"
	"rdmaprep/sim/model"
	"rdmaprep/sim/verbs"
)

// leastCases is below what the suite has: a suite that runs fewer has lost some.
const leastCases = 990

func TestCases(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range devicetest.Cases() {
		if seen[c.Name] {
			t.Errorf("%s comes twice", c.Name)
		}
		seen[c.Name] = true
		if c.Source == "" {
			t.Errorf("%s names no source", c.Name)
		}
	}
	if len(seen) < leastCases {
		t.Errorf("%d cases; there were %d", len(seen), leastCases)
	}
}

func TestModel(t *testing.T) {
	for _, profile := range model.ProfileNames() {
		t.Run(profile, func(t *testing.T) {
			devicetest.Run(t, func(t *testing.T) verbs.Bench {
				b, err := model.Open(context.Background(), model.Options{Profile: profile})
				if err != nil {
					t.Fatal(err)
				}
				return b
			})
		})
	}
}
