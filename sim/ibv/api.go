package ibv

import (
	"context"
	"errors"
	"time"
)

// Clock is wall time and a pause; both come in as a value.
type Clock struct {
	Now func() time.Time
	// Pause waits for d or until ctx is done.
	Pause func(ctx context.Context, d time.Duration)
}

// Options say what Open opens.
type Options struct {
	Device string   // such as "rxe0"; "" is the first device
	Nodes  []string // all on the one device, each a context of its own; none is a and b
	Clock  Clock    // needed
	// Library and Sysfs are for tests: the file that dlopen is given, and where
	// sysfs is mounted. "" is libibverbs.so.1 and /sys.
	Library, Sysfs string
}

// Info is a device that the library lists.
type Info struct {
	Name   string // "rxe0"
	Uverbs string // "uverbs0": the node is /dev/infiniband/uverbs0
	GUID   uint64 // of the node, host order
}

// ErrUnsupported says that this program cannot drive a live device at all.
var ErrUnsupported = errors.New("live devices are not part of this program")

// ErrHurtsKernel is wrapped by a refusal of what is known to damage a kernel.
var ErrHurtsKernel = errors.New("refused on a live device")

// Trouble is why a device cannot be opened or used.
type Trouble uint8

// The troubles.
const (
	NoLibrary    Trouble = iota + 1 // libibverbs.so.1 cannot be loaded
	OldLibrary                      // it lacks a function
	NoDevices                       // neither the library nor the kernel has a device
	NoProvider                      // the kernel has a device, the library no driver for it
	NoSuchDevice                    // there are others
	NoPermission                    // the device node may not be opened
	CannotOpen                      // another failure of ibv_open_device
	NoGID                           // no address that RoCE v2 can use
	Gone                            // the device was removed, or waits to be
	PortDown                        // port 1 is not ACTIVE
)

// OpenError is a trouble with the way to mend it.
type OpenError struct {
	Trouble Trouble
	Device  string // "" if it is about all of them
	Why     string // what was seen
	Fix     string // what mends it, a command where there is one
	Err     error  // the cause, may be nil
}

func (e *OpenError) Error() string {
	s := e.Why
	if e.Device != "" {
		s = e.Device + ": " + s
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Fix != "" {
		s += "; mend it: " + e.Fix
	}
	return s
}

// Unwrap gives the cause.
func (e *OpenError) Unwrap() error { return e.Err }
