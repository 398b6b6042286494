package lesson

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/ask"
	"rdmaprep/cmd/rdmaprep/internal/tui/evidence"
	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/quiz"
)

var (
	checkKey    = nav.Key{Keys: []string{"enter", "c"}, Label: "enter", Does: "next check", Help: "go to the next check and answer it; after the answer, read on"}
	labKey      = nav.Key{Keys: []string{"L"}, Does: "its lab", Help: "open the first lab of this lesson"}
	hintKey     = nav.Key{Keys: []string{"h"}, Does: "hint", Help: "check: the next hint"}
	evidenceKey = nav.Key{Keys: []string{"x"}, Does: "evidence", Help: "check: run its proof and show it"}
	yesKey      = nav.Key{Keys: []string{"y"}, Does: "said it", Help: "open check: you made this point"}
	noKey       = nav.Key{Keys: []string{"n"}, Does: "missed it", Help: "open check: you did not make this point"}
	gradeKey    = nav.Key{Keys: []string{"1", "2", "3", "4"}, Label: "1-4", Does: "grade", Help: "open check: 1 again, 2 hard, 3 good, 4 easy"}
	topKey      = nav.Key{Keys: []string{"home", "g"}, Label: "g", Help: "to the beginning"}
)

// Keys are the keys that work now, the most useful first.
func (s *Screen) Keys() []nav.Key {
	switch {
	case s.id == "":
		return []nav.Key{nav.EnterKey.With("read"), nav.DownKey.With("choose"), nav.UpKey, nav.BackKey}
	case s.r == nil:
		return []nav.Key{nav.BackKey}
	case s.ev != nil:
		return s.ev.Keys()
	case s.focus >= 0:
		return s.checkKeys()
	}
	keys := []nav.Key{nav.PageDown}
	if s.nextCheck() >= 0 {
		keys = append(keys, checkKey)
	}
	if len(s.r.Lesson().Labs) > 0 {
		keys = append(keys, labKey)
	}
	return append(keys, nav.DownKey, nav.UpKey, nav.PageUp, topKey, nav.BackKey)
}

func (s *Screen) checkKeys() []nav.Key {
	v, _ := s.r.Check(s.focus)
	switch {
	case s.form != nil:
		keys := s.form.Keys()
		if !s.form.Typing() && v.HintsLeft > 0 {
			keys = append(keys, hintKey)
		}
		return append(keys, nav.EscKey.With("read on"))
	case v.Phase == quiz.Marking && v.Suggested == 0:
		return []nav.Key{yesKey, noKey, nav.BackKey.With("read on")}
	case v.Phase == quiz.Marking:
		return []nav.Key{gradeKey, nav.EnterKey.With("as suggested"), nav.BackKey.With("read on")}
	}
	keys := []nav.Key{nav.EnterKey.With("read on")}
	if v.Instance != nil && v.Instance.HasProof() {
		keys = append(keys, evidenceKey)
	}
	return append(keys, nav.BackKey)
}

// Table are all keys of this screen, for the README.
func Table() []nav.Key {
	return []nav.Key{nav.PageDown, nav.PageUp, nav.DownKey, nav.UpKey, topKey, checkKey, labKey, hintKey, evidenceKey, yesKey, noKey, gradeKey}
}

func (s *Screen) key(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case s.id == "":
		return s.listKey(k)
	case s.r == nil:
		if nav.BackKey.Is(k) {
			return s.leave()
		}
		return nil
	case s.ev != nil:
		if s.ev.Update(k) == evidence.Close {
			s.ev = nil
		}
		return nil
	case s.focus >= 0:
		return s.checkKey(k)
	}
	switch {
	case nav.BackKey.Is(k):
		return s.leave()
	case checkKey.Is(k):
		return s.enterCheck()
	case labKey.Is(k) && len(s.r.Lesson().Labs) > 0:
		return nav.To(nav.Place{Kind: nav.Lab, ID: s.r.Lesson().Labs[0]})
	case topKey.Is(k):
		s.page.Top()
	case nav.Moves(k, &s.page):
	}
	return s.markIfRead()
}

func (s *Screen) listKey(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case nav.BackKey.Is(k):
		return nav.Leave
	case nav.Moves(k, &s.list):
	case nav.EnterKey.Is(k) && len(s.all) > 0:
		return s.open(s.all[s.list.At].ID)
	}
	return nil
}

func (s *Screen) leave() tea.Cmd {
	if !s.warned && s.typed() {
		s.warned = true
		return nav.Tell(nav.Warn, "An answer that you typed is not given yet (enter goes to it). Esc again leaves without it.")
	}
	if s.direct {
		return nav.Leave
	}
	s.req.Drop("open")
	s.r, s.id, s.focus, s.form = nil, "", -1, nil
	return s.loadMarks()
}

// nextCheck is the block of the first check that was not answered, -1 if there
// is none.
func (s *Screen) nextCheck() int {
	for _, b := range s.r.Checks() {
		if v, ok := s.r.Check(b); ok && v.Phase != quiz.Done {
			return b
		}
	}
	return -1
}

func (s *Screen) enterCheck() tea.Cmd {
	b := s.nextCheck()
	if b < 0 {
		return nav.Tell(nav.Info, "Every check of this lesson is answered.")
	}
	s.focus, s.warned = b, false
	cmd := s.step(b, quiz.Begin{})
	if v, _ := s.r.Check(b); v.Phase == quiz.Asking {
		s.form = ask.New(s.host.Theme, s.md, v.Instance, false)
		s.form.Fill(quiz.Answer{Text: v.Draft}, v.Sure)
	}
	return cmd
}

func (s *Screen) checkKey(k tea.KeyPressMsg) tea.Cmd {
	v, _ := s.r.Check(s.focus)
	if s.form != nil {
		return s.formKey(k)
	}
	marked := v.Suggested > 0
	switch {
	case v.Phase == quiz.Marking && !marked && yesKey.Is(k):
		return s.step(s.focus, quiz.Mark{Made: true})
	case v.Phase == quiz.Marking && !marked && noKey.Is(k):
		return s.step(s.focus, quiz.Mark{Made: false})
	case v.Phase == quiz.Marking && marked && gradeKey.Is(k):
		return s.step(s.focus, quiz.GradeSelf{Grade: int(k.String()[0] - '0')})
	case v.Phase == quiz.Marking && marked && nav.EnterKey.Is(k):
		return s.step(s.focus, quiz.GradeSelf{Grade: v.Suggested})
	case v.Phase == quiz.Done && evidenceKey.Is(k) && v.Instance.HasProof():
		return s.step(s.focus, quiz.Evidence{})
	case nav.BackKey.Is(k), nav.EnterKey.Is(k) && v.Phase == quiz.Done:
		s.focus = -1
	case nav.Moves(k, &s.page):
	}
	return nil
}

func (s *Screen) formKey(k tea.KeyPressMsg) tea.Cmd {
	if nav.EscKey.Is(k) {
		return s.leaveCheck()
	}
	switch s.form.Update(k) {
	case ask.Sure:
		return s.step(s.focus, quiz.SetConfidence{Percent: s.form.Sure()})
	case ask.Submit:
		cmd := s.step(s.focus, quiz.Give{Answer: s.form.Answer()})
		if v, _ := s.r.Check(s.focus); v.Phase == quiz.Marking {
			return tea.Batch(cmd, s.step(s.focus, quiz.Reveal{}))
		}
		return cmd
	case ask.Ignored:
		switch {
		case hintKey.Is(k):
			return s.step(s.focus, quiz.Hint{})
		case nav.BackKey.Is(k):
			return s.leaveCheck()
		}
	}
	return nil
}

// leaveCheck goes back to the text of the lesson; what was typed stays.
func (s *Screen) leaveCheck() tea.Cmd {
	cmd := s.step(s.focus, quiz.Draft{Text: s.form.Answer().Text})
	s.focus, s.form = -1, nil
	return cmd
}

// typed says that an answer was typed to some check and not given. A lesson
// keeps no place, so it would be lost.
func (s *Screen) typed() bool {
	return s.r != nil && slices.ContainsFunc(s.r.Checks(), func(b int) bool {
		v, ok := s.r.Check(b)
		return ok && v.Draft != ""
	})
}
