package lab

import (
	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/ask"
	"rdmaprep/cmd/rdmaprep/internal/tui/evidence"
	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/lessons"
)

var (
	runKey      = nav.Key{Keys: []string{"enter", "r"}, Label: "enter", Does: "run", Help: "lock the prediction and run the step; after the run, the next step"}
	stepBackKey = nav.Key{Keys: []string{"left", "["}, Label: "←", Does: "step back", Help: "look back at the step before (a locked prediction stays locked)"}
	stepFwdKey  = nav.Key{Keys: []string{"right", "]"}, Label: "→", Does: "forward", Help: "look forward again"}
	hintKey     = nav.Key{Keys: []string{"h"}, Does: "hint", Help: "the next hint of the step"}
	sourcesKey  = nav.Key{Keys: []string{"s"}, Does: "sources", Help: "show or fold the sources of the lab"}
	evidenceKey = nav.Key{Keys: []string{"x"}, Does: "evidence", Help: "the whole run of the step: transcript, objects, packets and their fields"}
	sideKey     = nav.Key{Keys: []string{"tab"}, Does: "objects and wire", Help: "on a narrow terminal: between the step and its objects and wire"}
	anewKey     = nav.Key{Keys: []string{"A"}, Help: "start the lab again from the beginning"}
	yesKey      = nav.Key{Keys: []string{"y"}, Does: "said it", Help: "question of scale: you made this point"}
	noKey       = nav.Key{Keys: []string{"n"}, Does: "missed it", Help: "question of scale: you did not make this point"}
	doneKey     = nav.Key{Keys: []string{"tab", "ctrl+s"}, Label: "tab", Does: "done", Help: "question of scale: the answer is complete"}
	wireDown    = nav.Key{Keys: []string{"ctrl+n", "}"}, Label: "}", Help: "scroll the wire down"}
	wireUp      = nav.Key{Keys: []string{"ctrl+p", "{"}, Label: "{", Help: "scroll the wire up"}
)

// Keys are the keys that work now, the most useful first.
func (s *Screen) Keys() []nav.Key {
	switch {
	case s.id == "":
		return []nav.Key{nav.EnterKey.With("start"), nav.DownKey.With("choose"), nav.UpKey, nav.DeviceKey, nav.BackKey}
	case s.l == nil:
		return []nav.Key{nav.BackKey}
	case s.ev != nil:
		return s.ev.Keys()
	}
	switch s.v.Phase {
	case lessons.Scaling:
		return []nav.Key{doneKey, nav.EscKey}
	case lessons.Marking:
		if s.pointsLeft() {
			return []nav.Key{yesKey, noKey, nav.BackKey}
		}
		return []nav.Key{nav.EnterKey.With("the record"), nav.BackKey}
	case lessons.Recording, lessons.Finished:
		if s.rec != nil {
			return s.rec.keys(s.v.Phase == lessons.Finished, len(s.v.Findings) > 0)
		}
	}
	return s.stepKeys()
}

func (s *Screen) stepKeys() []nav.Key {
	var keys []nav.Key
	switch {
	case s.form != nil:
		if s.main.Unread() {
			keys = append(keys, nav.PageDown.With("read on"))
		}
		for _, k := range s.form.Keys() {
			if k.Is(tea.KeyPressMsg{Code: tea.KeyEnter}) && k.Does == "answer" {
				k.Does = "lock and run"
			}
			keys = append(keys, k)
		}
	case !s.v.Current:
		keys = append(keys, stepFwdKey)
	case s.v.Phase == lessons.Observing:
		keys = append(keys, nav.EnterKey.With("next step"))
	case s.v.Phase == lessons.Reading:
		keys = append(keys, runKey)
	}
	if s.v.Step.Observation != nil {
		if s.narrow {
			keys = append(keys, sideKey)
		}
		keys = append(keys, evidenceKey)
	}
	if s.v.CanBack {
		keys = append(keys, stepBackKey)
	}
	if s.v.CanForward && s.v.Current {
		keys = append(keys, stepFwdKey)
	}
	if s.v.Current && s.v.Step.HintsLeft > 0 && s.v.Phase == lessons.Reading {
		keys = append(keys, hintKey)
	}
	return append(keys, sourcesKey, nav.BackKey, nav.DeviceKey.With(""), anewKey, wireDown, wireUp, nav.PageDown.With(""), nav.PageUp)
}

// Table are all keys of this screen, for the README.
func Table() []nav.Key {
	keys := []nav.Key{runKey, stepBackKey, stepFwdKey, hintKey, sourcesKey, evidenceKey, sideKey, anewKey, yesKey, noKey, doneKey, wireDown, wireUp}
	return append(keys, recordKeys()...)
}

func (s *Screen) key(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case s.id == "":
		return s.listKey(k)
	case s.l == nil:
		if nav.BackKey.Is(k) {
			return s.leave()
		}
		return nil
	case s.ev != nil:
		if s.ev.Update(k) == evidence.Close {
			s.ev = nil
		}
		return nil
	}
	switch s.v.Phase {
	case lessons.Scaling:
		return s.scaleKey(k)
	case lessons.Marking:
		return s.markKey(k)
	case lessons.Recording, lessons.Finished:
		return s.recordKey(k)
	}
	return s.stepKey(k)
}

func (s *Screen) listKey(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case nav.BackKey.Is(k):
		return nav.Leave
	case nav.Moves(k, &s.list):
	case nav.EnterKey.Is(k) && len(s.labs) > 0:
		return s.open(s.labs[s.list.At].ID, false)
	}
	return nil
}

// leave stops the clock of the lab and goes back to the list.
func (s *Screen) leave() tea.Cmd {
	var cmd tea.Cmd
	if s.l != nil {
		cmd = s.step(lessons.Leave{})
	}
	s.closeLab()
	if s.direct {
		return tea.Batch(cmd, nav.Leave)
	}
	return tea.Batch(cmd, s.loadMarks())
}

func (s *Screen) stepKey(k tea.KeyPressMsg) tea.Cmd {
	if s.form != nil {
		if s.main.Unread() {
			if nav.ReadsOn(k, &s.main) {
				return nil
			}
			s.main.Release()
		}
		switch s.form.Update(k) {
		case ask.Changed:
			return s.sendPick()
		case ask.Sure:
			return s.step(lessons.SetConfidence{Percent: s.form.Sure()})
		case ask.Submit:
			cmd := tea.Batch(s.sendPick(), s.step(lessons.SetConfidence{Percent: s.form.Sure()}), s.step(lessons.Run{}))
			return s.after(cmd)
		}
	}
	return s.walkKey(k)
}

// sendPick tells the lab which option is chosen.
func (s *Screen) sendPick() tea.Cmd {
	picks := s.form.Answer().Picks
	if len(picks) == 0 || picks[0] == s.v.Pick {
		return nil
	}
	return s.step(lessons.Pick{Option: picks[0]})
}

func (s *Screen) walkKey(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case nav.BackKey.Is(k):
		return s.leave()
	case stepBackKey.Is(k):
		return s.after(s.step(lessons.Back{}))
	case stepFwdKey.Is(k):
		return s.after(s.step(lessons.Forward{}))
	case runKey.Is(k) && s.form == nil:
		return s.advance()
	case hintKey.Is(k):
		return s.after(s.step(lessons.Hint{}))
	case sourcesKey.Is(k):
		s.sources = !s.sources
	case sideKey.Is(k) && s.form == nil:
		s.side = !s.side
	case evidenceKey.Is(k):
		return s.showEvidence()
	case anewKey.Is(k):
		id := s.id
		s.closeLab()
		return s.open(id, true)
	default:
		s.scrollKey(k)
	}
	return nil
}

func (s *Screen) scrollKey(k tea.KeyPressMsg) {
	switch {
	case wireDown.Is(k):
		s.wire.Move(1)
	case wireUp.Is(k):
		s.wire.Move(-1)
	case nav.Moves(k, &s.main):
	}
}

// advance runs the step, goes on to the next, or comes back from looking back.
func (s *Screen) advance() tea.Cmd {
	switch {
	case !s.v.Current:
		return s.after(s.step(lessons.Forward{}))
	case s.v.Phase == lessons.Observing:
		return s.after(s.step(lessons.Next{}))
	case s.v.Phase == lessons.Reading:
		return s.after(s.step(lessons.Run{}))
	}
	return nil
}

// after shows what the lab said about an event.
func (s *Screen) after(cmd tea.Cmd) tea.Cmd {
	if s.v.Message == "" {
		return cmd
	}
	return tea.Batch(cmd, nav.Tell(nav.Info, s.v.Message))
}

func (s *Screen) showEvidence() tea.Cmd {
	o := s.v.Step.Observation
	if o == nil {
		return nav.Tell(nav.Info, "There is no evidence before the step has run.")
	}
	run := evidence.Of(*o, "Step "+s.v.Step.Place+" "+s.v.Step.Content.Title)
	run.Fixed = true // the lab runs under the profile that it was opened with
	s.ev = evidence.New(s.host.Theme, run)
	return nil
}

func (s *Screen) scaleKey(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case nav.EscKey.Is(k):
		return tea.Batch(s.step(lessons.Draft{Text: s.text.Value()}), s.leave())
	case doneKey.Is(k):
		return s.after(s.step(lessons.Give{Text: s.text.Value()}))
	}
	s.text.Update(k)
	return nil
}

func (s *Screen) pointsLeft() bool { return len(s.v.Marked) < len(s.v.Scale.Rubric) }

func (s *Screen) markKey(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case nav.BackKey.Is(k):
		return s.leave()
	case s.pointsLeft() && yesKey.Is(k):
		return s.after(s.step(lessons.Mark{Made: true}))
	case s.pointsLeft() && noKey.Is(k):
		return s.after(s.step(lessons.Mark{Made: false}))
	case nav.EnterKey.Is(k):
		return s.after(s.step(lessons.Next{}))
	}
	s.scrollKey(k)
	return nil
}

func (s *Screen) paste(msg tea.PasteMsg) {
	switch {
	case s.l == nil || s.ev != nil:
	case s.v.Phase == lessons.Scaling && s.text != nil:
		s.text.Update(msg)
	case s.rec != nil:
		s.rec.paste(msg)
	}
}
