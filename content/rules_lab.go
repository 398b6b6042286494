package content

import (
	"slices"
	"strings"
)

// Reaches are the ends of a guarantee that a decision record may claim.
var Reaches = []string{"arrival", "visibility", "durability"}

func (l *loader) lab(s spot, x *Lab) {
	l.topic(s, x.Topic)
	l.need(s, "title", x.Title)
	l.need(s, "goal", x.Goal)
	if strings.Contains(strings.TrimSpace(x.Goal), "\n") {
		l.bad(s.at("goal"), "the goal is one line")
	}
	l.minutes(s, x.Minutes)
	x.Refs = l.refs(s, x.Sources)
	if len(x.Parts) == 0 {
		l.bad(s.at("parts"), "no part: add [[parts]] with its steps")
	}
	predictions := 0
	for i := range x.Parts {
		predictions += l.part(s.elem("parts", i), &x.Parts[i])
	}
	if len(x.Adversarial.Steps) == 0 && x.Adversarial.Title == "" {
		l.bad(s.at("adversarial"), "no adversarial case: add [adversarial], a part in which something goes wrong")
	} else {
		predictions += l.part(s.at("adversarial"), &x.Adversarial)
	}
	if predictions == 0 {
		l.bad(s.at("parts"), "no step has a prediction: a lab asks before it runs")
	}
	sc := s.at("scale")
	l.need(sc, "prompt", x.Scale.Prompt)
	l.need(sc, "model", x.Scale.Model)
	l.rubric(sc, x.Scale.Rubric)
	l.texts(sc, map[string]string{"prompt": x.Scale.Prompt, "model": x.Scale.Model})
	l.record(s.at("record"), &x.Record)
	l.texts(s, map[string]string{"title": x.Title, "goal": x.Goal})
}

// part checks a part and counts its predictions.
func (l *loader) part(s spot, p *Part) (predictions int) {
	l.need(s, "title", p.Title)
	l.text(s.at("title"), p.Title)
	l.need(s, "setup", p.Setup)
	l.code(s.at("setup"), p.Setup, maxScriptColumns)
	if len(p.Steps) == 0 {
		l.bad(s.at("steps"), "no step: add [[%s.steps]]", withoutIndices(s.path))
	}
	for i := range p.Steps {
		st := &p.Steps[i]
		at := s.elem("steps", i)
		l.need(at, "title", st.Title)
		l.need(at, "explain", st.Explain)
		l.need(at, "script", st.Script)
		l.texts(at, map[string]string{"title": st.Title, "explain": st.Explain, "notice": st.Notice})
		l.code(at.at("calls"), st.Calls, maxCodeColumns)
		l.code(at.at("script"), st.Script, maxScriptColumns)
		for _, h := range st.Hints {
			l.text(at.at("hints"), h)
		}
		if st.Predict == nil {
			continue
		}
		predictions++
		pr := at.at("predict")
		l.need(pr, "prompt", st.Predict.Prompt)
		l.text(pr.at("prompt"), st.Predict.Prompt)
		if n := len(st.Predict.Options); n < minChoices || n > maxChoices {
			l.bad(pr.at("options"), "%d options: give %d to %d", n, minChoices, maxChoices)
		}
		l.options(pr, "options", st.Predict.Options, true)
	}
	return predictions
}

// record checks that what a lab knows of its decision record is all there.
func (l *loader) record(s spot, r *Record) {
	fields := map[string]string{
		"question": r.Question, "consequence": r.Consequence, "guarantee": r.Guarantee, "scope": r.Scope,
		"default": r.Default, "alternative": r.Alternative, "signal": r.Signal,
		"failure_complexity": r.FailureComplexity, "recovery": r.Recovery,
		"cannot_show": r.CannotShow, "next_check": r.NextCheck,
		"workload.metric": r.Workload.Metric, "workload.unit": r.Workload.Unit,
		"workload.out_of": r.Workload.OutOf, "workload.target": r.Workload.Target,
	}
	names := keys(fields)
	slices.Sort(names)
	for _, k := range names {
		l.need(s, k, fields[k])
	}
	l.texts(s, fields)
	l.oneOf(s.at("reaches"), "end of a guarantee", r.Reaches, Reaches)
	for key, list := range map[string][]string{"buffers": r.Buffers, "constraints": r.Constraints} {
		if len(list) == 0 {
			l.bad(s.at(key), "%s is empty: a record says it", key)
		}
		for _, t := range list {
			l.text(s.at(key), t)
		}
	}
}
