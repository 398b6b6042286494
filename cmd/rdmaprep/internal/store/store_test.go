package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rdmaprep/lessons/decision"
	"rdmaprep/quiz"
	"rdmaprep/quiz/fsrs"
)

// openAt opens a store for a test and closes it at the end.
func openAt(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(context.Background(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// numbered makes ids that differ, as 32 hexadecimal digits.
func numbered(n int) quiz.ID { return quiz.ID(fmt.Sprintf("%032x", n)) }

// zone is east of UTC by a number of minutes that no table of zones has.
var zone = time.FixedZone("", 5*3600+17*60)

// answered is a graded answer with something in every field.
func answered(n int, question string, day int, rating fsrs.Rating) quiz.Attempt {
	return quiz.Attempt{
		ID: numbered(n), Session: numbered(1 << 40), Kind: quiz.Answered, Question: question,
		Variant: math.MaxUint64 - uint64(n), //nolint:gosec // n is small
		At:      time.Unix(int64(day)*86400+40_000, int64(n)).In(zone), Day: day,
		Answer: quiz.Answer{Picks: []int{0, 2}, Order: []int{1, 0}, Text: "RNR \"x\"\n", Points: []bool{true, false}, Grade: 3},
		Yours:  "what I said", Right: "what is right", Score: 0.25, Correct: rating > fsrs.Again, Graded: true,
		Sure: 70, Hints: 1, Took: 3*time.Second + 7, Rating: rating,
	}
}

func save(t testing.TB, s *Store, list ...quiz.Attempt) {
	t.Helper()
	for _, a := range list {
		if err := s.SaveAttempt(context.Background(), a); err != nil {
			t.Fatal(err)
		}
	}
}

func log(t testing.TB, s *Store) []quiz.Attempt {
	t.Helper()
	list, err := s.Attempts(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// What is read back is what was saved, in the order of saving, every field of
// it, and after the file was closed and opened again.
func TestAttemptsComeBackWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b ?#%")
	want := []quiz.Attempt{
		answered(2, "ordering.fence", 20_000, fsrs.Good),
		answered(1, "ordering.fence", 19_999, fsrs.Again),
		{ID: numbered(3), Kind: quiz.Skipped, Question: "q", At: time.Unix(1, 0).In(zone), Day: 0},
		{ID: numbered(4), Kind: quiz.Voided, Voids: numbered(1), At: time.Unix(2, 0).In(zone), Day: -1},
	}
	first := openAt(t, dir)
	save(t, first, want...)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	got := log(t, openAt(t, dir))
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b time.Time) bool {
		_, x := a.Zone()
		_, y := b.Zone()
		return a.Equal(b) && x == y
	})); diff != "" {
		t.Errorf("want-, got+:\n%s", diff)
	}
}

func TestFolderAndFileAreTheLearnersOwn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := openAt(t, dir)
	save(t, s, answered(1, "q", 1, fsrs.Good))
	for path, want := range map[string]os.FileMode{
		dir: 0o700, s.Path(): 0o600, s.Path() + "-wal": 0o600, s.Path() + "-shm": 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
}

// What makes an answer survive a power cut is in force, and not merely asked
// for: sqlite.org/pragma.html#pragma_synchronous, 2 is FULL.
func TestDurabilityIsInForce(t *testing.T) {
	s := openAt(t, t.TempDir())
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1",
		"busy_timeout": fmt.Sprint(DefaultWait.Milliseconds()), "trusted_schema": "0",
	} {
		var got string
		if err := s.db.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", pragma, got, want)
		}
	}
}

func TestSavingTwiceIsSavingOnce(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir())
	a := answered(1, "q", 100, fsrs.Good)
	save(t, s, a)
	before, err := s.Cards(ctx)
	if err != nil {
		t.Fatal(err)
	}
	a.At = a.At.In(time.FixedZone("", 3600)) // the same moment, told in another zone
	save(t, s, a, a)
	after, err := s.Cards(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" || len(log(t, s)) != 1 {
		t.Errorf("%d attempts, cards changed by:\n%s", len(log(t, s)), diff)
	}
	a.Answer.Picks = []int{1}
	if err := s.SaveAttempt(ctx, a); !errors.Is(err, ErrConflict) {
		t.Errorf("another answer under the id gave %v, want ErrConflict", err)
	}
	a = answered(1, "q", 100, fsrs.Again)
	if err := s.SaveAttempt(ctx, a); !errors.Is(err, ErrConflict) {
		t.Errorf("another rating under the id gave %v, want ErrConflict", err)
	}
}

// The log only grows, whoever writes SQL into the file.
func TestLogOnlyGrows(t *testing.T) {
	s := openAt(t, t.TempDir())
	save(t, s, answered(1, "q", 100, fsrs.Good))
	for _, sql := range []string{`DELETE FROM attempts`, `UPDATE attempts SET correct = 0`} {
		if _, err := s.db.Exec(sql); err == nil {
			t.Errorf("%s went through", sql)
		}
	}
	if len(log(t, s)) != 1 {
		t.Error("the attempt is gone")
	}
}

func TestBadAttemptsAreRefused(t *testing.T) {
	s := openAt(t, t.TempDir())
	for name, spoil := range map[string]func(*quiz.Attempt){
		"id too short":   func(a *quiz.Attempt) { a.ID = "abc" },
		"id not hex":     func(a *quiz.Attempt) { a.ID = quiz.ID("g" + string(numbered(1))[1:]) },
		"no kind":        func(a *quiz.Attempt) { a.Kind = "" },
		"no question":    func(a *quiz.Attempt) { a.Question = "" },
		"no time":        func(a *quiz.Attempt) { a.At = time.Time{} },
		"time too late":  func(a *quiz.Attempt) { a.At = time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"score too high": func(a *quiz.Attempt) { a.Score = 1.5 },
		"score is NaN":   func(a *quiz.Attempt) { a.Score = math.NaN() },
		"voids nothing":  func(a *quiz.Attempt) { a.Kind, a.Voids = quiz.Voided, "" },
	} {
		a := answered(1, "q", 100, fsrs.Good)
		spoil(&a)
		if err := s.SaveAttempt(context.Background(), a); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
	if n := len(log(t, s)); n != 0 {
		t.Errorf("%d attempts were saved", n)
	}
}

func TestRecordsNewestFirst(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir())
	record := func(id string, at int64) decision.Record {
		return decision.Record{
			Format: decision.Format, ID: id, Lab: "stale-rkey", At: time.Unix(at, 0).UTC(), Question: "Q " + id,
			Buffers: []string{"one", "two"}, Verdict: decision.Confirmed, Elapsed: time.Minute,
			Evidence: decision.Evidence{Seed: math.MaxUint64, Completions: []string{"SUCCESS"}},
		}
	}
	old, young := record("a", 10), record("b", 20)
	for _, r := range []decision.Record{old, young} {
		if err := s.SaveRecord(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	old.Verdict = decision.Refuted // edited later, under its id
	if err := s.SaveRecord(ctx, old); err != nil {
		t.Fatal(err)
	}
	got, err := s.Records(ctx)
	if diff := cmp.Diff([]decision.Record{young, old}, got); diff != "" || err != nil {
		t.Errorf("error %v, want-, got+:\n%s", err, diff)
	}
	one, err := s.Record(ctx, "a")
	if diff := cmp.Diff(old, one); diff != "" || err != nil {
		t.Errorf("error %v, want-, got+:\n%s", err, diff)
	}
	if _, err := s.Record(ctx, "c"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if err := s.SaveRecord(ctx, decision.Record{At: time.Unix(1, 0)}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a record without id gave %v, want ErrInvalid", err)
	}
}

func TestSettingsAndProgress(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir())
	if _, err := s.Setting(ctx, "theme"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a setting never set gave %v, want ErrNotFound", err)
	}
	for _, value := range []string{"dark", ""} {
		if err := s.SetSetting(ctx, "theme", value); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Setting(ctx, "theme"); got != value || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, value)
		}
	}
	for key, data := range map[string]string{"quiz": `{"a":1}`, "lab/x": "", "gone": "x"} {
		if err := s.SaveProgress(ctx, key, []byte(data)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Progress(ctx, key); string(got) != data || err != nil {
			t.Errorf("%s: got %q, %v, want %q", key, got, err, data)
		}
	}
	if err := s.SaveProgress(ctx, "gone", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Progress(ctx, "gone"); !errors.Is(err, ErrNotFound) {
		t.Errorf("removed progress gave %v, want ErrNotFound", err)
	}
	keys, err := s.ProgressKeys(ctx)
	if diff := cmp.Diff([]string{"lab/x", "quiz"}, keys); diff != "" || err != nil {
		t.Errorf("error %v, want-, got+:\n%s", err, diff)
	}
	if err := s.SaveProgress(ctx, "big", make([]byte, MaxProgress+1)); !errors.Is(err, ErrInvalid) {
		t.Errorf("too much progress gave %v, want ErrInvalid", err)
	}
}

// A context that is over before a save means: not saved.
func TestCancelledBeforeIsNotSaved(t *testing.T) {
	s := openAt(t, t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.SaveAttempt(ctx, answered(1, "q", 1, fsrs.Good)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want Canceled", err)
	}
	if n := len(log(t, s)); n != 0 {
		t.Errorf("%d attempts were saved", n)
	}
}
