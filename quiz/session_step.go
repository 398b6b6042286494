package quiz

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rdmaprep/content"
	"rdmaprep/quiz/fsrs"
)

// Step is the only door: it takes an event and the time at which it happened,
// and returns what is to be done, in order. Where anything changed that is
// worth resuming, the last effect is SaveState.
func (s *Session) Step(at time.Time, ev Event) []Effect {
	s.msg = ""
	r := &reply{}
	switch ev := ev.(type) {
	case Begin:
		s.begin(at, r)
	case SetConfidence:
		s.setConfidence(ev.Percent, r)
	case Hint:
		s.hint(r)
	case Draft:
		s.draft(ev.Text, r)
	case Give:
		s.give(at, ev.Answer, r)
	case TimeUp:
		s.timeUp(at, ev.Text, r)
	case Reveal, Mark, FollowUp, GradeSelf:
		s.mark(ev, r)
	case Skip:
		s.skip(at, r)
	case Undo:
		s.undo(at, r)
	case Next:
		s.move(at, s.state.Current+1, r)
	case Prev:
		s.move(at, s.state.Current-1, r)
	case Jump:
		s.move(at, ev.Number-1, r)
	case Search:
		s.search(at, ev.Words, r)
	case Evidence:
		s.evidence(r)
	case Leave:
		s.stopClock(at)
		r.changed = true
	default:
		s.report(ev, r)
	}
	if r.changed {
		r.effects = append(r.effects, SaveState{s.State()})
	}
	return r.effects
}

// reply collects what an event leads to.
type reply struct {
	effects []Effect
	changed bool
}

func (s *Session) current() (*ItemState, *Instance) {
	return &s.state.Items[s.state.Current], s.drawn[s.state.Current]
}

// begin starts the clock, and sends again what was not confirmed before a
// session was resumed.
func (s *Session) begin(at time.Time, r *reply) {
	if !s.state.Started {
		s.state.Started = true
		for _, a := range s.state.Unsaved {
			r.effects = append(r.effects, SaveAttempt{a})
		}
		for i := range s.state.Items {
			if s.state.Items[i].Phase == Proving {
				s.prove(i, r)
			}
		}
	}
	it, _ := s.current()
	it.ShownAt = time.Time{} // since a resume: the time away does not count
	s.startClock(at)
	r.changed = true
}

func (s *Session) startClock(at time.Time) {
	if it, _ := s.current(); it.Phase == Asking && it.ShownAt.IsZero() {
		it.ShownAt = at
	}
}

func (s *Session) stopClock(at time.Time) {
	it, _ := s.current()
	if !it.ShownAt.IsZero() {
		it.Spent += max(0, at.Sub(it.ShownAt))
		it.ShownAt = time.Time{}
	}
}

func (s *Session) setConfidence(percent int, r *reply) {
	it, _ := s.current()
	switch sure := roundSure(percent); {
	case it.Phase != Asking:
		s.msg = "the answer is given: how sure you were stays as it is"
	case sure == 0 && percent != 0:
		s.msg = "how sure is a number from 50 to 100"
	default:
		it.Sure = sure
		r.changed = true
	}
}

func (s *Session) hint(r *reply) {
	it, in := s.current()
	switch {
	case it.Phase != Asking:
		s.msg = "hints come before the answer"
	case it.Hints >= len(in.Question.Hints):
		s.msg = "there is no further hint"
	default:
		it.Hints++
		r.changed = true
	}
}

// typed tells the questions whose answer is text of the learner's own.
func typed(in *Instance) bool { return in.Input() == Speak || in.Input() == TypeText }

func (s *Session) draft(text string, r *reply) {
	it, in := s.current()
	if it.Phase != Asking || !typed(in) || it.Draft == text {
		return
	}
	if len(text) > maxOpenText {
		s.msg = fmt.Sprintf("what is typed is longer than %d bytes and is not kept: shorten it", maxOpenText)
		return
	}
	it.Draft, r.changed = text, true
}

func (s *Session) give(at time.Time, a Answer, r *reply) {
	it, in := s.current()
	if it.Phase != Asking {
		s.msg = "this question is answered; undo takes the answer back"
		return
	}
	a.Points, a.Grade = nil, 0
	if why := check(in, a); why != "" {
		s.msg = why
		return
	}
	s.stopClock(at)
	it.Answer, it.GivenAt, it.Skipped, it.Draft = a.clone(), at, false, ""
	r.changed = true
	switch key, known := ContentKey(in); {
	case in.Input() == Speak:
		it.Phase = Marking
	case known:
		s.settle(s.state.Current, Grade(in, key, it.Answer), r)
	default:
		it.Phase = Proving
		s.prove(s.state.Current, r)
	}
}

// prove asks for the run that decides what is right.
func (s *Session) prove(i int, r *reply) {
	s.state.Seq++
	it := &s.state.Items[i]
	it.Seq = s.state.Seq
	r.effects = append(r.effects, RunProof{
		Seq: it.Seq, Instance: s.drawn[i], Order: slices.Clone(it.Answer.Order), Why: ForGrade,
	})
}

func (s *Session) evidence(r *reply) {
	it, in := s.current()
	switch {
	case it.Phase != Done:
		s.msg = "the evidence comes after the answer"
	case !in.HasProof():
		s.msg = "not run here"
		if in.Question.NotRun != "" {
			s.msg += ": " + in.Question.NotRun
		}
	default:
		s.state.Seq++
		r.effects = append(r.effects, RunProof{
			Seq: s.state.Seq, Instance: in, Order: slices.Clone(it.Answer.Order), Why: ForEvidence,
		})
	}
}

// settle shows the verdict and saves the attempt, once.
func (s *Session) settle(i int, v Verdict, r *reply) {
	it, in := &s.state.Items[i], s.drawn[i]
	it.Phase, it.Verdict, it.Seq = Done, v, 0
	a := Attempt{
		ID: s.cfg.NewID(), Session: s.state.ID, Kind: Answered, Question: in.ID(), Variant: it.Variant,
		At: it.GivenAt, Day: DayNumber(it.GivenAt), Answer: it.Answer.clone(), Yours: v.YoursText, Right: v.RightText,
		Score: v.Score, Correct: v.Correct, Graded: v.Graded, Sure: it.Sure, Hints: it.Hints, Took: it.Spent,
	}
	if v.Graded {
		a.Rating = RatingOf(v.Correct, it.Sure, it.Hints)
		if in.Input() == Speak {
			a.Rating = openRating(v.Correct, it.Answer.Grade, it.Hints)
		}
	}
	it.Attempt = a.ID
	s.save(a, r)
	s.state.Log = append(s.state.Log, Logged{a.ID, a.Question, a.Variant})
}

// openRating is the learner's own grade, capped by what the rubric says and by
// hints, as RatingOf does it.
func openRating(correct bool, grade, hints int) fsrs.Rating {
	g := fsrs.Rating(min(max(grade, 1), 4))
	switch {
	case !correct:
		return fsrs.Again
	case hints > 0:
		return min(g, fsrs.Hard)
	}
	return g
}

func (s *Session) save(a Attempt, r *reply) {
	s.state.Unsaved = append(s.state.Unsaved, a)
	r.effects = append(r.effects, SaveAttempt{a})
	r.changed = true
}

// timeUp ends the time of an open question in interview mode.
func (s *Session) timeUp(at time.Time, text string, r *reply) {
	it, in := s.current()
	if !s.state.Interview || it.Phase != Asking || in.Input() != Speak || it.ShownAt.IsZero() {
		return
	}
	if left := s.state.Limit - it.Spent - at.Sub(it.ShownAt); left > 0 {
		s.msg = fmt.Sprintf("there are %s left", left.Round(time.Second))
		return
	}
	if len(text) > maxOpenText {
		text = strings.ToValidUTF8(text[:maxOpenText], "")
	}
	s.give(at, Answer{Text: text}, r)
	s.msg = "time is up"
}

// mark carries an open question from its answer to the learner's own grade.
func (s *Session) mark(ev Event, r *reply) {
	it, in := s.current()
	q := in.Question
	if f, ok := ev.(FollowUp); ok {
		s.followUp(f, r)
		return
	}
	if it.Phase != Marking {
		s.msg = "give the answer first; then its points are shown"
		return
	}
	switch ev := ev.(type) {
	case Reveal:
		if it.Revealed > len(it.Marked) || it.Revealed == len(q.Rubric) {
			s.msg = "mark the point that is shown"
			return
		}
		it.Revealed++
	case Mark:
		if it.Revealed <= len(it.Marked) {
			s.msg = "show the point first"
			return
		}
		it.Marked = append(it.Marked, ev.Made)
		it.Revealed = min(it.Revealed+1, len(q.Rubric))
	case GradeSelf:
		switch {
		case len(it.Marked) < len(q.Rubric):
			s.msg = fmt.Sprintf("%d points are still to be marked", len(q.Rubric)-len(it.Marked))
			return
		case ev.Grade < 1 || ev.Grade > 4:
			s.msg = "the grade is 1 again, 2 hard, 3 good or 4 easy"
			return
		}
		it.Answer.Points, it.Answer.Grade = slices.Clone(it.Marked), ev.Grade
		s.settle(s.state.Current, Grade(in, Key{}, it.Answer), r)
	}
	r.changed = true
}

func (s *Session) followUp(_ FollowUp, r *reply) {
	it, in := s.current()
	switch {
	case in.Input() != Speak || it.Phase == Asking || len(it.Marked) < len(in.Question.Rubric):
		s.msg = "follow-ups come once every point is marked"
	case it.Follow >= len(in.Question.FollowUps):
		s.msg = "there is no further follow-up"
	default:
		it.Follow++
		r.changed = true
	}
}

func (s *Session) skip(at time.Time, r *reply) {
	it, in := s.current()
	if it.Phase != Asking {
		s.msg = "this question is answered; go on to the next"
		return
	}
	if !it.Skipped {
		s.stopClock(at)
		it.Skipped = true
		a := Attempt{
			ID: s.cfg.NewID(), Session: s.state.ID, Kind: Skipped, Question: in.ID(), Variant: it.Variant,
			At: at, Day: DayNumber(at), Sure: it.Sure, Hints: it.Hints, Took: it.Spent,
		}
		s.save(a, r)
		s.state.Log = append(s.state.Log, Logged{a.ID, a.Question, a.Variant})
	}
	s.move(at, s.state.Current+1, r)
}

// undo takes back what was done last.
func (s *Session) undo(at time.Time, r *reply) {
	if it, in := s.current(); it.Phase == Proving || it.Phase == Marking {
		text := it.Answer.Text
		it.reopen()
		if typed(in) {
			it.Draft = text
		}
		s.startClock(at)
		r.changed = true
		return
	}
	n := len(s.state.Log)
	if n == 0 {
		s.msg = "there is nothing to undo in this session"
		return
	}
	last := s.state.Log[n-1]
	s.state.Log = s.state.Log[:n-1]
	s.save(Attempt{
		ID: s.cfg.NewID(), Session: s.state.ID, Kind: Voided, Voids: last.ID, Question: last.Question,
		Variant: last.Variant, At: at, Day: DayNumber(at),
	}, r)
	i := slices.IndexFunc(s.state.Items, func(it ItemState) bool {
		return it.Question == last.Question && it.Variant == last.Variant
	})
	if i < 0 {
		s.msg = "taken back; its question is not in the library any more"
		return
	}
	it := &s.state.Items[i]
	if it.Attempt == last.ID || it.Attempt == "" && it.Phase == Asking {
		it.reopen()
	}
	s.move(at, i, r)
	s.msg = "taken back"
}

// move shows another question.
func (s *Session) move(at time.Time, to int, r *reply) {
	switch {
	case to >= len(s.drawn):
		s.msg = fmt.Sprintf("this is the last of %d questions", len(s.drawn))
		to = len(s.drawn) - 1
	case to < 0:
		s.msg = "this is the first question"
		to = 0
	}
	s.stopClock(at)
	s.state.Current = to
	s.startClock(at)
	r.changed = true
}

func (s *Session) search(at time.Time, words string, r *reply) {
	s.found = nil
	if len(words) > maxSearchLen {
		s.msg = fmt.Sprintf("search for fewer than %d letters", maxSearchLen)
		return
	}
	want := strings.Fields(strings.ToLower(words))
	if len(want) == 0 {
		s.msg = "type a word to search for"
		return
	}
	n := len(s.drawn)
	next := -1
	for k := range n {
		i := (s.state.Current + 1 + k) % n // the current question comes last
		if !mentions(s.drawn[i].Question, want) {
			continue
		}
		if next < 0 {
			next = i
		}
		s.found = append(s.found, i+1)
	}
	slices.Sort(s.found)
	if next < 0 {
		s.msg = fmt.Sprintf("no question of this session mentions %q", words)
		return
	}
	s.move(at, next, r)
}

func mentions(q *content.Question, words []string) bool {
	text := strings.ToLower(q.ID + " " + q.Topic + " " + q.Prompt)
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// report takes in what became of an effect.
func (s *Session) report(ev Event, r *reply) {
	switch ev := ev.(type) {
	case ProofDone:
		if i := s.waiting(ev.Seq); i >= 0 {
			s.settle(i, Grade(s.drawn[i], ev.Key, s.state.Items[i].Answer), r)
		}
	case ProofFailed:
		if i := s.waiting(ev.Seq); i >= 0 {
			in := s.drawn[i]
			v := Verdict{Note: "not graded, since the proof did not run: " + ev.Why}
			v.YoursText = in.answerText(s.state.Items[i].Answer)
			s.settle(i, v, r)
		}
	case Saved:
		delete(s.failed, ev.ID)
		before := len(s.state.Unsaved)
		s.state.Unsaved = slices.DeleteFunc(s.state.Unsaved, func(a Attempt) bool { return a.ID == ev.ID })
		r.changed = len(s.state.Unsaved) != before
	case SaveFailed:
		if slices.ContainsFunc(s.state.Unsaved, func(a Attempt) bool { return a.ID == ev.ID }) {
			s.failed[ev.ID] = ev.Why
			s.msg = "not saved: " + ev.Why
		}
	case Retry:
		for _, a := range s.state.Unsaved {
			if _, ok := s.failed[a.ID]; ok {
				delete(s.failed, a.ID)
				r.effects = append(r.effects, SaveAttempt{a})
			}
		}
	}
}

// waiting finds the question whose answer waits for the proof of a number.
func (s *Session) waiting(seq int) int {
	return slices.IndexFunc(s.state.Items, func(it ItemState) bool {
		return it.Phase == Proving && it.Seq == seq
	})
}

// answerText is an answer in words.
func (in *Instance) answerText(a Answer) string {
	switch in.Input() {
	case PickOrder:
		return textOf(in, a.Order, " → ")
	case PickOne, PickMany:
		return textOf(in, a.Picks, "; ")
	}
	return strings.TrimSpace(a.Text)
}
