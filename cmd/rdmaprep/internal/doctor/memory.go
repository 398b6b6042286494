package doctor

import (
	"fmt"
	"strconv"
)

// MemlockNeed is how much memory the shipped labs pin, in bytes: two nodes with
// a message of 1 MiB each.
const MemlockNeed = 2 << 20

// capIPCLock is the number of CAP_IPC_LOCK (include/uapi/linux/capability.h).
const capIPCLock = 14

// examineMemlock compares the limit with what labs register: ib_umem_get()
// counts the pages of a region against RLIMIT_MEMLOCK unless the process has
// CAP_IPC_LOCK.
func (m Machine) examineMemlock(r *Report) {
	means := "Registered memory is pinned, and counts against this limit; beyond it ibv_reg_mr fails with ENOMEM."
	switch {
	case m.Capable(capIPCLock):
		r.add("memlock", OK, nil, "Registered memory is pinned, and counts against a limit that CAP_IPC_LOCK lifts.", "no limit for this process (CAP_IPC_LOCK)")
	case m.MemlockSoft >= MemlockNeed:
		r.add("memlock", OK, nil, means, "%s may be locked; labs need %s", bytes(m.MemlockSoft), bytes(MemlockNeed))
	case m.MemlockHard >= MemlockNeed:
		r.add("memlock", Failure, []string{"ulimit -l " + kib(m.MemlockHard)}, means+" This shell may raise it.",
			"only %s may be locked; labs need %s", bytes(m.MemlockSoft), bytes(MemlockNeed))
	default:
		r.add("memlock", Failure, []string{
			"sudo prlimit --memlock=unlimited --pid $$   # this shell, now",
			"echo '* - memlock unlimited' | sudo tee /etc/security/limits.d/rdma.conf   # every login from now on",
		}, means, "only %s may be locked; labs need %s", bytes(m.MemlockSoft), bytes(MemlockNeed))
	}
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
