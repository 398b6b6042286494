//go:build !linux

package frames

// IsTap is false: a TAP of this package is Linux's.
func IsTap(string) bool { return false }

// Tap fails: a TAP of this package is Linux's.
func Tap(name string, _ Clock) (*Carrier, error) {
	return nil, &TapError{Name: name, Why: "TAP interfaces are taken on Linux only"}
}
