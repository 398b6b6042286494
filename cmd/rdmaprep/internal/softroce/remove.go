package softroce

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rdmaprep/cmd/rdmaprep/internal/doctor"
)

// BusyError is a device that programs have open. The kernel would begin to
// remove it and not return before they close it (uverbs_main.c,
// ib_uverbs_remove_one(): rxe cannot take a context away), so it was not asked
// to, and nothing has changed.
type BusyError struct {
	Device   string
	Users    []User // those that this process may see
	Contexts int    // as the kernel counts them
	Waited   time.Duration
}

// User is a process that has a device's node open.
type User struct {
	PID  int
	Name string
}

func (e *BusyError) Error() string {
	who := fmt.Sprintf("%d open contexts of processes that cannot be seen from here", e.Contexts)
	if len(e.Users) > 0 {
		var names []string
		for _, u := range e.Users {
			names = append(names, fmt.Sprintf("%s (process %d)", u.Name, u.PID))
		}
		who = strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s is in use by %s, after %v of waiting: end that first. Nothing has been changed; the kernel would wait for it without an end", e.Device, who, e.Waited)
}

// Remove removes a Soft-RoCE device. While programs have it open it waits, up
// to limit, and is then a *BusyError.
func (h Host) Remove(ctx context.Context, name string, limit time.Duration) error {
	m := h.Look()
	d, err := checkRemove(m, name)
	if err != nil {
		return err
	}
	busy := &BusyError{Device: name, Waited: limit}
	err = h.wait(ctx, limit, func() bool {
		// A kernel that does not count contexts leaves it to the open nodes.
		busy.Contexts, _ = h.Kernel.Contexts(name)
		busy.Users = users(h.Look(), d.Node)
		return busy.Contexts == 0 && len(busy.Users) == 0
	})
	if errors.Is(err, errTimeout) {
		return busy
	}
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- h.Kernel.RemoveLink(name) }()
	select {
	case err := <-done:
		return explainRemove(m, name, err)
	case <-h.After(unhurried):
		// Opened between the look and the call: the call cannot be taken back,
		// and a process in it cannot end.
		return fmt.Errorf("the kernel removes %s and waits for a program that has just opened it (no message in %v): end that program; until then this one cannot end either", name, unhurried)
	}
}

// checkRemove says what can be known without asking the kernel.
func checkRemove(m doctor.Machine, name string) (doctor.Device, error) {
	if m.OS != "linux" {
		return doctor.Device{}, fmt.Errorf("this is %s: Soft-RoCE is part of Linux", m.OS)
	}
	d, ok := find(m, name)
	if !ok {
		var names []string
		for _, d := range m.Devices() {
			if d.RXE() {
				names = append(names, d.Name)
			}
		}
		if len(names) == 0 {
			return d, fmt.Errorf("no device %s: there is no Soft-RoCE device here", name)
		}
		return d, fmt.Errorf("no device %s: there are %s", name, strings.Join(names, ", "))
	}
	if !d.RXE() {
		return d, fmt.Errorf("%s is not a Soft-RoCE device: only those can be removed", name)
	}
	if !m.Capable(capNetAdmin) {
		return d, needRoot(m, RemoveCommand(name))
	}
	return d, nil
}

func explainRemove(m doctor.Machine, name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EPERM):
		return needRoot(m, RemoveCommand(name))
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENODEV):
		return fmt.Errorf("the kernel finds no device %s that can be removed: it has just gone", name)
	}
	return fmt.Errorf("the kernel refuses %q: %w", RemoveCommand(name), err)
}

// Bounds of the look through the processes.
const (
	maxProcesses = 1 << 16
	maxFiles     = 1 << 12 // of one process
	maxUsers     = 8       // named in an error
)

// users are the processes that have a node open, as far as /proc shows them.
func users(m doctor.Machine, node string) []User {
	var found []User
	if node == "" {
		return nil
	}
	processes, err := fs.ReadDir(m.FS, "proc")
	if err != nil {
		return nil
	}
	for i, p := range processes {
		pid, err := strconv.Atoi(p.Name())
		if err != nil || i > maxProcesses || len(found) == maxUsers {
			continue
		}
		dir := "proc/" + p.Name()
		files, _ := fs.ReadDir(m.FS, dir+"/fd") // another user's: not for us to see
		for _, f := range files[:min(len(files), maxFiles)] {
			if to, err := fs.ReadLink(m.FS, dir+"/fd/"+f.Name()); err == nil && to == node {
				name, _ := fs.ReadFile(m.FS, dir+"/comm")
				found = append(found, User{pid, strings.TrimSpace(string(name))})
				break
			}
		}
	}
	return found
}
