package content

import (
	"fmt"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"pgregory.net/rapid"
)

// TestPlaces writes random TOML whose every key has a known line, with strings
// and arrays that look like headers and keys, and asks for the lines back.
func TestPlaces(t *testing.T) {
	values := []string{
		`"x"`, `7`, `"[[question]]"`, `'it''s'`, `["a", "b # c"]`, `"a \" = [["`, "\"\"\"\n[[question]]\nid = 3\n\"\"\"",
		"'''\n[a]\n'''", "[\n  { text = \"[\" },\n  { text = \"]]\" }, # [[x]]\n]", `{ a = 1, b = [2] }`, "\"\"\"one \\\"\"\" two\"\"\"",
	}
	// The fourth value is two strings side by side, which is not TOML.
	values[3] = `'its'`
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		line := 1
		put := func(s string) {
			b.WriteString(s + "\n")
			line += strings.Count(s, "\n") + 1
		}
		want := map[string]int{}
		keysAt := func(path string) {
			for k := range rapid.IntRange(0, 3).Draw(t, "keys") {
				want[fmt.Sprintf("%s.k%d", path, k)] = line
				v := rapid.SampledFrom(values).Draw(t, "value")
				put(fmt.Sprintf("k%d = %s # = [[no]]", k, v))
			}
		}
		for q := range rapid.IntRange(1, 4).Draw(t, "questions") {
			path := fmt.Sprintf("question[%d]", q)
			want[path] = line
			put("[[question]]")
			keysAt(path)
			if rapid.Bool().Draw(t, "proof") {
				want[path+".proof"] = line
				put("[question.proof]")
				keysAt(path + ".proof")
			}
			for c := range rapid.IntRange(0, 3).Draw(t, "choices") {
				sub := fmt.Sprintf("%s.choices[%d]", path, c)
				want[sub] = line
				put("  [[question.choices]]")
				keysAt(sub)
			}
			put("")
		}
		var doc map[string]any
		if _, err := toml.Decode(b.String(), &doc); err != nil {
			t.Fatalf("the test wrote bad TOML: %v\n%s", err, b.String())
		}
		f := &sourceFile{data: b.String()}
		for path, n := range want {
			if got := f.line(path); got != n {
				t.Errorf("%s is on line %d, want %d of\n%s", path, got, n, b.String())
			}
		}
		if got := len(f.places()); got != len(want) {
			t.Errorf("%d places, want %d: %v", got, len(want), f.places())
		}
	})
}
