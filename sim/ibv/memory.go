//go:build linux && (amd64 || arm64) && !noibv

package ibv

import (
	"fmt"
	"sort"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"rdmaprep/sim/verbs"
)

// Limits of a device's memory: those of the model.
const (
	pageSize     = 4096
	maxAlloc     = 1 << 30 // bytes in one allocation
	maxAllocated = 1 << 31 // bytes of one device
)

// mapping is memory outside the Go heap, which no garbage collector moves.
type mapping struct {
	addr  uintptr
	bytes []byte
	whole uintptr // bytes mapped, with the page behind that nobody may touch
}

func mapMemory(length int) (mapping, error) {
	body := (uintptr(length) + pageSize - 1) / pageSize * pageSize
	p, err := unix.MmapPtr(-1, 0, nil, body+pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return mapping{}, err
	}
	all := unsafe.Slice((*byte)(p), body+pageSize)
	if err := unix.Mprotect(all[body:], unix.PROT_NONE); err != nil {
		_ = unix.MunmapPtr(p, body+pageSize)
		return mapping{}, err
	}
	return mapping{addr: uintptr(p), bytes: all[:length:length], whole: body + pageSize}, nil
}

func (m mapping) unmap() error {
	if m.addr == 0 {
		return nil
	}
	return unix.MunmapPtr(unsafe.Pointer(at[byte](m.addr)), m.whole)
}

// heap is what the application allocated, by address.
type heap struct {
	blocks []mapping
	total  int
}

// find is the index of the block that holds addr, -1 if none does.
func (h *heap) find(addr uint64) int {
	lo, hi := 0, len(h.blocks)
	for lo < hi { // sort.Search would cost the data path a closure
		mid := (lo + hi) / 2
		if uint64(h.blocks[mid].addr) > addr {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo == 0 || addr-uint64(h.blocks[lo-1].addr) >= uint64(len(h.blocks[lo-1].bytes)) {
		return -1
	}
	return lo - 1
}

// span is the bytes from addr on, nil if they are not all of one block.
func (h *heap) span(addr, length uint64) []byte {
	i := h.find(addr)
	if i < 0 {
		return nil
	}
	b := h.blocks[i].bytes
	off := addr - uint64(h.blocks[i].addr)
	if length > uint64(len(b))-off {
		return nil
	}
	return b[off : off+length : off+length]
}

func (d *device) Alloc(length int) (uint64, error) {
	if err := d.open("alloc"); err != nil {
		return 0, err
	}
	if length < 0 || length > maxAlloc || d.heap.total+length > maxAllocated {
		return 0, refuse("alloc", syscall.ENOMEM, fmt.Sprintf(
			"%d bytes: an allocation is 0 to %d bytes, and a device has %d in all", length, maxAlloc, maxAllocated))
	}
	m, err := mapMemory(max(1, length)) // like malloc(0), an address of its own
	if err != nil {
		return 0, refuse("alloc", syscall.ENOMEM, "mmap: "+err.Error())
	}
	h := &d.heap
	i := sort.Search(len(h.blocks), func(i int) bool { return h.blocks[i].addr > m.addr })
	h.blocks = append(h.blocks, mapping{})
	copy(h.blocks[i+1:], h.blocks[i:])
	h.blocks[i] = m
	h.total += len(m.bytes)
	return uint64(m.addr), nil
}

// Free unmaps an allocation. The pages of a region over it stay pinned, and the
// device goes on using them.
func (d *device) Free(addr uint64) error {
	h := &d.heap
	i := h.find(addr)
	if i < 0 || uint64(h.blocks[i].addr) != addr {
		return refuse("free", syscall.EINVAL, fmt.Sprintf("no allocation starts at %#x", addr))
	}
	m := h.blocks[i]
	h.blocks = append(h.blocks[:i], h.blocks[i+1:]...)
	h.total -= len(m.bytes)
	return m.unmap()
}

func (d *device) Load(addr uint64, dst []byte) error {
	src := d.heap.span(addr, uint64(len(dst)))
	if src == nil && len(dst) > 0 {
		return refuse("load", syscall.EFAULT, fmt.Sprintf("%d bytes at %#x are not all mapped", len(dst), addr))
	}
	copy(dst, src)
	return nil
}

func (d *device) Store(addr uint64, src []byte) error {
	dst := d.heap.span(addr, uint64(len(src)))
	if dst == nil && len(src) > 0 {
		return refuse("store", syscall.EFAULT, fmt.Sprintf("%d bytes at %#x are not all mapped", len(src), addr))
	}
	copy(dst, src)
	return nil
}

// scratch is the memory that the library's structs are built in, so that none
// of them lies on the Go heap. It is used by one call at a time.
type scratch struct {
	qpAttr   cQPAttr
	qpInit   cQPInitAttr
	port     cPortAttr
	dev      cDeviceAttr
	srq      cSRQInitAttr
	ah       cAHAttr
	bind     cMWBind
	event    cAsyncEvent
	gid      [16]byte
	bad      uintptr   // bad_wr
	cq, ctx  uintptr   // ibv_get_cq_event
	noHandle [512]byte // stands where a UD request names no address handle
	gids     [256]cGIDEntry
}

// workspace is the memory of one device that C reads and writes.
type workspace struct {
	fixed mapping
	*scratch
	sends, recvs, sges, wcs mapping // grow as lists do
	ghosts                  mapping // regions that are gone, as BIND_MW may still name them
}

func newWorkspace() (workspace, error) {
	m, err := mapMemory(int(unsafe.Sizeof(scratch{})))
	if err != nil {
		return workspace{}, err
	}
	return workspace{fixed: m, scratch: at[scratch](m.addr)}, nil
}

func (w *workspace) free() error {
	var first error
	for _, m := range []*mapping{&w.sends, &w.recvs, &w.sges, &w.wcs, &w.ghosts, &w.fixed} {
		if err := m.unmap(); err != nil && first == nil {
			first = err
		}
		*m = mapping{}
	}
	w.scratch = nil
	return first
}

// maxList is how many entries one list of requests, or of their SGEs, has.
const maxList = 1 << 17

// grow makes room for n entries of T and returns them; the contents are lost
// when it grows. It allocates only then.
func grow[T any](m *mapping, n int) ([]T, error) {
	size := int(unsafe.Sizeof(*new(T)))
	if n > maxList {
		return nil, fmt.Errorf("a list of %d entries; %d is the most", n, maxList)
	}
	if n*size > len(m.bytes) {
		fresh, err := mapMemory(max(2*n*size, 16*pageSize))
		if err != nil {
			return nil, err
		}
		if err := m.unmap(); err != nil {
			return nil, err
		}
		*m = fresh
	}
	return unsafe.Slice(at[T](m.addr), n), nil
}

func refuse(op string, errno syscall.Errno, why string) error {
	return &verbs.Error{Op: op, Errno: errno, Why: why}
}
