package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"time"

	"rdmaprep/quiz"
	"rdmaprep/quiz/fsrs"
)

// attemptColumns in the order of attemptRow.
const attemptColumns = `id, session, kind, voids, question, variant, at_ns, at_offset, day, answer,
	yours, correct_is, score, correct, graded, confidence, hints, took_ns, rating`

// logOrder makes a fold of two merged logs the same on every machine.
const logOrder = ` ORDER BY day, at_ns, id`

// standing leaves out voids and what they void.
const standing = ` kind <> 'void' AND id NOT IN (SELECT voids FROM attempts WHERE kind = 'void')`

// MaxAttempts is how many attempts one call reads; a log that is longer is an
// ErrTooMany and not a part of the log. A hundred a day reach it in 27 years.
const MaxAttempts = 1_000_000

// SaveAttempt appends an attempt and brings its card and its day up to date in
// the same transaction. When it returns nil the attempt is on disk. Saving an
// attempt that is there already does nothing, so a save whose outcome is not
// known may be tried again; another attempt under the same id is ErrConflict.
func (s *Store) SaveAttempt(ctx context.Context, a quiz.Attempt) error {
	const op = "save the answer"
	if err := s.checkAttempt(op, a); err != nil {
		return err
	}
	answer, err := json.Marshal(a.Answer)
	if err != nil {
		return s.invalid(op, "answer: "+err.Error())
	}
	return s.write(ctx, op, func(ctx context.Context, tx *sql.Tx) error {
		return s.append(ctx, tx, op, a, answer)
	})
}

// append inserts the row and refreshes what is computed from it.
func (s *Store) append(ctx context.Context, tx *sql.Tx, op string, a quiz.Attempt, answer []byte) error {
	_, offset := a.At.Zone()
	result, err := tx.ExecContext(ctx, `INSERT INTO attempts (`+attemptColumns+`)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		string(a.ID), string(a.Session), string(a.Kind), string(a.Voids), a.Question, int64(a.Variant), //nolint:gosec // all 64 bits are kept
		a.At.UnixNano(), offset, a.Day, string(answer), a.Yours, a.Right, a.Score, a.Correct, a.Graded,
		a.Sure, a.Hints, int64(a.Took), int(a.Rating))
	if err != nil {
		return err
	}
	added, err := result.RowsAffected()
	if err != nil {
		return err
	}
	if added == 0 {
		return s.sameAs(ctx, tx, op, a, answer)
	}
	question, day := a.Question, a.Day
	if a.Kind == quiz.Voided {
		// What it takes back may arrive later, when logs are merged.
		err := tx.QueryRowContext(ctx, `SELECT question, day FROM attempts WHERE id = ?`, string(a.Voids)).Scan(&question, &day)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	if err := foldCard(ctx, tx, question); err != nil {
		return err
	}
	return foldDay(ctx, tx, day)
}

// sameAs checks that the attempt on disk is the one that was to be saved.
func (s *Store) sameAs(ctx context.Context, tx *sql.Tx, op string, a quiz.Attempt, answer []byte) error {
	rows, err := queryAttempts(ctx, tx, ` WHERE id = ?`, string(a.ID))
	if err != nil {
		return err
	}
	if len(rows) == 1 {
		there, err := json.Marshal(rows[0].Answer)
		if err != nil {
			return err
		}
		b := rows[0]
		equal := bytes.Equal(there, answer) && a.At.Equal(b.At)
		a.Answer, b.Answer, a.At, b.At = quiz.Answer{}, quiz.Answer{}, time.Time{}, time.Time{}
		if equal && fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b) {
			return nil
		}
	}
	return &Error{
		Kind: ErrConflict, Op: op, Path: s.path,
		What: "another attempt has the id " + string(a.ID),
		Fix:  "This was not saved; the one on disk is kept. Answer again to save it under a new id",
	}
}

// checkAttempt refuses what could not be read back or folded.
func (s *Store) checkAttempt(op string, a quiz.Attempt) error {
	switch {
	case !isID(a.ID):
		return s.invalid(op, fmt.Sprintf("id %q is not 32 hexadecimal digits", a.ID))
	case a.Kind == "":
		return s.invalid(op, "the attempt has no kind")
	case a.Kind == quiz.Voided && !isID(a.Voids):
		return s.invalid(op, fmt.Sprintf("a void of %q, which is not 32 hexadecimal digits", a.Voids))
	case a.Kind != quiz.Voided && a.Question == "":
		return s.invalid(op, "the attempt names no question")
	case a.At.IsZero(), a.At.Year() < 1970, a.At.Year() > 2261: // the range of nanoseconds in 64 bits
		return s.invalid(op, fmt.Sprintf("time %v is out of range", a.At))
	case math.IsNaN(a.Score), a.Score < 0, a.Score > 1:
		return s.invalid(op, fmt.Sprintf("score %v is not between 0 and 1", a.Score))
	}
	return nil
}

func (s *Store) invalid(op, what string) error {
	return &Error{Kind: ErrInvalid, Op: op, Path: s.path, What: what, Fix: "Nothing was changed. This is a mistake in rdmaprep: please report it"}
}

// isID says whether an id is 32 lower-case hexadecimal digits.
func isID(id quiz.ID) bool {
	return len(id) == 32 && strings.Trim(string(id), "0123456789abcdef") == ""
}

// Attempts returns the whole log in the order of saving, voids and what they
// void included.
func (s *Store) Attempts(ctx context.Context) ([]quiz.Attempt, error) {
	list, err := queryAttempts(ctx, s.db, ` ORDER BY seq`)
	return list, s.wrap("read the answers", err)
}

type rowsQuerier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// queryAttempts reads all rows that the rest of the statement selects.
func queryAttempts(ctx context.Context, q rowsQuerier, rest string, args ...any) ([]quiz.Attempt, error) {
	var list []quiz.Attempt
	for a, err := range eachAttempt(ctx, q, rest, args...) {
		if err != nil {
			return nil, err
		}
		if len(list) == MaxAttempts {
			return nil, fmt.Errorf("%w: more than %d attempts", ErrTooMany, MaxAttempts)
		}
		list = append(list, a)
	}
	return list, nil
}

// eachAttempt yields attempts row by row; the connection is held until the
// caller is done.
func eachAttempt(ctx context.Context, q rowsQuerier, rest string, args ...any) iter.Seq2[quiz.Attempt, error] {
	return func(yield func(quiz.Attempt, error) bool) {
		rows, err := q.QueryContext(ctx, `SELECT `+attemptColumns+` FROM attempts`+rest, args...)
		if err != nil {
			yield(quiz.Attempt{}, err)
			return
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			a, err := scanAttempt(rows)
			if !yield(a, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(quiz.Attempt{}, err)
		}
	}
}

func scanAttempt(rows *sql.Rows) (quiz.Attempt, error) {
	var a quiz.Attempt
	var id, session, kind, voids, answer string
	var variant, at, took int64
	var offset, rating int
	err := rows.Scan(&id, &session, &kind, &voids, &a.Question, &variant, &at, &offset, &a.Day, &answer,
		&a.Yours, &a.Right, &a.Score, &a.Correct, &a.Graded, &a.Sure, &a.Hints, &took, &rating)
	if err != nil {
		return a, err
	}
	a.ID, a.Session, a.Kind, a.Voids = quiz.ID(id), quiz.ID(session), quiz.AttemptKind(kind), quiz.ID(voids)
	a.Variant = uint64(variant) //nolint:gosec // the same 64 bits
	a.At = time.Unix(0, at).In(time.FixedZone("", offset))
	a.Took = time.Duration(took)
	a.Rating = fsrs.Rating(rating) //nolint:gosec // written from a Rating
	if err := json.Unmarshal([]byte(answer), &a.Answer); err != nil {
		return a, fmt.Errorf("attempt %s: its answer is not JSON: %w", id, err)
	}
	return a, nil
}
