package doctor

import (
	"fmt"
	"strconv"
)

// How much memory may be locked, in bytes.
const (
	// Enough for every shipped lab and proof on rxe, which pins regions only: a
	// handful of pages each.
	memlockRXE = 64 << 10
	// Enough besides for two nodes with messages of 1 MiB, and for adapters,
	// whose drivers pin the rings of queues too.
	memlockRoom = 2 << 20
)

// capIPCLock is the number of CAP_IPC_LOCK (include/uapi/linux/capability.h).
const capIPCLock = 14

// examineMemlock compares the limit with what labs register: ib_umem_get()
// counts the pages of a region against RLIMIT_MEMLOCK unless the process has
// CAP_IPC_LOCK.
func (m Machine) examineMemlock(r *Report, devices []Device) {
	means := "Registered memory is pinned, and counts against this limit; beyond it ibv_reg_mr fails with ENOMEM."
	if m.Capable(capIPCLock) {
		r.add("memlock", OK, nil, "Registered memory is pinned, and counts against a limit that CAP_IPC_LOCK lifts.", "no limit for this process (CAP_IPC_LOCK)")
		return
	}
	if m.MemlockSoft >= memlockRoom {
		r.add("memlock", OK, nil, means, "%s may be locked", bytes(m.MemlockSoft))
		return
	}
	mend := []string{
		"sudo prlimit --memlock=unlimited --pid $$   # this shell, now",
		"echo '* - memlock unlimited' | sudo tee /etc/security/limits.d/rdma.conf   # every login from now on",
	}
	if m.MemlockHard >= memlockRoom {
		means += " This shell may raise it."
		mend = []string{"ulimit -l " + kib(m.MemlockHard)}
	}
	if m.MemlockSoft >= memlockRXE && !adapter(devices) {
		r.add("memlock", Warning, mend, means+" The shipped labs fit; scripts of your own with large messages do not.",
			"only %s may be locked, and messages of 1 MiB want %s", bytes(m.MemlockSoft), bytes(memlockRoom))
		return
	}
	need := uint64(memlockRXE)
	if adapter(devices) {
		need = memlockRoom
	}
	r.add("memlock", Failure, mend, means, "only %s may be locked, and labs need %s", bytes(m.MemlockSoft), bytes(need))
}

// kib is a limit as ulimit -l takes it.
func kib(n uint64) string {
	if n == Unlimited {
		return "unlimited"
	}
	return strconv.FormatUint(n>>10, 10)
}

func bytes(n uint64) string {
	switch {
	case n == Unlimited:
		return "any amount"
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
