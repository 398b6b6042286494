package model

import (
	"fmt"
	"sort"
	"syscall"
)

// Limits of a node's memory.
const (
	memoryBase   = 0x7f00_0000_0000
	pageSize     = 4096
	maxAlloc     = 1 << 30 // bytes in one allocation
	maxAllocated = 1 << 31 // bytes of one node
)

// block is one allocation of the application.
type block struct {
	addr  uint64
	bytes []byte
	freed bool
}

// memory is a node's address space. Allocations start on a page and leave one
// unmapped page behind them.
type memory struct {
	blocks []*block // by address
	next   uint64
	total  int
	looks  uint64 // allocations that find compared an address with
}

func (m *memory) alloc(length int) (*block, error) {
	if length < 0 || length > maxAlloc || m.total+length > maxAllocated {
		return nil, refuse("alloc", syscall.ENOMEM, fmt.Sprintf(
			"%d bytes: an allocation is 0 to %d bytes, and a node has %d in all", length, maxAlloc, maxAllocated))
	}
	length = max(1, length) // like malloc(0), an address of its own
	b := &block{addr: m.next, bytes: make([]byte, length)}
	m.blocks = append(m.blocks, b)
	m.next += (uint64(length)+pageSize-1)/pageSize*pageSize + pageSize
	m.total += length
	return b, nil
}

// find returns the block that holds addr, nil if none does.
func (m *memory) find(addr uint64) *block {
	i := sort.Search(len(m.blocks), func(i int) bool { m.looks++; return m.blocks[i].addr > addr })
	if i == 0 {
		return nil
	}
	b := m.blocks[i-1]
	if b.freed || addr-b.addr >= uint64(len(b.bytes)) {
		return nil
	}
	return b
}

// span returns the bytes from addr on, nil if they are not all mapped.
func (m *memory) span(addr, length uint64) []byte {
	b := m.find(addr)
	if b == nil {
		return nil
	}
	off := addr - b.addr
	if length > uint64(len(b.bytes))-off {
		return nil
	}
	return b.bytes[off : off+length : off+length]
}

// Alloc gives zeroed memory of the application.
func (n *node) Alloc(length int) (uint64, error) {
	if err := n.usable("alloc"); err != nil {
		return 0, err
	}
	b, err := n.mem.alloc(length)
	if err != nil {
		return 0, err
	}
	return b.addr, nil
}

// Free gives an allocation back; a region over it keeps its pages, as pinned
// memory does.
func (n *node) Free(addr uint64) error {
	b := n.mem.find(addr)
	if b == nil || b.addr != addr {
		return refuse("free", syscall.EINVAL, fmt.Sprintf("no allocation starts at %#x", addr))
	}
	b.freed = true
	n.mem.total -= len(b.bytes)
	return nil
}

// Load is the CPU's read.
func (n *node) Load(addr uint64, dst []byte) error {
	src := n.mem.span(addr, uint64(len(dst)))
	if src == nil && len(dst) > 0 {
		return refuse("load", syscall.EFAULT, fmt.Sprintf("%d bytes at %#x are not all mapped", len(dst), addr))
	}
	copy(dst, src)
	return nil
}

// Store is the CPU's write.
func (n *node) Store(addr uint64, src []byte) error {
	dst := n.mem.span(addr, uint64(len(src)))
	if dst == nil && len(src) > 0 {
		return refuse("store", syscall.EFAULT, fmt.Sprintf("%d bytes at %#x are not all mapped", len(src), addr))
	}
	copy(dst, src)
	return nil
}
