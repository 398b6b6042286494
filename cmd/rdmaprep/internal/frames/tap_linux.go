package frames

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// tap is the program's end of a TAP interface, tap(4) of the kernel's
// Documentation/networking/tuntap.rst: a read is a frame, and so is a write.
type tap struct {
	f   *os.File
	buf [MaxFrame]byte
}

// IsTap says whether an interface is a TAP.
func IsTap(name string) bool {
	b, err := os.ReadFile(filepath.Join("/sys/class/net", name, "tun_flags"))
	if err != nil {
		return false
	}
	var flags uint32
	_, err = fmt.Sscanf(strings.TrimSpace(string(b)), "0x%x", &flags)
	return err == nil && flags&unix.IFF_TAP != 0
}

// Tap takes the program's end of a TAP interface that is there; from then on
// until Close the interface has a carrier.
func Tap(name string, clock Clock) (*Carrier, error) {
	fail := func(err error, why string, fix ...string) (*Carrier, error) {
		return nil, &TapError{Name: name, Why: why, Fix: fix, Err: err}
	}
	if _, err := net.InterfaceByName(name); err != nil {
		return fail(nil, "there is no such interface. Make it:", Commands(name, ExamplePrefix)...)
	}
	if !IsTap(name) {
		return fail(nil, "the interface is no TAP, so no program can be at its other end. Make one:", Commands("tap0", ExamplePrefix)...)
	}
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail(err, "there is no /dev/net/tun. Load the module:", "sudo modprobe tun")
	case err != nil:
		return fail(err, "/dev/net/tun cannot be opened: run this as root, or let your user in")
	}
	// Before the file is given to the poller, which would otherwise see one
	// without an interface.
	req, err := unix.NewIfreq(name)
	if err == nil {
		req.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, req)
	}
	if err != nil {
		_ = unix.Close(fd) // the first error says more
	}
	switch {
	case errors.Is(err, unix.EBUSY):
		return fail(err, "another program is at its other end: end that one")
	case errors.Is(err, unix.EPERM):
		return fail(err, "it belongs to another user. As root, or make it yours:",
			append([]string{"sudo ip tuntap del " + name + " mode tap"}, Commands(name, ExamplePrefix)...)...)
	case err != nil:
		return fail(err, "its other end cannot be taken (does it have several queues?). Make it again:",
			append([]string{"sudo ip tuntap del " + name + " mode tap"}, Commands(name, ExamplePrefix)...)...)
	}
	return newCarrier(name, &tap{f: os.NewFile(uintptr(fd), "/dev/net/tun")}, clock), nil
}

func (t *tap) read() ([]byte, error) {
	n, err := t.f.Read(t.buf[:])
	if errors.Is(err, unix.EBADFD) {
		return nil, fmt.Errorf("the interface was removed (%w)", err)
	}
	if err != nil {
		return nil, err
	}
	return append([]byte(nil), t.buf[:n]...), nil
}

func (t *tap) write(frames [][]byte) error {
	for _, frame := range frames {
		_, err := t.f.Write(frame)
		switch {
		case err == nil:
		case errors.Is(err, unix.EBADFD):
			return fmt.Errorf("the interface was removed (%w)", err)
		case errors.Is(err, unix.EIO), errors.Is(err, unix.ENOBUFS), errors.Is(err, unix.ENOMEM), errors.Is(err, unix.EINVAL):
			// The interface is down, or has no room: the frame is lost, as on any wire.
		default:
			return err
		}
	}
	return nil
}

func (t *tap) Close() error { return t.f.Close() }
