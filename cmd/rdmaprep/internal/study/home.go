package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rdmaprep/lessons/decision"
	"rdmaprep/quiz"
	"rdmaprep/quiz/fsrs"
)

// Home is what the first screen shows.
type Home struct {
	Today       int // day number
	Due         int // questions due today or before
	AnsweredNow int // answers today
	NewToday    int // questions answered for the first time today
	Topics      []quiz.TopicMastery
	Calibration quiz.Calibration
	LastRecord  *decision.Record // nil if there is none
	Resume      []string         // keys of what was left half-way
	Newcomer    bool             // nothing was ever answered or recorded
}

// Home computes the first screen.
func (s *Service) Home(ctx context.Context) (Home, error) {
	log, err := s.store.Attempts(ctx)
	if err != nil {
		return Home{}, err
	}
	cards, err := s.store.Cards(ctx)
	if err != nil {
		return Home{}, err
	}
	h := Home{Today: quiz.DayNumber(s.now())}
	h.Due = len(s.due(cards, h.Today))
	h.NewToday = quiz.NewOn(log, h.Today)
	h.Topics = quiz.Mastery(s.lib, cards, h.Today)
	h.Calibration = quiz.Calibrate(log)
	standing := quiz.Live(log)
	for _, a := range standing {
		if a.Day == h.Today && a.Kind == quiz.Answered {
			h.AnsweredNow++
		}
	}
	switch last, err := s.LastRecord(ctx); {
	case err == nil:
		h.LastRecord = &last
	case !errors.Is(err, ErrNotFound):
		return Home{}, err
	}
	if h.Resume, err = s.store.ProgressKeys(ctx); err != nil {
		return Home{}, err
	}
	h.Newcomer = len(standing) == 0 && h.LastRecord == nil
	return h, nil
}

// SaveAttempt appends an attempt, or a void, to the log.
func (s *Service) SaveAttempt(ctx context.Context, a quiz.Attempt) error {
	return s.store.SaveAttempt(ctx, a)
}

// Void takes an attempt back and returns the void that was appended.
func (s *Service) Void(ctx context.Context, a quiz.Attempt) (quiz.Attempt, error) {
	if a.Kind == quiz.Voided {
		return quiz.Attempt{}, errors.New("a void cannot be taken back; answer again")
	}
	at := s.now()
	v := quiz.Attempt{
		ID: s.NewID(), Session: a.Session, Kind: quiz.Voided, Voids: a.ID, Question: a.Question,
		Variant: a.Variant, At: at, Day: quiz.DayNumber(at),
	}
	return v, s.store.SaveAttempt(ctx, v)
}

// Attempts is the whole log, voids included.
func (s *Service) Attempts(ctx context.Context) ([]quiz.Attempt, error) {
	return s.store.Attempts(ctx)
}

// Cards is what is known of each question's memory, by question id.
func (s *Service) Cards(ctx context.Context) (map[string]fsrs.Card, error) {
	return s.store.Cards(ctx)
}

// Due lists the questions of the library, and the predictions of its labs, that
// are due on a day, the longest overdue first.
func (s *Service) Due(ctx context.Context, day int) ([]string, error) {
	cards, err := s.store.Cards(ctx)
	if err != nil {
		return nil, err
	}
	return s.due(cards, day), nil
}

func (s *Service) due(cards map[string]fsrs.Card, day int) []string {
	var ids []string
	for _, it := range quiz.Select(s.lib, cards, day, 0, quiz.Filter{Mode: quiz.Everything}, 0) {
		if it.Due {
			ids = append(ids, it.Question)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(cards[a].Due, cards[b].Due), cmp.Compare(a, b))
	})
	return ids
}

// Mastery is quiz.Mastery of today.
func (s *Service) Mastery(ctx context.Context) ([]quiz.TopicMastery, error) {
	cards, err := s.store.Cards(ctx)
	if err != nil {
		return nil, err
	}
	return quiz.Mastery(s.lib, cards, quiz.DayNumber(s.now())), nil
}

// Records are the decision records, newest first.
func (s *Service) Records(ctx context.Context) ([]decision.Record, error) {
	return s.store.Records(ctx)
}

// LastRecord is the newest record; ErrNotFound, wrapped, if there is none.
func (s *Service) LastRecord(ctx context.Context) (decision.Record, error) {
	all, err := s.store.Records(ctx)
	if err != nil {
		return decision.Record{}, err
	}
	if len(all) == 0 {
		return decision.Record{}, fmt.Errorf("no decision record was saved yet: a lab ends with one (%w)", ErrNotFound)
	}
	return all[0], nil
}

// minPrefix is how much of an id is enough to look for.
const minPrefix = 4

// Record finds a record by its id or by an unambiguous beginning of it.
func (s *Service) Record(ctx context.Context, id string) (decision.Record, error) {
	r, err := s.store.Record(ctx, id)
	if err == nil || !errors.Is(err, ErrNotFound) {
		return r, err
	}
	if len(id) < minPrefix {
		return r, fmt.Errorf("no decision record has the id %q; give at least %d of its digits (%w)", id, minPrefix, ErrNotFound)
	}
	all, err := s.store.Records(ctx)
	if err != nil {
		return r, err
	}
	all = slices.DeleteFunc(all, func(r decision.Record) bool { return !strings.HasPrefix(r.ID, id) })
	switch len(all) {
	case 0:
		return r, fmt.Errorf("no decision record has the id %q; \"rdmaprep records list\" shows them (%w)", id, ErrNotFound)
	case 1:
		return all[0], nil
	}
	return r, fmt.Errorf("%d decision records begin with %q, such as %s and %s: give more digits", len(all), id, all[0].ID, all[1].ID)
}

// SaveRecord keeps a record; it fails with decision.ErrInvalid, wrapped, if the
// record is not complete.
func (s *Service) SaveRecord(ctx context.Context, r decision.Record) error {
	if problems := r.Validate(); len(problems) > 0 {
		var texts []string
		for _, p := range problems {
			texts = append(texts, p.Field+" "+p.Text)
		}
		return fmt.Errorf("%w: %s", decision.ErrInvalid, strings.Join(texts, "; "))
	}
	return s.store.SaveRecord(ctx, r)
}

// Setting is a setting's value, or def if it was never set.
func (s *Service) Setting(ctx context.Context, name, def string) (string, error) {
	v, err := s.store.Setting(ctx, name)
	if errors.Is(err, ErrNotFound) {
		return def, nil
	}
	return v, err
}

// SetSetting keeps a setting.
func (s *Service) SetSetting(ctx context.Context, name, value string) error {
	return s.store.SetSetting(ctx, name, value)
}
