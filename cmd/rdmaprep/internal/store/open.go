package store

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	// The driver "sqlite": SQLite translated to Go, no cgo.
	_ "modernc.org/sqlite"

	"rdmaprep/cmd/rdmaprep/internal/study"
)

// FileName is the database's name in its folder; beside it SQLite keeps
// FileName-wal and FileName-shm while it is open.
const FileName = "rdmaprep.db"

// DefaultWait is how long a save waits for another program's lock.
const DefaultWait = 5 * time.Second

// Options change how a store is opened. The zero value is right for a learner.
type Options struct {
	Wait time.Duration // for a lock; 0 is DefaultWait
}

// Store is an open database. It is safe for concurrent use.
type Store struct {
	db   *sql.DB
	path string
	wait time.Duration
}

var _ study.Store = (*Store)(nil)

// opening keeps two goroutines of this process from making the same file.
var opening sync.Mutex

// Open opens the store in dir and makes the folder (mode 0700) and the file
// (mode 0600) if need be, brings an older file to this program's version, and
// folds the log again if the caches were made by another algorithm. The errors
// are *Error and *NewerError; after one of them nothing is open.
func Open(ctx context.Context, dir string, o Options) (*Store, error) {
	opening.Lock()
	defer opening.Unlock()
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, wrap("open the store", filepath.Join(dir, FileName), 0, err)
	}
	s := &Store{path: filepath.Join(abs, FileName), wait: o.Wait}
	if s.wait <= 0 {
		s.wait = DefaultWait
	}
	if err := s.prepare(ctx, abs); err != nil {
		return nil, s.wrap("open the store", err)
	}
	s.db, err = sql.Open("sqlite", s.dsn())
	if err != nil {
		return nil, s.wrap("open the store", err)
	}
	// One connection: saves queue here and not at the file's lock.
	s.db.SetMaxOpenConns(1)
	s.db.SetMaxIdleConns(1)
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(s.wrap("open the store", err), s.db.Close())
	}
	return s, nil
}

// prepare makes the folder and the file, or looks at the file without touching
// it.
func (s *Store) prepare(ctx context.Context, dir string) error {
	if err := makeFolder(dir); err != nil {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		return f.Close()
	}
	info, statErr := os.Stat(s.path)
	switch {
	case statErr != nil && errors.Is(kindOf(err), ErrIO):
		return noPlace(dir, "cannot hold the database", err)
	case statErr != nil:
		return err // it is not there and cannot be made
	case info.IsDir():
		return &Error{
			Kind: ErrForeign, Op: "open the store", Path: s.path,
			What: s.path + " is a folder, and the database has that name", Fix: "Move it away, or " + elsewhere,
		}
	case info.Size() == 0:
		return nil
	}
	return s.peek(ctx)
}

// makeFolder makes dir with mode 0700 and names what stands in the way.
func makeFolder(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		return nil
	}
	for at := dir; ; at = filepath.Dir(at) {
		if what := notFolder(at); what != "" {
			return &Error{
				Kind: ErrNotFolder, Op: "open the store", Path: dir, Err: err,
				What: at + " is " + what, Fix: "Nothing was changed. Move it away, or " + elsewhere,
			}
		}
		if at == filepath.Dir(at) {
			return noPlace(dir, "cannot be made", err)
		}
	}
}

// notFolder says what is at a path where a folder should be, "" if one is there
// or nothing is.
func notFolder(path string) string {
	info, err := os.Lstat(path)
	if err != nil || info.IsDir() {
		return ""
	}
	if info.Mode()&os.ModeSymlink == 0 {
		return "a file, not a folder"
	}
	switch info, err = os.Stat(path); {
	case err != nil:
		return "a link that leads nowhere"
	case !info.IsDir():
		return "a link to a file, not to a folder"
	}
	return ""
}

// noPlace is a folder in which no database can be made; a full disk is told as
// everywhere else.
func noPlace(dir, what string, err error) error {
	kind := kindOf(err)
	if errors.Is(kind, ErrFull) {
		return err
	}
	return &Error{
		Kind: kind, Op: "open the store", Path: dir, Err: err, What: "the folder " + dir + " " + what + " (" + short(err) + ")",
		Fix: "Nothing was changed. Name a folder in which you may write, with --data-dir DIR or RDMAPREP_HOME",
	}
}

// peek reads the version from the file alone: opened immutable, SQLite takes no
// lock and writes nothing, so that a file of a newer program stays untouched,
// its write-ahead log included. (Reading it with os.Open would drop this
// process's own locks on it: fcntl(2).)
func (s *Store) peek(ctx context.Context) error {
	db, err := sql.Open("sqlite", s.uri(url.Values{"mode": {"ro"}, "immutable": {"1"}}))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	_, err = s.identify(ctx, db)
	if !own(err) {
		// Whatever else is wrong the locked open tells better: a program that is
		// moving its log into the file this very moment is seen half done here.
		err = nil
	}
	return errors.Join(err, db.Close())
}

// own says whether an error is already in this package's words.
func own(err error) bool {
	var e *Error
	var newer *NewerError
	return errors.As(err, &e) || errors.As(err, &newer)
}

// start migrates and brings the caches up to date. Where two instances make the
// same file at once, the change to the write-ahead log cannot wait for a lock
// inside SQLite, so it is tried again here, for as long as a save would wait.
func (s *Store) start(ctx context.Context) error {
	over := time.NewTimer(s.wait)
	defer over.Stop()
	again := time.NewTicker(startEvery)
	defer again.Stop()
	for {
		err := s.migrate(ctx)
		if err == nil {
			return s.freshen(ctx)
		}
		if own(err) || !errors.Is(kindOf(err), ErrLocked) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over.C:
			return err
		case <-again.C:
		}
	}
}

const startEvery = 20 * time.Millisecond

// dsn opens for writing. busy_timeout comes first: the rest may need a lock.
func (s *Store) dsn() string {
	return s.uri(url.Values{
		"_busy_timeout": {strconv.FormatInt(s.wait.Milliseconds(), 10)},
		"_journal_mode": {"WAL"},
		"_synchronous":  {"FULL"},
		"_foreign_keys": {"1"},
		"_pragma":       {"trusted_schema(0)"},
		"_txlock":       {"immediate"},
		"_dqs":          {"0"},
		"_defensive":    {"1"},
		"_error_rc":     {"1"},
	})
}

func (s *Store) uri(q url.Values) string {
	p := filepath.ToSlash(s.path)
	if p[0] != '/' {
		p = "/" + p // a Windows drive: sqlite.org/uri.html
	}
	return (&url.URL{Scheme: "file", Path: p, RawQuery: q.Encode()}).String()
}

// Path is the database file.
func (s *Store) Path() string { return s.path }

// Close waits for the save in progress and closes the file.
func (s *Store) Close() error { return s.wrap("close the store", s.db.Close()) }

// Check reads the whole file and reports the first damage, as ErrCorrupt. It
// takes time in proportion to the file.
func (s *Store) Check(ctx context.Context) error {
	var said string
	err := s.db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&said)
	if err != nil {
		return s.wrap("check the store", err)
	}
	if said != "ok" {
		return &Error{
			Kind: ErrCorrupt, Op: "check the store", Path: s.path,
			What: s.path + " is damaged (" + short(errors.New(said)) + ")", Fix: mend("check the store", s.path),
		}
	}
	return nil
}

// write runs f in one immediate transaction. Once that has begun it is not
// cancelled any more: a save either happened or did not.
func (s *Store) write(ctx context.Context, op string, f func(ctx context.Context, tx *sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.wrap(op, err)
	}
	if err := f(ctx, tx); err != nil {
		_ = tx.Rollback() // the first error is the one to tell
		return s.wrap(op, err)
	}
	return s.wrap(op, tx.Commit())
}
