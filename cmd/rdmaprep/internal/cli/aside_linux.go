package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"
)

// maxAside is how much of what was written aside is shown afterwards.
const maxAside = 16 << 10

// aside runs the screen while standard error, if it is the terminal, goes to
// memory: libibverbs writes its warnings straight to descriptor 2, in the middle
// of a frame. What came is printed afterwards. A crash of the runtime itself is
// still told on the terminal.
func (a *app) aside(screen func() error) (err error) {
	if !isTerminal(a.host.Err) {
		return screen()
	}
	terminal, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return screen()
	}
	out := os.NewFile(uintptr(terminal), "standard error")
	defer func() { _ = out.Close() }() // it is a second name of descriptor 2
	fd, err := unix.MemfdCreate("standard error", unix.MFD_CLOEXEC)
	if err != nil {
		return screen()
	}
	kept := os.NewFile(uintptr(fd), "kept")
	defer func() { _ = kept.Close() }() // memory
	if err := errors.Join(debug.SetCrashOutput(out, debug.CrashOptions{}), unix.Dup3(fd, 2, 0)); err != nil {
		return screen()
	}
	defer func() {
		err = errors.Join(err, unix.Dup3(terminal, 2, 0), debug.SetCrashOutput(nil, debug.CrashOptions{}))
		text := make([]byte, maxAside)
		n, rerr := kept.ReadAt(text, 0)
		if rerr != nil && !errors.Is(rerr, io.EOF) || n == 0 {
			return
		}
		fmt.Fprintf(out, "While the screen was up, a library wrote:\n%s\n", strings.TrimRight(string(text[:n]), "\n"))
	}()
	return screen()
}
