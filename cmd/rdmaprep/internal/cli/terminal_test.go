package cli_test

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// patience is how long a test waits for what must come at once.
const patience = 60 * time.Second

// terminal is a program in a pseudo-terminal. One goroutine owns the emulator:
// it feeds the program's output to it and answers questions about the screen.
type terminal struct {
	t    testing.TB
	cmd  *exec.Cmd
	pty  *os.File
	ask  chan func(*vt.Emulator)
	gone chan struct{} // the program has closed its side
	news chan struct{} // something was written since
	wait sync.Once
	err  error
	raw  strings.Builder // everything that was written; owned like the emulator
}

// start runs a program in a terminal of w columns and h lines.
func start(t testing.TB, w, h int, env []string, name string, args ...string) *terminal {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, cmd: exec.Command(path, args...), ask: make(chan func(*vt.Emulator)), gone: make(chan struct{}), news: make(chan struct{}, 1)}
	x.cmd.Env = append(os.Environ(), append([]string{"TERM=xterm-256color"}, env...)...)
	x.pty, err = pty.StartWithSize(x.cmd, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)})
	if err != nil {
		t.Fatal(err)
	}
	emu := vt.NewEmulator(w, h)
	output := make(chan []byte)
	go func() { // what the program writes
		defer close(output)
		for {
			b := make([]byte, 32<<10)
			n, err := x.pty.Read(b)
			if n > 0 {
				output <- b[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	go func() { _, _ = io.Copy(x.pty, emu) }() // what the terminal answers to queries
	go x.own(emu, output)
	t.Cleanup(func() {
		_ = x.cmd.Process.Kill()
		x.exit()
		_ = x.pty.Close()
	})
	return x
}

func (x *terminal) own(emu *vt.Emulator, output <-chan []byte) {
	for {
		select {
		case b, ok := <-output:
			if !ok {
				output = nil
				close(x.gone)
				continue
			}
			x.raw.Write(b)
			_, _ = emu.Write(b)
			select {
			case x.news <- struct{}{}:
			default:
			}
		case f, ok := <-x.ask:
			if !ok {
				return
			}
			f(emu)
		}
	}
}

// with runs f where the emulator may be touched.
func (x *terminal) with(f func(*vt.Emulator)) {
	done := make(chan struct{})
	x.ask <- func(e *vt.Emulator) { f(e); close(done) }
	<-done
}

func (x *terminal) screen() (s string) {
	x.with(func(e *vt.Emulator) { s = e.String() })
	return s
}

func (x *terminal) written() (s string) {
	x.with(func(*vt.Emulator) { s = x.raw.String() })
	return s
}

// until waits for a text on the screen.
func (x *terminal) until(want string) {
	x.t.Helper()
	x.await(want, func(screen string) bool { return strings.Contains(screen, want) })
}

// await looks at the screen whenever something was written.
func (x *terminal) await(what string, holds func(screen string) bool) {
	x.t.Helper()
	late := time.After(patience)
	for !holds(x.screen()) {
		select {
		case <-x.news:
		case <-x.gone:
			if s := x.screen(); !holds(s) {
				x.t.Fatalf("the program ended and %q did not come; the screen is\n%s", what, s)
			}
			return
		case <-late:
			x.t.Fatalf("%q did not come; the screen is\n%s", what, x.screen())
		}
	}
}

func (x *terminal) keys(s string) {
	x.t.Helper()
	if _, err := x.pty.WriteString(s); err != nil {
		x.t.Fatal(err)
	}
}

func (x *terminal) resize(w, h int) {
	x.t.Helper()
	x.with(func(e *vt.Emulator) { e.Resize(w, h) })
	if err := pty.Setsize(x.pty, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)}); err != nil {
		x.t.Fatal(err)
	}
}

// exit waits for the program's end and returns its exit status.
func (x *terminal) exit() int {
	x.wait.Do(func() {
		select {
		case <-x.gone:
		case <-time.After(patience):
			_ = x.cmd.Process.Kill()
		}
		x.err = x.cmd.Wait()
	})
	return x.cmd.ProcessState.ExitCode()
}
