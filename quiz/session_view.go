package quiz

import (
	"slices"
)

func (s *Session) view() View {
	it, in := s.current()
	q := in.Question
	v := View{
		Title: s.state.Title, Number: s.state.Current + 1, Total: len(s.drawn),
		Instance: in, Phase: it.Phase, Sure: it.Sure,
		Hints: slices.Clone(q.Hints[:it.Hints]), HintsLeft: len(q.Hints) - it.Hints,
		Draft: it.Draft, Answer: it.Answer.clone(), Verdict: it.Verdict.clone(), Save: s.saveStatus(it.Attempt), Message: s.msg,
		Points: slices.Clone(q.Rubric[:it.Revealed]), PointsTotal: len(q.Rubric), Marked: slices.Clone(it.Marked),
		FollowUps: slices.Clone(q.FollowUps[:it.Follow]), FollowUpsIn: len(q.FollowUps),
		Interview: s.state.Interview, Matches: slices.Clone(s.found),
		CanUndo: len(s.state.Log) > 0 || it.Phase == Proving || it.Phase == Marking,
		Skipped: it.Skipped, Pending: len(s.state.Unsaved), Finished: true,
	}
	if in.Input() == Speak && len(it.Marked) == len(q.Rubric) {
		v.Suggested = suggestGrade(q.Rubric, it.Marked)
	}
	if s.state.Interview && in.Input() == Speak {
		v.Limit = s.state.Limit
	}
	if !it.ShownAt.IsZero() {
		v.ShownAt = it.ShownAt.Add(-it.Spent)
	}
	for i := range s.state.Items {
		other := &s.state.Items[i]
		switch {
		case other.Phase == Done:
			if other.Verdict.Graded {
				v.Answered++
				if other.Verdict.Correct {
					v.Right++
				}
			}
		case !other.Skipped:
			v.Finished = false
		}
	}
	return v
}

func (s *Session) saveStatus(id ID) SaveStatus {
	switch {
	case id == "":
		return NotSaved
	case s.hasFailed(id):
		return Unsaved
	case slices.ContainsFunc(s.state.Unsaved, func(a Attempt) bool { return a.ID == id }):
		return Saving
	}
	return SavedSafe
}

func (s *Session) hasFailed(id ID) bool {
	_, ok := s.failed[id]
	return ok
}
