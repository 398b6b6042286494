package store

import (
	"context"
	"testing"

	"rdmaprep/quiz/fsrs"
)

// One answer saved and on disk, its question with 20 earlier answers.
func BenchmarkSaveAttempt(b *testing.B) {
	ctx := context.Background()
	s := openAt(b, b.TempDir())
	n := 0
	for b.Loop() {
		if err := s.SaveAttempt(ctx, answered(n, numberedTopic(n/20), 20_000+n/100, fsrs.Good)); err != nil {
			b.Fatal(err)
		}
		n++
	}
}

func numberedTopic(n int) string { return "q." + string(numbered(n)) }

// Opening a store of 5,000 answers and closing it again: what start-up pays.
func BenchmarkOpenExisting(b *testing.B) {
	ctx := context.Background()
	dir := b.TempDir()
	s := openAt(b, dir)
	fill(b, s, 5000)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := Open(ctx, dir, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// fill copies one answer into many in one transaction and folds them.
func fill(b *testing.B, s *Store, n int) {
	b.Helper()
	save(b, s, answered(0, "q", 20_000, fsrs.Good))
	_, err := s.db.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO attempts SELECT i + 1, printf('%032x', i), session, kind, voids, 'q' || (i % 250), variant, at_ns + i, at_offset,
		20000 + i / 100, answer, yours, correct_is, score, correct, graded, confidence, hints, took_ns, rating FROM attempts, n WHERE seq = 1`, n)
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Rebuild(context.Background()); err != nil {
		b.Fatal(err)
	}
}

// The first screen's reads: all cards, and the whole log of 5,000 answers.
func BenchmarkReadCards(b *testing.B) {
	s := openAt(b, b.TempDir())
	fill(b, s, 5000)
	for b.Loop() {
		cards, err := s.Cards(context.Background())
		if err != nil || len(cards) < 250 {
			b.Fatal(len(cards), err)
		}
	}
}

func BenchmarkReadLog(b *testing.B) {
	s := openAt(b, b.TempDir())
	fill(b, s, 5000)
	for b.Loop() {
		if list, err := s.Attempts(context.Background()); err != nil || len(list) < 5000 {
			b.Fatal(len(list), err)
		}
	}
}

// Folding 5,000 answers again, as after a change of the algorithm.
func BenchmarkRebuild(b *testing.B) {
	s := openAt(b, b.TempDir())
	fill(b, s, 5000)
	for b.Loop() {
		if err := s.Rebuild(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
