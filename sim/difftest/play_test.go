package difftest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rdmaprep/sim/model"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
)

// played is what a run gave: its transcript, with a line for each claim, value
// and early end.
type played struct {
	lines []script.TranscriptLine
	// refused is why the device refused a line for its own good.
	refused string
}

// play runs a case to its end, or to where it stops.
func (c *testCase) play(ctx context.Context, b verbs.Bench) (*played, error) {
	out := &played{}
	s := script.NewSession(b)
	said := 0
	note := func(format string, args ...any) { // after what the session has said so far
		all := s.Transcript()
		out.lines = append(append(out.lines, all[said:]...), script.TranscriptLine{Text: fmt.Sprintf(format, args...)})
		said = len(all)
	}
	var last *script.Script
	for i, one := range c.chunks {
		sc, err := c.parse(last, one.text)
		if err != nil {
			return out, err
		}
		last = sc
		res, err := s.Run(ctx, sc)
		if err != nil {
			return out, err
		}
		for _, o := range res.Outcomes {
			if strings.Contains(o.Got, hurts) {
				out.refused = o.Got
			}
		}
		if f := res.Failed; f != nil {
			note("stops in part %d at line %d: %s", i+1, f.Line, f.Text)
			break
		}
		for k, lines := range one.claims {
			ok, err := holds(ctx, s, last, lines)
			if err != nil {
				return out, err
			}
			note("claim %d of part %d: %t", k+1, i+1, ok)
		}
		if one.asks != "" {
			p, err := last.ParsePath("asks", one.asks)
			if err != nil {
				return out, err
			}
			v, err := s.Value(ctx, p)
			if err != nil {
				note("%s: nothing", one.asks)
			} else {
				note("%s: %s", one.asks, v)
			}
		}
	}
	_, err := s.Finish(ctx)
	out.lines = append(out.lines, s.Transcript()[said:]...)
	return out, err
}

func holds(ctx context.Context, s *script.Session, last *script.Script, lines []string) (bool, error) {
	var claims []*script.Expect
	for _, l := range lines {
		e, err := last.ParseExpect("claim", l)
		if err != nil {
			return false, err
		}
		claims = append(claims, e)
	}
	ok, _, err := s.HoldsAll(ctx, claims)
	return ok, err
}

// nodes are the nodes of the first chunk.
func (c *testCase) nodes() ([]string, error) {
	if len(c.chunks) == 0 {
		return nil, errors.New("nothing to run")
	}
	sc, err := c.parse(nil, c.chunks[0].text)
	if err != nil {
		return nil, err
	}
	return sc.Nodes, nil
}

// onModel plays a case under rxe-6.1.
func (c *testCase) onModel(ctx context.Context) (*played, error) {
	nodes, err := c.nodes()
	if err != nil {
		return nil, err
	}
	b, err := model.Open(ctx, model.Options{Profile: profile, Nodes: nodes})
	if err != nil {
		return nil, err
	}
	defer b.Close()
	return c.play(ctx, b)
}

// racy counts the lines of which more than one outcome is permitted: they show
// the permitted set.
func (p *played) racy() int {
	n := 0
	for _, l := range p.lines {
		if l.Racy {
			n++
		}
	}
	return n
}

// difference is what two runs say first that is not the same, "" if they say
// the same.
func difference(model, live *played) string {
	for i := range max(len(model.lines), len(live.lines)) {
		m, l := "(the end)", "(the end)"
		if i < len(model.lines) {
			m = model.lines[i].String()
		}
		if i < len(live.lines) {
			l = live.lines[i].String()
		}
		if m != l {
			return fmt.Sprintf("model: %s\nlive:  %s", m, l)
		}
	}
	return ""
}
