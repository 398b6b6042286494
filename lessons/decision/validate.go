package decision

import (
	"fmt"
	"strings"
	"time"
)

// Problem is one field that must be mended before a record can be saved.
type Problem struct {
	Field string // as in JSON
	Text  string // what is wrong and how to mend it
}

// maxText is the length of one field in bytes.
const maxText = 64 << 10

// Validate lists what is missing or wrong; a record with no problem can be
// saved. A provisional verdict needs a next check, an owner and a date.
func (r *Record) Validate() []Problem {
	var out []Problem
	bad := func(field, format string, args ...any) {
		out = append(out, Problem{field, fmt.Sprintf(format, args...)})
	}
	need := func(field, value, fix string) {
		if strings.TrimSpace(value) == "" {
			bad(field, "is empty: %s", fix)
		}
	}
	need("id", r.ID, "a record needs an id")
	need("question", r.Question, "say what was to be decided")
	need("default", r.Default, "say what you would do")
	if r.At.IsZero() {
		bad("at", "is missing: a record has a time")
	}
	switch r.Verdict {
	case Confirmed, Refuted:
	case Provisional:
		need("next_check", r.NextCheck, "a provisional verdict says what will be checked next")
		need("owner", r.Owner, "a provisional verdict says who will check it")
		need("next_date", r.NextDate, "a provisional verdict says when, as 2006-01-02")
	case "":
		bad("verdict", "is empty: choose confirmed, refuted or provisional")
	default:
		bad("verdict", "is %q: choose confirmed, refuted or provisional", r.Verdict)
	}
	if r.NextDate != "" {
		if _, err := time.Parse(time.DateOnly, r.NextDate); err != nil {
			bad("next_date", "is %q: write the date as 2006-01-02", r.NextDate)
		}
	}
	for _, f := range r.fields() {
		if len(f.text) > maxText {
			bad(f.name, "is longer than %d bytes: shorten it", maxText)
		}
	}
	return out
}

// field is one text of a record with its name.
type field struct{ name, text string }

// fields lists every text of a record. Redact reads all of them, those of the
// run too.
func (r *Record) fields() []field {
	out := []field{
		{"lab", r.Lab},
		{"title", r.Title},
		{"question", r.Question},
		{"workload.metric", r.Workload.Metric},
		{"workload.unit", r.Workload.Unit},
		{"workload.out_of", r.Workload.OutOf},
		{"workload.target", r.Workload.Target},
		{"consequence", r.Consequence},
		{"guarantee", r.Guarantee},
		{"scope", r.Scope},
		{"reaches", r.Reaches},
		{"default", r.Default},
		{"alternative", r.Alternative},
		{"signal", r.Signal},
		{"failure_complexity", r.FailureComplexity},
		{"recovery", r.Recovery},
		{"cannot_show", r.CannotShow},
		{"scale.prompt", r.Scale.Prompt},
		{"scale.answer", r.Scale.Answer},
		{"next_check", r.NextCheck},
		{"owner", r.Owner},
		{"uncertainty", r.Uncertainty},
		{"notes", r.Notes},
		{"evidence.device", r.Evidence.Device},
		{"evidence.command", r.Evidence.Command},
	}
	list := func(name string, texts []string) {
		for i, t := range texts {
			out = append(out, field{fmt.Sprintf("%s[%d]", name, i), t})
		}
	}
	list("buffers", r.Buffers)
	list("constraints", r.Constraints)
	list("scale.made", r.Scale.Made)
	list("scale.missed", r.Scale.Missed)
	list("evidence.completions", r.Evidence.Completions)
	list("evidence.states", r.Evidence.States)
	list("evidence.bytes", r.Evidence.Bytes)
	list("evidence.failed", r.Evidence.Failed)
	for i, s := range r.Sources {
		list(fmt.Sprintf("sources[%d]", i), []string{s.Title, s.Where, s.Place})
	}
	for i, p := range r.Predictions {
		list(fmt.Sprintf("predictions[%d]", i), []string{p.Step, p.Prompt, p.Predicted, p.Held})
	}
	return out
}
