package store

import (
	"cmp"
	"context"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"rdmaprep/quiz"
	"rdmaprep/quiz/fsrs"
)

// naive folds a log the slow and plain way, from the two rules alone: what is
// voided never happened, and the order is that of day, time and id.
func naive(log []quiz.Attempt) (map[string]fsrs.Card, []Totals) {
	log = slices.DeleteFunc(slices.Clone(log), func(a quiz.Attempt) bool {
		return a.Kind == quiz.Voided || slices.ContainsFunc(log, func(v quiz.Attempt) bool {
			return v.Kind == quiz.Voided && v.Voids == a.ID
		})
	})
	slices.SortFunc(log, func(a, b quiz.Attempt) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	})
	cards, days := map[string]fsrs.Card{}, []Totals(nil)
	for _, a := range log {
		if c, ok := quiz.Apply(cards[a.Question], a); ok {
			cards[a.Question] = c
		}
		if len(days) == 0 || days[len(days)-1].Day != a.Day {
			days = append(days, Totals{Day: a.Day})
		}
		t := &days[len(days)-1]
		switch a.Kind {
		case quiz.Answered:
			t.Answered++
			t.TookNS += int64(a.Took)
			if a.Graded {
				t.Graded++
			}
			if a.Graded && a.Correct {
				t.Correct++
			}
		case quiz.Skipped:
			t.Skipped++
		case quiz.LabKind:
			t.Labs++
			t.TookNS += int64(a.Took)
		}
	}
	return cards, days
}

type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// cachesEqualReplay compares what the file says with the fold of its log.
func cachesEqualReplay(t failer, s *Store) {
	t.Helper()
	ctx := context.Background()
	log, err := s.Attempts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	wantCards, wantDays := naive(log)
	cards, err := s.Cards(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(wantCards, cards); diff != "" {
		t.Fatalf("cards: replay-, cache+:\n%s", diff)
	}
	if diff := gocmp.Diff(quiz.Fold(log), cards); diff != "" {
		t.Fatalf("cards: quiz.Fold-, cache+:\n%s", diff)
	}
	days, err := s.Days(ctx, -1<<31, 1<<31)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(wantDays, days); diff != "" {
		t.Fatalf("days: replay-, cache+:\n%s", diff)
	}
}

// drawAttempt makes any attempt: days go back and forth as in merged logs, and
// a void may name what was not saved yet, or another void.
func drawAttempt(t *rapid.T, n int) quiz.Attempt {
	a := answered(n, rapid.SampledFrom([]string{"a", "b", "lab/x/1.2"}).Draw(t, "question"),
		rapid.IntRange(20_000, 20_006).Draw(t, "day"), fsrs.Rating(rapid.IntRange(0, 4).Draw(t, "rating"))) //nolint:gosec // 0 to 4
	a.Kind = rapid.SampledFrom([]quiz.AttemptKind{quiz.Answered, quiz.Answered, quiz.LabKind, quiz.Skipped, quiz.Voided}).Draw(t, "kind")
	a.Graded = rapid.Bool().Draw(t, "graded")
	a.At = a.At.Truncate(1_000_000_000).In(zone) // several at one moment: the id decides
	a.Answer = quiz.Answer{Picks: []int{n}}
	if a.Kind == quiz.Voided {
		a.Question, a.Voids = "", numbered(rapid.IntRange(0, n+2).Draw(t, "voids"))
	}
	return a
}

func TestCachesEqualReplayOnRandomHistories(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := openAt(t, t.TempDir())
		defer s.Close()
		ids := rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}).Draw(rt, "ids")
		for _, n := range ids {
			a := drawAttempt(rt, n)
			for range rapid.IntRange(1, 2).Draw(rt, "times") { // a retry changes nothing
				if err := s.SaveAttempt(context.Background(), a); err != nil {
					rt.Fatal(err)
				}
			}
		}
		if n := len(log(t, s)); n != len(ids) {
			rt.Fatalf("%d attempts, saved %d", n, len(ids))
		}
		cachesEqualReplay(rt, s)
		if err := s.Rebuild(context.Background()); err != nil {
			rt.Fatal(err)
		}
		cachesEqualReplay(rt, s)
	})
}

// Undo restores the card of before exactly.
func TestVoidRestoresTheCard(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir())
	save(t, s, answered(1, "q", 100, fsrs.Good))
	before, err := s.Cards(ctx)
	if err != nil {
		t.Fatal(err)
	}
	slip := answered(2, "q", 103, fsrs.Again)
	save(t, s, slip)
	moved, err := s.Cards(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if moved["q"] == before["q"] {
		t.Fatal("the second answer did not move the card")
	}
	undo := quiz.Attempt{ID: numbered(3), Kind: quiz.Voided, Voids: slip.ID, At: slip.At, Day: slip.Day}
	save(t, s, undo)
	after, err := s.Cards(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(before, after); diff != "" {
		t.Errorf("before-, after+:\n%s", diff)
	}
	save(t, s, quiz.Attempt{ID: numbered(4), Kind: quiz.Voided, Voids: numbered(1), At: slip.At, Day: slip.Day})
	if cards, err := s.Cards(ctx); len(cards) != 0 || err != nil {
		t.Errorf("with everything voided there are cards %v, error %v", cards, err)
	}
}

// Rows of another algorithm are folded again: on opening, and when another
// instance has written them in the meantime.
func TestStampOfAnotherAlgorithm(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir)
	save(t, s, answered(1, "q", 100, fsrs.Good), answered(2, "r", 101, fsrs.Easy))
	spoil := func(sql string) {
		t.Helper()
		if _, err := s.db.Exec(sql); err != nil {
			t.Fatal(err)
		}
	}
	spoil(`UPDATE cards SET algorithm = 'older', card = '{"s":1,"due":7,"reps":9}' WHERE question = 'q'`)
	cachesEqualReplay(t, s)
	spoil(`UPDATE days SET algorithm = 'older', answered = 99 WHERE day = 101`)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, dir)
	var stale int
	if err := s.db.QueryRow(`SELECT count(*) FROM days WHERE algorithm = 'older'`).Scan(&stale); err != nil || stale != 0 {
		t.Errorf("%d stale days after opening, error %v", stale, err)
	}
	cachesEqualReplay(t, s)
}
