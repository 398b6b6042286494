package script

import (
	"errors"
	"fmt"
	"strings"
)

// ParseError is one wrong word of a script.
type ParseError struct {
	File      string
	Line, Col int    // from 1; Col counts characters
	Got       string // the wrong word, empty for a line that ends too early
	Expected  string // what is legal there
	Nearest   string // the legal word that is closest, empty for none
}

func (e *ParseError) Error() string {
	got := fmt.Sprintf("%q", e.Got)
	if e.Got == "" {
		got = "nothing"
	}
	msg := fmt.Sprintf("%s:%d:%d: got %s, expected %s", e.File, e.Line, e.Col, got, e.Expected)
	if e.Nearest != "" {
		msg += fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	return msg
}

// ParseErrors is what is wrong with a script, at most maxErrors of them, in
// the order of the lines.
type ParseErrors []*ParseError

func (e ParseErrors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the errors one by one to errors.As.
func (e ParseErrors) Unwrap() []error {
	all := make([]error, len(e))
	for i, one := range e {
		all[i] = one
	}
	return all
}

// MissingError is a script line that needs what the Bench does not have.
type MissingError struct {
	Line int
	Text string
	What string // such as "fault injection"
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("line %d: %s: this device has no %s; run the script on the model", e.Line, e.Text, e.What)
}

// ErrTooMany is in the error of a run that hit a limit of this package.
var ErrTooMany = errors.New("limit reached")

// stopError stops a run because a line cannot be carried out as written; it
// ends in Result.Failed.
type stopError struct{ why string }

func (e *stopError) Error() string { return e.why }

func stopf(format string, args ...any) error { return &stopError{fmt.Sprintf(format, args...)} }

// nearest returns the word of words with the smallest edit distance to got, or
// "" if none is close: at most a third of the letters may differ. Case does
// not count. Of equals the first wins.
func nearest(got string, words []string) string {
	if got == "" || len(got) > 64 {
		return ""
	}
	best, bestDist := "", max(1, (len(got)+1)/3)+1
	for _, w := range words {
		if d := distance(strings.ToLower(got), strings.ToLower(w)); d < bestDist {
			best, bestDist = w, d
		}
	}
	return best
}

// distance is Levenshtein's, on bytes.
func distance(a, b string) int {
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		cur[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			cur[j+1] = min(prev[j+1]+1, cur[j]+1, prev[j]+cost)
		}
		prev, cur = cur, prev
	}
	return prev[len(b)]
}
