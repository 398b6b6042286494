package quiz

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// digest stands for the text of an instance: equal text, equal digest.
func digest(in *Instance) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00", in.Question.Kind, in.Question.Prompt)
	for _, c := range in.Choices {
		fmt.Fprintf(h, "%s\x00%q\x00%s\x00", c.Text, c.Holds, c.Do)
	}
	for _, p := range in.Question.Rubric {
		fmt.Fprintf(h, "%s\x00", p.Text)
	}
	if p := in.Question.Proof; p != nil {
		fmt.Fprintf(h, "%s\x00%s", p.Script, p.Asks)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// refit makes a kept item fit the instance as it is drawn today, whatever is in
// the item: it may come from a file that somebody changed.
func (it *ItemState) refit(in *Instance) {
	now := digest(in)
	edited := it.Digest != "" && it.Digest != now
	it.Digest = now
	q := in.Question
	it.Hints = max(0, min(it.Hints, len(q.Hints)))
	it.Follow = max(0, min(it.Follow, len(q.FollowUps)))
	if it.Phase != Asking && it.Phase != "" || len(it.Draft) > maxOpenText || !typed(in) {
		it.Draft = ""
	}
	if it.Sure != roundSure(it.Sure) {
		it.Sure = 0
	}
	bad := check(in, it.Answer) != ""
	switch it.Phase {
	case Done:
		if edited || bad {
			// The words of the verdict stay true of what was asked then.
			it.Verdict.Choices, it.Answer = nil, Answer{Text: it.Answer.Text, Grade: it.Answer.Grade}
		}
		if len(it.Verdict.Choices) != len(in.Choices) {
			it.Verdict.Choices = nil
		}
	case Proving, Marking:
		if edited || bad || (it.Phase == Marking) != (in.Input() == Speak) || it.Phase == Proving && !in.HasProof() {
			it.reopen()
		}
	default:
		it.Phase = Asking
		it.Answer, it.Verdict, it.Attempt = Answer{}, Verdict{}, ""
	}
	if n := len(q.Rubric); len(it.Marked) > n || it.Revealed > n || it.Revealed < len(it.Marked) || in.Input() != Speak {
		it.Marked, it.Revealed = nil, 0
	}
}

// reopen puts a question back to where it waits for an answer. Hints that were
// seen stay seen.
func (it *ItemState) reopen() {
	it.Phase = Asking
	it.Sure = 0
	it.Answer, it.Verdict = Answer{}, Verdict{}
	it.Revealed, it.Marked, it.Follow = 0, nil, 0
	it.Skipped, it.Attempt = false, ""
	it.Seq = 0
}

// clone copies an answer. Empty lists become nil, as they are after JSON.
func (a Answer) clone() Answer {
	a.Picks = append([]int(nil), a.Picks...)
	a.Order = append([]int(nil), a.Order...)
	a.Points = append([]bool(nil), a.Points...)
	return a
}

func (v Verdict) clone() Verdict {
	v.Choices = slices.Clone(v.Choices)
	return v
}

func (st SessionState) clone() SessionState {
	st.Items = slices.Clone(st.Items)
	for i := range st.Items {
		it := &st.Items[i]
		it.Answer, it.Verdict, it.Marked = it.Answer.clone(), it.Verdict.clone(), slices.Clone(it.Marked)
	}
	st.Log, st.Unsaved = slices.Clone(st.Log), slices.Clone(st.Unsaved)
	for i := range st.Unsaved {
		st.Unsaved[i].Answer = st.Unsaved[i].Answer.clone()
	}
	return st
}

// roundSure is a confidence in tens from 50 to 100, or 0 if it is none.
func roundSure(percent int) int {
	if percent < 50 || percent > 100 {
		return 0
	}
	return (percent + 5) / 10 * 10
}

// Limits of a typed answer, in bytes.
const (
	maxNameText  = 400
	maxOpenText  = 64 << 10
	maxSearchLen = 200
)

// Refusal says why Give would refuse an answer, "" if it would take it.
func (in *Instance) Refusal(a Answer) string { return check(in, a) }

// check says why an answer cannot be taken, "" if it can.
func check(in *Instance, a Answer) string {
	switch in.Input() {
	case PickOne:
		if len(a.Picks) != 1 || !indexes(a.Picks, len(in.Choices)) {
			return fmt.Sprintf("choose one of 1 to %d", len(in.Choices))
		}
	case PickMany:
		if !indexes(a.Picks, len(in.Choices)) {
			return fmt.Sprintf("choose any of 1 to %d, each once", len(in.Choices))
		}
	case PickOrder:
		if len(a.Order) != len(in.Choices) || !indexes(a.Order, len(in.Choices)) {
			return fmt.Sprintf("name all of 1 to %d, each once, the first step first", len(in.Choices))
		}
	case TypeText:
		return checkText(in, a.Text)
	case Speak:
		if len(a.Text) > maxOpenText {
			return fmt.Sprintf("the answer is longer than %d bytes: shorten it", maxOpenText)
		}
	}
	return ""
}

func checkText(in *Instance, text string) string {
	switch {
	case spelling(text) == "":
		return "type an answer, or skip"
	case len(text) > maxNameText:
		return fmt.Sprintf("the answer is longer than %d bytes: a name or a value is asked for", maxNameText)
	case in.Question.Kind == "number":
		if _, err := parseQuantity(text); err != nil {
			return err.Error()
		}
	}
	return ""
}

// indexes says whether list holds different numbers from 0 below n.
func indexes(list []int, n int) bool {
	seen := make([]bool, n)
	for _, i := range list {
		if i < 0 || i >= n || seen[i] {
			return false
		}
		seen[i] = true
	}
	return true
}

// Finished says that there is nothing left to resume: every question was
// answered or skipped, and every save was confirmed.
func (st SessionState) Finished() bool {
	for _, it := range st.Items {
		if it.Phase != Done && !(it.Phase == Asking && it.Skipped) {
			return false
		}
	}
	return len(st.Unsaved) == 0
}
