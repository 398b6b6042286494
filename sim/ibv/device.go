//go:build linux && (amd64 || arm64) && !noibv

package ibv

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"rdmaprep/sim/verbs"
)

// device is one context of the device: ibv_open_device makes it. It implements
// verbs.Device.
type device struct {
	lib  *library
	ctx  uintptr
	name string
	sys  sysfs
	ws   workspace
	heap heap
	args [4]uintptr // of a call on the data path
	// Entries of the context's table of inline calls.
	pollCQ, reqNotify, postSend, postRecv, postSRQRecv uintptr

	pds   table[pdObject]
	mrs   table[mrObject]
	mws   table[window]
	chans table[chanObject]
	cqs   table[cqObject]
	srqs  table[srqObject]
	ahs   table[ahObject]
	qps   table[qpObject]
	byNum map[uint32]*qpObject
	gone  map[verbs.MR]uintptr // ghosts of regions that were deregistered

	windows    *windows // of every device of the Bench
	gid        int      // index of the GID to use
	maxInline  int
	zero       map[string]uint64 // counters when it was opened
	portEvents int               // taken, not acknowledged
	closed     bool
}

type pdObject struct{ ptr uintptr }

type mrObject struct {
	ptr, pd    uintptr
	lkey, rkey uint32
}

type ahObject struct{ ptr uintptr }

// openDevice opens a context; dev is a struct ibv_device.
func openDevice(lib *library, dev uintptr, name string, sys sysfs) (*device, error) {
	ctx, errno := lib.pointer(lib.fn[symOpenDevice], dev)
	if errno != 0 {
		e := &OpenError{Trouble: CannotOpen, Device: name, Why: "ibv_open_device failed", Fix: "dmesg tells more", Err: errno}
		// libibverbs looks for the node elsewhere when it may not open it, and
		// leaves ENOENT of that search (rdma-core, util/open_cdev.c).
		node := "/dev/infiniband/" + cString(dev+devUverbs, sysNameMax)
		denied := unix.Faccessat(unix.AT_FDCWD, node, unix.R_OK|unix.W_OK, unix.AT_EACCESS) == unix.EACCES
		if denied || errno == syscall.EACCES || errno == syscall.EPERM {
			if denied {
				e.Err = syscall.EACCES
			}
			e.Trouble, e.Why, e.Fix = NoPermission, "this user may not open "+node, "sudo chmod 0666 "+node
		}
		return nil, e
	}
	d := &device{
		lib: lib, ctx: ctx, name: name, sys: sys,
		byNum: map[uint32]*qpObject{}, gone: map[verbs.MR]uintptr{},
	}
	ops := at[cContext](ctx).ops
	d.pollCQ, d.reqNotify, d.postSend = ops[opPollCQ], ops[opReqNotify], ops[opPostSend]
	d.postRecv, d.postSRQRecv = ops[opPostRecv], ops[opPostSRQRecv]
	ws, err := newWorkspace()
	if err == nil {
		err = unix.SetNonblock(int(at[cContext](ctx).asyncFD), true)
	}
	if err != nil {
		_ = ws.free()
		lib.call(symCloseDevice, ctx)
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d.ws = ws
	return d, nil
}

func (d *device) Name() string { return d.name }

func (d *device) QueryDevice() (verbs.DeviceAttr, error) {
	if err := d.open("query_device"); err != nil {
		return verbs.DeviceAttr{}, err
	}
	a := &d.ws.dev
	*a = cDeviceAttr{}
	if errno := d.lib.status(d.lib.fn[symQueryDevice], d.ctx, addr(a)); errno != 0 {
		return verbs.DeviceAttr{}, refuse("query_device", errno, "")
	}
	return verbs.DeviceAttr{
		MaxQP: int(a.maxQP), MaxQPWR: int(a.maxQPWR), MaxSGE: int(a.maxSGE),
		MaxCQ: int(a.maxCQ), MaxCQE: int(a.maxCQE),
		MaxMR: int(a.maxMR), MaxMW: int(a.maxMW), MaxPD: int(a.maxPD), MaxAH: int(a.maxAH),
		MaxQPRDAtom: int(a.maxQPRDAtom), MaxQPInitRDAtom: int(a.maxQPInitRDAtom), MaxResRDAtom: int(a.maxResRDAtom),
		MaxSRQ: int(a.maxSRQ), MaxSRQWR: int(a.maxSRQWR), MaxSRQSGE: int(a.maxSRQSGE),
		MaxInline: d.maxInline, AtomicHCA: a.atomicCap >= atomicHCA,
		MemWindowType1: a.capFlags&capMemWindow != 0, MemWindow2B: a.capFlags&capMemWindow2B != 0,
		MaxPKeys: int(a.maxPKeys), LocalCAAckDelay: a.localCAAckDelay, PhysPortCount: a.physPortCount,
	}, nil
}

// QueryPort calls what the header's ibv_query_port calls: the extended context's
// function, which takes the struct's size. The symbol of that name fills an
// older, shorter struct; it is for libraries without the extended context.
func (d *device) QueryPort(port uint8) (verbs.PortAttr, error) {
	if err := d.open("query_port"); err != nil {
		return verbs.PortAttr{}, err
	}
	a := &d.ws.port
	*a = cPortAttr{}
	var errno syscall.Errno
	if fn := d.extended(vctxQueryPort); fn != 0 {
		errno = d.lib.status(fn, d.ctx, uintptr(port), addr(a), unsafe.Sizeof(*a))
	} else {
		errno = d.lib.status(d.lib.fn[symQueryPort], d.ctx, uintptr(port), addr(a))
	}
	if errno != 0 {
		return verbs.PortAttr{}, refuse("query_port", errno, fmt.Sprintf("port %d", port))
	}
	return verbs.PortAttr{
		State: verbs.PortState(a.state), MaxMTU: verbs.MTU(a.maxMTU), ActiveMTU: verbs.MTU(a.activeMTU),
		GIDTableLen: int(a.gidTableLen), MaxMsgSize: a.maxMsgSize, PKeyTableLen: int(a.pkeyTableLen),
	}, nil
}

// extended is an entry of the struct verbs_context around the context, 0 if it
// has none.
func (d *device) extended(offset uintptr) uintptr {
	if at[cContext](d.ctx).abiCompt != abiExtended {
		return 0
	}
	v := d.ctx - vctxContext
	if size := *at[uintptr](v + vctxSize); size < vctxSize+8-offset {
		return 0
	}
	return *at[uintptr](v + offset)
}

func (d *device) QueryGID(port uint8, index int) (verbs.GID, error) {
	if err := d.open("query_gid"); err != nil {
		return verbs.GID{}, err
	}
	if index < 0 {
		return verbs.GID{}, refuse("query_gid", syscall.EINVAL, fmt.Sprintf("index %d", index))
	}
	d.ws.gid = [16]byte{}
	errno := d.lib.status(d.lib.fn[symQueryGID], d.ctx, uintptr(port), uintptr(index), addr(&d.ws.gid))
	if errno != 0 {
		return verbs.GID{}, refuse("query_gid", errno, fmt.Sprintf("port %d has no GID at index %d", port, index))
	}
	return d.ws.gid, nil
}

func (d *device) AllocPD() (verbs.PD, error) {
	if err := d.open("alloc_pd"); err != nil {
		return 0, err
	}
	p, errno := d.lib.pointer(d.lib.fn[symAllocPD], d.ctx)
	if errno != 0 {
		return 0, refuse("alloc_pd", errno, "")
	}
	return verbs.PD(d.pds.add(&pdObject{p})), nil
}

func (d *device) DeallocPD(pd verbs.PD) error {
	o := d.pds.get(uint32(pd))
	if o == nil {
		return refuse("dealloc_pd", syscall.ENOENT, "no such protection domain")
	}
	if errno := d.lib.status(d.lib.fn[symDeallocPD], o.ptr); errno != 0 {
		return refuse("dealloc_pd", errno, why(errno, syscall.EBUSY, "objects still belong to it"))
	}
	d.pds.remove(uint32(pd))
	return nil
}

// RegMR calls ibv_reg_mr, as the macro of the header does unless one of the
// optional flags is set.
func (d *device) RegMR(pd verbs.PD, start, length uint64, access verbs.AccessFlags) (verbs.MRInfo, error) {
	o := d.pds.get(uint32(pd))
	if o == nil {
		return verbs.MRInfo{}, refuse("reg_mr", syscall.EINVAL, "no such protection domain")
	}
	var p uintptr
	var errno syscall.Errno
	if access&optionalAccess != 0 {
		p, errno = d.lib.pointer(d.lib.fn[symRegMRIova2], o.ptr, uintptr(start), uintptr(length), uintptr(start), uintptr(access))
	} else {
		p, errno = d.lib.pointer(d.lib.fn[symRegMR], o.ptr, uintptr(start), uintptr(length), uintptr(access))
	}
	if errno != 0 {
		return verbs.MRInfo{}, refuse("reg_mr", errno, regMRWhy(errno, length, access))
	}
	mr := at[cMR](p)
	h := d.mrs.add(&mrObject{ptr: p, pd: mr.pd, lkey: mr.lkey, rkey: mr.rkey})
	return verbs.MRInfo{MR: verbs.MR(h), Addr: start, Length: length, LKey: mr.lkey, RKey: mr.rkey}, nil
}

// regMRWhy is what a refused registration most likely means.
func regMRWhy(errno syscall.Errno, length uint64, access verbs.AccessFlags) string {
	switch {
	case errno == syscall.ENOMEM:
		return "the pages cannot be pinned: " + memlock()
	case errno == syscall.EPERM: // ib_umem_get of a process that may lock nothing
		return "this process may pin no memory: " + memlock()
	case errno == syscall.EFAULT:
		return "the bytes are not all mapped"
	case errno == syscall.EINVAL && length == 0:
		return "a region of no bytes"
	case errno == syscall.EINVAL && access&(verbs.AccessRemoteWrite|verbs.AccessRemoteAtomic) != 0 && access&verbs.AccessLocalWrite == 0:
		return "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE as well"
	}
	return ""
}

// memlock says what a process may pin, and how it may more.
func memlock() string {
	const mend = "; raise it: sudo prlimit --memlock=unlimited --pid $$ in this shell, or memlock in /etc/security/limits.conf for good"
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit) != nil || limit.Cur == unix.RLIM_INFINITY {
		return "the machine lacks memory, or max_mr is reached (rdma resource show mr)"
	}
	return fmt.Sprintf("ulimit -l (RLIMIT_MEMLOCK) is %d KiB for all regions together%s", limit.Cur>>10, mend)
}

// ReregMR calls ibv_rereg_mr, whose result is one of its own codes: the reason
// is in errno.
func (d *device) ReregMR(mr verbs.MR, change verbs.ReregFlags, pd verbs.PD, start, length uint64, access verbs.AccessFlags) (verbs.MRInfo, error) {
	o := d.mrs.get(uint32(mr))
	if o == nil {
		return verbs.MRInfo{}, refuse("rereg_mr", syscall.ENOENT, "no such memory region")
	}
	var to uintptr
	if change&verbs.ReregPD != 0 {
		p := d.pds.get(uint32(pd))
		if p == nil {
			return verbs.MRInfo{}, refuse("rereg_mr", syscall.EINVAL, "no such protection domain")
		}
		to = p.ptr
	}
	if change&verbs.ReregTranslation == 0 {
		start, length = 0, 0
	}
	code, errno := d.lib.withErrno(d.lib.fn[symReregMR], o.ptr, uintptr(change), to, uintptr(start), uintptr(length), uintptr(access))
	if int32(code) != 0 {
		if errno == 0 {
			errno = syscall.EINVAL
		}
		return verbs.MRInfo{}, refuse("rereg_mr", errno, why(errno, syscall.EOPNOTSUPP, "the driver has no rereg_mr"))
	}
	m := at[cMR](o.ptr)
	o.pd, o.lkey, o.rkey = m.pd, m.lkey, m.rkey
	return verbs.MRInfo{MR: mr, Addr: uint64(m.addr), Length: uint64(m.length), LKey: m.lkey, RKey: m.rkey}, nil
}

func (d *device) DeregMR(mr verbs.MR) error {
	o := d.mrs.get(uint32(mr))
	if o == nil {
		return refuse("dereg_mr", syscall.ENOENT, "no such memory region")
	}
	ghost := *at[cMR](o.ptr)
	if errno := d.lib.status(d.lib.fn[symDeregMR], o.ptr); errno != 0 {
		return refuse("dereg_mr", errno, "memory windows may be bound to it")
	}
	d.mrs.remove(uint32(mr))
	d.haunt(mr, ghost)
	return nil
}

// Ghosts of regions: how many, and the room that a provider may read of each.
const (
	maxGhosts = 256
	ghostSize = 256
)

// haunt keeps what a BIND_MW that names the dead region makes the provider
// read; a C program would read freed memory there.
func (d *device) haunt(mr verbs.MR, g cMR) {
	room, err := grow[[ghostSize]byte](&d.ws.ghosts, maxGhosts)
	if err != nil || len(d.gone) >= maxGhosts {
		return // the bind is refused then
	}
	p := &room[len(d.gone)]
	*at[cMR](addr(p)) = g
	d.gone[mr] = addr(p)
}

// regionPtr is the struct ibv_mr of a region, living or gone; 0 if there is
// none.
func (d *device) regionPtr(mr verbs.MR) uintptr {
	if o := d.mrs.get(uint32(mr)); o != nil {
		return o.ptr
	}
	return d.gone[mr]
}

func (d *device) CreateAH(pd verbs.PD, attr verbs.AHAttr) (verbs.AH, error) {
	o := d.pds.get(uint32(pd))
	if o == nil {
		return 0, refuse("create_ah", syscall.EINVAL, "no such protection domain")
	}
	d.ws.ah = address(attr)
	p, errno := d.lib.pointer(d.lib.fn[symCreateAH], o.ptr, addr(&d.ws.ah))
	if errno != 0 {
		reason := ""
		if attr.NoGRH {
			reason = "an address on RoCE needs a GRH (is_global = 1)"
		}
		return 0, refuse("create_ah", errno, reason)
	}
	return verbs.AH(d.ahs.add(&ahObject{p})), nil
}

func (d *device) DestroyAH(ah verbs.AH) error {
	o := d.ahs.get(uint32(ah))
	if o == nil {
		return refuse("destroy_ah", syscall.ENOENT, "no such address handle")
	}
	if errno := d.lib.status(d.lib.fn[symDestroyAH], o.ptr); errno != 0 {
		return refuse("destroy_ah", errno, "")
	}
	d.ahs.remove(uint32(ah))
	return nil
}

// address is struct ibv_ah_attr.
func address(a verbs.AHAttr) cAHAttr {
	c := cAHAttr{
		dgid: a.DGID, flowLabel: a.FlowLabel, sgidIndex: uint8(a.SGIDIndex),
		hopLimit: a.HopLimit, trafficClass: a.TrafficClass, port: a.Port,
	}
	if !a.NoGRH {
		c.isGlobal = 1
	}
	return c
}

func addressOf(c *cAHAttr) verbs.AHAttr {
	return verbs.AHAttr{
		DGID: c.dgid, SGIDIndex: int(c.sgidIndex), FlowLabel: c.flowLabel, HopLimit: c.hopLimit,
		TrafficClass: c.trafficClass, Port: c.port, NoGRH: c.isGlobal == 0,
	}
}

// addr is the address of something in C memory.
func addr[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// why is the reason if the errno is the one that it explains.
func why(got, errno syscall.Errno, reason string) string {
	if got == errno {
		return reason
	}
	return ""
}

// bigEndian turns a host number into the bytes of a __be32, and back.
func bigEndian(n uint32) uint32 {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], n)
	return binary.NativeEndian.Uint32(b[:])
}

// cString is a string of C in a field of at most size bytes.
func cString(p uintptr, size int) string {
	b := unsafe.Slice(at[byte](p), size)
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}
