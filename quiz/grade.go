package quiz

import (
	"fmt"
	"slices"
	"strings"

	"rdmaprep/content"
)

// Key is what is right: from the content, or with a proof from its run.
type Key struct {
	Right []bool `json:"right,omitempty"` // per choice as shown: it is right, or its lines hold
	Value string `json:"value,omitempty"` // number, fill, predict: the value asked for
	// Order and OrderPasses are for an order question with a proof: which order
	// was run (indexes as shown) and whether every line of it passed.
	Order       []int  `json:"order,omitempty"`
	OrderPasses bool   `json:"order_passes,omitempty"`
	Shown       string `json:"shown,omitempty"` // one line for the learner: what the run showed
}

// ContentKey is the key of an instance without a proof; false if it has one,
// since only a run can then say what is right.
func ContentKey(in *Instance) (Key, bool) {
	if in.HasProof() {
		return Key{}, false
	}
	key := Key{Value: in.Question.Answer}
	for _, c := range in.Choices {
		right := false
		if c.Origin < len(in.Question.Choices) {
			right = in.Question.Choices[c.Origin].Right
		}
		key.Right = append(key.Right, right)
	}
	return key, true
}

// ChoiceVerdict is the verdict on one choice as shown.
type ChoiceVerdict struct {
	Picked bool `json:"picked"`
	Right  bool `json:"right"`
}

// Verdict is what Grade says of an answer.
type Verdict struct {
	Graded    bool            `json:"graded"`
	Correct   bool            `json:"correct"`
	Score     float64         `json:"score"` // 0 to 1
	RightText string          `json:"right_text"`
	YoursText string          `json:"yours_text"`
	Choices   []ChoiceVerdict `json:"choices,omitempty"` // one a choice as shown
	Note      string          `json:"note,omitempty"`    // such as "right number, wrong unit"
}

// Grade compares an answer with the key. It is pure. An answer to a provisional
// question is described and not graded; neither is one whose key is not of the
// instance's shape, which Note then says.
//
// The score of a wrong answer is part credit for the statistics, never for the
// card: of multi the right picks less the wrong ones over all that is right, of
// order the share of pairs in the right order, of open the share of points.
func Grade(in *Instance, key Key, a Answer) Verdict {
	v := Verdict{Graded: true}
	switch in.Input() {
	case PickOne, PickMany:
		gradePicks(&v, in, key, a)
	case PickOrder:
		gradeOrder(&v, in, key, a)
	case TypeText:
		gradeText(&v, in, key, a)
	case Speak:
		gradeOpen(&v, in, a)
	}
	if !v.Graded || !in.Gradable() {
		v.Graded, v.Correct, v.Score = false, false, 0
	}
	return v
}

func ungraded(v *Verdict, format string, args ...any) {
	v.Graded = false
	v.Note = fmt.Sprintf(format, args...)
}

func gradePicks(v *Verdict, in *Instance, key Key, a Answer) {
	right := key.Right
	if in.Question.Kind == content.Predict || in.Question.Kind == content.Fill {
		right = make([]bool, len(in.Choices))
		// Text such as "..xx" is compared as it is; names may be spelled freely.
		exact := slices.ContainsFunc(in.Choices, func(c Shown) bool { return c.Text == key.Value })
		for i, c := range in.Choices {
			right[i] = c.Text == key.Value ||
				!exact && sameName(c.Text, append([]string{key.Value}, in.Question.Accept...)...)
		}
		if key.Value != "" && !slices.Contains(right, true) {
			v.YoursText = textOf(in, a.Picks, "; ")
			v.RightText = key.Value
			ungraded(v, "the run gave %s, which is none of the options", key.Value)
			return
		}
	}
	if len(right) != len(in.Choices) {
		v.YoursText = textOf(in, a.Picks, "; ")
		ungraded(v, "there is no key for these choices")
		return
	}
	var all []int
	hits, wrong := 0, 0
	for i := range in.Choices {
		picked := slices.Contains(a.Picks, i)
		v.Choices = append(v.Choices, ChoiceVerdict{Picked: picked, Right: right[i]})
		if right[i] {
			all = append(all, i)
		}
		switch {
		case picked && right[i]:
			hits++
		case picked:
			wrong++
		}
	}
	v.YoursText, v.RightText = textOf(in, a.Picks, "; "), textOf(in, all, "; ")
	switch {
	case in.Input() == PickOne:
		v.Correct = hits == 1 && wrong == 0
	default:
		v.Correct = hits == len(all) && wrong == 0
	}
	switch {
	case v.Correct:
		v.Score = 1
	case in.Input() == PickMany && len(all) > 0:
		v.Score = max(0, float64(hits-wrong)/float64(len(all)))
	}
	if len(all) == 0 {
		v.RightText = "none of them"
	}
}

// textOf names choices as shown, in the order given.
func textOf(in *Instance, picks []int, sep string) string {
	var parts []string
	for _, p := range picks {
		if p >= 0 && p < len(in.Choices) {
			parts = append(parts, in.Choices[p].Text)
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, sep)
}

// gradeOrder compares with the content's order, or with what the run of the
// learner's own order showed.
func gradeOrder(v *Verdict, in *Instance, key Key, a Answer) {
	rightOrder := make([]int, len(in.Choices))
	for i, c := range in.Choices {
		rightOrder[c.Origin] = i
	}
	v.YoursText, v.RightText = textOf(in, a.Order, " → "), textOf(in, rightOrder, " → ")
	same := slices.Equal(a.Order, rightOrder)
	if in.HasProof() {
		if !slices.Equal(key.Order, a.Order) {
			ungraded(v, "this order was not run")
			return
		}
		if same && !key.OrderPasses {
			ungraded(v, "the order that the question gives as right does not pass on this device")
			return
		}
		same = key.OrderPasses
	}
	v.Correct, v.Score = same, 1
	if !same {
		v.Score = orderScore(in, a.Order)
	}
}

// orderScore is the share of pairs that stand in the right order.
func orderScore(in *Instance, order []int) float64 {
	good, all := 0, 0
	for i := range order {
		for j := i + 1; j < len(order); j++ {
			all++
			if in.Choices[order[i]].Origin < in.Choices[order[j]].Origin {
				good++
			}
		}
	}
	if all == 0 {
		return 0
	}
	return float64(good) / float64(all)
}

func gradeText(v *Verdict, in *Instance, key Key, a Answer) {
	q := in.Question
	v.YoursText, v.RightText = strings.TrimSpace(a.Text), key.Value
	if key.Value == "" {
		ungraded(v, "there is no right value to compare with")
		return
	}
	if q.Kind != content.Number {
		v.Correct = sameName(a.Text, append([]string{key.Value}, q.Accept...)...)
		if v.Correct {
			v.Score = 1
		}
		return
	}
	if want, err := parseQuantity(key.Value); err == nil && want.unit == "" && q.Unit != "" {
		v.RightText = key.Value + " " + q.Unit
	}
	if q.Tolerance > 0 {
		v.RightText += fmt.Sprintf(" (within %g%%)", q.Tolerance*100)
	}
	m, err := matchNumber(a.Text, key.Value, q.Unit, q.Tolerance)
	if err != nil {
		ungraded(v, "%v", err)
		return
	}
	v.Correct, v.Note = m.right, m.note
	if m.right {
		v.Score = 1
	}
}

// gradeOpen is the learner's own grade, held against the rubric: an answer that
// lacks a point that it must have is not good enough, whatever the grade.
func gradeOpen(v *Verdict, in *Instance, a Answer) {
	rubric := in.Question.Rubric
	if len(a.Points) != len(rubric) {
		ungraded(v, "the rubric was not marked")
		return
	}
	made, lacks := 0, 0
	var texts, missed []string
	for i, p := range rubric {
		switch {
		case a.Points[i]:
			made++
			texts = append(texts, p.Text)
		case p.Must:
			lacks++
			fallthrough
		default:
			missed = append(missed, p.Text)
		}
	}
	v.YoursText = fmt.Sprintf("%d of %d points", made, len(rubric))
	if len(texts) > 0 {
		v.YoursText += ": " + strings.Join(texts, "; ")
	}
	v.RightText = "every point"
	if len(missed) > 0 {
		v.RightText = "also: " + strings.Join(missed, "; ")
	}
	if len(rubric) > 0 {
		v.Score = float64(made) / float64(len(rubric))
	}
	v.Correct = lacks == 0 && a.Grade >= 2
	if lacks > 0 {
		v.Note = fmt.Sprintf("%d of the points that it must have were not made", lacks)
	}
}

// suggestGrade is the grade that the marks suggest: a missing must is 1, less
// than half of the points 2, all of them 4, else 3.
func suggestGrade(rubric []content.Point, marked []bool) int {
	made := 0
	for i, p := range rubric {
		if marked[i] {
			made++
		} else if p.Must {
			return 1
		}
	}
	switch {
	case made == len(rubric):
		return 4
	case 2*made < len(rubric):
		return 2
	}
	return 3
}
