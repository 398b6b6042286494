package content

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The snapshot is what the files say: every field of every entry, and every
// reference to the same source or question.
func TestSnapshotIsFresh(t *testing.T) {
	want, problems := Load(Embedded())
	if len(problems) > 0 {
		t.Fatal(problems[0])
	}
	if os.Getenv("RDMAPREP_REWRITE") != "" {
		data, err := Snapshot(want)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("shipped.gob", data, 0o644); err != nil {
			t.Fatal(err)
		}
		snapshot = data
	}
	got, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("content/shipped.gob is older than the files (- files, + snapshot): go generate ./content\n%s", diff)
	}
	for _, l := range got.Lessons {
		for _, b := range l.Blocks {
			if b.Check != nil && b.Check != find(got, b.Check.ID) {
				t.Errorf("lesson %s: the check %s is not the library's own question", l.ID, b.Check.ID)
			}
		}
	}
}

func find(lib *Library, id string) *Question {
	for _, q := range lib.Questions {
		if q.ID == id {
			return q
		}
	}
	return nil
}

func BenchmarkShipped(b *testing.B) {
	for b.Loop() {
		if _, err := Shipped(); err != nil {
			b.Fatal(err)
		}
	}
}
