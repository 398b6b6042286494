package doctor

import (
	"errors"
	"io"
	"io/fs"
	"net/netip"
	"path"
	"strconv"
	"strings"
)

// Unlimited is a memlock limit that is none.
const Unlimited = ^uint64(0)

// Limits of what is read: a machine is looked at, not trusted.
const (
	maxFileBytes = 8 << 20 // modules.dep of a distribution's kernel is under 1 MB
	maxDevices   = 64
	maxPorts     = 16
	maxGIDs      = 1024 // rxe has that many, and no other driver has more
	maxShownGIDs = 16
)

// Machine is a view of a machine. Its zero value is a machine of which nothing
// is known.
type Machine struct {
	FS      fs.FS  // the root folder, of which proc, sys, dev, etc, lib and usr are read
	OS      string // as GOOS names it
	Arch    string // as GOARCH names it
	Release string // the kernel's, as uname -r prints it
	UID     int    // the effective user
	// Access says why this process may not read and write a device node; nil if
	// it may. A name is a path in FS.
	Access func(name string) error
	// The limit of locked memory in bytes, now and as far as this user may
	// raise it; Unlimited if there is none.
	MemlockSoft, MemlockHard uint64
	LibraryPath              string // LD_LIBRARY_PATH
	Interfaces               []Interface
	// NoLive says why this build of the program can open no device; "" if it can.
	NoLive string
}

// Interface is one network interface of this network namespace.
type Interface struct {
	Name     string
	Up       bool
	Loopback bool
	MTU      int // bytes
	Addrs    []netip.Prefix
}

// read is the trimmed text of a file, "" if it cannot be read.
func (m Machine) read(name string) string {
	f, err := m.FS.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// list is the names in a folder in their order, at most limit of them.
func (m Machine) list(name string, limit int) []string {
	entries, err := fs.ReadDir(m.FS, name)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if len(names) == limit {
			break
		}
		names = append(names, e.Name())
	}
	return names
}

func (m Machine) exists(name string) bool {
	_, err := fs.Stat(m.FS, name)
	return err == nil
}

// missing tells a file that is not there from one that may not be seen.
func (m Machine) missing(name string) bool {
	_, err := fs.Stat(m.FS, name)
	return errors.Is(err, fs.ErrNotExist)
}

// link is where a symbolic link points, "" if that cannot be read.
func (m Machine) link(name string) string {
	to, err := fs.ReadLink(m.FS, name)
	if err != nil {
		return ""
	}
	return to
}

// access says why the node may not be used; nil if it may, or if nobody knows.
func (m Machine) access(name string) error {
	if m.Access == nil {
		return nil
	}
	return m.Access(name)
}

// AsRoot puts sudo before a command that only root may give, unless this is root.
func (m Machine) AsRoot(command string) string {
	if m.UID == 0 {
		return command
	}
	return "sudo " + command
}

// Capable tells whether this process has a capability, by its number in
// include/uapi/linux/capability.h.
func (m Machine) Capable(number int) bool {
	for line := range strings.Lines(m.read("proc/self/status")) {
		if hex, ok := strings.CutPrefix(line, "CapEff:"); ok {
			mask, err := strconv.ParseUint(strings.TrimSpace(hex), 16, 64)
			return err == nil && mask>>number&1 == 1
		}
	}
	return m.UID == 0
}

// Interface is an interface of this namespace by its name.
func (m Machine) Interface(name string) (Interface, bool) {
	for _, i := range m.Interfaces {
		if i.Name == name {
			return i, true
		}
	}
	return Interface{}, false
}

// IPv4 tells whether the interface has an IPv4 address, which becomes a GID.
func (i Interface) IPv4() bool {
	for _, p := range i.Addrs {
		if p.Addr().Is4() {
			return true
		}
	}
	return false
}

// HasModules tells whether the running kernel's modules are installed here; in
// a container they seldom are.
func (m Machine) HasModules() bool { return m.exists(m.modulesDir()) }

// modulesDir is where the modules of the running kernel are.
func (m Machine) modulesDir() string { return path.Join("lib/modules", m.Release) }
