package quiz

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"rdmaprep/content"
)

// Input is how an instance is answered.
type Input string

// The ways to answer.
const (
	PickOne   Input = "pick one"  // Answer.Picks holds one index
	PickMany  Input = "pick many" // Answer.Picks holds any number, none included
	PickOrder Input = "order"     // Answer.Order is a permutation of the indexes
	TypeText  Input = "type"      // Answer.Text
	Speak     Input = "speak"     // Answer.Text may stay empty; the rubric follows
)

// Shown is one choice, option or step in the place where it is shown.
type Shown struct {
	Text   string
	Why    string   // after the answer: why it is right or wrong; may be empty
	Holds  []string // with a proof: the expect lines that it claims
	Do     string   // order: the script line of this step
	Origin int      // index in the content's own list
}

// Instance is one question as it is put to the learner: drawn with a variant
// seed, its text rendered and its choices in the order of the seed. It is
// shared; do not change it.
type Instance struct {
	Question *content.Question // rendered
	Variant  uint64
	Vars     map[string]any // the draws and formulas of the variant
	Choices  []Shown        // choices, options or steps as shown; empty where text is typed
	// AnyOf says that several choices may hold and any one of them is right
	// (the prediction of a lab).
	AnyOf bool
}

// ID is the question's id.
func (in *Instance) ID() string { return in.Question.ID }

// HasProof says whether a run decides what is right.
func (in *Instance) HasProof() bool { return in.Question.Proof != nil }

// Gradable says whether an answer is graded at all: a provisional question is
// shown and not graded.
func (in *Instance) Gradable() bool { return !in.Question.Provisional }

// Input is how the instance is answered.
func (in *Instance) Input() Input {
	switch in.Question.Kind {
	case content.Choice:
		return PickOne
	case content.Multi:
		return PickMany
	case content.Order:
		return PickOrder
	case content.Open:
		return Speak
	}
	if len(in.Choices) > 0 {
		return PickOne
	}
	return TypeText
}

// Draw makes the instance of a question for a variant seed. The error names the
// question if one of its templates or formulas cannot be rendered.
func Draw(q *content.Question, variant uint64) (*Instance, error) {
	rendered, vars, err := render(q, variant)
	if err != nil {
		return nil, fmt.Errorf("question %s, variant %d: %w", q.ID, variant, err)
	}
	in := &Instance{Question: rendered, Variant: variant, Vars: vars}
	switch {
	case len(rendered.Choices) > 0:
		for i, c := range rendered.Choices {
			in.Choices = append(in.Choices, Shown{Text: c.Text, Why: c.Why, Holds: c.Holds, Origin: i})
		}
	case len(rendered.Steps) > 0:
		for i, s := range rendered.Steps {
			in.Choices = append(in.Choices, Shown{Text: s.Text, Do: s.Do, Origin: i})
		}
	default:
		for i, o := range rendered.Options {
			in.Choices = append(in.Choices, Shown{Text: o, Origin: i})
		}
	}
	in.shuffle()
	return in, nil
}

// shuffle puts the choices in the order of the seed. Steps to be ordered never
// come in the right order already.
func (in *Instance) shuffle() {
	r := rand.New(rand.NewPCG(in.Variant, hashOf(in.Question.ID)))
	swap := func(i, j int) { in.Choices[i], in.Choices[j] = in.Choices[j], in.Choices[i] }
	r.Shuffle(len(in.Choices), swap)
	if in.Question.Kind != content.Order || len(in.Choices) < 2 {
		return
	}
	for i, c := range in.Choices {
		if c.Origin != i {
			return
		}
	}
	swap(0, 1)
}

// ForLab makes the instance of a lab's prediction, so that one that went wrong
// comes back as a card. Its proof is the part's setup and every step up to
// this one; any choice that holds is right. part counts over AllParts, and both
// count from 0. It is an error if the step has no prediction.
func ForLab(lab *content.Lab, part, step int, variant uint64) (*Instance, error) {
	parts := lab.AllParts()
	if part < 0 || part >= len(parts) || step < 0 || step >= len(parts[part].Steps) {
		return nil, fmt.Errorf("lab %s has no step %d.%d", lab.ID, part+1, step+1)
	}
	p := parts[part]
	st := p.Steps[step]
	if st.Predict == nil {
		return nil, fmt.Errorf("lab %s: step %d.%d has no prediction", lab.ID, part+1, step+1)
	}
	var script strings.Builder
	script.WriteString(strings.TrimRight(p.Setup, "\n") + "\n")
	for _, s := range p.Steps[:step+1] {
		script.WriteString(strings.TrimRight(s.Script, "\n") + "\n")
	}
	profile := lab.Profile
	if profile == "" {
		profile = "spec"
	}
	q := &content.Question{
		ID: LabQuestion(lab.ID, part, step), Topic: lab.Topic, Level: 2, Kind: content.Choice,
		Prompt:  strings.TrimSpace(fmt.Sprintf("Lab %q, %s, %s\n\n%s\n\n%s", lab.Title, p.Title, st.Title, st.Explain, st.Predict.Prompt)),
		Explain: st.Notice, Layer: content.Official, Sources: lab.Sources, Refs: lab.Refs, Hints: st.Hints,
		Choices: st.Predict.Options, Proof: &content.Proof{Script: script.String(), Profile: profile},
	}
	in := &Instance{Question: q, Variant: variant, AnyOf: true}
	for i, c := range q.Choices {
		in.Choices = append(in.Choices, Shown{Text: c.Text, Why: c.Why, Holds: c.Holds, Origin: i})
	}
	in.shuffle()
	return in, nil
}

// LabQuestion is the id under which the prediction of a lab's step is kept.
// Both counts are from 0 here and from 1 in the id.
func LabQuestion(lab string, part, step int) string {
	return fmt.Sprintf("lab/%s/%d.%d", lab, part+1, step+1)
}

// splitLabQuestion takes a LabQuestion apart.
func splitLabQuestion(id string) (lab string, part, step int, ok bool) {
	rest, ok := strings.CutPrefix(id, "lab/")
	if !ok {
		return "", 0, 0, false
	}
	lab, place, ok := strings.Cut(rest, "/")
	if !ok {
		return "", 0, 0, false
	}
	p, s, ok := strings.Cut(place, ".")
	if !ok {
		return "", 0, 0, false
	}
	part, err1 := strconv.Atoi(p)
	step, err2 := strconv.Atoi(s)
	return lab, part - 1, step - 1, err1 == nil && err2 == nil
}
