package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"rdmaprep/cmd/rdmaprep/internal/study"
)

// The kinds of failure, for errors.Is.
var (
	ErrNewer     = errors.New("made by a newer rdmaprep")
	ErrForeign   = errors.New("not a database of rdmaprep")
	ErrCorrupt   = errors.New("damaged")
	ErrReadOnly  = errors.New("not writable")
	ErrFull      = errors.New("disk full")
	ErrLocked    = errors.New("held by another program")
	ErrNotFolder = errors.New("not a folder")
	ErrConflict  = errors.New("same id, other content")
	ErrInvalid   = errors.New("invalid")
	ErrNotFound  = study.ErrNotFound
	ErrTooMany   = errors.New("too many rows")
	ErrIO        = errors.New("input or output failed")
)

// Error is a failure of the store. Kind is one of the errors above, Path the
// file or folder, Op what was being done ("save the answer"), Fix the sentences
// that say what is kept and what to do. Err is the cause, if there is one.
type Error struct {
	Kind error
	Op   string
	Path string
	What string // the failure in words, with the path
	Fix  string
	Err  error
}

// Error says what was not done, why, what is kept, and what to do.
func (e *Error) Error() string {
	return fmt.Sprintf("cannot %s: %s. %s", e.Op, e.What, e.Fix)
}

// Unwrap gives the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// NewerError is a database whose format this program does not know.
type NewerError struct {
	Path string
	Have int // the file's version
	Know int // the newest version that this program knows
}

// Error names both versions and the two ways out.
func (e *NewerError) Error() string {
	return fmt.Sprintf("%s was made by a newer rdmaprep: its format is version %d, this program knows versions up to %d. "+
		"Nothing in it was changed. Update rdmaprep, or use another folder with --data-dir DIR", e.Path, e.Have, e.Know)
}

// Is makes errors.Is(err, ErrNewer) true.
func (e *NewerError) Is(target error) bool { return target == ErrNewer }

const elsewhere = "use another folder with --data-dir DIR or RDMAPREP_HOME"

// wrap turns an error of SQLite or of the file system into an *Error. Errors
// of this package and of a context pass unchanged.
func (s *Store) wrap(op string, err error) error {
	return wrap(op, s.path, s.wait, err)
}

func wrap(op, path string, wait time.Duration, err error) error {
	var own *Error
	var newer *NewerError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own), errors.As(err, &newer),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	kind := kindOf(err)
	if errors.Is(kind, ErrIO) {
		// SQLite says only "unable to open": the folder knows why.
		if why, cause := probe(filepath.Dir(path)); why != nil {
			kind, err = why, errors.Join(cause, err)
		}
	}
	e := &Error{Kind: kind, Op: op, Path: path, Err: err}
	e.What, e.Fix = words(kind, op, path, wait, err)
	return e
}

// words are the sentences for a kind of failure.
func words(kind error, op, path string, wait time.Duration, err error) (what, fix string) {
	dir := filepath.Dir(path)
	kept := outcome(op) + "; everything that was shown as saved is kept. "
	switch kind {
	case ErrFull:
		return "the disk of " + path + " is full", kept + "Make room on that disk and try again"
	case ErrReadOnly:
		return dir + " cannot be written (" + short(err) + ")",
			outcome(op) + ". Make the folder and the files in it writable, or " + elsewhere
	case ErrLocked:
		return fmt.Sprintf("another program has held %s for more than %v", path, wait),
			kept + "Close the other program (perhaps a second rdmaprep) and try again"
	case ErrCorrupt:
		return path + " is damaged (" + short(err) + ")", mend(op, path)
	case ErrInvalid:
		return "a value breaks a rule of the table (" + short(err) + ")", outcome(op) + ". This is a mistake in rdmaprep: please report it"
	case ErrTooMany:
		return path + ": " + short(err), "Nothing was changed. Move the file away to begin a new one, or " + elsewhere
	default:
		return path + ": " + short(err), kept + "See that the disk is present and local, or " + elsewhere
	}
}

// outcome says what became of the thing that was being done.
func outcome(op string) string {
	if strings.HasPrefix(op, "save") || strings.HasPrefix(op, "keep") {
		return "This was not saved"
	}
	return "Nothing was changed"
}

// mend says how to put a damaged file aside without losing it.
func mend(op, path string) string {
	aside := filepath.Join(filepath.Dir(path), "damaged")
	for n := 2; n < 1000; n++ {
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		}
		aside = filepath.Join(filepath.Dir(path), fmt.Sprintf("damaged-%d", n))
	}
	return fmt.Sprintf("%s. Nothing was deleted: what is left of answers, records and settings is still in that file. "+
		"To start with an empty store and keep the old one: mkdir %s && mv %s* %s. "+
		"What can still be read comes out with: sqlite3 %s .recover",
		outcome(op), quote(aside), quote(path), quote(aside), quote(filepath.Join(aside, filepath.Base(path))))
}

// quote makes a word of a POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// short is the cause on one line: where a system call failed, its errno in
// words, which names no file of ours.
func short(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

// kindOf sorts an error by the result codes of SQLite
// (sqlite.org/rescode.html) and by errno.
func kindOf(err error) error {
	switch {
	case errors.Is(err, ErrTooMany):
		return ErrTooMany
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return ErrFull
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return ErrReadOnly
	case errors.Is(err, syscall.ENOTDIR):
		return ErrNotFolder
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return ErrIO
	}
	if e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE {
		return ErrFull // the shared-memory file could not grow
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return ErrFull
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return ErrReadOnly
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return ErrLocked
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return ErrCorrupt
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH:
		return ErrInvalid
	}
	return ErrIO
}

// probe finds out why a folder cannot hold a database by writing a small file
// there; it is called only after something has failed.
func probe(dir string) (kind, cause error) {
	f, err := os.CreateTemp(dir, ".rdmaprep-probe-*")
	if err == nil {
		_, err = f.Write(make([]byte, 4096))
		err = errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
	}
	if err == nil {
		return nil, nil
	}
	if kind := kindOf(err); !errors.Is(kind, ErrIO) {
		return kind, err
	}
	return nil, nil
}
