package store

import (
	"context"
	"database/sql"
	"fmt"
)

// applicationID marks a SQLite file as ours (PRAGMA application_id): "RDMP".
const applicationID = 0x52444d50

// A step takes a database from the version before it to its own number: the
// first step makes version 1. A step that has been released is never edited;
// a change of the tables is a new step at the end.
type step struct {
	title string
	sql   string
}

// steps are the migrations in order. PRAGMA user_version counts those done.
var steps = []step{
	{"attempts and what is computed from them", `
-- The log. Rows are only ever added; kind 'void' takes back the row named by
-- voids, which may arrive later when logs are merged, so it is no foreign key.
CREATE TABLE attempts (
	seq        INTEGER PRIMARY KEY,
	id         TEXT NOT NULL UNIQUE CHECK (length(id) = 32),
	session    TEXT NOT NULL,
	kind       TEXT NOT NULL CHECK (kind <> ''),
	voids      TEXT NOT NULL,
	question   TEXT NOT NULL,
	variant    INTEGER NOT NULL,       -- the 64 bits of the seed, as a signed number
	at_ns      INTEGER NOT NULL,       -- nanoseconds since 1970, UTC
	at_offset  INTEGER NOT NULL,       -- seconds east of UTC where the learner was
	day        INTEGER NOT NULL,       -- local day number, a day begins at 04:00
	answer     TEXT NOT NULL,          -- JSON
	yours      TEXT NOT NULL,
	correct_is TEXT NOT NULL,          -- what was right, in words, as shown
	score      REAL NOT NULL,
	correct    INTEGER NOT NULL,
	graded     INTEGER NOT NULL,
	confidence INTEGER NOT NULL,       -- percent, 0 was not asked
	hints      INTEGER NOT NULL,
	took_ns    INTEGER NOT NULL,
	rating     INTEGER NOT NULL
) STRICT;
CREATE INDEX attempts_question ON attempts (question, day, at_ns, id);
CREATE INDEX attempts_day ON attempts (day, at_ns, id);
CREATE INDEX attempts_voids ON attempts (voids) WHERE kind = 'void';
CREATE TRIGGER attempts_stay BEFORE DELETE ON attempts
	BEGIN SELECT raise(ABORT, 'the log of attempts only grows'); END;
CREATE TRIGGER attempts_fixed BEFORE UPDATE ON attempts
	BEGIN SELECT raise(ABORT, 'the log of attempts only grows'); END;

-- Caches: a fold of the log, stamped with the algorithm that made them.
CREATE TABLE cards (
	question  TEXT PRIMARY KEY,
	due       INTEGER NOT NULL,        -- day number
	card      TEXT NOT NULL,           -- JSON of fsrs.Card
	algorithm TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX cards_due ON cards (due, question);
CREATE TABLE days (
	day       INTEGER PRIMARY KEY,
	answered  INTEGER NOT NULL,
	graded    INTEGER NOT NULL,
	correct   INTEGER NOT NULL,
	skipped   INTEGER NOT NULL,
	labs      INTEGER NOT NULL,
	took_ns   INTEGER NOT NULL,
	algorithm TEXT NOT NULL
) STRICT;
`},
	{"decision records", `
CREATE TABLE records (
	id       TEXT PRIMARY KEY CHECK (id <> ''),
	lab      TEXT NOT NULL,
	question TEXT NOT NULL,
	verdict  TEXT NOT NULL,
	at_ns    INTEGER NOT NULL,
	day      INTEGER NOT NULL,
	body     TEXT NOT NULL             -- JSON of decision.Record
) STRICT, WITHOUT ROWID;
CREATE INDEX records_at ON records (at_ns, id);
CREATE INDEX records_lab ON records (lab, at_ns);
`},
	{"progress and settings", `
-- What was left half-way, by key: "quiz", "lab/ID".
CREATE TABLE progress (
	key  TEXT PRIMARY KEY CHECK (key <> ''),
	body BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE settings (
	key   TEXT PRIMARY KEY CHECK (key <> ''),
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`},
}

// known is the newest version that this program knows.
func known() int { return len(steps) }

// migrate brings the database to the newest version, all missing steps in one
// transaction, and refuses a file that is newer or not ours.
func (s *Store) migrate(ctx context.Context) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	have, err := s.identify(ctx, tx)
	if err != nil || have == known() {
		return err
	}
	for i := have; i < known(); i++ {
		if _, err := tx.ExecContext(ctx, steps[i].sql); err != nil {
			return fmt.Errorf("migration %d (%s): %w", i+1, steps[i].title, err)
		}
	}
	// PRAGMAs take no parameters; both values are our own numbers.
	stamp := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, known())
	if _, err := tx.ExecContext(ctx, stamp); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	// An older program looks at the version in the file itself before it opens
	// it, so the version must not stay in the write-ahead log. A reader in
	// another process may hold this up; then the log keeps it until later.
	_, err = s.db.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	return err
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// identify returns the version of a database of ours, 0 for an empty one.
func (s *Store) identify(ctx context.Context, q querier) (int, error) {
	var app, version, tables int
	err := q.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`).Scan(&app, &version, &tables)
	switch {
	case err != nil:
		return 0, err
	case app != applicationID && (app != 0 || version != 0 || tables > 0):
		return 0, &Error{
			Kind: ErrForeign, Op: "open the store", Path: s.path,
			What: fmt.Sprintf("%s is a SQLite database of another program (application id %#x)", s.path, uint32(app)), //nolint:gosec // printed as SQLite keeps it, 32 bits
			Fix:  "Nothing in it was changed. Move it away, or " + elsewhere,
		}
	case version > known():
		return 0, &NewerError{Path: s.path, Have: version, Know: known()}
	}
	return version, nil
}
