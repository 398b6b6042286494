package script

import (
	"strconv"
	"strings"
	"time"
)

// subjKind says what an expect line or a path speaks of.
type subjKind uint8

const (
	onRet     subjKind = iota + 1 // what a verb line returned
	onSince                       // device time since a mark
	onWire                        // packets on the wire
	onEvent                       // asynchronous events of a node
	onCounter                     // hardware counters of a node
	onObject                      // an object
)

// subject is what an expect line or a path speaks of.
type subject struct {
	kind     subjKind
	node     string
	name     string // the object, or the label of a verb line, "" for the one above
	hasIndex bool
	index    int
	rng      rangeRef // onObject with a range of bytes
	from, to string   // onWire
	opcode   string   // onWire, "" for every packet
}

func (s subject) String() string {
	switch s.kind {
	case onRet:
		return s.name
	case onSince:
		return "since"
	case onWire:
		if s.opcode != "" {
			return "wire[" + s.from + "->" + s.to + ":" + s.opcode + "]"
		}
		return "wire[" + s.from + "->" + s.to + "]"
	case onCounter:
		return s.node + ".counter"
	case onEvent:
		return s.node + ".event" + s.indexText()
	}
	if s.rng.span != spanAll {
		return s.node + "." + s.rng.text(s.node)
	}
	return s.node + "." + s.name + s.indexText()
}

func (s subject) indexText() string {
	if !s.hasIndex {
		return ""
	}
	return "[" + strconv.Itoa(s.index) + "]"
}

// clause is one comparison of an expect line; op is "" for none.
type clause struct {
	key, op string
	val     value
}

func (c clause) String() string { return c.key + c.op + c.val.text }

// Expect is a parsed expect line.
type Expect struct {
	subj     subject
	profiles []string // empty: every profile
	clauses  []clause
	within   time.Duration // 0: defaultLimit
	withinAs string
	path     bool // written as PATH OP VALUE
}

// String is the line in its canonical form.
func (e *Expect) String() string {
	head := "expect"
	if len(e.profiles) > 0 {
		head += "[" + strings.Join(e.profiles, ",") + "]"
	}
	return head + " " + e.Claim()
}

// Claim is the line without the word expect.
func (e *Expect) Claim() string {
	var parts []string
	if s := e.subj.String(); e.path {
		parts = append(parts, s+"."+e.clauses[0].String())
	} else {
		if s != "" {
			parts = append(parts, s)
		}
		for _, c := range e.clauses {
			parts = append(parts, c.String())
		}
	}
	if e.within > 0 {
		parts = append(parts, "within="+e.withinAs)
	}
	return strings.Join(parts, " ")
}

// Racy says whether the line permits more than one outcome.
func (e *Expect) Racy() bool {
	for _, c := range e.clauses {
		if c.val.set != nil {
			return true
		}
	}
	return false
}

// ParseExpect reads one expect line, with or without the word expect. The
// objects that it names are looked up when it is used; Script.ParseExpect looks
// them up at once.
func ParseExpect(name, text string) (*Expect, error) {
	return parseExpect(&parser{file: name, no: 1, src: text, sc: newScope(), loose: true, last: true})
}

// ParseExpect reads a claim about the state that the script ends in.
func (s *Script) ParseExpect(name, text string) (*Expect, error) {
	return parseExpect(&parser{file: name, no: 1, src: text, sc: s.scope, last: true})
}

func parseExpect(p *parser) (*Expect, error) {
	if strings.ContainsAny(p.src, "\n") || len(p.src) > maxLineBytes {
		p.fail(0, "a longer text", "one line", nil)
		return nil, p.err()
	}
	words, _, ok := p.words(p.src)
	var e *Expect
	if ok {
		if len(words) > 0 && words[0].text != "expect" && !strings.HasPrefix(words[0].text, "expect[") {
			words = append([]word{{"expect", words[0].off}}, words...)
		}
		if len(words) == 0 {
			p.fail(0, "", "an expect line", nil)
		} else {
			e = p.expect(words)
		}
	}
	return e, p.err()
}

// expect reads a line whose first word is expect or expect[…]. It returns nil
// after an error.
func (p *parser) expect(words []word) *Expect {
	before := len(p.errs)
	e := &Expect{}
	p.profiles(e, words[0])
	if len(words) < 2 {
		p.fail(words[0].end(), "", "what is expected", nil)
		return nil
	}
	rest := words[1:]
	w := rest[0]
	switch {
	case strings.HasPrefix(w.text, "ret") && strings.ContainsAny(w.text, "=!"),
		strings.HasPrefix(w.text, "posted") && strings.ContainsAny(w.text, "=!<>"):
		e.subj.kind = onRet
		if !p.last {
			p.fail(w.off, w.text, "a verb line directly above, or the label of one", sortedKeys(p.sc.labels))
			return nil
		}
	case isPathClause(w.text):
		p.pathClause(e, w, rest[1:])
		if len(p.errs) > before || p.full {
			return nil
		}
		return e
	default:
		if !p.subject(&e.subj, w) {
			return nil
		}
		rest = rest[1:]
		w = words[1]
	}
	p.clauses(e, w, rest)
	if len(p.errs) > before || p.full {
		return nil
	}
	return e
}

// isPathClause tells PATH OP VALUE from a subject.
func isPathClause(s string) bool {
	path, op, _ := splitArg(afterWire(word{s, 0}))
	return op.text != "" && strings.Contains(path.text, ".")
}

// afterWire is w without the brackets of a wire path, whose arrow is no
// comparison.
func afterWire(w word) word {
	if i := strings.IndexByte(w.text, ']'); i >= 0 && strings.HasPrefix(w.text, "wire[") {
		return word{w.text[i+1:], w.off + i + 1}
	}
	return w
}

// pathClause reads PATH OP VALUE, and within= after it.
func (p *parser) pathClause(e *Expect, w word, rest []word) {
	key, op, val := splitArg(afterWire(w))
	path, ok := p.path(word{w.text[:key.end()-w.off], w.off})
	if !ok {
		return
	}
	e.subj, e.path = path.subj, true
	field := word{path.field, key.end() - len(path.field)}
	if c, ok := p.clause(e, p.subjectKeys(&e.subj), field, op, val); ok {
		e.clauses = []clause{c}
	}
	for _, w := range rest {
		key, op, val := splitArg(w)
		if key.text != "within" || op.text != "=" || e.within != 0 {
			p.fail(w.off, w.text, "within= once, or the end of the line", []string{"within"})
			return
		}
		if v, ok := p.value(keySpec{name: "within", kind: vDur}, val, ""); ok {
			e.within, e.withinAs = v.dur, v.text
		}
	}
}

func (p *parser) profiles(e *Expect, w word) {
	rest := strings.TrimPrefix(w.text, "expect")
	if rest == "" {
		return
	}
	if !strings.HasSuffix(rest, "]") {
		p.fail(w.off, w.text, `expect[PROFILE]`, nil)
		return
	}
	off := w.off + len("expect[")
	for _, name := range strings.Split(rest[1:len(rest)-1], ",") {
		found := false
		for _, known := range profileNames {
			found = found || known == name
		}
		if !found {
			p.fail(off, name, "a profile: "+strings.Join(profileNames, ", "), profileNames)
			return
		}
		e.profiles = append(e.profiles, name)
		off += len(name) + 1
	}
}

// subject reads the first word of an expect line, or of a path without its
// last field.
func (p *parser) subject(s *subject, w word) bool {
	if rest, ok := strings.CutPrefix(w.text, "wire["); ok {
		return p.wireSubject(s, w, rest)
	}
	if w.text == "since" {
		s.kind = onSince
		return true
	}
	node, name, dotted := strings.Cut(w.text, ".")
	if !dotted {
		return p.labelSubject(s, w)
	}
	if !p.node(word{node, w.off}) {
		return false
	}
	s.node = node
	at := word{name, w.off + len(node) + 1}
	base, index, hasIndex := strings.Cut(name, "[")
	switch base {
	case "event":
		s.kind = onEvent
	case "counter":
		s.kind = onCounter
		if hasIndex {
			p.fail(at.off, name, "counter", nil)
			return false
		}
		return true
	default:
		return p.objectSubject(s, w, at)
	}
	if hasIndex {
		return p.index(s, word{index, at.off + len(base) + 1})
	}
	return true
}

func (p *parser) wireSubject(s *subject, w word, rest string) bool {
	s.kind = onWire
	inner, ok := strings.CutSuffix(rest, "]")
	if !ok {
		p.fail(w.off, w.text, "wire[a->b], or wire[a->b:OPCODE], or wire[a->b:KIND] as in a fault line", nil)
		return false
	}
	dir, opcode, hasOpcode := strings.Cut(inner, ":")
	off := w.off + len("wire[")
	if s.from, s.to, ok = p.direction(word{dir, off}); !ok {
		return false
	}
	if hasOpcode {
		s.opcode, ok = p.packet(word{opcode, off + len(dir) + 1})
	}
	return ok
}

func (p *parser) labelSubject(s *subject, w word) bool {
	s.kind, s.name = onRet, w.text
	if _, ok := p.sc.labels[w.text]; ok || (p.loose && isName(w.text) && !reserved[w.text]) {
		return true
	}
	words := append(sortedKeys(p.sc.labels), "ret", "since")
	for _, n := range p.sc.nodes {
		for _, name := range p.sc.names(n, kAny) {
			words = append(words, n+"."+name)
		}
	}
	p.fail(w.off, w.text, "what is expected: ret=, NODE.object, NODE.event, NODE.counter, a label, since or wire[a->b]", words)
	return false
}

func (p *parser) objectSubject(s *subject, w, at word) bool {
	s.kind = onObject
	base := at.text
	if i := strings.IndexAny(base, "[+"); i >= 0 {
		base = base[:i]
	}
	r, ok := p.object(s.node, word{s.node + "." + base, w.off}, kAny, true)
	if !ok {
		if !p.loose && len(p.errs) > 0 && !p.full {
			// event and counter are as good as an object here.
			if last := p.errs[len(p.errs)-1]; last.Nearest == "" {
				last.Nearest = nearest(base, []string{"event", "counter"})
			}
		}
		return false
	}
	s.name = r.name
	tail := at.text[len(base):]
	switch {
	case tail == "":
	case strings.Contains(tail, ":"):
		v, ok := p.rangeValue(w, s.node, kMR|kBuf, true)
		if !ok {
			return false
		}
		s.rng = v.rng
	case tail[0] == '[':
		if _, ok := p.object(s.node, word{s.node + "." + base, w.off}, kCQ|kChannel, true); !ok {
			return false
		}
		return p.index(s, word{tail[1:], at.off + len(base) + 1})
	default:
		p.fail(at.off+len(base), tail, "a range of bytes such as [0:8], or an index such as [0]", nil)
		return false
	}
	return true
}

// index reads 0] of [0].
func (p *parser) index(s *subject, w word) bool {
	digits, ok := strings.CutSuffix(w.text, "]")
	n, good := parseNumber(digits)
	if !ok || !good || n > maxCount {
		p.fail(w.off, w.text, "an index such as [0]", nil)
		return false
	}
	s.hasIndex, s.index = true, int(n)
	return true
}
