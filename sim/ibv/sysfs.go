//go:build linux && (amd64 || arm64) && !noibv

package ibv

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// sysfs is where the kernel tells of a device what libibverbs does not.
type sysfs string

func newSysfs(root string) sysfs {
	if root == "" {
		root = "/sys"
	}
	return sysfs(root)
}

func (s sysfs) device(name string) string {
	return filepath.Join(string(s), "class/infiniband", name)
}

// devices are the names that the kernel has.
func (s sysfs) devices() []string {
	entries, err := os.ReadDir(filepath.Join(string(s), "class/infiniband"))
	if err != nil {
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// gone says whether the device is no more, or waits for its users to close it:
// the kernel takes uverbsN away first and the device only when the last context
// is closed (ib_uverbs_remove_one, Linux 6.1). A sysfs without the file from
// the start says nothing.
func (s sysfs) gone(uverbs string) bool {
	_, err := os.Stat(s.uverbs(uverbs))
	return os.IsNotExist(err)
}

// netdev is the interface under a device (rxe's own file, or that of its first
// GID), IFACE if the kernel does not say: it stands in commands.
func (s sysfs) netdev(name string) string {
	for _, file := range []string{"parent", "ports/1/gid_attrs/ndevs/0"} {
		if b, err := os.ReadFile(filepath.Join(s.device(name), file)); err == nil && len(strings.TrimSpace(string(b))) > 0 {
			return strings.TrimSpace(string(b))
		}
	}
	return "IFACE"
}

// remake is how a device that was removed is made again. Of all drivers rxe
// alone has a file parent (rxe_verbs.c parent_show).
func (s sysfs) remake(name string) string {
	if _, err := os.Stat(filepath.Join(s.device(name), "parent")); err != nil {
		return "load its driver again, then run again (rdma link show lists the devices)"
	}
	return "rdma link add " + name + " type rxe netdev " + s.netdev(name) + ", then run again"
}

func (s sysfs) uverbs(name string) string {
	return filepath.Join(string(s), "class/infiniband_verbs", name)
}

const counterFolder = "ports/1/hw_counters"

// counters reads the hardware counters of port 1; none is an empty map.
func (s sysfs) counters(device string) (map[string]uint64, error) {
	dir := filepath.Join(s.device(device), counterFolder)
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return map[string]uint64{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("hardware counters: %w", err)
	}
	out := make(map[string]uint64, len(entries))
	for _, e := range entries {
		if e.Name() == "lifespan" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("hardware counters: %w", err)
		}
		n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 0, 64)
		if err != nil {
			return nil, fmt.Errorf("hardware counter %s: %w", e.Name(), err)
		}
		out[e.Name()] = n
	}
	return out, nil
}

// lifespan is how long the kernel gives out a reading before it takes another
// (10 ms unless somebody wrote the file). It may be read by anyone.
func (s sysfs) lifespan(device string) time.Duration {
	const usual = 10 * time.Millisecond
	b, err := os.ReadFile(filepath.Join(s.device(device), counterFolder, "lifespan"))
	if err != nil {
		return usual
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || n < 0 || n > 10_000 {
		return usual
	}
	return time.Duration(n) * time.Millisecond
}

// Counters are the device's, not the context's: both nodes of a Bench count in
// the same ones.
func (d *device) Counters() (map[string]uint64, error) {
	if err := d.open("counters"); err != nil {
		return nil, err
	}
	now, err := d.sys.counters(d.name)
	if err != nil {
		return nil, err
	}
	for name := range now {
		now[name] -= d.zero[name]
	}
	return now, nil
}
