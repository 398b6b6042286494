package store

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rdmaprep/quiz/fsrs"
)

// disk mounts a small file system in memory, which a test can fill or make
// read-only. That takes CAP_SYS_ADMIN; without it the test is skipped, unless
// RDMAPREP_REQUIRE names "mount".
func disk(t *testing.T, options string) (dir string, remount func(flags uintptr)) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("store-test", dir, "tmpfs", 0, options); err != nil {
		if slices.Contains(strings.Split(os.Getenv("RDMAPREP_REQUIRE"), ","), "mount") {
			t.Fatalf("mount is required: %v", err)
		}
		t.Skipf("needs mount (root): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, func(flags uintptr) {
		t.Helper()
		if err := syscall.Mount("store-test", dir, "tmpfs", flags|syscall.MS_REMOUNT, options); err != nil {
			t.Fatal(err)
		}
	}
}

// A disk of 1 MiB that another program has filled but for little.
func TestFullDisk(t *testing.T) {
	dir, _ := disk(t, "size=1m")
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 400<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, filepath.Join(dir, "data"))
	fillUp(t, s, func() {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	})
}

// A disk so full that not even an empty store can be made; once there is room
// it can.
func TestFullDiskAtTheStart(t *testing.T) {
	dir, _ := disk(t, "size=64k")
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 60<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, dir, ErrFull, "open the store", "full", "Nothing was changed", "Make room")
	// Of 64 KiB the shared memory file takes 32 and the log more: ask for room.
	if err := syscall.Mount("store-test", dir, "tmpfs", syscall.MS_REMOUNT, "size=1m"); err != nil {
		t.Fatal(err)
	}
	save(t, openAt(t, dir), answered(1, "q", 1, fsrs.Good))
}

// Folders that no user can make: procfs makes none, and a name has at most 255
// bytes (path_resolution(7)).
func TestFolderThatCannotBeMade(t *testing.T) {
	const fix = "Name a folder in which you may write, with --data-dir DIR or RDMAPREP_HOME"
	for _, c := range []struct {
		dir, what string
		errno     syscall.Errno
	}{
		{"/proc/no-such", "the folder /proc/no-such cannot be made", syscall.ENOENT},
		{"/proc/no-such/deeper", "the folder /proc/no-such/deeper cannot be made", syscall.ENOENT},
		{"/proc/self", "the folder /proc/self cannot hold the database", syscall.ENOENT},
		{filepath.Join(t.TempDir(), strings.Repeat("x", 256)), "cannot be made", syscall.ENAMETOOLONG},
	} {
		_, err := Open(context.Background(), c.dir, Options{})
		explains(t, err, c.errno, "cannot open the store: ", c.what, "("+c.errno.Error()+")", "Nothing was changed", fix)
	}
	loop := filepath.Join(t.TempDir(), "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{loop, filepath.Join(loop, "below")} {
		_, err := Open(context.Background(), dir, Options{})
		explains(t, err, ErrNotFolder, loop+" is a link that leads nowhere", "Nothing was changed. Move it away", "--data-dir DIR or RDMAPREP_HOME")
	}
}

// A file system mounted read-only (EROFS), with a store on it and without.
func TestReadOnlyFileSystem(t *testing.T) {
	dir, remount := disk(t, "size=4m")
	data := filepath.Join(dir, "data")
	s := openAt(t, data)
	save(t, s, answered(1, "q", 1, fsrs.Good))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	remount(syscall.MS_RDONLY)
	before := snapshot(t, data)
	refused(t, data, ErrReadOnly, data, "cannot be written (read-only file system)", "--data-dir", "RDMAPREP_HOME")
	refused(t, filepath.Join(dir, "new"), ErrReadOnly, filepath.Join(dir, "new"), "--data-dir")
	unchanged(t, before, snapshot(t, data))
	remount(0)
	if n := len(log(t, openAt(t, data))); n != 1 {
		t.Errorf("%d attempts, want 1", n)
	}
}

// A folder without permission to write (EACCES). Permissions do not bind root,
// so root becomes nobody for the test.
func TestFolderWithoutPermission(t *testing.T) {
	// Everybody may pass the folders above; t.TempDir is the owner's own.
	base, err := os.MkdirTemp("", "store-test-*") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	if err := os.Chmod(base, 0o755); err != nil { //nolint:gosec // an empty folder of the test
		t.Fatal(err)
	}
	empty, used := filepath.Join(base, "empty"), filepath.Join(base, "used")
	s := openAt(t, used)
	save(t, s, answered(1, "q", 1, fsrs.Good))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{empty: 0o555, used: 0o555, filepath.Join(used, FileName): 0o444} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(used, 0o700) }) //nolint:gosec // to remove it
	if os.Geteuid() == 0 {
		const nobody = 65534
		if err := syscall.Seteuid(nobody); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := syscall.Seteuid(0); err != nil {
				t.Fatal(err)
			}
		})
	}
	for dir, what := range map[string]string{
		empty: "cannot be written", used: "cannot be written", filepath.Join(empty, "new"): "cannot be made (permission denied)",
	} {
		s, err := Open(context.Background(), dir, Options{})
		if err == nil {
			t.Fatalf("%s opened without permission to write", s.Path())
		}
		explains(t, err, ErrReadOnly, dir, what, "--data-dir")
	}
}
