package model

import (
	"fmt"
	"syscall"

	"rdmaprep/sim/verbs"
)

// node is one host with one device of one port.
type node struct {
	bench   *Bench
	index   int
	name    string
	prof    *Profile
	limits  verbs.DeviceAttr
	mem     memory
	up      bool // the port
	outside bool // it stands for the hosts beyond the frame port
	gids    [2]verbs.GID

	pds   table[domain]
	mrs   table[region]
	mws   table[window]
	chans table[channel]
	cqs   table[cq]
	srqs  table[srq]
	ahs   table[address]
	qps   table[qp]

	numbers numbers // of queue pairs

	events     []verbs.AsyncEvent
	portAsyncs int // events of the port taken and not acknowledged
	counters   counters
	late       []placement // relaxed-ordering data that is not in memory yet
	stopped    bool        // the host has no power
	epoch      int         // how often it came back
	closed     bool
}

// domain is a protection domain.
type domain struct{ users int }

func refuse(op string, errno syscall.Errno, why string) error {
	return &verbs.Error{Op: op, Errno: errno, Why: why}
}

// usable is what the calls that need no object say on a stopped host and of a
// closed device.
func (n *node) usable(op string) error {
	if n.stopped && !n.closed {
		return refuse(op, syscall.ENODEV, n.name+" is stopped: restart it first")
	}
	return n.open(op)
}

// open refuses a call on a device that was closed.
func (n *node) open(op string) error {
	if n.closed {
		return refuse(op, syscall.ENODEV, "the device was closed")
	}
	return nil
}

func deviceLimits(prof *Profile) verbs.DeviceAttr {
	if prof.CapacityLessOne { // rxe_param.h and rxe_init_device_param
		return verbs.DeviceAttr{
			MaxQP: 1048560, MaxQPWR: 1048576, MaxSGE: 32, MaxCQ: 1048576, MaxCQE: 32767,
			MaxMR: 524287, MaxMW: 524287, MaxPD: 1048576, MaxAH: 32767,
			MaxQPRDAtom: 128, MaxQPInitRDAtom: 128, MaxResRDAtom: 258048,
			MaxSRQ: 917503, MaxSRQWR: 1048576, MaxSRQSGE: 27, MaxInline: 512,
			AtomicHCA: true, MemWindowType1: true, MemWindow2B: true,
			MaxPKeys: 64, LocalCAAckDelay: 15, PhysPortCount: 1,
		}
	}
	return verbs.DeviceAttr{
		MaxQP: 131072, MaxQPWR: 32768, MaxSGE: 30, MaxCQ: 1048576, MaxCQE: 4194303,
		MaxMR: 524287, MaxMW: 524287, MaxPD: 1048576, MaxAH: 1048576,
		MaxQPRDAtom: 16, MaxQPInitRDAtom: 16, MaxResRDAtom: 2097152,
		MaxSRQ: 131072, MaxSRQWR: 32767, MaxSRQSGE: 31, MaxInline: 512,
		AtomicHCA: true, MemWindowType1: true, MemWindow2B: true,
		MaxPKeys: 1, LocalCAAckDelay: 16, PhysPortCount: 1,
	}
}

func (n *node) Name() string {
	if n.prof.Name == "spec" {
		return fmt.Sprintf("model%d", n.index)
	}
	return fmt.Sprintf("rxe%d", n.index)
}

func (n *node) QueryDevice() (verbs.DeviceAttr, error) { return n.limits, n.open("query_device") }

func (n *node) QueryPort(port uint8) (verbs.PortAttr, error) {
	if err := n.open("query_port"); err != nil {
		return verbs.PortAttr{}, err
	}
	if port != 1 {
		return verbs.PortAttr{}, refuse("query_port", syscall.EINVAL, "the device has port 1 only")
	}
	a := verbs.PortAttr{
		State: verbs.PortActive, MaxMTU: verbs.MTU4096, ActiveMTU: verbs.MTU4096,
		GIDTableLen: 2, MaxMsgSize: maxMessage, PKeyTableLen: 1,
	}
	if n.prof.CapacityLessOne { // netdev MTU of 1500 less the headers
		a.ActiveMTU, a.GIDTableLen, a.MaxMsgSize = verbs.MTU1024, 1024, 8<<20
	}
	if !n.up {
		a.State = verbs.PortDown
	}
	return a, nil
}

// gid is the node's address as index holds it: 0 the link-local one, 1 the
// IPv4 address mapped into IPv6.
func (n *node) gid(index int) (verbs.GID, bool) {
	if index < 0 || index >= len(n.gids) {
		return verbs.GID{}, false
	}
	return n.gids[index], true
}

func (n *node) QueryGID(port uint8, index int) (verbs.GID, error) {
	if err := n.open("query_gid"); err != nil {
		return verbs.GID{}, err
	}
	g, ok := n.gid(index)
	if port != 1 || !ok {
		return g, refuse("query_gid", syscall.EINVAL, "port 1 has GIDs 0 and 1")
	}
	return g, nil
}

func (n *node) AllocPD() (verbs.PD, error) {
	if err := n.usable("alloc_pd"); err != nil {
		return 0, err
	}
	if n.pds.count >= n.limits.MaxPD {
		return 0, refuse("alloc_pd", syscall.ENOMEM, fmt.Sprintf("max_pd is %d", n.limits.MaxPD))
	}
	return verbs.PD(n.pds.add(&domain{})), nil
}

func (n *node) DeallocPD(pd verbs.PD) error {
	d := n.pds.get(uint32(pd))
	if d == nil {
		return refuse("dealloc_pd", syscall.ENOENT, "no such protection domain")
	}
	if d.users > 0 {
		return refuse("dealloc_pd", syscall.EBUSY, fmt.Sprintf("%d objects still belong to it", d.users))
	}
	n.pds.remove(uint32(pd))
	return nil
}

// address is an address handle.
type address struct {
	pd   *domain
	attr verbs.AHAttr
	node int // -1 if nobody has the address
}

// resolve checks an address and finds the node that has it.
func (n *node) resolve(op string, av verbs.AHAttr) (int, error) {
	if av.NoGRH {
		return 0, refuse(op, syscall.EINVAL, "an address on RoCE needs a GRH (is_global = 1)")
	}
	if av.Port != 1 {
		return 0, refuse(op, syscall.EINVAL, "the device has port 1 only")
	}
	if _, ok := n.gid(av.SGIDIndex); !ok {
		// core/cache.c rdma_get_gid_attr
		errno := syscall.EINVAL
		if p, _ := n.QueryPort(1); av.SGIDIndex >= 0 && av.SGIDIndex < p.GIDTableLen {
			errno = syscall.ENODATA
		}
		return 0, refuse(op, errno, fmt.Sprintf("no GID at index %d", av.SGIDIndex))
	}
	for i, other := range n.bench.nodes {
		if other.outside {
			continue
		}
		for index := range 2 {
			if g, _ := other.gid(index); g == av.DGID {
				return i, nil
			}
		}
	}
	if p := n.bench.port; p != nil && p.node == n {
		return p.remote, nil
	}
	return -1, nil
}

func (n *node) CreateAH(pd verbs.PD, attr verbs.AHAttr) (verbs.AH, error) {
	d := n.pds.get(uint32(pd))
	if d == nil {
		return 0, refuse("create_ah", syscall.EINVAL, "no such protection domain")
	}
	if n.ahs.count >= n.limits.MaxAH {
		return 0, refuse("create_ah", syscall.ENOMEM, fmt.Sprintf("max_ah is %d", n.limits.MaxAH))
	}
	to, err := n.resolve("create_ah", attr)
	if err != nil {
		return 0, err
	}
	d.users++
	return verbs.AH(n.ahs.add(&address{pd: d, attr: attr, node: to})), nil
}

func (n *node) DestroyAH(ah verbs.AH) error {
	a := n.ahs.get(uint32(ah))
	if a == nil {
		return refuse("destroy_ah", syscall.ENOENT, "no such address handle")
	}
	a.pd.users--
	n.ahs.remove(uint32(ah))
	return nil
}

// Close gives up everything that the device has, as the end of a program does;
// a second Close does nothing.
func (n *node) Close() error {
	if !n.closed {
		n.stop()
		n.closed = true
	}
	return nil
}
