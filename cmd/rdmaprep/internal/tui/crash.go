package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"
)

// crash is a panic that was caught, so that the terminal can be restored
// before anything is printed.
type crash struct {
	where string
	value any
	stack []byte
}

// crashMsg brings a crash of a command to the model.
type crashMsg struct{ c *crash }

func newCrash(where string, value any) *crash {
	return &crash{where: where, value: value, stack: debug.Stack()}
}

// guard returns a command that turns a panic into a crashMsg, also in the
// members of a batch.
func guard(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if v := recover(); v != nil {
				msg = crashMsg{newCrash("a command", v)}
			}
		}()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = guard(batch[i])
			}
		}
		return msg
	}
}

// CrashError says that the program found a fault of its own and where the
// report of it is.
type CrashError struct {
	Report string // path of the report file, "" if it could not be written
	Value  any
}

func (e *CrashError) Error() string {
	if e.Report == "" {
		return fmt.Sprintf("rdmaprep stopped on a fault of its own: %v. Every answer shown as saved is safe. "+
			"The report could not be written", e.Value)
	}
	return fmt.Sprintf("rdmaprep stopped on a fault of its own: %v. Every answer shown as saved is safe; start it again. "+
		"To report the fault, send this file: %s", e.Value, e.Report)
}

// report writes the crash to a file in dir, or in the directory for temporary
// files if dir is empty or cannot be written.
func (c *crash) report(dir, version string, now time.Time) error {
	text := fmt.Sprintf("rdmaprep %s\n%s\nin %s\npanic: %v\n\n%s", version, now.Format(time.RFC3339), c.where, c.value, c.stack)
	name := "rdmaprep-crash-" + now.Format("20060102-150405") + ".txt"
	for _, d := range []string{dir, os.TempDir()} {
		if d == "" {
			continue
		}
		path := filepath.Join(d, name)
		if os.WriteFile(path, []byte(text), 0o600) == nil {
			return &CrashError{Report: path, Value: c.value}
		}
	}
	return &CrashError{Value: c.value}
}
