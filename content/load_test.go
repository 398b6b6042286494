package content

import (
	"testing"
)

func TestShippedPackLoads(t *testing.T) {
	lib, problems := Load(Embedded())
	for _, p := range problems {
		t.Error(p)
	}
	if len(lib.Topics) != 12 {
		t.Errorf("%d topics, want the 12 of the plan", len(lib.Topics))
	}
}
