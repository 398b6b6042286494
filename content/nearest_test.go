package content

import (
	"testing"

	"pgregory.net/rapid"
)

func TestDidYouMean(t *testing.T) {
	known := []string{"hints", "holds", "checked", "question", "id"}
	for got, want := range map[string]string{
		"hintz": "hints", "hold": "holds", "cheked": "checked", "quesiton": "question",
		"i": "id", "colour": "", "hi": "", "": "",
	} {
		text := didYouMean(got, known)
		if want != "" {
			want = ". Did you mean " + want + "?"
		}
		if text != want {
			t.Errorf("%q: %q, want %q", got, text, want)
		}
	}
}

// distance against the definition of Levenshtein's distance, by recursion.
func TestDistance(t *testing.T) {
	var slow func(a, b string) int
	slow = func(a, b string) int {
		if a == "" || b == "" {
			return len(a) + len(b)
		}
		cost := 1
		if a[0] == b[0] {
			cost = 0
		}
		return min(slow(a[1:], b)+1, slow(a, b[1:])+1, slow(a[1:], b[1:])+cost)
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[ab]{0,5}`)
		a, b, limit := word.Draw(t, "a"), word.Draw(t, "b"), rapid.IntRange(1, 6).Draw(t, "limit")
		if got, want := distance(a, b, limit), min(slow(a, b), limit); got != want {
			t.Fatalf("%q to %q below %d: %d, want %d", a, b, limit, got, want)
		}
	})
}
