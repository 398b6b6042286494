package quiz

import (
	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/quiz"
)

var (
	hintKey     = nav.Key{Keys: []string{"h"}, Does: "hint", Help: "the next hint, from a nudge to nearly the answer; a right answer then counts as hard"}
	skipKey     = nav.Key{Keys: []string{"n"}, Does: "skip", Help: "skip the question; after the answer, the next one"}
	prevKey     = nav.Key{Keys: []string{"p"}, Help: "the question before"}
	undoKey     = nav.Key{Keys: []string{"u"}, Does: "undo", Help: "take back the last answer of this session"}
	jumpKey     = nav.Key{Keys: []string{"g"}, Help: "go to a question by its number"}
	sourcesKey  = nav.Key{Keys: []string{"s"}, Does: "sources", Help: "show or fold the sources"}
	evidenceKey = nav.Key{Keys: []string{"x"}, Does: "evidence", Help: "run the proof on the device that was chosen and show completions, states and packets"}
	yesKey      = nav.Key{Keys: []string{"y"}, Does: "said it", Help: "open question: you made this point"}
	noKey       = nav.Key{Keys: []string{"n"}, Label: "n", Does: "missed it", Help: "open question: you did not make this point"}
	followKey   = nav.Key{Keys: []string{"f"}, Does: "follow-up", Help: "open question: what an interviewer asks next"}
	gradeKey    = nav.Key{Keys: []string{"1", "2", "3", "4"}, Label: "1-4", Does: "grade", Help: "open question: 1 again, 2 hard, 3 good, 4 easy"}
	missedKey   = nav.Key{Keys: []string{"r"}, Does: "missed again", Help: "after the last question: ask again what was missed"}
)

// Keys are the keys that work now, the most useful first.
func (s *Screen) Keys() []nav.Key {
	switch {
	case s.prompt != nil:
		return []nav.Key{nav.EnterKey.With("go"), nav.EscKey.With("cancel")}
	case s.ev != nil:
		return s.ev.Keys()
	case s.s == nil:
		return []nav.Key{nav.EnterKey.With("everything"), nav.BackKey}
	case s.summary:
		keys := []nav.Key{nav.EnterKey.With("done"), undoKey, nav.BackKey.With("")}
		if len(s.missed()) > 0 {
			keys = append([]nav.Key{missedKey}, keys...)
		}
		return keys
	}
	move := []nav.Key{prevKey, jumpKey, nav.FilterKey.With(""), nav.PageDown.With(""), nav.PageUp}
	switch s.v.Phase {
	case quiz.Asking:
		return append(s.askingKeys(), move...)
	case quiz.Marking:
		return append(s.markingKeys(), move...)
	case quiz.Proving:
		return append([]nav.Key{nav.BackKey}, move...)
	}
	keys := []nav.Key{nav.EnterKey.With("next")}
	if s.v.Instance.HasProof() {
		keys = append(keys, evidenceKey)
	}
	keys = append(keys, sourcesKey, undoKey, nav.BackKey, skipKey.With(""), nav.UpKey, nav.DownKey)
	return append(keys, move...)
}

func (s *Screen) askingKeys() []nav.Key {
	if s.form == nil {
		return []nav.Key{nav.BackKey}
	}
	keys := s.form.Keys()
	if !s.form.Typing() && s.scroll.Unread() {
		keys = append([]nav.Key{nav.PageDown.With("read on")}, keys...)
	}
	if s.form.Typing() {
		return append(keys, nav.EscKey)
	}
	hint := hintKey
	if s.v.HintsLeft == 0 {
		hint.Does = ""
	}
	undo := undoKey
	if !s.v.CanUndo {
		undo.Does = ""
	}
	return append(keys, hint, skipKey, undo, nav.BackKey)
}

func (s *Screen) markingKeys() []nav.Key {
	if s.v.Suggested == 0 {
		return []nav.Key{yesKey, noKey, undoKey, nav.BackKey}
	}
	keys := []nav.Key{gradeKey, nav.EnterKey.With("as suggested")}
	if len(s.v.FollowUps) < s.v.FollowUpsIn {
		keys = append(keys, followKey)
	}
	return append(keys, undoKey, nav.BackKey)
}

// Table are all keys of this screen, for the README.
func Table() []nav.Key {
	return []nav.Key{
		hintKey, skipKey, prevKey, undoKey, jumpKey, nav.FilterKey, nav.PageDown, nav.PageUp,
		sourcesKey, evidenceKey, yesKey, noKey, followKey, gradeKey, missedKey,
	}
}
