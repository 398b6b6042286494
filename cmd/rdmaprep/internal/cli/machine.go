package cli

import (
	"net"
	"net/netip"
	"os"
	"runtime"

	"rdmaprep/cmd/rdmaprep/internal/doctor"
)

// machine is the machine that this process runs on, as doctor looks at it.
func (a *app) machine() doctor.Machine {
	m := doctor.Machine{
		FS: os.DirFS("/"), OS: runtime.GOOS, Arch: runtime.GOARCH, UID: os.Geteuid(),
		LibraryPath: a.env("LD_LIBRARY_PATH"), Interfaces: interfaces(),
	}
	fillMachine(&m)
	return m
}

// interfaces are those of this network namespace; one that is going away while
// it is read is left out.
func interfaces() []doctor.Interface {
	list, err := net.Interfaces()
	if err != nil {
		return nil
	}
	var out []doctor.Interface
	for _, i := range list {
		dev := doctor.Interface{Name: i.Name, MTU: i.MTU, Up: i.Flags&net.FlagUp != 0, Loopback: i.Flags&net.FlagLoopback != 0}
		addrs, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, addr := range addrs {
			if p, err := netip.ParsePrefix(addr.String()); err == nil {
				dev.Addrs = append(dev.Addrs, p)
			}
		}
		out = append(out, dev)
	}
	return out
}
