package cli

import (
	"golang.org/x/sys/unix"

	"rdmaprep/cmd/rdmaprep/internal/doctor"
)

// fillMachine adds what only Linux tells.
func fillMachine(m *doctor.Machine) {
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		m.Release = unix.ByteSliceToString(name.Release[:])
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit) == nil {
		m.MemlockSoft, m.MemlockHard = limit.Cur, limit.Max
	}
	m.Access = func(name string) error {
		return unix.Faccessat(unix.AT_FDCWD, "/"+name, unix.R_OK|unix.W_OK, unix.AT_EACCESS)
	}
}
