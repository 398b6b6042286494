package model

import (
	"fmt"
	"math/bits"
	"syscall"

	"rdmaprep/sim/verbs"
)

// Key layout: the index of the object above eight random bits. Windows take
// indices above every region's (rxe_mr.c, rxe_mw.c, rxe_param.h).
const (
	firstWindowIndex = 524289
	remoteAccess     = verbs.AccessRemoteWrite | verbs.AccessRemoteRead | verbs.AccessRemoteAtomic
	knownAccess      = verbs.AccessLocalWrite | remoteAccess | verbs.AccessMWBind | verbs.AccessZeroBased |
		verbs.AccessOnDemand | verbs.AccessHugeTLB
	optionalAccess verbs.AccessFlags = 0x3ff00000 // IB_ACCESS_OPTIONAL: bits 20 to 29
)

// region is a registered memory region.
type region struct {
	handle     verbs.MR
	pd         *domain
	addr       uint64 // of the first byte, as SGEs and peers count
	bytes      []byte
	access     verbs.AccessFlags
	lkey, rkey uint32
	windows    int // bound to it
}

// inside tells whether length bytes at addr lie within size bytes at base,
// without wrapping.
func inside(addr, length, base, size uint64) bool {
	if addr < base {
		return false
	}
	off := addr - base
	end, carry := bits.Add64(off, length, 0)
	return carry == 0 && end <= size
}

// checkAccess refuses the access flags that uverbs and the driver refuse
// (rdma/ib_verbs.h ib_check_mr_access).
func checkAccess(op string, access verbs.AccessFlags) error {
	why := ""
	switch unknown := access &^ (knownAccess | optionalAccess); {
	case access&(verbs.AccessRemoteWrite|verbs.AccessRemoteAtomic) != 0 && access&verbs.AccessLocalWrite == 0:
		why = "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE as well"
	case unknown != 0:
		why = fmt.Sprintf("unknown access flags %s", unknown)
	case access&verbs.AccessOnDemand != 0:
		why = "the device has no on-demand paging"
	default:
		return nil
	}
	return refuse(op, syscall.EINVAL, why)
}

// mapped is the application's memory that a region would cover.
func (n *node) mapped(op string, addr, length uint64) ([]byte, error) {
	if length == 0 {
		return nil, nil
	}
	span := n.mem.span(addr, length)
	if span == nil {
		return nil, refuse(op, syscall.EFAULT, fmt.Sprintf("%d bytes at %#x are not all mapped", length, addr))
	}
	return span, nil
}

// place sets the bytes of a region and the address of the first.
func (m *region) place(n *node, addr uint64, span []byte) {
	m.addr, m.bytes = addr, span
	if m.access&verbs.AccessZeroBased != 0 && !n.prof.NoZeroBasedMR {
		m.addr = 0
	}
}

func (m *region) info() verbs.MRInfo {
	return verbs.MRInfo{MR: m.handle, Addr: m.addr, Length: uint64(len(m.bytes)), LKey: m.lkey, RKey: m.rkey}
}

func (n *node) RegMR(pd verbs.PD, addr, length uint64, access verbs.AccessFlags) (verbs.MRInfo, error) {
	d := n.pds.get(uint32(pd))
	if d == nil {
		return verbs.MRInfo{}, refuse("reg_mr", syscall.EINVAL, "no such protection domain")
	}
	if err := checkAccess("reg_mr", access); err != nil {
		return verbs.MRInfo{}, err
	}
	if length == 0 && n.prof.NoZeroLengthMR {
		return verbs.MRInfo{}, refuse("reg_mr", syscall.EINVAL, "a region of no bytes")
	}
	span, err := n.mapped("reg_mr", addr, length)
	if err != nil {
		return verbs.MRInfo{}, err
	}
	if n.mrs.count >= n.limits.MaxMR {
		return verbs.MRInfo{}, refuse("reg_mr", syscall.ENOMEM, fmt.Sprintf("max_mr is %d", n.limits.MaxMR))
	}
	m := &region{pd: d, access: access}
	m.place(n, addr, span)
	h := n.mrs.add(m)
	m.handle = verbs.MR(h)
	m.lkey = n.keyIndex(h, 1)<<8 | n.keyBits()
	m.rkey = m.lkey
	if n.prof.RKeyZeroIfLocal && access&remoteAccess == 0 {
		m.rkey = 0
	}
	d.users++
	return m.info(), nil
}

// ReregMR is ibv_rereg_mr. A region under a window cannot be changed.
func (n *node) ReregMR(mr verbs.MR, change verbs.ReregFlags, pd verbs.PD, addr, length uint64, access verbs.AccessFlags) (verbs.MRInfo, error) {
	m, d := n.mrs.get(uint32(mr)), n.pds.get(uint32(pd))
	var span []byte
	var err error
	switch {
	case change&verbs.ReregTranslation != 0 && length == 0: // libibverbs' own check, before the driver's
		err = refuse("rereg_mr", syscall.EINVAL, "a region of no bytes")
	case n.prof.NoRereg:
		err = refuse("rereg_mr", syscall.EOPNOTSUPP, "the driver has no rereg_mr")
	case m == nil:
		err = refuse("rereg_mr", syscall.ENOENT, "no such memory region")
	case m.windows > 0:
		err = refuse("rereg_mr", syscall.EBUSY, fmt.Sprintf("%d memory windows are bound to it", m.windows))
	case change&verbs.ReregPD != 0 && d == nil:
		err = refuse("rereg_mr", syscall.EINVAL, "no such protection domain")
	}
	if err == nil && change&verbs.ReregAccess != 0 {
		err = checkAccess("rereg_mr", access)
	}
	if err == nil && change&verbs.ReregTranslation != 0 {
		span, err = n.mapped("rereg_mr", addr, length)
	}
	if err != nil {
		return verbs.MRInfo{}, err
	}
	if change&verbs.ReregAccess != 0 {
		m.access = access
	}
	if change&verbs.ReregTranslation != 0 {
		m.place(n, addr, span)
	}
	if change&verbs.ReregPD != 0 {
		m.pd.users--
		d.users++
		m.pd = d
	}
	return m.info(), nil
}

func (n *node) DeregMR(mr verbs.MR) error {
	m := n.mrs.get(uint32(mr))
	if m == nil {
		return refuse("dereg_mr", syscall.ENOENT, "no such memory region")
	}
	if m.windows > 0 {
		errno := syscall.EBUSY
		if n.prof.DeregBoundIsInvalid {
			errno = syscall.EINVAL
		}
		return refuse("dereg_mr", errno, fmt.Sprintf("%d memory windows are bound to it", m.windows))
	}
	m.pd.users--
	n.mrs.remove(uint32(mr))
	return nil
}

// keyIndex spreads the indices of keys over the nodes, so that a key of one
// node means nothing on another.
func (n *node) keyIndex(handle uint32, first uint32) uint32 {
	return first + (handle-1)*uint32(len(n.bench.nodes)) + uint32(n.index)
}

func (n *node) handleOfKey(key, first uint32) uint32 {
	i := key>>8 - first
	if key>>8 < first || i%uint32(len(n.bench.nodes)) != uint32(n.index) {
		return 0
	}
	return i/uint32(len(n.bench.nodes)) + 1
}

func (n *node) keyBits() uint32 { return n.bench.keys.Uint32() & 0xff }

func (n *node) regionOfKey(key uint32) *region { return n.mrs.get(n.handleOfKey(key, 1)) }

// localError says why an SGE cannot be used.
type localError uint8

const (
	localOK     localError = iota
	localNoKey             // the lkey names no region of this PD with the right access
	localBounds            // the bytes are not all in the region
)

// local returns the bytes of an SGE.
func (n *node) local(pd *domain, lkey uint32, addr, length uint64, need verbs.AccessFlags) ([]byte, localError) {
	m := n.regionOfKey(lkey)
	if m == nil || m.lkey != lkey || m.pd != pd || m.access&need != need {
		return nil, localNoKey
	}
	if !inside(addr, length, m.addr, uint64(len(m.bytes))) {
		return nil, localBounds
	}
	off := addr - m.addr
	return m.bytes[off : off+length], localOK
}

// remote returns the bytes that a peer of q names by rkey, false if it may not.
func (n *node) remote(q *qp, rkey uint32, addr, length uint64, need verbs.AccessFlags) ([]byte, bool) {
	if rkey>>8 >= firstWindowIndex {
		return n.throughWindow(q, rkey, addr, length, need)
	}
	m := n.regionOfKey(rkey)
	if m == nil || m.rkey != rkey || m.pd != q.pd || m.access&need != need {
		return nil, false
	}
	if !inside(addr, length, m.addr, uint64(len(m.bytes))) {
		return nil, false
	}
	off := addr - m.addr
	return m.bytes[off : off+length], true
}
