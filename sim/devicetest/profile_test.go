package devicetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDifferences: a row differs, says from where it is known, and is used; a
// live device differs from the model's rxe only with a reason.
func TestDifferences(t *testing.T) {
	var source strings.Builder
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Skip("the sources are not here")
	}
	for _, f := range files {
		if f == "profile.go" || strings.HasSuffix(f, "_test.go") {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(b)
	}
	for name, d := range differences {
		if d.spec == d.rxe && (d.why == "" || d.live == d.rxe) {
			t.Errorf("%q is no difference: every profile says %q", name, d.spec)
		}
		if d.live != "" && d.why == "" {
			t.Errorf("%q: live is %q, and nothing says why", name, d.live)
		}
		if d.source == "" {
			t.Errorf("%q names no source", name)
		}
		if !strings.Contains(source.String(), `"`+name+`"`) {
			t.Errorf("%q is used by no case", name)
		}
	}
}
