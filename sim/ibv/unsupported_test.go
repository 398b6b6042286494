//go:build !linux || (!amd64 && !arm64) || noibv

package ibv

import (
	"context"
	"errors"
	"testing"
)

// TestLeftOut is of a build without the live device.
func TestLeftOut(t *testing.T) {
	b, err := Open(context.Background(), Options{Device: "rxe0"})
	if b != nil || !errors.Is(err, ErrUnsupported) || err.Error() == ErrUnsupported.Error() {
		t.Errorf("open: %v, %v; want ErrUnsupported with a reason", b, err)
	}
	if list, err := Devices(Options{}); len(list) != 0 || !errors.Is(err, ErrUnsupported) {
		t.Errorf("devices: %v, %v", list, err)
	}
	if Supported() {
		t.Error("it says that it can")
	}
}
