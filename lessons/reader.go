package lessons

import (
	"time"

	"rdmaprep/content"
	"rdmaprep/quiz"
)

// Reader is a lesson with its checks answered in place. It is for one goroutine.
type Reader struct {
	lesson *content.Lesson
	checks map[int]*quiz.Session // by block
	order  []int                 // blocks that are checks
}

// ReaderConfig is what a reader is made of.
type ReaderConfig struct {
	Lesson  *content.Lesson
	Library *content.Library
	ID      quiz.ID
	NewID   func() quiz.ID
	Seed    uint64 // of the checks' variants
}

// CheckEffect is an effect of the check in a block; its answer goes back with
// Step and the same block.
type CheckEffect struct {
	Block  int
	Effect quiz.Effect
}

// NewReader makes a reader at the lesson's beginning. Checks that cannot be
// drawn are left out and named by the error; the reader is usable all the same.
func NewReader(cfg ReaderConfig) (*Reader, error) { return newReader(cfg) }

// Step hands an event to the check in a block; an event for a block that is no
// check has no effect.
func (r *Reader) Step(at time.Time, block int, ev quiz.Event) []CheckEffect {
	s := r.checks[block]
	if s == nil {
		return nil
	}
	var out []CheckEffect
	for _, e := range s.Step(at, ev) {
		out = append(out, CheckEffect{Block: block, Effect: e})
	}
	return out
}

// Check is what is to be drawn for the check in a block, false if it is none.
func (r *Reader) Check(block int) (quiz.View, bool) {
	s := r.checks[block]
	if s == nil {
		return quiz.View{}, false
	}
	return s.View(), true
}

// Lesson is what is read.
func (r *Reader) Lesson() *content.Lesson { return r.lesson }

// Checks are the blocks that hold a check, in order.
func (r *Reader) Checks() []int { return append([]int(nil), r.order...) }

// Answered counts the checks that were answered, and Finished says that all
// were.
func (r *Reader) Answered() int {
	n := 0
	for _, b := range r.order {
		if r.checks[b].View().Phase == quiz.Done {
			n++
		}
	}
	return n
}

// Finished says that every check was answered.
func (r *Reader) Finished() bool { return r.Answered() == len(r.order) }

func newReader(cfg ReaderConfig) (*Reader, error) {
	r := &Reader{lesson: cfg.Lesson, checks: map[int]*quiz.Session{}}
	var firstErr error
	for i, b := range cfg.Lesson.Blocks {
		if b.Check == nil {
			continue
		}
		s, err := quiz.New(quiz.Config{
			Library: cfg.Library, ID: cfg.ID, NewID: cfg.NewID, Title: cfg.Lesson.Title,
			Items: []quiz.Item{{Question: b.Check.ID, Variant: quiz.VariantOf(cfg.Seed, b.Check.ID)}},
		})
		if err != nil {
			if firstErr == nil {
				firstErr = err
			}
			continue
		}
		r.checks[i] = s
		r.order = append(r.order, i)
	}
	return r, firstErr
}
