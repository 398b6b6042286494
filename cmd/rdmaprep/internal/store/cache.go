package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"rdmaprep/quiz"
	"rdmaprep/quiz/fsrs"
)

// algorithm stamps every cached row. The part after the slash is this
// package's own fold of days; a change to it raises the number.
const algorithm = fsrs.Version + " days/1"

// Totals are what was done on one local day; voided attempts do not count.
type Totals struct {
	Day      int   `json:"day"`
	Answered int   `json:"answered"` // questions answered, provisional ones too
	Graded   int   `json:"graded"`   // of Answered
	Correct  int   `json:"correct"`  // of Graded
	Skipped  int   `json:"skipped"`
	Labs     int   `json:"labs"`    // predictions in labs
	TookNS   int64 `json:"took_ns"` // time before questions and predictions, nanoseconds
}

// foldCard computes one card from what stands of its question.
func foldCard(ctx context.Context, tx *sql.Tx, question string) error {
	var card fsrs.Card
	var moved bool
	for a, err := range eachAttempt(ctx, tx, ` WHERE question = ? AND`+standing+logOrder, question) {
		if err != nil {
			return err
		}
		if next, ok := quiz.Apply(card, a); ok {
			card, moved = next, true
		}
	}
	if !moved {
		_, err := tx.ExecContext(ctx, `DELETE FROM cards WHERE question = ?`, question)
		return err
	}
	return putCard(ctx, tx, question, card)
}

func putCard(ctx context.Context, tx *sql.Tx, question string, card fsrs.Card) error {
	body, err := json.Marshal(card)
	if err != nil {
		return fmt.Errorf("card %s: %w", question, err)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO cards (question, due, card, algorithm) VALUES (?, ?, ?, ?)
		ON CONFLICT (question) DO UPDATE SET due = excluded.due, card = excluded.card, algorithm = excluded.algorithm`,
		question, card.Due, string(body), algorithm)
	return err
}

// sumDays computes the totals of the days that the condition selects.
const sumDays = `INSERT INTO days (day, answered, graded, correct, skipped, labs, took_ns, algorithm)
	SELECT day, sum(kind = 'answer'), sum(kind = 'answer' AND graded), sum(kind = 'answer' AND graded AND correct),
		sum(kind = 'skip'), sum(kind = 'lab'), sum(CASE WHEN kind IN ('answer', 'lab') THEN took_ns ELSE 0 END), ?
	FROM attempts WHERE`

// foldDay computes the totals of one day from what stands of it.
func foldDay(ctx context.Context, tx *sql.Tx, day int) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM days WHERE day = ?`, day); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, sumDays+standing+` AND day = ? GROUP BY day`, algorithm, day)
	return err
}

// Rebuild throws the caches away and folds the whole log again.
func (s *Store) Rebuild(ctx context.Context) error {
	return s.write(ctx, "fold the log again", rebuild)
}

func rebuild(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM cards`); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM days`); err != nil {
		return err
	}
	cards := map[string]fsrs.Card{}
	for a, err := range eachAttempt(ctx, tx, ` WHERE`+standing+logOrder) {
		if err != nil {
			return err
		}
		if next, ok := quiz.Apply(cards[a.Question], a); ok {
			cards[a.Question] = next
		}
	}
	for question, card := range cards {
		if err := putCard(ctx, tx, question, card); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, sumDays+standing+` GROUP BY day`, algorithm)
	return err
}

// freshen rebuilds if any cached row is another algorithm's.
func (s *Store) freshen(ctx context.Context) error {
	var stale bool
	err := s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM cards WHERE algorithm <> ?1)
		OR EXISTS (SELECT 1 FROM days WHERE algorithm <> ?1)`, algorithm).Scan(&stale)
	if err != nil || !stale {
		return err
	}
	return s.write(ctx, "fold the log again", rebuild)
}

// Cards returns the state of every card by question. If an instance of another
// version has written some of them since this one opened the file, the log is
// folded again first.
func (s *Store) Cards(ctx context.Context) (map[string]fsrs.Card, error) {
	const op = "read the cards"
	if err := s.freshen(ctx); err != nil {
		return nil, s.wrap(op, err)
	}
	rows, err := s.db.QueryContext(ctx, `SELECT question, card FROM cards`)
	if err != nil {
		return nil, s.wrap(op, err)
	}
	defer func() { _ = rows.Close() }()
	cards := map[string]fsrs.Card{}
	for rows.Next() {
		var question, body string
		if err := rows.Scan(&question, &body); err != nil {
			return nil, s.wrap(op, err)
		}
		var card fsrs.Card
		if err := json.Unmarshal([]byte(body), &card); err != nil {
			return nil, s.wrap(op, fmt.Errorf("card %s: %w", question, err))
		}
		cards[question] = card
	}
	return cards, s.wrap(op, rows.Err())
}

// Days returns the totals of every day from first to last, both included, that
// has any, in order.
func (s *Store) Days(ctx context.Context, first, last int) ([]Totals, error) {
	const op = "read the daily totals"
	if err := s.freshen(ctx); err != nil {
		return nil, s.wrap(op, err)
	}
	rows, err := s.db.QueryContext(ctx, `SELECT day, answered, graded, correct, skipped, labs, took_ns
		FROM days WHERE day BETWEEN ? AND ? ORDER BY day`, first, last)
	if err != nil {
		return nil, s.wrap(op, err)
	}
	defer func() { _ = rows.Close() }()
	var list []Totals
	for rows.Next() {
		var t Totals
		if err := rows.Scan(&t.Day, &t.Answered, &t.Graded, &t.Correct, &t.Skipped, &t.Labs, &t.TookNS); err != nil {
			return nil, s.wrap(op, err)
		}
		list = append(list, t)
	}
	return list, s.wrap(op, rows.Err())
}
