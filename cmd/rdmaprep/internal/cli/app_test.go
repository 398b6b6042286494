package cli

import (
	"bytes"
	"testing"
	"time"
)

// A command that looks into the content before it opens the store goes on with
// what it has loaded.
func TestContentIsLoadedOnce(t *testing.T) {
	a := &app{dataDir: t.TempDir(), host: Host{Now: time.Now, Entropy: bytes.NewReader(make([]byte, 512))}}
	lib, err := a.loadContent()
	if err != nil {
		t.Fatal(err)
	}
	svc, err := a.service(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if svc.Library() != lib {
		t.Error("the service has another library than the one that was loaded before it")
	}
	if err := a.close(); err != nil {
		t.Error(err)
	}
}
