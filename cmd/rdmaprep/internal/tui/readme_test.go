package tui_test

import (
	"os"
	"strings"
	"testing"

	"rdmaprep/cmd/rdmaprep/internal/tui"
)

// The README's key tables are the declared keys: what a reader is told to press
// is what the screens take.
func TestReadmeHasTheKeys(t *testing.T) {
	const path = "../../../../README.md"
	readme, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	table := strings.TrimSpace(tui.KeyTable())
	if strings.Contains(string(readme), table) {
		return
	}
	if os.Getenv("RDMAPREP_REWRITE") != "" {
		const begin, end = "<!-- keys -->\n", "<!-- /keys -->\n"
		head, rest, ok := strings.Cut(string(readme), begin)
		_, tail, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("README.md has no %s … %s", begin, end)
		}
		if err := os.WriteFile(path, []byte(head+begin+table+"\n"+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("README.md lacks the present key tables: RDMAPREP_REWRITE=1 go test ./cmd/rdmaprep/internal/tui -run TestReadmeHasTheKeys writes them")
}
