//go:build linux && (amd64 || arm64) && !noibv

package ibv

import (
	"fmt"
	"runtime"
	"sync"
	"syscall"

	"github.com/ebitengine/purego"
)

// libraryName is the library's name since rdma-core began.
const libraryName = "libibverbs.so.1"

// symbol is a function that the library exports.
type symbol int

const (
	symGetDeviceList symbol = iota
	symFreeDeviceList
	symGetDeviceGUID
	symOpenDevice
	symCloseDevice
	symQueryDevice
	symQueryPort
	symQueryGID
	symAllocPD
	symDeallocPD
	symRegMR
	symRegMRIova2
	symReregMR
	symDeregMR
	symCreateChannel
	symDestroyChannel
	symCreateCQ
	symResizeCQ
	symDestroyCQ
	symGetCQEvent
	symAckCQEvents
	symCreateSRQ
	symModifySRQ
	symQuerySRQ
	symDestroySRQ
	symCreateAH
	symDestroyAH
	symCreateQP
	symQueryQP
	symModifyQP
	symDestroyQP
	symGetAsyncEvent
	symAckAsyncEvent
	symErrno
	symQueryGIDTable // rdma-core 32; may be missing
	numSymbols
)

var symbolNames = [numSymbols]string{
	"ibv_get_device_list", "ibv_free_device_list", "ibv_get_device_guid", "ibv_open_device", "ibv_close_device",
	"ibv_query_device", "ibv_query_port", "ibv_query_gid", "ibv_alloc_pd", "ibv_dealloc_pd",
	"ibv_reg_mr", "ibv_reg_mr_iova2", "ibv_rereg_mr", "ibv_dereg_mr", "ibv_create_comp_channel", "ibv_destroy_comp_channel",
	"ibv_create_cq", "ibv_resize_cq", "ibv_destroy_cq", "ibv_get_cq_event", "ibv_ack_cq_events",
	"ibv_create_srq", "ibv_modify_srq", "ibv_query_srq", "ibv_destroy_srq", "ibv_create_ah", "ibv_destroy_ah",
	"ibv_create_qp", "ibv_query_qp", "ibv_modify_qp", "ibv_destroy_qp", "ibv_get_async_event", "ibv_ack_async_event",
	"__errno_location", "_ibv_query_gid_table",
}

// library is a loaded libibverbs. It is never unloaded: its providers keep
// threads' and process's state in it.
type library struct{ fn [numSymbols]uintptr }

var libraries struct {
	sync.Mutex
	byPath map[string]*library
}

func loadLibrary(path string) (*library, error) {
	if path == "" {
		path = libraryName
	}
	libraries.Lock()
	defer libraries.Unlock()
	if l := libraries.byPath[path]; l != nil {
		return l, nil
	}
	const fix = "apt install libibverbs1 ibverbs-providers"
	h, err := purego.Dlopen(path, purego.RTLD_NOW)
	if err != nil {
		return nil, &OpenError{Trouble: NoLibrary, Why: path + " cannot be loaded", Fix: fix, Err: err}
	}
	l := &library{}
	for s, name := range symbolNames {
		// Without a version dlsym gives the newest ABI, which is the wanted one.
		p, err := purego.Dlsym(h, name)
		if err != nil && symbol(s) != symQueryGIDTable {
			return nil, &OpenError{Trouble: OldLibrary, Why: fmt.Sprintf("%s has no %s", path, name), Fix: fix, Err: err}
		}
		l.fn[s] = p
	}
	if libraries.byPath == nil {
		libraries.byPath = map[string]*library{}
	}
	libraries.byPath[path] = l
	return l, nil
}

// call calls a function whose result says all.
func (l *library) call(s symbol, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(l.fn[s], args...)
	return r
}

// withErrno calls a function that leaves its reason in errno, which belongs to
// the thread: so the goroutine stays on one until it has read it.
func (l *library) withErrno(fn uintptr, args ...uintptr) (uintptr, syscall.Errno) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	where, _, _ := purego.SyscallN(l.fn[symErrno])
	*at[int32](where) = 0
	r, _, _ := purego.SyscallN(fn, args...)
	return r, syscall.Errno(*at[int32](where))
}

// pointer calls a function that returns an object, NULL with errno.
func (l *library) pointer(fn uintptr, args ...uintptr) (uintptr, syscall.Errno) {
	r, errno := l.withErrno(fn, args...)
	if r != 0 {
		return r, 0
	}
	if errno == 0 {
		errno = syscall.EIO
	}
	return 0, errno
}

// status calls a function that returns an int: 0, an errno, its negative, or
// -1 with errno; the calls of libibverbs and its providers do all four.
func (l *library) status(fn uintptr, args ...uintptr) syscall.Errno {
	r, errno := l.withErrno(fn, args...)
	return errnoOf(r, errno)
}

// errnoOf reads an int result; the upper half of the register means nothing.
func errnoOf(r uintptr, errno syscall.Errno) syscall.Errno {
	switch n := int32(r); {
	case n == -1 && errno != 0:
		return errno
	case n < 0:
		return syscall.Errno(-n)
	default:
		return syscall.Errno(n)
	}
}
