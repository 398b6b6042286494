package content

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
)

// scriptError is a fault on one line of a script, counted from 1.
type scriptError struct {
	line int
	err  error
}

func (e *scriptError) Error() string { return e.err.Error() }

func (e *scriptError) Unwrap() error { return e.err }

// scriptRunner runs scripts on the Benches that open makes.
func scriptRunner(open verbs.Opener) runner {
	if open == nil {
		return nil
	}
	return func(ctx context.Context, profile string, seed uint64, text string) (running, error) {
		sc, err := script.Parse("script", []byte(text))
		if err != nil {
			return nil, parseFault(err)
		}
		if sc.Seed != 0 {
			seed = sc.Seed
		}
		bench, err := open(ctx, profile, seed)
		if err != nil {
			return nil, fmt.Errorf("no device: %w", err)
		}
		r := &run{ctx: ctx, bench: bench, session: script.NewSession(bench)}
		if err := r.play(sc); err != nil {
			r.Close()
			return nil, err
		}
		return r, nil
	}
}

// run is a script on a Bench.
type run struct {
	ctx     context.Context
	bench   verbs.Bench
	session *script.Session
	last    *script.Script // with all that was defined before it
}

func (r *run) play(sc *script.Script) error {
	r.last = sc
	res, err := r.session.Run(r.ctx, sc)
	if err != nil {
		return err
	}
	if f := res.Failed; f != nil {
		return &scriptError{f.Line, fmt.Errorf("%s: %s", f.Text, f.Got)}
	}
	return nil
}

func (r *run) More(text string) error {
	sc, err := script.ParseAfter(r.last, "script", []byte(text))
	if err != nil {
		return parseFault(err)
	}
	return r.play(sc)
}

func (r *run) Holds(lines []string) (bool, string, error) {
	claims := make([]*script.Expect, len(lines))
	for i, l := range lines {
		e, err := r.last.ParseExpect("claim", l)
		if err != nil {
			return false, "", parseFault(err)
		}
		claims[i] = e
	}
	return r.session.HoldsAll(r.ctx, claims)
}

func (r *run) Value(path, unit string) (string, error) {
	p, err := r.last.ParsePath("asks", path)
	if err != nil {
		return "", parseFault(err)
	}
	v, err := r.session.Value(r.ctx, p)
	if err != nil {
		return "", err
	}
	return ValueText(v, unit), nil
}

// ValueText is a value of a run as an answer in a unit of Units: a duration is
// counted in a unit of time, everything else is written as it is.
func ValueText(v script.Value, unit string) string {
	per := map[string]float64{"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit]
	if v.Kind != script.ValueDuration || per == 0 {
		return v.String()
	}
	return strconv.FormatFloat(float64(v.Dur.Nanoseconds())/per, 'f', -1, 64)
}

func (r *run) Finish() error {
	unread, err := r.session.Finish(r.ctx)
	if err == nil && len(unread) > 0 {
		err = fmt.Errorf("nobody read %s: expect it, or ignore its CQ", strings.Join(unread, "; "))
	}
	return err
}

func (r *run) Close() { _ = r.bench.Close() }

// parseFault keeps the first of several parse errors, with its line.
func parseFault(err error) error {
	var one *script.ParseError
	if !errors.As(err, &one) {
		return err
	}
	text := fmt.Sprintf("column %d: got %q, expected %s", one.Col, one.Got, one.Expected)
	if one.Nearest != "" {
		text += fmt.Sprintf("; did you mean %s?", one.Nearest)
	}
	return &scriptError{one.Line, errors.New(text)}
}
