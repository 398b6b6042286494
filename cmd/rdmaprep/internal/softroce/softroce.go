package softroce

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"rdmaprep/cmd/rdmaprep/internal/doctor"
)

// Kernel is what the kernel is asked. Errors are its errno values, wrapped or
// bare.
type Kernel interface {
	AddLink(name, iface string) error
	RemoveLink(name string) error
	// Contexts counts the contexts that programs have open on a device.
	Contexts(name string) (int, error)
}

// Host is the machine that is changed.
type Host struct {
	Kernel Kernel
	Look   func() doctor.Machine                // the machine as it is now
	After  func(time.Duration) <-chan time.Time // the clock
}

// How long is waited, and how often looked meanwhile.
const (
	step      = 50 * time.Millisecond
	settle    = 3 * time.Second // for the node and the GIDs of a new device, which work queues make
	unhurried = 5 * time.Second // for a removal that nothing is known to hold up
)

// AddCommand is the equivalent of Add in iproute2.
func AddCommand(name, iface string) string {
	return "rdma link add " + name + " type rxe netdev " + iface
}

// RemoveCommand is the equivalent of Remove in iproute2.
func RemoveCommand(name string) string { return "rdma link delete " + name }

// Add makes the device name on the interface iface, and waits until its node
// and the GID of an IPv4 address are there, at most some seconds. It returns the
// device as it then is.
func (h Host) Add(ctx context.Context, name, iface string) (doctor.Device, error) {
	m := h.Look()
	if err := checkAdd(m, name, iface); err != nil {
		return doctor.Device{}, err
	}
	if err := h.Kernel.AddLink(name, iface); err != nil {
		return doctor.Device{}, explainAdd(m, name, iface, err)
	}
	dev, _ := m.Interface(iface)
	var d doctor.Device
	err := h.wait(ctx, settle, func() bool {
		var ok bool
		d, ok = find(h.Look(), name)
		return ok && d.Node != "" && (!dev.Up || !dev.IPv4() || chosen(d))
	})
	if err != nil && !errors.Is(err, errTimeout) {
		return d, err
	}
	if d.Name == "" {
		return d, fmt.Errorf("the kernel took %q, and there is no device %s in /sys/class/infiniband: is /sys mounted?", AddCommand(name, iface), name)
	}
	return d, nil
}

// chosen tells whether a port has the GID that labs take.
func chosen(d doctor.Device) bool {
	for _, p := range d.Ports {
		if p.Chosen() >= 0 {
			return true
		}
	}
	return false
}

// find is a device by its name.
func find(m doctor.Machine, name string) (doctor.Device, bool) {
	for _, d := range m.Devices() {
		if d.Name == name {
			return d, true
		}
	}
	return doctor.Device{}, false
}

var errTimeout = errors.New("time is up")

// wait looks until ready, or until limit has passed.
func (h Host) wait(ctx context.Context, limit time.Duration, ready func() bool) error {
	for waited := time.Duration(0); !ready(); waited += step {
		if waited >= limit {
			return errTimeout
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-h.After(step):
		}
	}
	return nil
}

// maxName is IB_DEVICE_NAME_MAX of include/uapi/rdma/rdma_netlink.h less the
// byte at its end.
const maxName = 63

// checkAdd says what can be known without asking the kernel.
func checkAdd(m doctor.Machine, name, iface string) error {
	if m.OS != "linux" {
		return fmt.Errorf("this is %s: Soft-RoCE is part of Linux", m.OS)
	}
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == '/' || r == '%' || r > '~' }) {
		return fmt.Errorf("%q cannot name a device: give 1 to %d letters and digits, such as rxe0", name, maxName)
	}
	if _, ok := m.Interface(iface); !ok {
		var names []string
		for _, i := range m.Interfaces {
			names = append(names, i.Name)
		}
		return fmt.Errorf("no interface %s in this network namespace: there are %s", iface, strings.Join(names, ", "))
	}
	for _, d := range m.Devices() {
		switch {
		case d.RXE() && d.Netdev == iface:
			return fmt.Errorf("%s has the Soft-RoCE device %s already: use it, or rdmaprep rxe remove %s first", iface, d.Name, d.Name)
		case d.Name == name:
			return fmt.Errorf("there is a device %s already: choose another name with --name", name)
		}
	}
	if !m.Capable(capNetAdmin) {
		return needRoot(m, AddCommand(name, iface))
	}
	if m.HasModules() && !m.ModuleLoaded(doctor.RXEModule) && !m.ModuleAvailable(doctor.RXEModule) {
		return noModule(m)
	}
	return nil
}

// capNetAdmin is the number of CAP_NET_ADMIN, which the kernel asks for.
const capNetAdmin = 12

func needRoot(m doctor.Machine, command string) error {
	if m.UID == 0 {
		return errors.New("this process is root without CAP_NET_ADMIN, as in a container: do it on the host")
	}
	return fmt.Errorf("only root may do this (CAP_NET_ADMIN): sudo %s", command)
}

func noModule(m doctor.Machine) error {
	return fmt.Errorf("the kernel %s has no module %s: rdmaprep doctor says how to come by it", m.Release, doctor.RXEModule)
}

// explainAdd puts the kernel's answer to RDMA_NLDEV_CMD_NEWLINK into words; the
// places are those of Linux 6.1.
func explainAdd(m doctor.Machine, name, iface string, err error) error {
	switch {
	case errors.Is(err, syscall.EPERM):
		// rxe.c, rxe_newlink(), refuses a VLAN with EPERM too.
		if m.Capable(capNetAdmin) {
			return fmt.Errorf("%s is a VLAN interface, or this is not the first user namespace: give the interface below it, as root of the machine", iface)
		}
		return needRoot(m, AddCommand(name, iface))
	case errors.Is(err, syscall.EPROTONOSUPPORT), errors.Is(err, syscall.EAFNOSUPPORT):
		return fmt.Errorf("the kernel %s has no RDMA (ib_core does not load): rdmaprep doctor says how to come by it", m.Release)
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EOPNOTSUPP):
		// nldev.c, nldev_newlink(): no link type rxe, although it was asked for.
		return fmt.Errorf("the kernel %s does not know Soft-RoCE, and could not load %s: %s shows why", m.Release, doctor.RXEModule, m.AsRoot("modprobe "+doctor.RXEModule))
	case errors.Is(err, syscall.ENODEV):
		return fmt.Errorf("the kernel finds no interface %s: it has just gone", iface)
	case errors.Is(err, syscall.EEXIST):
		return fmt.Errorf("%s has a Soft-RoCE device already: rdmaprep doctor shows it", iface)
	case errors.Is(err, syscall.ENFILE):
		// device.c, assign_name(), says so of a name that is taken.
		return fmt.Errorf("there is a device %s already: choose another name with --name", name)
	case errors.Is(err, syscall.ENOENT):
		// rxe_icrc.c, rxe_icrc_init(): no crc32 in the crypto layer.
		return fmt.Errorf("rxe finds no crc32 in the kernel, which its check sum needs: %s, then again", m.AsRoot("modprobe crc32_generic"))
	}
	return fmt.Errorf("the kernel refuses %q: %w", AddCommand(name, iface), err)
}
