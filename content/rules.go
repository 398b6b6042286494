package content

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Kinds are the kinds of questions.
var Kinds = []Kind{Choice, Multi, Order, Number, Fill, Predict, Open}

// Units are the units of number questions.
var Units = []string{
	"bytes", "packets", "ms", "us", "ns", "s", "QPs", "WRs", "messages", "retries",
	"%", "Gb/s", "MB/s", "bits", "count", "PSNs",
}

// spelt are the longer names under which a prompt may give a unit.
var spelt = map[string][]string{
	"ms": {"millisecond"}, "us": {"microsecond", "µs"}, "ns": {"nanosecond"}, "s": {"second"},
	"%": {"per cent", "percent"}, "QPs": {"queue pairs"}, "WRs": {"work requests"},
	"bytes": {"byte"}, "bits": {"bit"}, "packets": {"packet"}, "messages": {"message"}, "PSNs": {"PSN"},
	"retries": {"retr"}, "count": {"how many", "number", "count"},
}

const (
	minChoices, maxChoices = 2, 6
	minOrder, maxOrder     = 2, 8
	minRubric, maxRubric   = 3, 7
	minOptions, maxOptions = 2, 8
)

// graded tells whether an answer is held against a key.
func (q *Question) graded() bool { return !q.Provisional && q.Kind != Open }

// question checks one question as far as that goes without a run.
func (l *loader) question(s spot, q *Question) {
	l.topic(s, q.Topic)
	if q.Level < 1 || q.Level > 3 {
		l.bad(s.at("level"), "level is %d: 1 recall, 2 use, 3 defend", q.Level)
	}
	names := make([]string, len(Kinds))
	for i, k := range Kinds {
		names[i] = string(k)
	}
	l.oneOf(s.at("kind"), "kind", string(q.Kind), names)
	l.need(s, "prompt", q.Prompt)
	l.need(s, "scope", q.Scope)
	l.layer(s, q.Layer)
	q.Refs = l.refs(s, q.Sources)
	if len(q.Refs) == len(q.Sources) && len(q.Refs) > 0 {
		l.backed(s, q.Layer, q.Refs, q.graded())
	}
	if q.Kind != Open {
		l.need(s, "explain", q.Explain)
		if len(q.Hints) == 0 {
			l.bad(s.at("hints"), "no hint: give at least one, from a nudge to nearly the answer")
		}
	}
	l.proofOrNot(s, q)
	l.foreign(s, q)
	switch q.Kind {
	case Choice, Multi:
		l.choices(s, q)
	case Order:
		l.order(s, q)
	case Number:
		l.number(s, q)
	case Fill:
		l.fill(s, q)
	case Predict:
		l.predict(s, q)
	case Open:
		l.open(s, q)
	}
	l.questionTexts(s, q)
	l.variants(s, q)
}

// proofOrNot checks that a question has a proof or says why not.
func (l *loader) proofOrNot(s spot, q *Question) {
	switch {
	case q.Kind == Open && q.Proof != nil:
		l.bad(s.at("proof"), "an open question is graded by oneself: it has no proof")
	case q.Kind == Predict && q.Proof == nil:
		l.bad(s.at("proof"), "a predict question asks what a script gives: add [question.proof]")
	case q.Kind != Open && q.Kind != Predict && q.Proof == nil && strings.TrimSpace(q.NotRun) == "":
		l.bad(s.at("not_run"), "neither a proof nor not_run: prove it, or say what is missing to run it here")
	case q.Proof != nil && q.NotRun != "":
		l.bad(s.at("not_run"), "not_run beside a proof: drop one of them")
	}
	if q.Proof == nil {
		return
	}
	l.need(s.at("proof"), "script", q.Proof.Script)
	l.code(s.at("proof.script"), q.Proof.Script, maxScriptColumns)
	if short, _, _ := strings.Cut(q.Proof.Profile, "-"); short != "" && !strings.Contains(strings.ToLower(q.Prompt), short) {
		l.bad(s.at("prompt"), "the proof is for the profile %s alone and the prompt does not say so: name %s in it", q.Proof.Profile, short)
	}
	wants := q.Kind == Number || q.Kind == Fill || q.Kind == Predict
	if wants && q.Proof.Asks == "" {
		l.bad(s.at("proof.asks"), "asks is missing: name the value that the question asks for, such as \"a.cq1[0].status\"")
	}
	if !wants && q.Proof.Asks != "" {
		l.bad(s.at("proof.asks"), "a %s question has no asks: its choices or steps say what they claim", q.Kind)
	}
}

// foreign refuses fields of other kinds, which would be ignored silently.
func (l *loader) foreign(s spot, q *Question) {
	has := []struct {
		key   string
		there bool
		kinds []Kind
	}{
		{"choices", len(q.Choices) > 0, []Kind{Choice, Multi}},
		{"steps", len(q.Steps) > 0, []Kind{Order}},
		{"unit", q.Unit != "", []Kind{Number}},
		{"tolerance", q.Tolerance != 0, []Kind{Number}},
		{"answer", q.Answer != "", []Kind{Number, Fill}},
		{"accept", len(q.Accept) > 0, []Kind{Fill}},
		{"options", len(q.Options) > 0, []Kind{Fill, Predict}},
		{"rubric", len(q.Rubric) > 0, []Kind{Open}},
		{"model", q.Model != "", []Kind{Open}},
		{"follow_ups", len(q.FollowUps) > 0, []Kind{Open}},
	}
	for _, h := range has {
		if h.there && slices.Contains(Kinds, q.Kind) && !slices.Contains(h.kinds, q.Kind) {
			l.bad(s.at(h.key), "a %s question has no %s: remove it", q.Kind, h.key)
		}
	}
	if q.Proof != nil && q.Answer != "" && (q.Kind == Number || q.Kind == Fill) {
		l.bad(s.at("answer"), "an answer beside a proof: the run decides; remove it")
	}
}

func (l *loader) choices(s spot, q *Question) {
	if n := len(q.Choices); n < minChoices || n > maxChoices {
		l.bad(s.at("choices"), "%d choices: give %d to %d", n, minChoices, maxChoices)
		return
	}
	right := l.options(s, "choices", q.Choices, q.Proof != nil)
	if q.Proof != nil {
		return
	}
	switch {
	case q.Kind == Choice && right != 1:
		l.bad(s.at("choices"), "%d choices are right: a choice question has exactly one; use multi for more", right)
	case right == 0:
		l.bad(s.at("choices"), "no choice is right: mark one with right = true")
	case right == len(q.Choices):
		l.bad(s.at("choices"), "every choice is right: one at least must be wrong")
	}
}

// options checks the choices of a question or the options of a prediction and
// counts those marked right.
func (l *loader) options(s spot, key string, list []Option, proven bool) (right int) {
	seen := map[string]bool{}
	for i, o := range list {
		at := s.elem(key, i)
		l.need(at, "text", o.Text)
		if seen[o.Text] {
			l.bad(at.at("text"), "two choices say the same")
		}
		seen[o.Text] = true
		if o.Right {
			right++
		}
		switch {
		case proven && o.Right:
			l.bad(at.at("right"), "right beside a proof: the run decides; write holds in its place")
		case proven && len(o.Holds) == 0:
			l.bad(at.at("holds"), "no holds: say what the choice claims, as the words after expect")
		case !proven && len(o.Holds) > 0:
			l.bad(at.at("holds"), "holds without a proof: add [question.proof], or mark the right choice with right = true")
		}
		if o.Why == "" {
			l.warn(at.at("why"), "no why: say why this choice is right or wrong")
		}
		l.text(at.at("text"), o.Text)
		l.text(at.at("why"), o.Why)
		for _, h := range o.Holds {
			l.code(at.at("holds"), h, maxScriptColumns)
		}
	}
	return right
}

func (l *loader) order(s spot, q *Question) {
	if n := len(q.Steps); n < minOrder || n > maxOrder {
		l.bad(s.at("steps"), "%d steps: give %d to %d, in the right order", n, minOrder, maxOrder)
		return
	}
	seen := map[string]bool{}
	for i, st := range q.Steps {
		at := s.elem("steps", i)
		l.need(at, "text", st.Text)
		if seen[st.Text] {
			l.bad(at.at("text"), "two steps say the same")
		}
		seen[st.Text] = true
		if q.Proof != nil {
			l.need(at, "do", st.Do)
		} else if st.Do != "" {
			l.bad(at.at("do"), "do without a proof: add [question.proof] with the script that comes before the steps")
		}
		l.text(at.at("text"), st.Text)
		l.code(at.at("do"), st.Do, maxScriptColumns)
	}
}

func (l *loader) number(s spot, q *Question) {
	if q.Unit == "" {
		l.bad(s.at("unit"), "a number without a unit: one of %s", strings.Join(Units, " "))
	} else {
		l.oneOf(s.at("unit"), "unit", q.Unit, Units)
		if slices.Contains(Units, q.Unit) && !promptSays(q.Prompt, q.Unit) {
			l.bad(s.at("prompt"), "the prompt does not say the unit %s", q.Unit)
		}
	}
	if q.Tolerance < 0 || q.Tolerance >= 1 {
		l.bad(s.at("tolerance"), "the tolerance is %g: it is relative, 0 (exact) to less than 1", q.Tolerance)
	}
	if q.Proof != nil {
		return
	}
	l.need(s, "answer", q.Answer)
	if q.Answer != "" && q.Variants == nil && !isNumber(q.Answer) {
		l.bad(s.at("answer"), "%q is not a number: write digits, the unit stands apart", q.Answer)
	}
}

var numberForm = regexp.MustCompile(`^[-+]?(0x[0-9a-fA-F]+|[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?)$`)

func isNumber(s string) bool {
	s = strings.TrimSpace(s)
	if !numberForm.MatchString(s) {
		return false
	}
	if strings.Contains(s, "0x") {
		return true
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

func promptSays(prompt, unit string) bool {
	low := strings.ToLower(prompt)
	for _, w := range spelt[unit] {
		if strings.Contains(low, strings.ToLower(w)) {
			return true
		}
	}
	if unit == "%" {
		return strings.Contains(prompt, "%")
	}
	isLetter := func(i int) bool {
		return i >= 0 && i < len(prompt) && (prompt[i]|0x20 >= 'a' && prompt[i]|0x20 <= 'z')
	}
	for i := 0; ; {
		j := strings.Index(prompt[i:], unit)
		if j < 0 {
			return false
		}
		j += i
		if !isLetter(j-1) && !isLetter(j+len(unit)) {
			return true
		}
		i = j + 1
	}
}

func (l *loader) fill(s spot, q *Question) {
	if q.Proof == nil {
		l.need(s, "answer", q.Answer)
	}
	if len(q.Options) > 0 {
		l.pick(s, q.Options)
		if q.Proof == nil && q.Variants == nil && !slices.Contains(q.Options, q.Answer) {
			l.bad(s.at("options"), "the answer %q is not among the options", q.Answer)
		}
	}
}

func (l *loader) predict(s spot, q *Question) { l.pick(s, q.Options) }

func (l *loader) pick(s spot, list []string) {
	if n := len(list); n < minOptions || n > maxOptions {
		l.bad(s.at("options"), "%d options: give %d to %d to pick from", n, minOptions, maxOptions)
	}
	seen := map[string]bool{}
	for _, o := range list {
		if strings.TrimSpace(o) == "" || seen[o] {
			l.bad(s.at("options"), "the option %q is empty or there twice", o)
		}
		seen[o] = true
	}
}

func (l *loader) open(s spot, q *Question) {
	l.rubric(s, q.Rubric)
	l.need(s, "model", q.Model)
	if len(q.FollowUps) == 0 {
		l.bad(s.at("follow_ups"), "no follow-up: say what an interviewer asks next")
	}
}

func (l *loader) rubric(s spot, list []Point) {
	if n := len(list); n < minRubric || n > maxRubric {
		l.bad(s.at("rubric"), "%d points: a rubric has %d to %d", n, minRubric, maxRubric)
	}
	must := false
	for i, p := range list {
		l.need(s.elem("rubric", i), "text", p.Text)
		l.text(s.elem("rubric", i).at("text"), p.Text)
		must = must || p.Must
	}
	if !must && len(list) > 0 {
		l.bad(s.at("rubric"), "no point has must = true: say what a good answer cannot leave out")
	}
}

func (l *loader) questionTexts(s spot, q *Question) {
	l.text(s.at("prompt"), q.Prompt)
	l.text(s.at("explain"), q.Explain)
	l.text(s.at("scope"), q.Scope)
	l.text(s.at("not_run"), q.NotRun)
	l.text(s.at("model"), q.Model)
	l.text(s.at("answer"), q.Answer)
	for key, list := range map[string][]string{"hints": q.Hints, "accept": q.Accept, "options": q.Options, "follow_ups": q.FollowUps} {
		for _, t := range list {
			l.text(s.at(key), t)
			if strings.TrimSpace(t) == "" && key != "options" {
				l.bad(s.at(key), "one of the %s is empty", key)
			}
		}
	}
}
