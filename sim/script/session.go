package script

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"rdmaprep/sim/verbs"
)

// maxHistory is how many completions or events a session keeps of one queue.
const maxHistory = 1 << 20

// GIDChooser is a Bench that says which GID of port 1 a node uses; others use
// index 0.
type GIDChooser interface{ GIDIndex(node string) int }

// Profiled is a live Bench that behaves as a profile of the model does: lines
// of that profile count on it, and a [live] line gives way to one beside it.
type Profiled interface{ BehavesAs() string }

// OutcomeKind is the sort of a line.
type OutcomeKind uint8

// The sorts of line.
const (
	KindVerb    OutcomeKind = iota + 1 // a verb, a wait of a node, or a pair
	KindExpect                         // an expect line
	KindFault                          // a fault line
	KindTime                           // mark, advance, wait quiet
	KindComment                        // comments, the head of the script, ignore
)

// Outcome is what one line came to.
type Outcome struct {
	Line    int
	Text    string // as written
	Kind    OutcomeKind
	OK      bool
	Skipped bool       // a line of another profile
	Racy    bool       // the line permits more than one outcome
	Got     string     // what was seen, one line
	Errno   string     // verbs: "0" or such as "EINVAL"
	WCs     []verbs.WC // completions that this line took
	Err     error      // what the device returned where it refused, nil elsewhere
}

// Result is what a run came to. Failed points into Outcomes; nil is all well.
type Result struct {
	Outcomes []Outcome
	Failed   *Outcome
}

// verbResult is what the last verb line, or a labelled one, returned.
type verbResult struct {
	errno  uint64
	posted int
}

// cursor is how far somebody has read.
type cursor struct {
	read map[*object]int // completions of a CQ, events of a channel
	ev   map[string]int  // asynchronous events of a node
}

func (c cursor) clone() cursor {
	d := cursor{read: map[*object]int{}, ev: map[string]int{}}
	for k, v := range c.read {
		d.read[k] = v
	}
	for k, v := range c.ev {
		d.ev[k] = v
	}
	return d
}

// asyncEvent is an event and the name of what it is about.
type asyncEvent struct {
	typ verbs.EventType
	on  string
}

// Session is the state of one Bench under one or more scripts: the objects by
// name, what was completed, and what was read. It is for one goroutine.
type Session struct {
	bench  verbs.Bench
	objs   map[ref]*object
	order  []*object
	events map[string][]asyncEvent // by node, in order
	cur    cursor
	ignore map[ref]bool
	labels map[string]verbResult
	last   verbResult
	marks  map[string]time.Duration
	script []TranscriptLine
	heard  func(TranscriptLine) // told of every line, nil for nobody
	quiet  bool                 // Finish has drained everything
}

// NewSession starts with an empty Bench.
func NewSession(b verbs.Bench) *Session {
	return &Session{
		bench: b, objs: map[ref]*object{}, events: map[string][]asyncEvent{},
		cur:    cursor{read: map[*object]int{}, ev: map[string]int{}},
		ignore: map[ref]bool{}, labels: map[string]verbResult{}, marks: map[string]time.Duration{},
	}
}

// Run carries the script out line by line. It stops at the first expect line
// that does not hold and at the first call that is refused unexpectedly; both
// are in the Result. The error is a cancelled context, a broken device, or a
// *MissingError. A second Run goes on in the same state.
func (s *Session) Run(ctx context.Context, sc *Script) (*Result, error) {
	res := &Result{}
	for _, n := range sc.Nodes {
		if s.bench.Node(n) == nil {
			return res, fmt.Errorf("%s: this device has no node %q; its nodes are %s", sc.Name, n, strings.Join(s.bench.Nodes(), ", "))
		}
	}
	s.quiet = false
	for i, line := range sc.Lines {
		if err := ctx.Err(); err != nil {
			return res, err
		}
		out, err := s.line(ctx, sc, i)
		if err != nil {
			var missing *MissingError
			if errors.As(err, &missing) {
				missing.Line, missing.Text = line.No, line.Text
				return res, err
			}
			return res, fmt.Errorf("%s:%d: %s: %w", sc.Name, line.No, line.Text, err)
		}
		out.Line, out.Text, out.Kind = line.No, line.Text, line.Kind()
		res.Outcomes = append(res.Outcomes, out)
		if !out.OK {
			res.Failed = &res.Outcomes[len(res.Outcomes)-1]
			return res, nil
		}
	}
	return res, nil
}

// line carries out one line.
func (s *Session) line(ctx context.Context, sc *Script, i int) (Outcome, error) {
	switch st := sc.Lines[i].stmt.(type) {
	case *verbStmt:
		return s.verbLine(ctx, st, s.forgives(sc, i))
	case *pairStmt:
		return s.pairLine(ctx, st)
	case *expectStmt:
		return s.expectLine(ctx, st.e, sc.variants(i))
	case *faultStmt:
		return s.faultLine(st)
	case *timeStmt:
		return s.timeLine(ctx, st)
	case *ignoreStmt:
		s.ignore[st.ref] = true
	}
	return Outcome{OK: true}, nil
}

// forgives says whether a refusal at line i is spoken of: an expect ret= that
// counts under this profile follows directly.
func (s *Session) forgives(sc *Script, i int) bool {
	for _, l := range sc.Lines[i+1:] {
		switch st := l.stmt.(type) {
		case *commentStmt:
			continue
		case *expectStmt:
			if st.e.subj.kind != onRet || st.e.subj.name != "" {
				return false
			}
			if s.applies(st.e, nil) {
				return true
			}
			continue
		}
		return false
	}
	return false
}

// applies says whether an expect line counts on this Bench. variants are the
// lines beside it that say the same of other profiles.
func (s *Session) applies(e *Expect, variants []*Expect) bool {
	if len(e.profiles) == 0 {
		return true
	}
	own := s.bench.Profile()
	if p, ok := s.bench.(Profiled); ok && p.BehavesAs() != "" {
		own = p.BehavesAs()
	}
	names := func(v *Expect) bool { return slices.Contains(v.profiles, own) }
	return names(e) || s.bench.Live() && slices.Contains(e.profiles, "live") && !slices.ContainsFunc(variants, names)
}

// variants are the expect lines of profiles that stand beside line i and are
// about the same.
func (s *Script) variants(i int) []*Expect {
	var out []*Expect
	at := func(k int) *Expect {
		if k < 0 || k >= len(s.Lines) {
			return nil
		}
		if st, ok := s.Lines[k].stmt.(*expectStmt); ok && len(st.e.profiles) > 0 {
			return st.e
		}
		return nil
	}
	e := at(i)
	if e == nil {
		return nil
	}
	for _, step := range []int{-1, 1} {
		for k := i + step; ; k += step {
			v := at(k)
			if v == nil || v.subj.String() != e.subj.String() {
				break
			}
			out = append(out, v)
		}
	}
	return out
}

func (s *Session) verbLine(ctx context.Context, st *verbStmt, forgiven bool) (Outcome, error) {
	got, res, err := s.exec(ctx, st)
	var stop *stopError
	if errors.As(err, &stop) {
		s.say(st.node, st.body()+" -> not run", false)
		return Outcome{Got: stop.why}, nil
	}
	out := Outcome{OK: true, Errno: "0", Got: "0"}
	if got.text != "" {
		out.Got = got.text
	}
	out.WCs = got.wcs
	if err != nil {
		var refused *verbs.Error
		if !errors.As(err, &refused) {
			return out, err
		}
		res.errno = uint64(refused.Errno)
		out.Errno = verbs.ErrnoName(refused.Errno)
		out.Got = out.Errno + because(refused.Why)
		if st.spec.list {
			out.Got += fmt.Sprintf(" posted=%d", res.posted)
		}
		out.OK, out.Err = forgiven || st.label != "", err
	}
	s.last = res
	if st.label != "" {
		s.labels[st.label] = res
	}
	text := st.body() + " -> " + out.Errno
	if st.spec.list && len(st.groups) > 1 {
		text += fmt.Sprintf(" posted=%d", res.posted)
	}
	if err == nil && got.said != "" {
		text += " " + got.said
	}
	s.say(st.node, text, false)
	for _, line := range got.lines {
		s.say(st.node, line, false)
	}
	return out, nil
}

// because is a reason behind an errno; a device may have given none.
func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

func (s *Session) pairLine(ctx context.Context, st *pairStmt) (Outcome, error) {
	for i, v := range st.verbs {
		_, _, err := s.exec(ctx, v)
		if err == nil {
			continue
		}
		var refused *verbs.Error
		var stop *stopError
		switch {
		case errors.As(err, &refused):
			name := verbs.ErrnoName(refused.Errno)
			s.say(v.node, v.body()+" -> "+name, false)
			return Outcome{Errno: name, Got: st.lines[i] + ": " + name + because(refused.Why), Err: err}, nil
		case errors.As(err, &stop):
			return Outcome{Got: st.lines[i] + ": " + stop.why}, nil
		}
		return Outcome{}, err
	}
	s.say("", st.text+" -> 0", false)
	return Outcome{OK: true, Errno: "0", Got: "0"}, nil
}

func (s *Session) faultLine(st *faultStmt) (Outcome, error) {
	f, ok := s.bench.(verbs.Faulter)
	if !ok {
		return Outcome{}, &MissingError{What: "fault injection"}
	}
	what := st.f
	if what.Kind == verbs.FaultCQStall {
		cq, err := s.alive(st.cq)
		if err != nil {
			return Outcome{}, err
		}
		what.CQ = cq.cq.CQ
	}
	if what.Kind == verbs.FaultForge {
		set, err := s.forgery(st.forge)
		if err != nil {
			return Outcome{}, err
		}
		what.Forge = set
	}
	if err := f.Inject(what); err != nil {
		return Outcome{Got: err.Error()}, nil
	}
	if what.Kind == verbs.FaultPeerStop {
		for _, o := range s.order {
			o.gone = o.gone || o.node == what.Node
		}
	}
	s.quiet = false
	s.say("", st.text, false)
	return Outcome{OK: true, Got: "0"}, nil
}

func (s *Session) timeLine(ctx context.Context, st *timeStmt) (Outcome, error) {
	if st.verb == timeQuiet {
		limit := st.dur
		if limit == 0 {
			limit = defaultLimit
		}
		if _, err := s.bench.Wait(ctx, limit, nil); err != nil {
			return Outcome{}, err
		}
		s.say("", st.text, false)
		return Outcome{OK: true, Got: "quiet"}, nil
	}
	clock, ok := s.bench.(verbs.Clock)
	if !ok {
		return Outcome{}, &MissingError{What: "clock of its own (mark, advance, since)"}
	}
	if st.verb == timeMark {
		s.marks[st.mark] = clock.Now()
		return Outcome{OK: true, Got: "at " + clock.Now().String()}, nil
	}
	if err := clock.Advance(ctx, st.dur); err != nil {
		return Outcome{}, err
	}
	s.say("", st.text, false)
	return Outcome{OK: true, Got: "now " + clock.Now().String()}, nil
}

func (s *Session) expectLine(ctx context.Context, e *Expect, variants []*Expect) (Outcome, error) {
	if !s.applies(e, variants) {
		return Outcome{OK: true, Skipped: true, Racy: e.Racy(), Got: "not of this profile"}, nil
	}
	v, err := s.check(ctx, e, s.cur)
	if err != nil {
		var stop *stopError
		if errors.As(err, &stop) {
			return Outcome{Got: stop.why}, nil
		}
		return Outcome{}, err
	}
	for _, l := range v.lines {
		s.say(l.Node, l.Text, l.Racy)
	}
	return Outcome{OK: v.ok, Racy: e.Racy(), Got: v.got, WCs: v.wcs}, nil
}

// wait lets the Bench work until ready, at most limit (0: the default).
func (s *Session) wait(ctx context.Context, limit time.Duration, ready func() (bool, error)) (bool, error) {
	if limit == 0 {
		limit = defaultLimit
	}
	if ok, err := ready(); ok || err != nil {
		return ok, err
	}
	return s.bench.Wait(ctx, limit, ready)
}

// settle waits for quiet.
func (s *Session) settle(ctx context.Context, limit time.Duration) error {
	if s.quiet {
		return nil
	}
	if limit == 0 {
		limit = defaultLimit
	}
	_, err := s.bench.Wait(ctx, limit, nil)
	return err
}

// Finish waits for quiet, takes what is left in the CQs and of asynchronous
// events, and lists what nobody read and no line ignores.
func (s *Session) Finish(ctx context.Context) (unread []string, err error) {
	if err := s.drain(ctx); err != nil {
		return nil, err
	}
	for _, o := range s.order {
		if o.kind != kCQ || s.ignore[o.ref] {
			continue
		}
		for _, wc := range o.wcs[s.cur.read[o]:] {
			unread = append(unread, o.node+"."+o.name+": "+s.wcText(o.node, wc))
			s.say(o.node, o.name+" -> unread "+s.wcText(o.node, wc), false)
		}
	}
	for _, n := range s.bench.Nodes() {
		if s.ignore[ref{n, "event"}] {
			continue
		}
		list := append([]asyncEvent(nil), s.events[n][s.cur.ev[n]:]...)
		sort.SliceStable(list, func(i, j int) bool { return list[i].on < list[j].on })
		for _, e := range list {
			unread = append(unread, n+".event: "+e.String())
			s.say(n, "event -> unread "+e.String(), false)
		}
	}
	return unread, nil
}

// drain waits for quiet and takes everything from the devices, reading none of
// it.
func (s *Session) drain(ctx context.Context) error {
	if s.quiet {
		return nil
	}
	if err := s.settle(ctx, 0); err != nil {
		return err
	}
	for _, o := range s.order {
		if o.kind == kCQ {
			if err := s.pollAll(o); err != nil {
				return err
			}
		}
	}
	for _, n := range s.bench.Nodes() {
		if err := s.takeAsync(n); err != nil {
			return err
		}
	}
	s.quiet = true
	return nil
}

// RunAll runs the script to its end; what nobody read is a failure of the last
// line.
func RunAll(ctx context.Context, b verbs.Bench, sc *Script) (*Session, *Result, error) {
	s := NewSession(b)
	res, err := s.RunAll(ctx, sc)
	return s, res, err
}

// RunAll is Run and Finish: what nobody read is a failure of the last line.
func (s *Session) RunAll(ctx context.Context, sc *Script) (*Result, error) {
	res, err := s.Run(ctx, sc)
	if err != nil {
		return res, err
	}
	unread, err := s.Finish(ctx)
	if err != nil || res.Failed != nil || len(unread) == 0 {
		return res, err
	}
	last := Outcome{Kind: KindComment, Text: "the end of the script", Got: "nobody read " + strings.Join(unread, "; ")}
	if n := len(sc.Lines); n > 0 {
		last.Line = sc.Lines[n-1].No
	}
	res.Outcomes = append(res.Outcomes, last)
	res.Failed = &res.Outcomes[len(res.Outcomes)-1]
	return res, nil
}
