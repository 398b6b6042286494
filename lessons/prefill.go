package lessons

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"rdmaprep/content"
	"rdmaprep/lessons/decision"
)

// held names the options that hold, in words.
func held(p *content.Prediction, obs *Observation) string {
	var texts []string
	for i, o := range p.Options {
		if i < len(obs.Right) && obs.Right[i] {
			texts = append(texts, o.Text)
		}
	}
	return strings.Join(texts, "; ")
}

// prefill makes the record from what the lab knew beforehand and what the run
// showed. The verdict that it suggests is confirmed where every step was run
// and met its expectations, else provisional.
func (l *Lab) prefill(at time.Time) decision.Record {
	lab, c := l.cfg.Lab, l.cfg.Lab.Record
	r := decision.Record{
		Format: decision.Format, ID: string(l.cfg.NewID()), Lab: lab.ID, Title: lab.Title, At: at,
		Question: c.Question,
		Workload: decision.Workload{Metric: c.Workload.Metric, Unit: c.Workload.Unit, OutOf: c.Workload.OutOf, Target: c.Workload.Target},
		Sources:  sources(lab), Consequence: c.Consequence, Guarantee: c.Guarantee, Scope: c.Scope, Reaches: c.Reaches,
		Buffers: slices.Clone(c.Buffers), Constraints: slices.Clone(c.Constraints),
		Default: c.Default, Alternative: c.Alternative, Signal: c.Signal,
		FailureComplexity: c.FailureComplexity, Recovery: c.Recovery, CannotShow: c.CannotShow, NextCheck: c.NextCheck,
		Predictions: l.predictions(), Evidence: l.evidence(), Elapsed: l.spent, Uncertainty: l.uncertainty(),
		Scale: decision.Scale{Prompt: lab.Scale.Prompt, Answer: l.answer}, Verdict: decision.Confirmed,
	}
	if r.Evidence.Live {
		// The content speaks of the model.
		r.CannotShow = "both nodes are on " + r.Evidence.Device + ": no packet crosses a cable, and times, caches and bus are this machine's alone"
		if o := l.liveRun(); o != nil && o.Wire == RealWire {
			r.CannotShow = "node a is on " + o.Device + ": node b is software, no packet crosses a cable, and times are this machine's alone"
		}
	}
	for i, p := range lab.Scale.Rubric {
		if i < len(l.marked) && l.marked[i] {
			r.Scale.Made = append(r.Scale.Made, p.Text)
		} else {
			r.Scale.Missed = append(r.Scale.Missed, p.Text)
		}
	}
	for _, run := range l.runs {
		if run.obs == nil || run.obs.Err != "" || len(run.obs.Failed) > 0 {
			r.Verdict = decision.Provisional
		}
	}
	return r
}

func sources(lab *content.Lab) []decision.Source {
	var out []decision.Source
	for _, ref := range lab.Refs {
		if s := ref.Source; s != nil {
			out = append(out, decision.Source{Title: s.Title, Where: s.Where, Place: ref.Place, Layer: string(s.Layer)})
		}
	}
	return out
}

func (l *Lab) stepName(i int) string { return l.places[i].String() + " " + l.content(i).Title }

func (l *Lab) predictions() []decision.Prediction {
	var out []decision.Prediction
	for i, run := range l.runs {
		p := l.content(i).Predict
		if run.locked == nil || p == nil {
			continue
		}
		d := decision.Prediction{
			Step: l.stepName(i), Prompt: p.Prompt, Predicted: p.Options[run.locked.Option].Text,
			Sure: run.locked.Sure, Correct: run.locked.Correct, Graded: run.locked.Graded,
		}
		if run.obs != nil {
			d.Held = held(p, run.obs)
		}
		out = append(out, d)
	}
	return out
}

// uncertainty is the step of the lowest confidence, the first of several.
func (l *Lab) uncertainty() string {
	low := -1
	for i, run := range l.runs {
		if run.locked != nil && (low < 0 || run.locked.Sure < l.runs[low].locked.Sure) {
			low = i
		}
	}
	if low < 0 {
		return ""
	}
	return fmt.Sprintf("%s (%d%% sure)", l.stepName(low), l.runs[low].locked.Sure)
}

// Limits of the evidence that a record holds; the transcript has all of it.
const maxEvidenceLines = 200

// evidence gathers what the runs showed.
func (l *Lab) evidence() decision.Evidence {
	e := decision.Evidence{Profile: l.cfg.Profile, Seed: l.cfg.Seed}
	var transcripts, traces []string
	for i, run := range l.runs {
		o := run.obs
		if o == nil {
			continue
		}
		if e.Device == "" || o.Live && !e.Live {
			e.Device, e.Profile, e.Live = o.Device, o.Profile, o.Live
		}
		mark := l.places[i].String() + " "
		if o.ModelWhy != "" {
			e.OnModel = append(e.OnModel, fmt.Sprintf("%son the model, profile %s: %s", mark, o.Profile, o.ModelWhy))
		}
		for _, f := range o.Failed {
			e.Failed = append(e.Failed, mark+f.Line+": got "+f.Got)
		}
		if o.Err != "" {
			e.Failed = append(e.Failed, mark+o.Err)
		}
		e.Completions = append(e.Completions, prefixed(mark, o.Completions)...)
		e.Bytes = append(e.Bytes, prefixed(mark, o.Bytes)...)
		if i+1 == len(l.runs) || l.places[i+1].part != l.places[i].part || l.runs[i+1].obs == nil {
			e.States = append(e.States, states(mark, o)...)
			transcripts = append(transcripts, o.Digest)
			traces = append(traces, o.TraceDigest)
		}
	}
	e.Completions, e.States = capped(e.Completions), capped(e.States)
	e.Bytes, e.Failed, e.OnModel = capped(e.Bytes), capped(e.Failed), capped(e.OnModel)
	e.Transcript, e.Trace = joined(transcripts), joined(traces)
	e.Command = fmt.Sprintf("rdmaprep lab %s --plain --seed %d --profile %s", l.cfg.Lab.ID, e.Seed, e.Profile)
	if e.Live {
		flags := "--device " + e.Device
		if o := l.liveRun(); o != nil && o.Flags != "" {
			flags = o.Flags
		}
		e.Command = fmt.Sprintf("rdmaprep lab %s --plain %s", l.cfg.Lab.ID, flags)
	}
	return e
}

// liveRun is what the first run on a live device showed, nil if there was none.
func (l *Lab) liveRun() *Observation {
	for _, run := range l.runs {
		if run.obs != nil && run.obs.Live {
			return run.obs
		}
	}
	return nil
}

// states are the objects of an observation that have one.
func states(mark string, o *Observation) []string {
	var out []string
	for _, obj := range o.Objects {
		for _, f := range obj.Fields {
			if f.Key == "state" {
				out = append(out, fmt.Sprintf("%s%s.%s %s", mark, obj.Node, obj.Name, f.Value))
			}
		}
	}
	return out
}

func prefixed(mark string, lines []string) []string {
	out := make([]string, len(lines))
	for i, s := range lines {
		out[i] = mark + s
	}
	return out
}

func capped(lines []string) []string {
	if len(lines) <= maxEvidenceLines {
		return lines
	}
	more := len(lines) - maxEvidenceLines
	return append(lines[:maxEvidenceLines:maxEvidenceLines], fmt.Sprintf("and %d more, in the transcript", more))
}

// joined is the digest of one part, or of several the SHA-256 of their digests,
// a line each; "" if a part has none.
func joined(digests []string) string {
	if len(digests) == 0 || slices.Contains(digests, "") {
		return ""
	}
	if len(digests) == 1 {
		return digests[0]
	}
	sum := sha256.Sum256([]byte(strings.Join(digests, "\n") + "\n"))
	return hex.EncodeToString(sum[:])
}
