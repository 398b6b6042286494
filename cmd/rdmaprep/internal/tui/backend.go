package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rdmaprep/cmd/rdmaprep/internal/study"
	"rdmaprep/cmd/rdmaprep/internal/tui/evidence"
	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/screen/home"
	"rdmaprep/cmd/rdmaprep/internal/tui/screen/lab"
	"rdmaprep/content"
	"rdmaprep/lessons"
	"rdmaprep/lessons/decision"
	"rdmaprep/quiz"
)

// backend gives the screens what they ask for out of the study service.
type backend struct {
	svc    *study.Service
	lib    *content.Library
	topics map[string]*content.Topic
	asked  map[string]*content.Question
}

// NewBackend makes a Backend of a study service.
func NewBackend(svc *study.Service) Backend {
	b := &backend{svc: svc, lib: svc.Library(), topics: map[string]*content.Topic{}, asked: map[string]*content.Question{}}
	for _, t := range b.lib.Topics {
		b.topics[t.ID] = t
	}
	for _, q := range b.lib.Questions {
		b.asked[q.ID] = q
	}
	return b
}

func (b *backend) TopicTitle(id string) string {
	if t := b.topics[id]; t != nil {
		return t.Title
	}
	return id
}

func (b *backend) Prompt(id string) string {
	q := b.asked[id]
	if q == nil {
		return id
	}
	line, _, _ := strings.Cut(strings.TrimSpace(q.Prompt), "\n")
	return line
}

// The first guided exercise: the shortest lab, and how long its first part
// takes.
const firstMinutes = 2

func (b *backend) HomeData(ctx context.Context) (home.Data, error) {
	h, err := b.svc.Home(ctx)
	if err != nil {
		return home.Data{}, err
	}
	d := home.Data{
		Topics: h.Topics, Due: h.Due, Today: h.AnsweredNow, Lessons: len(b.lib.Lessons), Labs: len(b.lib.Labs),
		Titles: map[string]string{}, Blurbs: map[string]string{}, Newcomer: h.Newcomer,
	}
	for id, t := range b.topics {
		d.Titles[id], d.Blurbs[id] = t.Title, t.Blurb
	}
	if h.LastRecord != nil {
		d.Record = fmt.Sprintf("%s: %s", h.LastRecord.Title, h.LastRecord.Verdict)
		d.RecordID = h.LastRecord.ID
	}
	for _, key := range h.Resume {
		if key == study.QuizKey {
			d.Resume = "the quiz you left"
		}
		for _, l := range b.lib.Labs {
			if key == study.LabKey(l.ID) {
				d.LabID, d.LabTitle = l.ID, l.Title
			}
		}
	}
	if first := b.firstLab(); first != nil {
		d.First, d.FirstTitle, d.Minutes = nav.Place{Kind: nav.Lab, ID: first.ID}, first.Title, min(first.Minutes, firstMinutes)
	}
	return d, nil
}

// firstLab is the lab that asks least of a newcomer.
func (b *backend) firstLab() *content.Lab {
	var best *content.Lab
	for _, l := range b.lib.Labs {
		if best == nil || l.Minutes < best.Minutes {
			best = l
		}
	}
	return best
}

func (b *backend) StartQuiz(ctx context.Context, p nav.Place) (*quiz.Session, string, error) {
	if p.Resume {
		s, err := b.svc.ResumeQuiz(ctx, study.QuizKey)
		if errors.Is(err, study.ErrNotFound) {
			return nil, "There is no quiz to go on with.", nil
		}
		return sessionOf(s, err, "")
	}
	if len(p.Questions) > 0 {
		return b.again(p.Questions)
	}
	f := quiz.Filter{Mode: quiz.Everything}
	none := "This content has no question of that kind."
	switch {
	case p.Kind == nav.Interview:
		f.Mode, f.Max = quiz.Interview, interviewLength
	case p.Due:
		f.Mode, none = quiz.DueFirst, "Nothing is due, and today's new questions are done. That is a good place to stop."
	case p.ID != "":
		f.Mode = quiz.ByTopic
	}
	if p.ID != "" {
		f.Topics = []string{p.ID}
	}
	s, err := b.svc.NewQuiz(ctx, f, 0)
	return sessionOf(s, err, none)
}

// again makes a session of the questions named.
func (b *backend) again(ids []string) (*quiz.Session, string, error) {
	cfg := quiz.Config{Library: b.lib, ID: b.svc.NewID(), NewID: b.svc.NewID, Title: "missed"}
	for _, id := range ids {
		cfg.Items = append(cfg.Items, quiz.Item{Question: id, Variant: quiz.VariantOf(uint64(b.svc.Now().Unix()), id)})
	}
	s, err := quiz.New(cfg)
	return sessionOf(s, err, "None of these questions is in this content.")
}

// interviewLength is how many open questions one interview has.
const interviewLength = 5

// sessionOf sorts out a session that came with an error: one that is there can
// be used, and the error says what was left out.
func sessionOf(s *quiz.Session, err error, none string) (*quiz.Session, string, error) {
	switch {
	case s != nil && err != nil:
		return s, err.Error(), nil
	case s == nil && err == nil:
		return nil, none, nil
	}
	return s, "", err
}

func (b *backend) Prove(ctx context.Context, in *quiz.Instance, order []int, profile string) (quiz.Key, evidence.Run, error) {
	r, err := b.svc.Proof(ctx, in, profile, order)
	return r.Key, evidence.Of(r.Observation, in.ID()), err
}

func (b *backend) Show(ctx context.Context, in *quiz.Instance, order []int) (quiz.Key, evidence.Run, error) {
	r, err := b.svc.Show(ctx, in, order)
	return r.Key, evidence.Of(r.Observation, in.ID()), err
}

func (b *backend) DeviceOptions(ctx context.Context) ([]study.Option, error) {
	return b.svc.Options(ctx)
}

func (b *backend) ChosenDevice() study.Choice { return b.svc.Chosen() }

func (b *backend) ChooseDevice(ctx context.Context, c study.Choice) error {
	return b.svc.Choose(ctx, c)
}

func (b *backend) SaveAttempt(ctx context.Context, a quiz.Attempt) error {
	return b.svc.SaveAttempt(ctx, a)
}

func (b *backend) SaveSession(ctx context.Context, st quiz.SessionState) error {
	return b.svc.KeepQuiz(ctx, study.QuizKey, st)
}

// Lessons are in the order of the topics.
func (b *backend) Lessons() []*content.Lesson {
	at := map[string]int{}
	for i, t := range b.lib.Topics {
		at[t.ID] = i
	}
	all := slices.Clone(b.lib.Lessons)
	slices.SortStableFunc(all, func(x, y *content.Lesson) int { return cmp.Compare(at[x.Topic], at[y.Topic]) })
	return all
}

func (b *backend) OpenLesson(_ context.Context, id string) (*lessons.Reader, error) {
	for _, l := range b.lib.Lessons {
		if l.ID == id {
			return lessons.NewReader(lessons.ReaderConfig{Lesson: l, Library: b.lib, ID: b.svc.NewID(), NewID: b.svc.NewID})
		}
	}
	return nil, fmt.Errorf("there is no lesson %q", id)
}

func (b *backend) LessonMarks(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	for _, l := range b.lib.Lessons {
		v, err := b.svc.Setting(ctx, study.LessonKey(l.ID), "")
		if err != nil {
			return nil, err
		}
		out[l.ID] = v
	}
	return out, nil
}

func (b *backend) MarkLesson(ctx context.Context, id string) error {
	return b.svc.SetSetting(ctx, study.LessonKey(id), "read")
}

// Labs are in the order of the topics, the shortest of a topic first.
func (b *backend) Labs() []*content.Lab {
	at := map[string]int{}
	for i, t := range b.lib.Topics {
		at[t.ID] = i
	}
	labs := slices.Clone(b.lib.Labs)
	slices.SortStableFunc(labs, func(x, y *content.Lab) int {
		return cmp.Or(cmp.Compare(at[x.Topic], at[y.Topic]), cmp.Compare(x.Minutes, y.Minutes))
	})
	return labs
}

func (b *backend) OpenLab(ctx context.Context, id string, anew bool) (*lessons.Lab, lab.Runner, bool, error) {
	if !anew {
		l, run, err := b.svc.ResumeLab(ctx, id)
		if err == nil {
			return l, run, true, nil
		}
		if !errors.Is(err, study.ErrNotFound) {
			return nil, nil, false, err
		}
	}
	l, run, err := b.svc.NewLab(id, "", 0)
	if err != nil {
		return nil, nil, false, err
	}
	return l, run, false, nil
}

func (b *backend) LabMarks(ctx context.Context) (map[string]string, error) {
	h, err := b.svc.Home(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	records, err := b.svc.Records(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		out[r.Lab] = "done"
	}
	for _, key := range h.Resume {
		if id, ok := strings.CutPrefix(key, study.LabKey("")); ok {
			out[id] = "half-way"
		}
	}
	return out, nil
}

func (b *backend) SaveRecord(ctx context.Context, r decision.Record) error {
	return b.svc.SaveRecord(ctx, r)
}

func (b *backend) SaveLab(ctx context.Context, st lessons.LabState) error {
	return b.svc.KeepLab(ctx, st)
}

func (b *backend) DecisionRecords(ctx context.Context) ([]decision.Record, error) {
	return b.svc.Records(ctx)
}
