package quiz

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/evidence"
	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/quiz"
)

// Service is what the quiz screen asks for. All but TopicTitle and Prompt may
// take time.
type Service interface {
	// StartQuiz makes the session for a place. A nil session comes with a line
	// for the learner that says why there is none; with a session the line, if
	// any, says what was left out of it.
	StartQuiz(ctx context.Context, place nav.Place) (*quiz.Session, string, error)
	// Prove runs the proof of an instance; profile "" is the proof's own. order
	// is set for an order question.
	Prove(ctx context.Context, in *quiz.Instance, order []int, profile string) (quiz.Key, evidence.Run, error)
	// Show runs it to be looked at, on the device that was chosen.
	Show(ctx context.Context, in *quiz.Instance, order []int) (quiz.Key, evidence.Run, error)
	SaveAttempt(ctx context.Context, a quiz.Attempt) error
	SaveSession(ctx context.Context, st quiz.SessionState) error
	TopicTitle(id string) string
	// Prompt is the first line of a question's prompt.
	Prompt(question string) string
}

type started struct {
	s    *quiz.Session
	line string
	err  error
}

type proved struct {
	seq int
	key quiz.Key
	run evidence.Run
	err error
	why string // quiz.ForGrade or quiz.ForEvidence
}

type rerun struct {
	run evidence.Run
	err error
}

type tock struct{}

func (s *Screen) load() tea.Cmd {
	place := s.place
	return s.req.Do("load", func(ctx context.Context) tea.Msg {
		session, line, err := s.svc.StartQuiz(ctx, place)
		return started{session, line, err}
	})
}

func (s *Screen) result(v tea.Msg) tea.Cmd {
	switch v := v.(type) {
	case started:
		return s.started(v)
	case proved:
		return s.proved(v)
	case rerun:
		s.ev.Busy = false
		if v.err != nil {
			return nav.Tell(nav.Bad, "The run did not come about: "+v.err.Error())
		}
		s.ev = evidence.New(s.host.Theme, v.run)
	case tock:
		return s.tick()
	}
	return nil
}

func (s *Screen) started(v started) tea.Cmd {
	switch {
	case v.err != nil:
		s.why = "The questions could not be chosen: " + v.err.Error()
		return nil
	case v.s == nil:
		s.why = v.line
		return nil
	}
	s.s, s.summary, s.finished, s.log = v.s, false, false, nil
	cmd := tea.Batch(s.step(quiz.Begin{}), s.clockTick())
	if v.line != "" {
		cmd = tea.Batch(cmd, nav.Tell(nav.Warn, v.line))
	}
	return cmd
}

func (s *Screen) proved(v proved) tea.Cmd {
	if v.why == quiz.ForEvidence {
		if v.err != nil && v.run.Err == "" {
			v.run.Err = v.err.Error()
		}
		s.ev = evidence.New(s.host.Theme, v.run)
	}
	if v.err != nil {
		return s.step(quiz.ProofFailed{Seq: v.seq, Why: v.err.Error()})
	}
	return s.step(quiz.ProofDone{Seq: v.seq, Key: v.key})
}

// carry turns what the session asks for into commands.
func (s *Screen) carry(effects []quiz.Effect) tea.Cmd {
	var cmds []tea.Cmd
	for _, e := range effects {
		switch e := e.(type) {
		case quiz.SaveAttempt:
			s.log = append(s.log, e.Attempt)
			a := e.Attempt
			cmds = append(cmds, nav.Keep(nav.Save{
				Owner: s.req.Owner(), ID: string(a.ID), What: what(a),
				Do: func(ctx context.Context) error { return s.svc.SaveAttempt(ctx, a) },
			}))
		case quiz.SaveState:
			cmds = append(cmds, nav.Keep(s.savePlace(e.State)))
		case quiz.RunProof:
			cmds = append(cmds, s.prove(e))
		}
	}
	return tea.Batch(cmds...)
}

// savePlace is the save of where the session stands.
func (s *Screen) savePlace(st quiz.SessionState) nav.Save {
	return nav.Save{
		Owner: s.req.Owner(), What: "where you are in the quiz",
		Do: func(ctx context.Context) error { return s.svc.SaveSession(ctx, st) },
	}
}

func (s *Screen) prove(e quiz.RunProof) tea.Cmd {
	return s.req.Do("proof", func(ctx context.Context) tea.Msg {
		key, run, err := s.proof(ctx, e)
		return proved{seq: e.Seq, key: key, run: run, err: err, why: e.Why}
	})
}

func (s *Screen) proof(ctx context.Context, e quiz.RunProof) (quiz.Key, evidence.Run, error) {
	if e.Why == quiz.ForEvidence {
		return s.svc.Show(ctx, e.Instance, e.Order)
	}
	return s.svc.Prove(ctx, e.Instance, e.Order, "")
}

func what(a quiz.Attempt) string {
	switch a.Kind {
	case quiz.Voided:
		return "the undo of an answer"
	case quiz.Skipped:
		return "the skip of " + a.Question
	}
	return "the answer to " + a.Question
}

// savedMsg tells the session how a save went. Saves of where one is have no
// id.
func (s *Screen) savedMsg(m nav.Saved) tea.Cmd {
	if m.ID == "" || s.s == nil {
		return nil
	}
	if m.Err != nil {
		return s.step(quiz.SaveFailed{ID: quiz.ID(m.ID), Why: m.Err.Error()})
	}
	return s.step(quiz.Saved{ID: quiz.ID(m.ID)})
}

func (s *Screen) evidenceKey(k tea.KeyPressMsg) tea.Cmd {
	switch s.ev.Update(k) {
	case evidence.Close:
		s.ev = nil
		s.req.Drop("rerun")
	case evidence.OtherProfile:
		profile := "rxe-6.1"
		if s.ev.Profile() == profile {
			profile = "spec"
		}
		in, order := s.v.Instance, s.v.Answer.Order
		s.ev.Busy = true
		return s.req.Do("rerun", func(ctx context.Context) tea.Msg {
			_, run, err := s.svc.Prove(ctx, in, order, profile)
			return rerun{run, err}
		})
	}
	return nil
}

// clockTick keeps the clock of an interview going.
func (s *Screen) clockTick() tea.Cmd {
	if !s.v.Interview {
		return nil
	}
	return s.req.After(s.host.Tick, "clock", tickEvery, tock{})
}

func (s *Screen) tick() tea.Cmd {
	if s.s == nil {
		return nil
	}
	next := s.clockTick()
	if s.v.Phase != quiz.Asking || s.v.Limit == 0 || s.host.Now().Sub(s.v.ShownAt) < s.v.Limit {
		return next
	}
	text := ""
	if s.form != nil {
		text = s.form.Answer().Text
	}
	cmd := s.step(quiz.TimeUp{Text: text})
	if s.v.Phase == quiz.Marking {
		cmd = tea.Batch(cmd, s.step(quiz.Reveal{}), nav.Tell(nav.Warn, "Time is up. Now the points."))
	}
	return tea.Batch(cmd, next)
}
