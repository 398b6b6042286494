package study

import (
	"context"
	"errors"

	"rdmaprep/lessons/decision"
	"rdmaprep/quiz"
	"rdmaprep/quiz/fsrs"
)

// ErrNotFound is returned, wrapped, by a Store that has no such thing.
var ErrNotFound = errors.New("not found")

// Store keeps what has to last. Its methods may be called from several
// goroutines; an error leaves nothing half done.
type Store interface {
	// SaveAttempt appends to the log (answers, skips, labs and voids alike) and
	// brings the card up to date in the same transaction. Saving the same ID
	// again is no error and changes nothing.
	SaveAttempt(ctx context.Context, a quiz.Attempt) error
	// Attempts is the whole log in the order of saving, voids included.
	Attempts(ctx context.Context) ([]quiz.Attempt, error)
	// Cards is quiz.Fold of the log, by question id.
	Cards(ctx context.Context) (map[string]fsrs.Card, error)

	// SaveRecord keeps a record under its ID, in the place of an older one.
	SaveRecord(ctx context.Context, r decision.Record) error
	// Records are all records, newest first.
	Records(ctx context.Context) ([]decision.Record, error)
	// Record is one; ErrNotFound if there is none of this id.
	Record(ctx context.Context, id string) (decision.Record, error)

	// Setting returns ErrNotFound for a name that was never set.
	Setting(ctx context.Context, name string) (string, error)
	SetSetting(ctx context.Context, name, value string) error

	// SaveProgress keeps the state of a session under a key such as "quiz" or
	// "lab/stale-rkey"; nil data removes it. Progress returns ErrNotFound for a
	// key without data, Keys lists those that have some, in order.
	SaveProgress(ctx context.Context, key string, data []byte) error
	Progress(ctx context.Context, key string) ([]byte, error)
	ProgressKeys(ctx context.Context) ([]string, error)
}
