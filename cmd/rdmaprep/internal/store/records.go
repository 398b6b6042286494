package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"rdmaprep/lessons/decision"
	"rdmaprep/quiz"
)

// MaxRecords is how many decision records one call reads; more are ErrTooMany.
const MaxRecords = 100_000

// SaveRecord keeps a decision record, in place of an earlier one with its id.
// It does not judge it: Validate and Redact are the caller's.
func (s *Store) SaveRecord(ctx context.Context, r decision.Record) error {
	const op = "save the decision record"
	if r.ID == "" {
		return s.invalid(op, "the record has no id")
	}
	if r.At.IsZero() {
		return s.invalid(op, "the record has no time")
	}
	body, err := json.Marshal(r)
	if err != nil {
		return s.invalid(op, err.Error())
	}
	return s.write(ctx, op, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO records (id, lab, question, verdict, at_ns, day, body)
			VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET lab = excluded.lab, question = excluded.question,
			verdict = excluded.verdict, at_ns = excluded.at_ns, day = excluded.day, body = excluded.body`,
			r.ID, r.Lab, r.Question, string(r.Verdict), r.At.UnixNano(), quiz.DayNumber(r.At), string(body))
		return err
	})
}

// Records returns every decision record, newest first.
func (s *Store) Records(ctx context.Context) ([]decision.Record, error) {
	return s.records(ctx, ` ORDER BY at_ns DESC, id LIMIT ?`, MaxRecords+1)
}

// Record returns the decision record with the id, or ErrNotFound.
func (s *Store) Record(ctx context.Context, id string) (decision.Record, error) {
	list, err := s.records(ctx, ` WHERE id = ?`, id)
	switch {
	case err != nil:
		return decision.Record{}, err
	case len(list) == 0:
		return decision.Record{}, s.none("show the record", fmt.Sprintf("no decision record has the id %q", id),
			"rdmaprep records list prints the ids; finishing a lab makes a record")
	}
	return list[0], nil
}

func (s *Store) none(op, what, fix string) error {
	return &Error{Kind: ErrNotFound, Op: op, Path: s.path, What: what, Fix: fix}
}

func (s *Store) records(ctx context.Context, rest string, args ...any) ([]decision.Record, error) {
	const op = "read the decision records"
	rows, err := s.db.QueryContext(ctx, `SELECT id, body FROM records`+rest, args...)
	if err != nil {
		return nil, s.wrap(op, err)
	}
	defer func() { _ = rows.Close() }()
	var list []decision.Record
	for rows.Next() {
		var id, body string
		if err := rows.Scan(&id, &body); err != nil {
			return nil, s.wrap(op, err)
		}
		var r decision.Record
		if err := json.Unmarshal([]byte(body), &r); err != nil {
			return nil, s.wrap(op, fmt.Errorf("record %s is not JSON: %w", id, err))
		}
		if list = append(list, r); len(list) > MaxRecords {
			return nil, s.wrap(op, fmt.Errorf("%w: more than %d records", ErrTooMany, MaxRecords))
		}
	}
	return list, s.wrap(op, rows.Err())
}
