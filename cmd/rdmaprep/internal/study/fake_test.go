package study

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"testing"
	"time"

	"rdmaprep/content"
	"rdmaprep/lessons/decision"
	"rdmaprep/quiz"
	"rdmaprep/quiz/fsrs"
	"rdmaprep/sim/model"
	"rdmaprep/sim/verbs"
)

// memory is a Store in memory; fail makes its next writes fail.
type memory struct {
	log      []quiz.Attempt
	records  []decision.Record
	settings map[string]string
	progress map[string][]byte
	fail     int
}

var errFull = errors.New("the disk is full")

func (m *memory) write() error {
	if m.fail > 0 {
		m.fail--
		return errFull
	}
	return nil
}

func (m *memory) SaveAttempt(_ context.Context, a quiz.Attempt) error {
	if err := m.write(); err != nil {
		return err
	}
	for _, old := range m.log {
		if old.ID == a.ID {
			return nil
		}
	}
	m.log = append(m.log, a)
	return nil
}

func (m *memory) Attempts(context.Context) ([]quiz.Attempt, error) { return slices.Clone(m.log), nil }

func (m *memory) Cards(context.Context) (map[string]fsrs.Card, error) { return quiz.Fold(m.log), nil }

func (m *memory) SaveRecord(_ context.Context, r decision.Record) error {
	if err := m.write(); err != nil {
		return err
	}
	m.records = slices.DeleteFunc(m.records, func(o decision.Record) bool { return o.ID == r.ID })
	m.records = append([]decision.Record{r}, m.records...)
	return nil
}

func (m *memory) Records(context.Context) ([]decision.Record, error) {
	return slices.Clone(m.records), nil
}

func (m *memory) Record(_ context.Context, id string) (decision.Record, error) {
	for _, r := range m.records {
		if r.ID == id {
			return r, nil
		}
	}
	return decision.Record{}, fmt.Errorf("record %q: %w", id, ErrNotFound)
}

func (m *memory) Setting(_ context.Context, name string) (string, error) {
	v, ok := m.settings[name]
	if !ok {
		return "", ErrNotFound
	}
	return v, nil
}

func (m *memory) SetSetting(_ context.Context, name, value string) error {
	m.settings[name] = value
	return nil
}

func (m *memory) SaveProgress(_ context.Context, key string, data []byte) error {
	if data == nil {
		delete(m.progress, key)
		return nil
	}
	m.progress[key] = slices.Clone(data)
	return nil
}

func (m *memory) Progress(_ context.Context, key string) ([]byte, error) {
	d, ok := m.progress[key]
	if !ok {
		return nil, fmt.Errorf("progress %q: %w", key, ErrNotFound)
	}
	return d, nil
}

func (m *memory) ProgressKeys(context.Context) ([]string, error) {
	keys := []string{}
	for k := range m.progress {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys, nil
}

// counted is a stream of bytes that never repeats and is the same in every test.
type counted struct{ n uint64 }

func (c *counted) Read(p []byte) (int, error) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], c.n)
	c.n++
	sum := sha256.Sum256(b[:])
	return copy(p, sum[:]), nil
}

// benches counts what is open, so that a test sees a Bench that was not closed.
type benches struct{ opened, closed int }

type closing struct {
	*model.Bench
	b *benches
}

func (c closing) Close() error {
	c.b.closed++
	return c.Bench.Close()
}

func (b *benches) open(ctx context.Context, profile string, seed uint64) (verbs.Bench, error) {
	m, err := model.Open(ctx, model.Options{Profile: profile, Seed: seed, Trace: true})
	if err != nil {
		return nil, err
	}
	b.opened++
	return closing{m, b}, nil
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// house is a service with everything around it. Its clock moves a second a look.
type house struct {
	*Service
	mem     *memory
	benches *benches
	clock   time.Time
}

func newHouse(t *testing.T, lib *content.Library) *house {
	t.Helper()
	h := &house{
		mem:     &memory{settings: map[string]string{}, progress: map[string][]byte{}},
		benches: &benches{}, clock: noon,
	}
	var entropy io.Reader = &counted{}
	h.Service = New(lib, h.benches.open, h.mem, func() time.Time {
		h.clock = h.clock.Add(time.Second)
		return h.clock
	}, entropy)
	t.Cleanup(func() {
		if h.benches.opened != h.benches.closed {
			t.Errorf("%d benches were opened and %d closed", h.benches.opened, h.benches.closed)
		}
	})
	return h
}
