package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// MaxProgress is the size of one kept session, in bytes; a larger one is
// ErrInvalid. A quiz of a thousand questions takes about 200 KiB.
const MaxProgress = 16 << 20

// Setting returns the value of a setting, or ErrNotFound if it was never set.
func (s *Store) Setting(ctx context.Context, name string) (string, error) {
	const op = "read a setting"
	var value string
	err := s.db.QueryRowContext(ctx, `SELECT value FROM settings WHERE key = ?`, name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", s.none(op, fmt.Sprintf("the setting %q was never set", name), "Its default holds")
	}
	return value, s.wrap(op, err)
}

// SetSetting sets a setting.
func (s *Store) SetSetting(ctx context.Context, name, value string) error {
	const op = "save a setting"
	if name == "" {
		return s.invalid(op, "the setting has no name")
	}
	return s.write(ctx, op, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO settings (key, value) VALUES (?, ?)
			ON CONFLICT (key) DO UPDATE SET value = excluded.value`, name, value)
		return err
	})
}

// SaveProgress keeps the state of a session under a key in place of an earlier
// one; nil data removes it.
func (s *Store) SaveProgress(ctx context.Context, key string, data []byte) error {
	const op = "keep what was left half-way"
	switch {
	case key == "":
		return s.invalid(op, "it has no key")
	case len(data) > MaxProgress:
		return s.invalid(op, fmt.Sprintf("%q holds %d bytes, at most %d", key, len(data), MaxProgress))
	}
	return s.write(ctx, op, func(ctx context.Context, tx *sql.Tx) error {
		if data == nil {
			_, err := tx.ExecContext(ctx, `DELETE FROM progress WHERE key = ?`, key)
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO progress (key, body) VALUES (?, ?)
			ON CONFLICT (key) DO UPDATE SET body = excluded.body`, key, data)
		return err
	})
}

// Progress returns what SaveProgress kept under a key, or ErrNotFound.
func (s *Store) Progress(ctx context.Context, key string) ([]byte, error) {
	const op = "take up what was left half-way"
	var body []byte
	err := s.db.QueryRowContext(ctx, `SELECT body FROM progress WHERE key = ?`, key).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, s.none(op, fmt.Sprintf("nothing was left half-way under %q", key), "Start it anew")
	}
	return body, s.wrap(op, err)
}

// ProgressKeys lists the keys that Progress has something for, in order.
func (s *Store) ProgressKeys(ctx context.Context) ([]string, error) {
	const op = "read what was left half-way"
	rows, err := s.db.QueryContext(ctx, `SELECT key FROM progress ORDER BY key`)
	if err != nil {
		return nil, s.wrap(op, err)
	}
	defer func() { _ = rows.Close() }()
	var keys []string
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, s.wrap(op, err)
		}
		keys = append(keys, key)
	}
	return keys, s.wrap(op, rows.Err())
}
