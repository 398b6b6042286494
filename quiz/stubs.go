package quiz

import (
	"errors"
	"hash/fnv"
	"time"

	"rdmaprep/content"
	"rdmaprep/quiz/fsrs"
)

var errNotYet = errors.New("quiz: not written yet")

func hashOf(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}
func build(Config) (*Session, error)                { return nil, errNotYet }
func resume(Config, SessionState) (*Session, error) { return nil, errNotYet }
func (s *Session) step(time.Time, Event) []Effect   { return nil }
func (s *Session) view() View                       { return View{} }
func (s *Session) snapshot() SessionState           { return s.state }
func selectItems(*content.Library, map[string]fsrs.Card, int, int, Filter, uint64) []Item {
	return nil
}
func live(log []Attempt) []Attempt                                       { return log }
func newOn([]Attempt, int) int                                           { return 0 }
func mastery(*content.Library, map[string]fsrs.Card, int) []TopicMastery { return nil }
func calibrate([]Attempt) Calibration                                    { return Calibration{} }

// Grade compares an answer with the key. It is pure; an answer to a provisional
// question is described and not graded.
func Grade(in *Instance, key Key, a Answer) Verdict { return Verdict{} }

// VariantOf is the variant seed of a question in a session of the given seed.
func VariantOf(seed uint64, question string) uint64 { return seed ^ hashOf(question) }
