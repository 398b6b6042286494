package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rdmaprep/quiz/fsrs"
)

// refused opens a store that cannot be opened and checks the kind of the error
// and that its message says all that it must.
func refused(t *testing.T, dir string, kind error, says ...string) {
	t.Helper()
	s, err := Open(context.Background(), dir, Options{Wait: 100 * time.Millisecond})
	if err == nil {
		_ = s.Close()
		t.Fatalf("%s opened, want: %v", dir, kind)
	}
	explains(t, err, kind, says...)
}

func explains(t *testing.T, err error, kind error, says ...string) {
	t.Helper()
	t.Log(err)
	if !errors.Is(err, kind) {
		t.Errorf("the error is not of the kind %q: %v", kind, err)
	}
	for _, want := range says {
		if err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("the message does not say %q: %v", want, err)
		}
	}
}

// snapshot is every file of a folder with its bytes.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(data)
	}
	return files
}

func unchanged(t *testing.T, before, after map[string]string) {
	t.Helper()
	for name := range after {
		if _, ok := before[name]; !ok {
			t.Errorf("%s was made", name)
		}
	}
	for name, data := range before {
		if after[name] != data {
			t.Errorf("%s was changed", name)
		}
	}
}

// A database of a newer program is refused by name of both versions, and no
// byte of it changes.
func TestNewerVersionIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir)
	save(t, s, answered(1, "q", 1, fsrs.Good))
	if _, err := s.db.Exec(`PRAGMA user_version = 99`); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, dir)
	refused(t, dir, ErrNewer, s.Path(), "version 99", fmt.Sprintf("versions up to %d", known()),
		"Nothing in it was changed", "Update rdmaprep", "--data-dir")
	unchanged(t, before, snapshot(t, dir))
}

// The same while the newer program is still running, its version in the file or
// only in the write-ahead log.
func TestNewerVersionStillRunning(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir)
	if _, err := s.db.Exec(`PRAGMA user_version = 99`); err != nil {
		t.Fatal(err)
	}
	save(t, s, answered(1, "q", 1, fsrs.Good))
	refused(t, dir, ErrNewer, "version 99")
	if n := len(log(t, s)); n != 1 {
		t.Errorf("%d attempts left, want 1", n)
	}
}

func TestForeignDatabaseIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`CREATE TABLE bookmarks (url TEXT)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, dir)
	refused(t, dir, ErrForeign, "another program", "--data-dir")
	unchanged(t, before, snapshot(t, dir))
}

// A file that is no database, and files whose pages were overwritten: named, not
// touched, and the command in the message gives an empty store that opens.
func TestCorruptFile(t *testing.T) {
	for name, spoil := range map[string]func([]byte) []byte{
		"not a database": func(b []byte) []byte { return bytes.Repeat([]byte("notes\n"), 1000) },
		"schema gone":    func(b []byte) []byte { copy(b[100:4096], bytes.Repeat([]byte{0xa5}, 4096)); return b },
		"all pages gone": func(b []byte) []byte { copy(b[4096:], bytes.Repeat([]byte{0xa5}, len(b))); return b },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "it's here")
			s := openAt(t, dir)
			for n := range 50 {
				save(t, s, answered(n, "q", n, fsrs.Good))
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			good, err := os.ReadFile(s.Path())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(s.Path(), spoil(good), 0o600); err != nil {
				t.Fatal(err)
			}
			before := snapshot(t, dir)
			refused(t, dir, ErrCorrupt, s.Path(), "damaged", "Nothing was deleted", "mkdir ", " && mv ", ".recover")
			after := snapshot(t, dir)
			if after[FileName] != before[FileName] {
				t.Error("the damaged file was changed")
			}
			followTheMessage(t, dir)
			if n := len(log(t, openAt(t, dir))); n != 0 {
				t.Errorf("%d attempts in a new store", n)
			}
			if moved := snapshot(t, filepath.Join(dir, "damaged")); moved[FileName] != before[FileName] {
				t.Error("the damaged file was not kept as it was")
			}
		})
	}
}

// followTheMessage runs the command that the message gives.
func followTheMessage(t *testing.T, dir string) {
	t.Helper()
	_, err := Open(context.Background(), dir, Options{})
	if err == nil {
		t.Fatal("the damaged file opened")
	}
	_, rest, _ := strings.Cut(err.Error(), "keep the old one: ")
	command, _, ok := strings.Cut(rest, ". What can still")
	if !ok {
		t.Fatalf("no command in the message: %v", err)
	}
	if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
}

// Damage that only a later page holds is found by Check, and by the save that
// meets it, which then says that it has not saved.
func TestCorruptPageFoundLater(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir)
	save(t, s, answered(1, "q", 1, fsrs.Good))
	if err := s.Check(context.Background()); err != nil {
		t.Fatalf("a sound file: %v", err)
	}
	var page int64
	if err := s.db.QueryRow(`SELECT rootpage FROM sqlite_schema WHERE name = 'attempts'`).Scan(&page); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(s.Path(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, 4096), (page-1)*4096); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, dir)
	explains(t, s.Check(context.Background()), ErrCorrupt, s.Path())
	explains(t, s.SaveAttempt(context.Background(), answered(2, "q", 2, fsrs.Good)), ErrCorrupt, "save the answer", "mkdir ")
}

// Another program that holds the file for longer than a save waits.
func TestLockedTooLong(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	holder := openAt(t, dir)
	save(t, holder, answered(1, "q", 1, fsrs.Good))
	s, err := Open(ctx, dir, Options{Wait: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tx, err := holder.db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	explains(t, s.SaveAttempt(ctx, answered(2, "q", 2, fsrs.Good)), ErrLocked,
		"save the answer", "50ms", "not saved", "Close the other program")
	refused(t, dir, ErrLocked, "open the store", "Close the other program")
	if n := len(log(t, s)); n != 1 {
		t.Errorf("reading beside a writer gave %d attempts, want 1", n)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	save(t, s, answered(2, "q", 2, fsrs.Good))
	cachesEqualReplay(t, s)
}

func TestFolderIsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "notes")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, file, ErrNotFolder, file+" is a file", "--data-dir")
	refused(t, filepath.Join(file, "deeper", "still"), ErrNotFolder, file+" is a file", "--data-dir")
	if data, err := os.ReadFile(file); string(data) != "mine" || err != nil {
		t.Errorf("the file now holds %q, error %v", data, err)
	}
}

func TestDatabaseIsAFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, FileName), 0o700); err != nil {
		t.Fatal(err)
	}
	refused(t, dir, ErrForeign, "is a folder", "--data-dir")
}

// A full database as SQLite itself reports it (SQLITE_FULL), on any machine and
// without privileges: max_page_count is the disk.
func TestFullByPageLimit(t *testing.T) {
	s := openAt(t, t.TempDir())
	var pages int
	if err := s.db.QueryRow(`PRAGMA page_count`).Scan(&pages); err != nil {
		t.Fatal(err)
	}
	limit := func(n int) {
		t.Helper()
		if _, err := s.db.Exec(fmt.Sprintf(`PRAGMA max_page_count = %d`, n)); err != nil {
			t.Fatal(err)
		}
	}
	limit(pages + 5)
	fillUp(t, s, func() { limit(pages + 500) })
}

// fillUp saves until the disk is full, and checks that the answer that failed
// is reported and is not there, that all earlier ones are, and that the same
// save works once there is room.
func fillUp(t *testing.T, s *Store, makeRoom func()) {
	t.Helper()
	ctx := context.Background()
	saved, long := 0, strings.Repeat("a long answer ", 300)
	for n := range 5000 {
		a := answered(n, fmt.Sprintf("q%d", n), 20_000, fsrs.Good)
		a.Yours = long
		err := s.SaveAttempt(ctx, a)
		if err == nil {
			saved++
			continue
		}
		explains(t, err, ErrFull, "save the answer", "full", "not saved", "kept", "Make room")
		if n := len(log(t, s)); n != saved {
			t.Errorf("%d attempts are there, %d were reported as saved", n, saved)
		}
		cachesEqualReplay(t, s)
		makeRoom()
		save(t, s, a) // nothing had to be closed or mended
		if n := len(log(t, s)); n != saved+1 {
			t.Errorf("%d attempts are there after making room, want %d", n, saved+1)
		}
		cachesEqualReplay(t, s)
		if err := s.Check(ctx); err != nil {
			t.Error(err)
		}
		if saved == 0 {
			t.Error("nothing was saved before the disk was full: the test shows too little")
		}
		return
	}
	t.Fatal("5000 long answers fitted: the disk is not small")
}
