package content

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// maxCombinations is how many combinations of draws of one question are run.
const maxCombinations = 32

// runner starts a script on a fresh Bench of a profile. The error says what is
// wrong with the script, or that a line of it was refused or failed.
type runner func(ctx context.Context, profile string, seed uint64, text string) (running, error)

// running is a script that has been run, and can be asked and carried on.
type running interface {
	// More runs further lines; what the lines before them made is there.
	More(text string) error
	// Holds says whether all of the expect lines hold, once all is quiet, and
	// what was seen by the first that does not.
	Holds(lines []string) (ok bool, got string, err error)
	// Value reads a value path, a duration in the unit; the text is as a
	// learner would type it.
	Value(path, unit string) (string, error)
	// Finish is the end of the script: completions that nobody read are an error.
	Finish() error
	Close()
}

// prover runs the scripts of one question or lab.
type prover struct {
	*reporter
	ctx      context.Context
	run      runner
	profiles []string
	spot     spot
	runs     int
}

// outcome is what decides an answer; outcomes of two profiles are compared.
type outcome struct {
	profile string
	text    string // "choices 1 and 3", "RNR_RETRY_EXC_ERR"
}

// question runs the proof of a question under its profiles, for every
// combination of its draws up to a limit.
func (p *prover) question(q *Question) int {
	profiles := p.profiles
	if q.Proof != nil && q.Proof.Profile != "" {
		if !knownProfile(p.profiles, q.Proof.Profile) {
			p.bad(p.spot.at("proof.profile"), "there is no profile %q: one of %s", q.Proof.Profile, strings.Join(p.profiles, " "))
			return 0
		}
		profiles = []string{q.Proof.Profile}
	}
	for _, picks := range combinations(q.Variants) {
		drawn, env, err := q, map[string]any(nil), error(nil)
		if q.Variants != nil {
			if drawn, env, err = q.renderPicks(picks); err != nil {
				p.bad(p.spot.at(variantKey(err)), "%v, with %s", cause(err), say(q.Variants, picks))
				return p.runs
			}
		}
		if !p.drawn(drawn, env, profiles) {
			return p.runs // one failing combination says enough
		}
	}
	return p.runs
}

// drawn checks one combination of draws; it reports whether all was well.
func (p *prover) drawn(q *Question, env map[string]any, profiles []string) bool {
	before := len(p.problems)
	with := ""
	if env != nil {
		with = fmt.Sprintf(" (with %s)", sayEnv(env))
	}
	if q.Proof == nil {
		if q.Kind == Number && !isNumber(q.Answer) {
			p.bad(p.spot.at("answer"), "%q is not a number%s", q.Answer, with)
		}
		return len(p.problems) == before
	}
	var outs []outcome
	for _, profile := range profiles {
		out, ok := p.proof(q, profile, with)
		if !ok {
			return false
		}
		outs = append(outs, outcome{profile, out})
	}
	for _, o := range outs[1:] {
		if o.text != outs[0].text {
			p.bad(p.spot.at("proof.profile"), "the profiles disagree%s: %s gives %s, %s gives %s; name one here and in the prompt",
				with, outs[0].profile, outs[0].text, o.profile, o.text)
			return false
		}
	}
	return len(p.problems) == before
}

// proof runs a proof under one profile and returns what it decides.
func (p *prover) proof(q *Question, profile, with string) (out string, ok bool) {
	if q.Kind == Order {
		return "", p.order(q, profile, with)
	}
	r, err := p.start(profile, 0, q.Proof.Script)
	if err != nil {
		p.badScript(p.spot.at("proof.script"), err, "the script fails under %s%s: %v", profile, with, err)
		return "", false
	}
	defer r.Close()
	if q.Kind == Choice || q.Kind == Multi {
		right, ok := p.judge(r, p.spot, "choices", q.Choices, profile, with)
		if ok && q.Kind == Choice && len(right) > 1 {
			p.bad(p.spot.at("choices"), "choices %s all hold under %s%s: a choice question has one; sharpen the claims or use multi", list(right), profile, with)
			return "", false
		}
		return "choices " + list(right), ok
	}
	v, err := r.Value(q.Proof.Asks, q.Unit)
	switch {
	case err != nil:
		p.bad(p.spot.at("proof.asks"), "%s gives nothing under %s%s: %v", q.Proof.Asks, profile, with, err)
	case v == "":
		p.bad(p.spot.at("proof.asks"), "%s gives nothing under %s%s", q.Proof.Asks, profile, with)
	case q.Kind == Number && !isNumber(v):
		p.bad(p.spot.at("proof.asks"), "%s gives %q under %s%s, which is not a number", q.Proof.Asks, v, profile, with)
	case len(q.Options) > 0 && !slices.Contains(q.Options, v):
		p.bad(p.spot.at("options"), "the run gives %q under %s%s, which is not among the options", v, profile, with)
	default:
		return v, true
	}
	return "", false
}

func (p *prover) start(profile string, seed uint64, text string) (running, error) {
	p.runs++
	return p.run(p.ctx, profile, seed, text)
}

// judge finds the options whose lines hold, and demands one that does and one
// that does not. It returns them counted from 1.
func (p *prover) judge(r running, s spot, key string, opts []Option, profile, with string) (right []int, ok bool) {
	ok = true
	var saw []string
	for i, o := range opts {
		holds, got, err := r.Holds(o.Holds)
		if err != nil {
			p.bad(s.elem(key, i).at("holds"), "cannot be asked under %s%s: %v", profile, with, err)
			ok = false
		}
		if holds && len(o.Holds) > 0 { // claiming nothing is a problem of its own
			right = append(right, i+1)
		} else {
			saw = append(saw, fmt.Sprintf("%d saw %s", i+1, got))
		}
	}
	switch {
	case !ok:
	case len(right) == 0:
		p.bad(s.at(key), "none of the %s holds under %s%s: %s", key, profile, with, strings.Join(saw, "; "))
		ok = false
	case len(right) == len(opts):
		p.bad(s.at(key), "all of the %s hold under %s%s: the lines do not tell right from wrong", key, profile, with)
		ok = false
	}
	return right, ok
}

// order runs the steps in the right order, which must pass, and with each two
// neighbours swapped, which must not.
func (p *prover) order(q *Question, profile, with string) bool {
	script := func(order []int) string {
		var b strings.Builder
		b.WriteString(strings.TrimRight(q.Proof.Script, "\n"))
		for _, i := range order {
			b.WriteString("\n" + strings.TrimRight(q.Steps[i].Do, "\n"))
		}
		return b.String() + "\n"
	}
	passes := func(order []int) error {
		r, err := p.start(profile, 0, script(order))
		if err == nil {
			r.Close()
		}
		return err
	}
	right := make([]int, len(q.Steps))
	for i := range right {
		right[i] = i
	}
	if err := passes(right); err != nil {
		p.bad(p.spot.at("steps"), "the right order fails under %s%s: %v", profile, with, err)
		return false
	}
	for i := range len(right) - 1 {
		swapped := slices.Clone(right)
		swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
		if passes(swapped) == nil {
			p.bad(p.spot.elem("steps", i), "steps %d and %d may be swapped under %s%s and nothing fails: the order is not forced; join them or add an expect line", i+1, i+2, profile, with)
			return false
		}
	}
	return true
}

// lab plays the solution of every part of a lab.
func (p *prover) lab(x *Lab) int {
	profile := x.Profile
	if profile == "" {
		profile = p.profiles[0]
	}
	if !knownProfile(p.profiles, profile) {
		p.bad(p.spot.at("profile"), "there is no profile %q: one of %s", profile, strings.Join(p.profiles, " "))
		return 0
	}
	for i := range x.Parts {
		p.part(p.spot.elem("parts", i), &x.Parts[i], profile, x.Seed)
	}
	if len(x.Adversarial.Steps) > 0 {
		p.part(p.spot.at("adversarial"), &x.Adversarial, profile, x.Seed)
	}
	return p.runs
}

func (p *prover) part(s spot, part *Part, profile string, seed uint64) {
	r, err := p.start(profile, seed, part.Setup)
	if err != nil {
		p.badScript(s.at("setup"), err, "the setup fails under %s: %v", profile, err)
		return
	}
	defer r.Close()
	for i := range part.Steps {
		st, at := &part.Steps[i], s.elem("steps", i)
		if err := r.More(st.Script); err != nil {
			p.badScript(at.at("script"), err, "the lab's own solution fails under %s: %v", profile, err)
			return
		}
		if st.Predict != nil {
			p.judge(r, at.at("predict"), "options", st.Predict.Options, profile, "")
		}
	}
	if err := r.Finish(); err != nil {
		p.bad(s.at("steps"), "at the end of the part under %s: %v", profile, err)
	}
}

func list(n []int) string {
	if len(n) == 0 {
		return "none"
	}
	out := make([]string, len(n))
	for i, x := range n {
		out[i] = fmt.Sprint(x)
	}
	return strings.Join(out, ", ")
}
