package study

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rdmaprep/content"
	"rdmaprep/lessons"
	"rdmaprep/quiz"
	"rdmaprep/sim/script"
)

// ProofResult is what a proof showed.
type ProofResult struct {
	Key         quiz.Key
	Observation lessons.Observation // for the evidence screen
	Cached      bool
}

// maxProofs is how many results are kept; when there are more, all are
// forgotten, which costs a run and nothing else.
const maxProofs = 256

// Proof runs the instance's proof on a fresh Bench and says what is right.
// profile "" takes the proof's own, else "spec". order is the order to run of
// an order question, as shown; nil for other kinds. Results of the model are
// cached by question, variant, profile and order. The error says why no run
// came about, or that the script did not do what it says.
func (s *Service) Proof(ctx context.Context, in *quiz.Instance, profile string, order []int) (ProofResult, error) {
	if !in.HasProof() {
		why := in.Question.NotRun
		if why == "" {
			why = "it has no proof"
		}
		return ProofResult{}, fmt.Errorf("question %s is not run here: %s", in.ID(), why)
	}
	if profile == "" {
		profile = in.Question.Proof.Profile
	}
	if profile == "" {
		profile = "spec"
	}
	if in.Question.Kind == content.Order && len(order) == 0 {
		order = rightOrder(in)
	}
	key := fmt.Sprintf("%s\x00%d\x00%s\x00%v", in.ID(), in.Variant, profile, order)
	s.mu.Lock()
	res, ok := s.proofs[key]
	s.mu.Unlock()
	if ok {
		res.Cached = true
		return res, nil
	}
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	res, err := s.prove(ctx, in, func(seed uint64) (*stage, error) { return newStage(ctx, s.open, profile, seed) }, profile, order)
	if err != nil {
		return ProofResult{}, fmt.Errorf("the proof of %s under %s: %w", in.ID(), profile, err)
	}
	if !res.Observation.Live {
		s.mu.Lock()
		if len(s.proofs) >= maxProofs {
			clear(s.proofs)
		}
		s.proofs[key] = res
		s.mu.Unlock()
	}
	return res, nil
}

// rightOrder is the content's own order, as shown.
func rightOrder(in *quiz.Instance) []int {
	order := make([]int, len(in.Choices))
	for i, c := range in.Choices {
		order[c.Origin] = i
	}
	return order
}

// Show is Proof to be looked at: it runs on the live device that was chosen,
// and on the model where that cannot run it or none was. What a live device
// showed is not what an answer is graded by, so that a run which is not as the
// proof says still has its observation.
func (s *Service) Show(ctx context.Context, in *quiz.Instance, order []int) (ProofResult, error) {
	live := s.live()
	if live == nil || !in.HasProof() {
		return s.Proof(ctx, in, s.proofProfile(in), order)
	}
	if in.Question.Kind == content.Order && len(order) == 0 {
		order = rightOrder(in)
	}
	why := ""
	if p := in.Question.Proof.Profile; p != "" && p != live.Profile {
		why = "the question is about the profile " + p
	} else if sc, err := script.Parse(in.ID(), []byte(scriptOf(in, order))); err == nil {
		why = needed(live.onlyModel(sc.Needs()))
	}
	if why == "" {
		res, err := s.showLive(ctx, live, in, order)
		var no *cannotError
		if !errors.As(err, &no) {
			return res, err
		}
		why = no.why
	}
	res, err := s.Proof(ctx, in, "", order)
	res.Observation.ModelWhy = why
	return res, err
}

// proofProfile is the profile that was chosen, for a proof that names none.
func (s *Service) proofProfile(in *quiz.Instance) string {
	if !in.HasProof() || in.Question.Proof.Profile != "" {
		return ""
	}
	return s.Chosen().Profile
}

// showLive runs a proof on a live device, and beside it on the model for the
// packets.
func (s *Service) showLive(ctx context.Context, live *Live, in *quiz.Instance, order []int) (ProofResult, error) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	res, err := s.prove(ctx, in, func(uint64) (*stage, error) { return newLiveStage(ctx, live) }, "live", order)
	if err != nil {
		err = fmt.Errorf("the proof of %s on %s: %w", in.ID(), live.Name, err)
	}
	if obs := &res.Observation; obs.Live && !live.Peer {
		// Without the model there are no packets to look at, and all else is as it is.
		if m, merr := s.Proof(ctx, in, live.Profile, order); merr == nil {
			obs.Events, obs.Wire = m.Observation.Events, m.Observation.Profile
		}
	}
	return res, err
}

// prove runs a proof on the stage that open makes for a seed. With an error the
// result has the observation, if it came to one.
func (s *Service) prove(ctx context.Context, in *quiz.Instance, open func(seed uint64) (*stage, error), profile string, order []int) (res ProofResult, err error) {
	for _, i := range order {
		if i < 0 || i >= len(in.Choices) {
			return res, fmt.Errorf("the order names step %d of %d", i+1, len(in.Choices))
		}
	}
	text := scriptOf(in, order)
	sc, err := script.Parse(in.ID(), []byte(text))
	if err != nil && len(order) > 0 {
		// Steps in a wrong order may name what is not made yet: they do not pass.
		if _, right := script.Parse(in.ID(), []byte(scriptOf(in, rightOrder(in)))); right == nil {
			res.Key = quiz.Key{Order: order, Shown: "in this order the script cannot be read: " + err.Error()}
			res.Observation = lessons.Observation{Err: err.Error(), Profile: profile, Device: "model"}
			return res, nil
		}
	}
	if err != nil {
		return res, err
	}
	st, err := open(sc.Seed)
	if err != nil {
		return res, err
	}
	defer func() {
		if cerr := st.close(); err == nil {
			err = cerr
		}
	}()
	obs := &res.Observation
	if err := st.play(ctx, in.ID(), text, obs); err != nil {
		return res, err
	}
	err = st.decide(ctx, in, order, obs, &res.Key)
	st.observe(obs)
	obs.Right = res.Key.Right
	return res, err
}

func scriptOf(in *quiz.Instance, order []int) string {
	text := strings.TrimRight(in.Question.Proof.Script, "\n") + "\n"
	for _, i := range order {
		text += strings.TrimRight(in.Choices[i].Do, "\n") + "\n"
	}
	return text
}

// decide makes the key from what the run showed.
func (st *stage) decide(ctx context.Context, in *quiz.Instance, order []int, obs *lessons.Observation, key *quiz.Key) error {
	q := in.Question
	bad := obs.Err
	if bad == "" && len(obs.Failed) > 0 {
		bad = obs.Failed[0].Line + ": " + obs.Failed[0].Got
	}
	if q.Kind == content.Order {
		// Completions that nobody read are no fault: a proof expects nothing.
		key.Order, key.OrderPasses, key.Shown = order, bad == "", "every line passed"
		if bad != "" {
			key.Shown = bad
		}
		return nil
	}
	if obs.Err != "" || bad != "" && !in.AnyOf {
		return fmt.Errorf("the script did not run as it says: %s", bad)
	}
	if q.Kind == content.Choice || q.Kind == content.Multi {
		options := make([][]string, len(in.Choices))
		for i, c := range in.Choices {
			options[i] = c.Holds
		}
		right, err := st.holds(ctx, options)
		key.Right = right
		return err
	}
	path, err := script.ParsePath(q.Proof.Asks)
	if err != nil {
		return err
	}
	v, err := st.sess.Value(ctx, path)
	if err != nil {
		return err
	}
	key.Value = valueText(v, q.Unit)
	key.Shown = q.Proof.Asks + " = " + key.Value
	return nil
}

// timeUnits are those of the content format.
var timeUnits = map[string]time.Duration{
	"ns": time.Nanosecond, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second,
}

// valueText is a value as a learner would type it; a duration is a number in
// the question's unit, or in nanoseconds with theirs.
func valueText(v script.Value, unit string) string {
	if v.Kind != script.ValueDuration {
		return v.String()
	}
	one, ok := timeUnits[unit]
	if !ok {
		return strconv.FormatInt(v.Dur.Nanoseconds(), 10) + " ns"
	}
	return decimal(v.Dur, one) + " " + unit
}

// decimal is d in units of one, exactly.
func decimal(d, one time.Duration) string {
	text := fmt.Sprintf("%d", d/one)
	if rest := d % one; rest != 0 {
		digits := len(strconv.FormatInt(int64(one), 10)) - 1
		text += "." + strings.TrimRight(fmt.Sprintf("%0*d", digits, rest), "0")
	}
	return text
}
