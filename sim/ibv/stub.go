//go:build !linux || (!amd64 && !arm64) || noibv

package ibv

import (
	"context"
	"fmt"
	"runtime"

	"rdmaprep/sim/verbs"
)

// Bench is never made here: Open always fails.
type Bench struct{ verbs.Bench }

// GIDIndex is the index of the GID that a node uses.
func (*Bench) GIDIndex(string) int { return 0 }

// Present says nothing here.
func (*Bench) Present() error { return nil }

// Endless says nothing here.
func (*Bench) Endless() string { return "" }

func unsupported() error {
	return fmt.Errorf("%w: it was built for %s/%s or with the tag noibv; a live device needs Linux on amd64 or arm64 (labs run on the model everywhere)",
		ErrUnsupported, runtime.GOOS, runtime.GOARCH)
}

// Supported says whether this program can drive a live device.
func Supported() bool { return false }

// Devices fails with ErrUnsupported.
func Devices(Options) ([]Info, error) { return nil, unsupported() }

// Open fails with ErrUnsupported.
func Open(context.Context, Options) (*Bench, error) { return nil, unsupported() }
