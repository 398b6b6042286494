package study

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"rdmaprep/content"
	"rdmaprep/lessons"
	"rdmaprep/quiz"
	"rdmaprep/sim/verbs"
)

// Service is what the front ends call. Its methods may be called from several
// goroutines.
type Service struct {
	lib   *content.Library
	open  verbs.Opener
	store Store
	now   func() time.Time

	devices Devices

	mu      sync.Mutex // guards what follows
	entropy io.Reader
	proofs  map[string]ProofResult
	choice  Choice
	chosen  *Live // nil for the model
}

// New makes a service. now gives the time in the learner's time zone; entropy
// gives the bytes of ids.
func New(lib *content.Library, open verbs.Opener, st Store, now func() time.Time, entropy io.Reader) *Service {
	return &Service{lib: lib, open: open, store: st, now: now, entropy: entropy, proofs: map[string]ProofResult{}}
}

// Library is what can be studied.
func (s *Service) Library() *content.Library { return s.lib }

// Now is the time where the learner is, to be handed to Step.
func (s *Service) Now() time.Time { return s.now() }

// NewID is a random id. It panics where there is no entropy, since a log whose
// ids repeat would lose answers; the system's own source never fails.
func (s *Service) NewID() quiz.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err := quiz.NewID(s.entropy)
	if err != nil {
		panic(err)
	}
	return id
}

// newSeed is a random seed that is not 0.
func (s *Service) newSeed() (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b [8]byte
	if _, err := io.ReadFull(s.entropy, b[:]); err != nil {
		return 0, fmt.Errorf("reading 8 random bytes for a seed: %w; name one with --seed", err)
	}
	return binary.LittleEndian.Uint64(b[:]) | 1, nil
}

// NewQuiz selects questions and makes a session. seed 0 takes a random one. The
// error says what to choose instead where there is nothing to ask.
func (s *Service) NewQuiz(ctx context.Context, f quiz.Filter, seed uint64) (*quiz.Session, error) {
	if seed == 0 {
		var err error
		if seed, err = s.newSeed(); err != nil {
			return nil, err
		}
	}
	for _, t := range f.Topics {
		if s.topic(t) == nil {
			return nil, fmt.Errorf("there is no topic %q; the topics are %s", t, s.topicNames())
		}
	}
	log, err := s.store.Attempts(ctx)
	if err != nil {
		return nil, err
	}
	cards, err := s.store.Cards(ctx)
	if err != nil {
		return nil, err
	}
	today := quiz.DayNumber(s.now())
	items := quiz.Select(s.lib, cards, today, quiz.NewOn(log, today), f, seed)
	if len(items) == 0 {
		if f.Mode == quiz.DueFirst {
			return nil, errors.New("nothing is due today, and today's new questions are done; choose a topic, or everything")
		}
		return nil, errors.New("there is nothing to ask; choose another topic, or everything")
	}
	session, err := quiz.New(quiz.Config{
		Library: s.lib, Items: items, ID: s.NewID(), NewID: s.NewID,
		Interview: f.Mode == quiz.Interview, Title: s.title(f),
	})
	if session == nil {
		return nil, err
	}
	return session, nil // a question that cannot be drawn is left out; content check names it
}

func (s *Service) topic(id string) *content.Topic {
	for _, t := range s.lib.Topics {
		if t.ID == id {
			return t
		}
	}
	return nil
}

func (s *Service) topicNames() string {
	var ids []string
	for _, t := range s.lib.Topics {
		ids = append(ids, t.ID)
	}
	return strings.Join(ids, " ")
}

func (s *Service) title(f quiz.Filter) string {
	var names []string
	for _, id := range f.Topics {
		names = append(names, s.topic(id).Title)
	}
	what := strings.Join(names, ", ")
	switch {
	case f.Mode == quiz.Interview && what != "":
		return "Interview: " + what
	case f.Mode == quiz.Interview:
		return "Interview"
	case what != "":
		return what
	case f.Mode == quiz.DueFirst:
		return "Due today"
	}
	return "Everything"
}

// ResumeQuiz makes the session that was kept under key; ErrNotFound, wrapped,
// if there is none.
func (s *Service) ResumeQuiz(ctx context.Context, key string) (*quiz.Session, error) {
	var st quiz.SessionState
	if err := s.progress(ctx, key, &st); err != nil {
		return nil, err
	}
	session, err := quiz.Resume(quiz.Config{Library: s.lib, NewID: s.NewID}, st)
	if session == nil {
		return nil, fmt.Errorf("the quiz that was left half-way cannot go on: %w", err)
	}
	return session, nil
}

func (s *Service) progress(ctx context.Context, key string, into any) error {
	data, err := s.store.Progress(ctx, key)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("what was left half-way under %q cannot be read: %w; start it again", key, err)
	}
	return nil
}

func (s *Service) keep(ctx context.Context, key string, state any, done bool) error {
	if done {
		return s.store.SaveProgress(ctx, key, nil)
	}
	data, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("keeping where you are: %w", err)
	}
	return s.store.SaveProgress(ctx, key, data)
}

// lab finds a lab by its id.
func (s *Service) lab(id string) (*content.Lab, error) {
	var ids []string
	for _, l := range s.lib.Labs {
		if l.ID == id {
			return l, nil
		}
		ids = append(ids, l.ID)
	}
	return nil, fmt.Errorf("there is no lab %q; the labs are %s", id, strings.Join(ids, " "))
}

// NewLab makes a lab by its id, and the run that its steps need. profile "" and
// seed 0 take the lab's own. Close the run when the lab is left.
func (s *Service) NewLab(id, profile string, seed uint64) (*lessons.Lab, *LabRun, error) {
	lab, err := s.lab(id)
	if err != nil {
		return nil, nil, err
	}
	profile = cmp.Or(profile, s.Chosen().Profile)
	l, err := lessons.NewLab(lessons.Config{Lab: lab, ID: s.NewID(), NewID: s.NewID, Profile: profile, Seed: seed})
	if err != nil {
		return nil, nil, err
	}
	return l, s.runOf(lab, l), nil
}

// ResumeLab makes the lab that was left half-way; ErrNotFound, wrapped, if
// there is none.
func (s *Service) ResumeLab(ctx context.Context, id string) (*lessons.Lab, *LabRun, error) {
	lab, err := s.lab(id)
	if err != nil {
		return nil, nil, err
	}
	var st lessons.LabState
	if err := s.progress(ctx, LabKey(id), &st); err != nil {
		return nil, nil, err
	}
	l, err := lessons.ResumeLab(lessons.Config{Lab: lab, NewID: s.NewID}, st)
	if err != nil {
		return nil, nil, err
	}
	return l, s.runOf(lab, l), nil
}

func (s *Service) runOf(lab *content.Lab, l *lessons.Lab) *LabRun {
	v := l.View()
	return &LabRun{svc: s, lab: lab, profile: v.Profile, seed: v.Seed, why: map[onDevice]string{}}
}

// QuizKey is where a quiz keeps its progress.
const QuizKey = "quiz"

// LabKey is where a lab keeps its progress.
func LabKey(id string) string { return "lab/" + id }

// LessonKey is where a lesson keeps its progress.
func LessonKey(id string) string { return "lesson/" + id }
