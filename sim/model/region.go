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

func (n *node) RegMR(pd verbs.PD, addr, length uint64, access verbs.AccessFlags) (verbs.MRInfo, error) {
	d := n.pds.get(uint32(pd))
	if d == nil {
		return verbs.MRInfo{}, refuse("reg_mr", syscall.EINVAL, "no such protection domain")
	}
	if access&(verbs.AccessRemoteWrite|verbs.AccessRemoteAtomic) != 0 && access&verbs.AccessLocalWrite == 0 {
		return verbs.MRInfo{}, refuse("reg_mr", syscall.EINVAL,
			"REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE as well")
	}
	if unknown := access &^ (knownAccess | optionalAccess); unknown != 0 {
		return verbs.MRInfo{}, refuse("reg_mr", syscall.EINVAL, fmt.Sprintf("unknown access flags %s", unknown))
	}
	if access&verbs.AccessOnDemand != 0 {
		return verbs.MRInfo{}, refuse("reg_mr", syscall.EINVAL, "the device has no on-demand paging")
	}
	if length == 0 && n.prof.NoZeroLengthMR {
		return verbs.MRInfo{}, refuse("reg_mr", syscall.EINVAL, "a region of no bytes")
	}
	var span []byte
	if length > 0 {
		if span = n.mem.span(addr, length); span == nil {
			return verbs.MRInfo{}, refuse("reg_mr", syscall.EFAULT,
				fmt.Sprintf("%d bytes at %#x are not all mapped", length, addr))
		}
	}
	m := &region{pd: d, addr: addr, bytes: span, access: access}
	if access&verbs.AccessZeroBased != 0 && !n.prof.NoZeroBasedMR {
		m.addr = 0
	}
	if n.mrs.count >= n.limits.MaxMR {
		return verbs.MRInfo{}, refuse("reg_mr", syscall.ENOMEM, fmt.Sprintf("max_mr is %d", n.limits.MaxMR))
	}
	h := n.mrs.add(m)
	m.handle = verbs.MR(h)
	m.lkey = n.keyIndex(h, 1)<<8 | n.keyBits()
	m.rkey = m.lkey
	if n.prof.RKeyZeroIfLocal && access&remoteAccess == 0 {
		m.rkey = 0
	}
	d.users++
	return verbs.MRInfo{MR: m.handle, Addr: m.addr, Length: length, LKey: m.lkey, RKey: m.rkey}, nil
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
