package difftest_test

import "testing"

// TestSecondTries: a case that was equal only at the second try is counted and
// named, with what was different first.
func TestSecondTries(t *testing.T) {
	if got, want := secondTries(nil), "Equal at the second try: 0\n"; got != want {
		t.Errorf("none: %q, want %q", got, want)
	}
	got := secondTries([]secondTry{{"a.txt: one", "differs\nmodel: x\nlive:  y"}, {"b.txt: two", "error: late\n"}})
	want := "Equal at the second try: 2\n* a.txt: one\n    differs\n    model: x\n    live:  y\n* b.txt: two\n    error: late\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
