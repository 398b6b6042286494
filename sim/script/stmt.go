package script

import (
	"strings"
	"time"
)

// Script is a parsed script.
type Script struct {
	Name   string // the file, for messages
	Source string
	Seed   uint64   // 0 is program order
	Nodes  []string // "a" and "b" unless the script says otherwise
	Lines  []Line

	scope *scope // what is defined after the last line
}

// Line is one line of a script that says something; blank lines are left out.
type Line struct {
	No   int    // from 1
	Text string // as written, without the blanks around it

	stmt stmt
}

// stmt is the parsed form of a line. canon prints it so that it parses into an
// equal statement.
type stmt interface{ canon() string }

// String prints the script in its canonical form: one blank between words,
// constants by their full names, comments only where they have a line to
// themselves. It parses into an equal script.
func (s *Script) String() string {
	var b strings.Builder
	for _, l := range s.Lines {
		b.WriteString(l.stmt.canon())
		b.WriteByte('\n')
	}
	return b.String()
}

// Canonical is the line in the form that transcripts use.
func (l Line) Canonical() string { return l.stmt.canon() }

// Expand lists the verb lines that a pair line stands for, nil for another line.
func (l Line) Expand() []string {
	if p, ok := l.stmt.(*pairStmt); ok {
		return append([]string(nil), p.lines...)
	}
	return nil
}

// Kind says what sort of line it is.
func (l Line) Kind() OutcomeKind {
	switch l.stmt.(type) {
	case *verbStmt, *pairStmt:
		return KindVerb
	case *expectStmt:
		return KindExpect
	case *faultStmt:
		return KindFault
	case *timeStmt:
		return KindTime
	}
	return KindComment
}

// headStmt is script, seed, nodes or ignore with its words.
type headStmt struct {
	word string
	args []string
}

func (s *headStmt) canon() string { return s.word + " " + strings.Join(s.args, " ") }

type commentStmt struct{ text string }

func (s *commentStmt) canon() string { return strings.TrimSpace("# " + s.text) }

// ignoreStmt lets what nobody read of a CQ, or of a node's events, be.
type ignoreStmt struct{ ref ref }

func (s *ignoreStmt) canon() string { return "ignore " + s.ref.node + "." + s.ref.name }

// arg is one KEY=VALUE.
type arg struct {
	key string
	val value
}

// args are the arguments of one request.
type args []arg

func (a args) get(key string) (value, bool) {
	for _, one := range a {
		if one.key == key {
			return one.val, true
		}
	}
	return value{}, false
}

func (a args) num(key string, def uint64) uint64 {
	if v, ok := a.get(key); ok {
		return v.num
	}
	return def
}

func (a args) canon() string {
	parts := make([]string, len(a))
	for i, one := range a {
		parts[i] = one.key + "=" + one.val.text
	}
	return strings.Join(parts, " ")
}

// verbStmt is NODE: verb object key=value …
type verbStmt struct {
	node   string
	spec   *verbSpec
	obj    string   // formDef, formRef
	rng    rangeRef // formPlace, formRange
	groups []args   // one, or one a request
	label  string
}

func (s *verbStmt) canon() string {
	parts := []string{s.node + ":", s.spec.name}
	switch s.spec.form {
	case formDef, formRef:
		parts = append(parts, s.obj)
	case formPlace, formRange:
		parts = append(parts, s.rng.text(s.node))
	}
	for i, g := range s.groups {
		if i > 0 {
			parts = append(parts, ";")
		}
		if len(g) > 0 {
			parts = append(parts, g.canon())
		}
	}
	if s.label != "" {
		parts = append(parts, "label="+s.label)
	}
	return strings.Join(parts, " ")
}

// body is the line without its node and label, as a transcript shows it.
func (s *verbStmt) body() string {
	text := strings.TrimPrefix(s.canon(), s.node+": ")
	return strings.TrimSuffix(text, " label="+s.label)
}

// pairStmt is a pair line, and the verb lines that it stands for.
type pairStmt struct {
	text  string
	lines []string
	verbs []*verbStmt
}

func (s *pairStmt) canon() string { return s.text }

type expectStmt struct{ e *Expect }

func (s *expectStmt) canon() string { return s.e.String() }

type faultStmt struct {
	text string
	f    faultSpec
	cq   ref // cq_stall

	forge args
}

func (s *faultStmt) canon() string { return s.text }

type timeVerb uint8

const (
	timeMark timeVerb = iota + 1
	timeAdvance
	timeQuiet
)

// timeStmt is mark, advance or wait quiet.
type timeStmt struct {
	verb timeVerb
	mark string
	dur  time.Duration
	text string
}

func (s *timeStmt) canon() string { return s.text }
