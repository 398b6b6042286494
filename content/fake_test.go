package content

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
)

// fake is a runner for a language of four lines, so that the rules about
// proofs can be tested without a device:
//
//	set KEY VALUE          set[PROFILE] KEY VALUE: under one profile only
//	need KEY               fails if the key is not set
//	unread                 makes the end of the script fail
//	fail
//
// A claim is KEY=VALUE, a value path is KEY.
type fake struct {
	profile string
	vars    map[string]string
	unread  bool
	closed  *atomic.Int64
}

// fakeRunner counts the scripts that were started and not closed in open.
func fakeRunner(open *atomic.Int64) runner {
	return func(_ context.Context, profile string, _ uint64, text string) (running, error) {
		f := &fake{profile: profile, vars: map[string]string{}, closed: open}
		if err := f.More(text); err != nil {
			return nil, err
		}
		open.Add(1)
		return f, nil
	}
}

func (f *fake) More(text string) error {
	for n, line := range strings.Split(text, "\n") {
		w := strings.Fields(line)
		if len(w) == 0 {
			continue
		}
		verb, cond, _ := strings.Cut(strings.TrimSuffix(w[0], "]"), "[")
		switch {
		case verb == "set" && len(w) == 3:
			if cond == "" || cond == f.profile {
				f.vars[w[1]] = w[2]
			}
		case verb == "need" && len(w) == 2:
			if f.vars[w[1]] == "" {
				return &scriptError{n + 1, fmt.Errorf("%s is not set", w[1])}
			}
		case verb == "unread":
			f.unread = true
		default:
			return &scriptError{n + 1, fmt.Errorf("unknown: %s", line)}
		}
	}
	return nil
}

func (f *fake) Holds(lines []string) (bool, string, error) {
	for _, l := range lines {
		k, v, ok := strings.Cut(l, "=")
		if !ok {
			return false, "", fmt.Errorf("%q is not KEY=VALUE", l)
		}
		if f.vars[k] != v {
			return false, k + "=" + f.vars[k], nil
		}
	}
	return true, "", nil
}

func (f *fake) Value(path, _ string) (string, error) {
	if strings.Contains(path, "?") {
		return "", fmt.Errorf("%q is not a path", path)
	}
	return f.vars[path], nil
}

func (f *fake) Finish() error {
	if f.unread {
		return fmt.Errorf("a completion that nobody read")
	}
	return nil
}

func (f *fake) Close() { f.closed.Add(-1) }
