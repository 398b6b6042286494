package tui_test

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"rdmaprep/cmd/rdmaprep/internal/study"
	"rdmaprep/lessons/decision"
	"rdmaprep/quiz"
	"rdmaprep/quiz/fsrs"
)

// memory is a study.Store that forgets at the end of the test. Full makes
// every write fail, as a full disk does.
type memory struct {
	log      []quiz.Attempt
	records  map[string]decision.Record
	settings map[string]string
	progress map[string][]byte
	Full     bool
}

func newMemory() *memory {
	return &memory{records: map[string]decision.Record{}, settings: map[string]string{}, progress: map[string][]byte{}}
}

var errFull = errors.New("the disk is full: free some space")

func (m *memory) write(do func()) error {
	if m.Full {
		return errFull
	}
	do()
	return nil
}

func (m *memory) SaveAttempt(_ context.Context, a quiz.Attempt) error {
	return m.write(func() {
		for _, old := range m.log {
			if old.ID == a.ID {
				return
			}
		}
		m.log = append(m.log, a)
	})
}

func (m *memory) Attempts(context.Context) ([]quiz.Attempt, error) { return m.log, nil }

func (m *memory) Cards(context.Context) (map[string]fsrs.Card, error) { return quiz.Fold(m.log), nil }

func (m *memory) SaveRecord(_ context.Context, r decision.Record) error {
	return m.write(func() { m.records[r.ID] = r })
}

func (m *memory) Records(context.Context) ([]decision.Record, error) {
	var out []decision.Record
	for _, r := range m.records {
		out = append(out, r)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].At.After(out[j].At) })
	return out, nil
}

func (m *memory) Record(_ context.Context, id string) (decision.Record, error) {
	r, ok := m.records[id]
	if !ok {
		return r, fmt.Errorf("record %s: %w", id, study.ErrNotFound)
	}
	return r, nil
}

func (m *memory) Setting(_ context.Context, name string) (string, error) {
	v, ok := m.settings[name]
	if !ok {
		return "", study.ErrNotFound
	}
	return v, nil
}

func (m *memory) SetSetting(_ context.Context, name, value string) error {
	return m.write(func() { m.settings[name] = value })
}

func (m *memory) SaveProgress(_ context.Context, key string, data []byte) error {
	return m.write(func() {
		if data == nil {
			delete(m.progress, key)
			return
		}
		m.progress[key] = data
	})
}

func (m *memory) Progress(_ context.Context, key string) ([]byte, error) {
	d, ok := m.progress[key]
	if !ok {
		return nil, study.ErrNotFound
	}
	return d, nil
}

func (m *memory) ProgressKeys(context.Context) ([]string, error) {
	var out []string
	for k := range m.progress {
		out = append(out, k)
	}
	sort.Strings(out)
	return out, nil
}
