package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// bench is a machine that a test changes line by line.
type bench struct {
	Machine
	tree   fstest.MapFS
	denied map[string]bool
}

// healthy is a Debian 12 with one rxe device on a dummy interface, as an
// ordinary user sees it. What it says was taken from such a machine: sysfs of
// rxe_verbs.c and core/sysfs.c, kernel 6.1.0-57-amd64, libibverbs 44.0-2.
func healthy() *bench {
	const release = "6.1.0-57-amd64"
	tree := fstest.MapFS{}
	write := func(name, text string) { tree[name] = &fstest.MapFile{Data: []byte(text + "\n"), Mode: 0o444} }
	link := func(name, to string) {
		tree[name] = &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink | 0o777}
	}
	write("etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian")
	write("proc/modules", "rdma_rxe 135168 0 - Live 0x0\nib_uverbs 172032 2 rdma_ucm,rdma_rxe, Live 0x0")
	write("proc/crypto", "name         : crc32\ndriver       : crc32-generic\nmodule       : crc32_generic")
	write("proc/self/status", "Name:\trdmaprep\nCapEff:\t0000000000000000")
	link("proc/self/ns/net", "net:[4026531840]")
	link("proc/self/ns/pid", "pid:[4026531836]")
	link("proc/1/ns/net", "net:[4026531840]")
	write("lib/modules/"+release+"/modules.dep", "kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko: kernel/drivers/infiniband/core/ib_core.ko\nkernel/crypto/crc32_generic.ko:")
	write("lib/modules/"+release+"/modules.builtin", "kernel/fs/ext4/ext4.ko")
	write("usr/lib/x86_64-linux-gnu/libibverbs.so.1", "ELF")
	write("usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so", "ELF")
	write("etc/libibverbs.d/rxe.driver", "driver rxe")
	write("etc/libibverbs.d/mlx5.driver", "driver mlx5")
	dev := "sys/class/infiniband/rxe0/"
	write(dev+"parent", "dummy0")
	write(dev+"node_type", "1: CA")
	write(dev+"ports/1/state", "4: ACTIVE")
	write(dev+"ports/1/phys_state", "5: LinkUp")
	write(dev+"ports/1/link_layer", "Ethernet")
	for i, gid := range []string{"fe80:0000:0000:0000:c00d:28ff:fe56:47e8", "0000:0000:0000:0000:0000:ffff:c0a8:4d01", "0000:0000:0000:0000:0000:0000:0000:0000"} {
		n := strconv.Itoa(i)
		write(dev+"ports/1/gids/"+n, gid)
		if i < 2 { // the attributes of an empty entry cannot be read
			write(dev+"ports/1/gid_attrs/types/"+n, "RoCE v2")
			write(dev+"ports/1/gid_attrs/ndevs/"+n, "dummy0")
		}
	}
	write("sys/class/infiniband_verbs/uverbs0/ibdev", "rxe0")
	write("sys/class/infiniband_verbs/uverbs0/dev", "231:192")
	write("dev/infiniband/uverbs0", "")
	write("sys/class/net/eth0/type", "1")
	write("sys/class/net/eth0/device/vendor", "0x1af4")
	b := &bench{tree: tree, denied: map[string]bool{}}
	b.Machine = Machine{
		FS: tree, OS: "linux", Arch: "amd64", Release: release, UID: 1000,
		MemlockSoft: 8 << 20, MemlockHard: 8 << 20,
		Interfaces: []Interface{
			{Name: "lo", Up: true, Loopback: true, MTU: 65536, Addrs: prefixes("127.0.0.1/8", "::1/128")},
			{Name: "eth0", Up: true, MTU: 1500, Addrs: prefixes("10.0.0.5/24")},
			{Name: "dummy0", Up: true, MTU: 4200, Addrs: prefixes("192.168.77.1/24", "fe80::c00d:28ff:fe56:47e8/64")},
		},
	}
	b.Access = func(name string) error {
		if b.denied[name] {
			return errors.New("permission denied")
		}
		return nil
	}
	return b
}

func prefixes(list ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// change carries out one line:
//
//	remove PATH            the file, or the folder with all in it
//	write PATH TEXT        one line of text; link PATH TARGET
//	deny PATH              Access refuses it
//	uid N | os NAME | arch NAME | release NAME | libpath DIRS | nolive TEXT
//	memlock SOFT HARD      bytes, or unlimited
//	iface NAME up|down MTU ADDR...   or: iface NAME gone
//	copy FROM TO           a folder once more
func (b *bench) change(t *testing.T, line string) {
	t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	first, more, _ := strings.Cut(rest, " ")
	number := func(s string) uint64 {
		if s == "unlimited" {
			return Unlimited
		}
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return n
	}
	switch verb {
	case "remove":
		n := len(b.tree)
		for name := range b.tree {
			if name == first || strings.HasPrefix(name, first+"/") {
				delete(b.tree, name)
			}
		}
		if len(b.tree) == n {
			t.Fatalf("%s: nothing there", line)
		}
	case "write":
		b.tree[first] = &fstest.MapFile{Data: []byte(more + "\n"), Mode: 0o444}
	case "link":
		b.tree[first] = &fstest.MapFile{Data: []byte(more), Mode: fs.ModeSymlink | 0o777}
	case "copy":
		for name, file := range b.tree {
			if tail, ok := strings.CutPrefix(name, first+"/"); ok {
				b.tree[more+"/"+tail] = file
			}
		}
	case "deny":
		b.denied[first] = true
	case "uid":
		b.UID = int(number(first))
	case "os":
		b.OS = first
	case "arch":
		b.Arch = first
	case "release":
		b.Release = first
	case "libpath":
		b.LibraryPath = first
	case "nolive":
		b.NoLive = rest
	case "memlock":
		b.MemlockSoft, b.MemlockHard = number(first), number(more)
	case "iface":
		b.iface(t, strings.Fields(rest))
	default:
		t.Fatalf("no change %q", verb)
	}
}

func (b *bench) iface(t *testing.T, words []string) {
	t.Helper()
	var list []Interface
	for _, i := range b.Interfaces {
		if i.Name != words[0] {
			list = append(list, i)
		}
	}
	if words[1] != "gone" {
		var mtu int
		if _, err := fmt.Sscan(words[2], &mtu); err != nil {
			t.Fatal(err)
		}
		list = append(list, Interface{Name: words[0], Up: words[1] == "up", MTU: mtu, Addrs: prefixes(words[3:]...)})
	}
	b.Interfaces = list
}
