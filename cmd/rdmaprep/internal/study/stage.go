package study

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"rdmaprep/lessons"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
)

// runLimit is how long one proof or one step of a lab may take on the wall.
const runLimit = 30 * time.Second

// stage is one Bench and the scripts that run on it one after another.
type stage struct {
	bench verbs.Bench
	sess  *script.Session
	last  *script.Script // nil before the first
	seed  uint64
	on    *Live // nil for the model
	// What was there when the observation that is being made began.
	lines, events int
}

// newLiveStage is newStage on a live device.
func newLiveStage(ctx context.Context, on *Live) (*stage, error) {
	b, err := on.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &stage{bench: b, sess: script.NewSession(b), on: on}, nil
}

func newStage(ctx context.Context, open verbs.Opener, profile string, seed uint64) (*stage, error) {
	b, err := open(ctx, profile, seed)
	if err != nil {
		return nil, fmt.Errorf("opening the device: %w", err)
	}
	return &stage{bench: b, sess: script.NewSession(b), seed: seed}, nil
}

func (st *stage) close() error {
	if err := st.bench.Close(); err != nil {
		return fmt.Errorf("closing the device: %w", err)
	}
	return nil
}

// parse reads a script that goes on where the last one ended.
func (st *stage) parse(name, text string) (*script.Script, error) {
	if st.last == nil {
		return script.Parse(name, []byte(text))
	}
	return script.ParseAfter(st.last, name, []byte(text))
}

// mark begins a new observation: what was there before is left out of it.
func (st *stage) mark() {
	st.lines = len(st.sess.Transcript())
	if t, ok := st.bench.(verbs.Tracer); ok {
		st.events = len(t.Trace())
	}
}

// play runs a script and adds what its lines came to. An expect line that does
// not hold is noted and the run goes on; a call that is refused unexpectedly
// ends it, and obs.Err says so. The error is a script that cannot be read, or a
// device that cannot run it.
func (st *stage) play(ctx context.Context, name, text string, obs *lessons.Observation) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	sc, err := st.parse(name, text)
	if err != nil {
		return err
	}
	st.last = sc
	rest := *sc
	for {
		res, err := st.sess.Run(ctx, &rest)
		if res != nil {
			obs.Outcomes = append(obs.Outcomes, res.Outcomes...)
		}
		if why := st.cannot(res, err); why != "" {
			return &cannotError{why, st.on.Name}
		}
		if err != nil {
			return err
		}
		bad := res.Failed
		if bad == nil {
			return nil
		}
		if bad.Kind != script.KindExpect {
			obs.Err = fmt.Sprintf("%s:%d: %s: %s", name, bad.Line, bad.Text, bad.Got)
			return nil
		}
		obs.Failed = append(obs.Failed, lessons.Failure{Line: bad.Text, Got: bad.Got})
		rest.Lines = rest.Lines[len(res.Outcomes):] // one outcome a line, the failed one last
		if len(rest.Lines) == 0 {
			return nil
		}
	}
}

// cannot says why the live device does not run what was tried, "" if it does.
func (st *stage) cannot(res *script.Result, err error) string {
	if st.on == nil {
		return ""
	}
	if why := st.on.cannot(err); why != "" || res == nil {
		return why
	}
	for _, o := range res.Outcomes {
		if why := st.on.cannot(o.Err); why != "" {
			return why
		}
	}
	return ""
}

// holds says of each option whether all of its lines hold.
func (st *stage) holds(ctx context.Context, options [][]string) ([]bool, error) {
	right := make([]bool, len(options))
	for i, lines := range options {
		var es []*script.Expect
		for _, text := range lines {
			e, err := script.ParseExpect(fmt.Sprintf("choice %d", i+1), text)
			if err != nil {
				return nil, err
			}
			es = append(es, e)
		}
		ok, _, err := st.sess.HoldsAll(ctx, es)
		if why := st.cannot(nil, err); why != "" {
			return nil, &cannotError{why, st.on.Name}
		}
		if err != nil {
			return nil, err
		}
		right[i] = ok
	}
	return right, nil
}

// observe completes an observation with how things are now.
func (st *stage) observe(obs *lessons.Observation) {
	obs.Profile, obs.Live, obs.Seed, obs.Device = st.bench.Profile(), st.bench.Live(), st.seed, "model"
	if st.on != nil {
		obs.Device, obs.Flags = st.on.Name, st.on.Flags
	}
	obs.Objects = st.sess.Objects()
	obs.Transcript = st.sess.Transcript()[st.lines:]
	obs.Digest = st.sess.Digest()
	if c, ok := st.bench.(verbs.Clock); ok {
		obs.At = c.Now()
	}
	if t, ok := st.bench.(verbs.Tracer); ok {
		trace := t.Trace()
		obs.Events = append([]verbs.TraceEvent(nil), trace[st.events:]...)
		if st.bench.Live() {
			obs.Wire = lessons.RealWire
		} else {
			obs.TraceDigest = traceDigest(trace)
		}
	}
	for _, o := range obs.Outcomes {
		if o.Skipped || !o.OK {
			continue
		}
		what := subject(o.Text)
		switch {
		case len(o.WCs) > 0:
			obs.Completions = append(obs.Completions, what+": "+o.Got)
		case o.Kind == script.KindExpect && strings.Contains(what, ":"), strings.Contains(o.Text, ": load "):
			obs.Bytes = append(obs.Bytes, what+": "+o.Got)
		}
	}
}

// subject is what a line is about: "a.cq1" of "expect a.cq1 status=SUCCESS" and
// of "a: poll_cq cq1 n=4".
func subject(line string) string {
	words := strings.Fields(line)
	switch {
	case len(words) > 1 && strings.HasPrefix(words[0], "expect"):
		return words[1]
	case len(words) > 2 && strings.HasSuffix(words[0], ":"):
		return strings.TrimSuffix(words[0], ":") + "." + words[2]
	}
	return line
}

// traceDigest is the SHA-256 of the trace's events, one JSON object a line.
func traceDigest(trace []verbs.TraceEvent) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	for i := range trace {
		if err := enc.Encode(&trace[i]); err != nil {
			return "" // a trace holds nothing that JSON cannot
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
