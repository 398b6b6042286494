package study

import (
	"context"
	"errors"
	"io"
	"time"

	"rdmaprep/content"
	"rdmaprep/lessons"
	"rdmaprep/lessons/decision"
	"rdmaprep/quiz"
	"rdmaprep/quiz/fsrs"
	"rdmaprep/sim/verbs"
)

var errNotYet = errors.New("study: not written yet")

// Service is what the front ends call. Its methods may be called from several
// goroutines.
type Service struct {
	lib     *content.Library
	open    verbs.Opener
	store   Store
	now     func() time.Time
	entropy io.Reader
}

// New makes a service. now gives the time in the learner's time zone; entropy
// gives the bytes of ids.
func New(lib *content.Library, open verbs.Opener, st Store, now func() time.Time, entropy io.Reader) *Service {
	return &Service{lib: lib, open: open, store: st, now: now, entropy: entropy}
}

// Library is what can be studied.
func (s *Service) Library() *content.Library { return s.lib }

// Now is the time where the learner is, to be handed to Step.
func (s *Service) Now() time.Time { return s.now() }

// NewID is a random id.
func (s *Service) NewID() quiz.ID { return "" }

// ProofResult is what a proof showed.
type ProofResult struct {
	Key         quiz.Key
	Observation lessons.Observation // for the evidence screen
	Cached      bool
}

// Proof runs the instance's proof on a fresh Bench and says what is right.
// profile "" takes the proof's own, else "spec". order is the order to run of
// an order question, as shown; nil for other kinds. Results are cached by
// question, variant, profile and order. The error says why no run came about.
func (s *Service) Proof(ctx context.Context, in *quiz.Instance, profile string, order []int) (ProofResult, error) {
	return ProofResult{}, errNotYet
}

// QuizEffect carries out one effect of a quiz and returns the event to hand
// back to the session, nil if there is none, and for RunProof what the run
// showed. key is where SaveState keeps the session, "" for nowhere.
func (s *Service) QuizEffect(ctx context.Context, key string, e quiz.Effect) (quiz.Event, *ProofResult) {
	return nil, nil
}

// LabEffect is the same for a lab, whose steps run on run.
func (s *Service) LabEffect(ctx context.Context, run *LabRun, e lessons.Effect) lessons.Event {
	return nil
}

// NewQuiz selects questions and makes a session. seed 0 takes a random one.
func (s *Service) NewQuiz(ctx context.Context, f quiz.Filter, seed uint64) (*quiz.Session, error) {
	return nil, errNotYet
}

// ResumeQuiz makes the session that was kept under key; ErrNotFound if none.
func (s *Service) ResumeQuiz(ctx context.Context, key string) (*quiz.Session, error) {
	return nil, errNotYet
}

// NewLab makes a lab by its id, and the run that its steps need. profile "" and
// seed 0 take the lab's own. Close the run when the lab is left.
func (s *Service) NewLab(id, profile string, seed uint64) (*lessons.Lab, *LabRun, error) {
	return nil, nil, errNotYet
}

// ResumeLab makes the lab that was left half-way; ErrNotFound if there is none.
func (s *Service) ResumeLab(ctx context.Context, id string) (*lessons.Lab, *LabRun, error) {
	return nil, nil, errNotYet
}

// QuizKey is where a quiz keeps its progress, LabKey a lab, LessonKey a lesson.
const QuizKey = "quiz"

// LabKey is where a lab keeps its progress.
func LabKey(id string) string { return "lab/" + id }

// LessonKey is where a lesson keeps its progress.
func LessonKey(id string) string { return "lesson/" + id }

// LabRun holds the Bench that the steps of a part share.
type LabRun struct{}

// Step runs a step of a part, both from 0 over AllParts. With fresh, or if the
// part is another one than before, a new Bench is opened, the part's setup is
// run first, and so are the steps before this one.
func (r *LabRun) Step(ctx context.Context, part, step int, fresh bool) (lessons.Observation, error) {
	return lessons.Observation{}, errNotYet
}

// Close closes the Bench; it is no error to close twice.
func (r *LabRun) Close() error { return nil }

// Home is what the first screen shows.
type Home struct {
	Today       int // day number
	Due         int // cards due
	AnsweredNow int // answers today
	NewToday    int
	Topics      []quiz.TopicMastery
	Calibration quiz.Calibration
	LastRecord  *decision.Record // nil if there is none
	Resume      []string         // keys of what was left half-way
	Newcomer    bool             // nothing was ever answered
}

// Home computes the first screen.
func (s *Service) Home(ctx context.Context) (Home, error) { return Home{}, errNotYet }

// SaveAttempt appends an attempt, or a void, to the log.
func (s *Service) SaveAttempt(ctx context.Context, a quiz.Attempt) error { return errNotYet }

// Void takes an attempt back and returns the void that was appended.
func (s *Service) Void(ctx context.Context, a quiz.Attempt) (quiz.Attempt, error) {
	return quiz.Attempt{}, errNotYet
}

// Attempts is the whole log, voids included.
func (s *Service) Attempts(ctx context.Context) ([]quiz.Attempt, error) { return nil, errNotYet }

// Cards is what is known of each question's memory, by question id.
func (s *Service) Cards(ctx context.Context) (map[string]fsrs.Card, error) { return nil, errNotYet }

// Due lists the questions due on a day, the longest overdue first.
func (s *Service) Due(ctx context.Context, day int) ([]string, error) { return nil, errNotYet }

// Mastery is quiz.Mastery of today.
func (s *Service) Mastery(ctx context.Context) ([]quiz.TopicMastery, error) { return nil, errNotYet }

// Records are the decision records, newest first.
func (s *Service) Records(ctx context.Context) ([]decision.Record, error) { return nil, errNotYet }

// LastRecord is the newest record; ErrNotFound if there is none.
func (s *Service) LastRecord(ctx context.Context) (decision.Record, error) {
	return decision.Record{}, errNotYet
}

// Record finds a record by its id or by an unambiguous beginning of it.
func (s *Service) Record(ctx context.Context, id string) (decision.Record, error) {
	return decision.Record{}, errNotYet
}

// SaveRecord keeps a record; it fails with decision.ErrInvalid if the record is
// not complete.
func (s *Service) SaveRecord(ctx context.Context, r decision.Record) error { return errNotYet }

// Setting is a setting's value, or def if it was never set.
func (s *Service) Setting(ctx context.Context, name, def string) (string, error) {
	return "", errNotYet
}

// SetSetting keeps a setting.
func (s *Service) SetSetting(ctx context.Context, name, value string) error { return errNotYet }
