//go:build linux && (amd64 || arm64) && !noibv

package ibv

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"rdmaprep/sim/verbs"
)

// maxNodes is how many contexts one Bench opens.
const maxNodes = 16

// Supported says whether this program can drive a live device.
func Supported() bool { return true }

// Devices lists what the library lists; none is an *OpenError that says why.
func Devices(o Options) ([]Info, error) {
	var list []Info
	err := withDevices(o, func(lib *library, devs []uintptr) error {
		for _, dev := range devs {
			info := infoOf(dev)
			info.GUID = bits.ReverseBytes64(uint64(lib.call(symGetDeviceGUID, dev))) // a __be64
			list = append(list, info)
		}
		return nil
	})
	return list, err
}

func infoOf(dev uintptr) Info {
	return Info{Name: cString(dev+devName, sysNameMax), Uverbs: cString(dev+devUverbs, sysNameMax)}
}

// withDevices calls do with the library's device list, which it frees.
func withDevices(o Options, do func(lib *library, devs []uintptr) error) error {
	lib, err := loadLibrary(o.Library)
	if err != nil {
		return err
	}
	m, err := mapMemory(8)
	if err != nil {
		return err
	}
	defer func() { _ = m.unmap() }() // nothing hangs on it
	list, errno := lib.pointer(lib.fn[symGetDeviceList], m.addr)
	n := int(*at[int32](m.addr))
	if list != 0 {
		defer lib.call(symFreeDeviceList, list)
	}
	if list == 0 || n == 0 {
		return noDevices(newSysfs(o.Sysfs), errno)
	}
	return do(lib, slices.Clone(unsafe.Slice(at[uintptr](list), n)))
}

func noDevices(sys sysfs, errno syscall.Errno) error {
	if names := sys.devices(); len(names) > 0 {
		return &OpenError{
			Trouble: NoProvider, Device: names[0],
			Why: "the kernel has this device and libibverbs does not list it: its provider for it is missing, " +
				"ib_uverbs is not loaded, or /dev/infiniband has no node for it",
			Fix: "apt install ibverbs-providers; modprobe ib_uverbs",
		}
	}
	e := &OpenError{
		Trouble: NoDevices, Why: "this machine has no RDMA device",
		Fix: "modprobe rdma_rxe; rdma link add rxe0 type rxe netdev IFACE (rdmaprep rxe add IFACE does both)",
	}
	if errno != 0 && errno != syscall.EIO && errno != syscall.ENOSYS { // ENOSYS: ib_uverbs is not loaded
		e.Err = errno
	}
	return e
}

// Open opens the device once for each node. What it cannot do is an *OpenError.
func Open(ctx context.Context, o Options) (*Bench, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if o.Clock.Now == nil || o.Clock.Pause == nil {
		return nil, errors.New("a live device needs a clock: Options.Clock")
	}
	names := o.Nodes
	if len(names) == 0 {
		names = []string{"a", "b"}
	}
	if len(names) > maxNodes {
		return nil, fmt.Errorf("%d nodes; a live device has at most %d", len(names), maxNodes)
	}
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("node %d has the name %q, which is empty or taken", i, name)
		}
	}
	b := &Bench{clock: o.Clock, names: slices.Clone(names), windows: &windows{}, sys: newSysfs(o.Sysfs)}
	if err := withDevices(o, func(lib *library, devs []uintptr) error { return b.open(lib, devs, o.Device) }); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	if err := b.begin(ctx); err != nil {
		if gone := b.Present(); gone != nil {
			err = gone // what failed, failed because of it
		}
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Bench) open(lib *library, devs []uintptr, want string) error {
	var have []string
	for _, dev := range devs {
		info := infoOf(dev)
		have = append(have, info.Name)
		if want != "" && info.Name != want {
			continue
		}
		b.device, b.uverbs, b.remake = info.Name, info.Uverbs, b.sys.remake(info.Name)
		// Before a context is open: a removal that begins after that is seen. Nothing
		// is learned from a file that never was.
		b.watch = !b.sys.gone(b.uverbs)
		for range b.names {
			d, err := openDevice(lib, dev, info.Name, b.sys)
			if err != nil {
				return err
			}
			d.windows = b.windows
			b.nodes = append(b.nodes, d)
		}
		return nil
	}
	return &OpenError{
		Trouble: NoSuchDevice, Device: want, Why: "there is no such device",
		Fix: "name one that is there: " + strings.Join(have, ", "),
	}
}

// begin learns what each context has to know before the first call.
func (b *Bench) begin(ctx context.Context) error {
	if err := b.portUp(); err != nil {
		return err
	}
	for _, d := range b.nodes {
		var err error
		if d.gid, err = d.chooseGID(); err != nil {
			return err
		}
		gid, err := d.QueryGID(1, d.gid)
		if err != nil {
			return err
		}
		b.windows.gids = append(b.windows.gids, gid)
	}
	inline, err := b.nodes[0].learnInline()
	if err != nil {
		return err
	}
	// A reading of the counters may be as old as their lifespan, and would then
	// lack what the last run did: the second one does not.
	if _, err := b.sys.counters(b.device); err != nil {
		return err
	}
	b.clock.Pause(ctx, b.sys.lifespan(b.device)+pauseLeast)
	zero, err := b.sys.counters(b.device)
	if err != nil {
		return err
	}
	for _, d := range b.nodes {
		d.maxInline, d.zero = inline, zero
	}
	return ctx.Err()
}

// portUp refuses a port on which every queue pair would fail with ENETUNREACH
// on its way to RTR.
func (b *Bench) portUp() error {
	d := b.nodes[0]
	port, err := d.QueryPort(1)
	if err != nil || port.State == verbs.PortActive {
		return err
	}
	return &OpenError{
		Trouble: PortDown, Device: d.name, Why: fmt.Sprintf("port 1 is %s, not ACTIVE", portName(port.State)),
		Fix: "ip link set dev " + d.sys.netdev(d.name) + " up",
	}
}

// portName is a state as sysfs writes it (enum ibv_port_state).
func portName(s verbs.PortState) string {
	names := []string{"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("in state %d", s)
}

// chooseGID finds the index of an address that RoCE v2 can use: the first one
// that is an IPv4 address mapped into IPv6, else any routable one.
func (d *device) chooseGID() (int, error) {
	entries, err := d.gidTable()
	if err != nil {
		return 0, err
	}
	second := -1
	for _, e := range entries {
		if e.port != 1 || e.kind != gidRoCEv2 || e.index > 0xff { // sgid_index has eight bits
			continue
		}
		if isIPv4(e.gid) {
			return int(e.index), nil
		}
		if second < 0 && e.gid[0] != 0xfe {
			second = int(e.index)
		}
	}
	if second >= 0 {
		return second, nil
	}
	return 0, &OpenError{
		Trouble: NoGID, Device: d.name, Why: "port 1 has no RoCE v2 GID with an IP address",
		Fix: "ip addr add 192.168.77.1/24 dev " + d.sys.netdev(d.name),
	}
}

func isIPv4(g verbs.GID) bool {
	return [10]byte(g[:10]) == [10]byte{} && g[10] == 0xff && g[11] == 0xff && [4]byte(g[12:]) != [4]byte{}
}

// gidTable reads the GIDs of every port with their types. A library without
// that call is older than the contents of sysfs that it would read.
func (d *device) gidTable() ([]cGIDEntry, error) {
	fn := d.lib.fn[symQueryGIDTable]
	if fn == 0 {
		return nil, &OpenError{
			Trouble: OldLibrary, Device: d.name, Why: "libibverbs has no ibv_query_gid_table",
			Fix: "rdma-core 32 or newer is needed",
		}
	}
	t := d.ws.gids[:]
	r, errno := d.lib.withErrno(fn, d.ctx, addr(&t[0]), uintptr(len(t)), 0, unsafe.Sizeof(t[0]))
	n := int64(r)
	if n < 0 {
		if n != -1 || errno == 0 {
			errno = syscall.Errno(-n)
		}
		return nil, refuse("query_gid_table", errno, "")
	}
	return t[:n], nil
}

// maxInlineAsked bounds the search for max_inline_data.
const maxInlineAsked = 4096

// learnInline finds how much inline data a QP may be asked for, in bytes: the
// only way that libibverbs gives is to ask (ibv_create_qp(3)).
func (d *device) learnInline() (int, error) {
	pd, err := d.AllocPD()
	if err != nil {
		return 0, err
	}
	cq, err := d.CreateCQ(1, 0)
	if err != nil {
		return 0, errors.Join(err, d.DeallocPD(pd))
	}
	takes := func(inline int) bool {
		q, err := d.CreateQP(pd, verbs.QPInitAttr{
			Type: verbs.RC, SendCQ: cq.CQ, RecvCQ: cq.CQ,
			Cap: verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1, MaxInline: inline},
		})
		return err == nil && d.DestroyQP(q.QP) == nil
	}
	lo, hi := 0, maxInlineAsked+1 // lo is taken, hi is not
	for hi-lo > 1 && (lo > 0 || takes(0)) {
		if mid := (lo + hi) / 2; takes(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, errors.Join(d.DestroyCQ(cq.CQ), d.DeallocPD(pd))
}
