package script

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Version is the version of the language that this package reads.
const Version = "1"

// parser reads one script, or one line of it.
type parser struct {
	file string
	no   int
	src  string
	errs []*ParseError
	sc   *scope
	// loose accepts names that are not defined: the line is checked against a
	// script only when it runs.
	loose bool
	// last is the verb line that an expect ret= would speak of, by label.
	last  bool
	full  bool // maxErrors reached
	lines []Line
	seed  uint64
}

// fail notes an error at a byte offset of the line.
func (p *parser) fail(off int, got, expected string, words []string) {
	if len(p.errs) >= maxErrors {
		p.full = true
		return
	}
	off = min(off, len(p.src))
	if len(got) > 60 {
		got = strings.ToValidUTF8(got[:60], "") + "…"
	}
	p.errs = append(p.errs, &ParseError{
		File: p.file, Line: p.no, Col: utf8.RuneCountInString(p.src[:off]) + 1,
		Got: got, Expected: expected, Nearest: nearest(got, words),
	})
}

func (p *parser) err() error {
	switch len(p.errs) {
	case 0:
		return nil
	case 1:
		return p.errs[0]
	}
	return ParseErrors(p.errs)
}

// Parse reads a script. The error is a *ParseError, or ParseErrors with up to
// ten of them.
func Parse(name string, src []byte) (*Script, error) {
	return parse(name, src, newScope())
}

// ParseAfter reads a script that goes on where prev ended, in the same
// Session: what prev defines is known, and the first line need not name the
// version.
func ParseAfter(prev *Script, name string, src []byte) (*Script, error) {
	sc := prev.scope.clone()
	sc.more = true
	return parse(name, src, sc)
}

func parse(name string, src []byte, sc *scope) (*Script, error) {
	p := &parser{file: name, sc: sc}
	lines := strings.Split(string(src), "\n")
	if n := len(lines); n > 1 && lines[n-1] == "" {
		lines = lines[:n-1]
	}
	first := true
	for i, text := range lines {
		p.no, p.src = i+1, text
		if i >= maxLines {
			p.fail(0, "one line more", fmt.Sprintf("at most %d lines", maxLines), nil)
			break
		}
		if len(text) > maxLineBytes {
			p.fail(maxLineBytes, text[maxLineBytes:], fmt.Sprintf("a line of at most %d bytes", maxLineBytes), nil)
			continue
		}
		words, comment, ok := p.words(text)
		if !ok {
			first = false
			continue
		}
		if len(words) == 0 {
			if strings.Contains(text, "#") {
				p.add(&commentStmt{comment})
			}
			continue
		}
		if first && !sc.more && words[0].text != "script" {
			p.fail(words[0].off, words[0].text, `the version of the language, "script 1"`, []string{"script"})
		}
		p.line(words, first)
		first = false
		if p.full {
			break
		}
	}
	if first && !sc.more {
		p.no, p.src = 1, ""
		p.fail(0, "", `the version of the language, "script 1"`, nil)
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return &Script{Name: name, Source: string(src), Seed: p.seed, Nodes: sc.nodes, Lines: p.lines, scope: sc}, nil
}

func (p *parser) add(s stmt) {
	p.lines = append(p.lines, Line{No: p.no, Text: strings.TrimSpace(p.src), stmt: s})
}

// lineWords are the words that a line may start with besides NODE:.
var lineWords = []string{"script", "seed", "nodes", "pair", "expect", "wait", "mark", "advance", "fault", "ignore"}

// line parses one line that has words.
func (p *parser) line(words []word, first bool) {
	head := words[0]
	if i := strings.IndexByte(head.text, ':'); i > 0 && isName(head.text[:i]) {
		rest := words[1:]
		if i+1 < len(head.text) {
			rest = append([]word{{head.text[i+1:], head.off + i + 1}}, rest...)
		}
		p.nodeLine(word{head.text[:i], head.off}, word{"", head.off + i + 1}, rest)
		return
	}
	switch head.text {
	case "script":
		p.version(words, first)
		return
	case "seed", "nodes":
		p.header(words)
		return
	}
	p.sc.used = true
	switch {
	case head.text == "pair":
		p.pair(words)
	case head.text == "expect" || strings.HasPrefix(head.text, "expect["):
		if e := p.expect(words); e != nil {
			p.add(&expectStmt{e})
		}
		return // an expect keeps the verb line above it
	case head.text == "wait":
		p.waitQuiet(words)
	case head.text == "mark" || head.text == "advance":
		p.timeLine(words)
	case head.text == "fault":
		p.fault(words)
	case head.text == "ignore":
		p.ignore(words)
	default:
		starts := append([]string(nil), lineWords...)
		for _, n := range p.sc.nodes {
			starts = append(starts, n+":")
		}
		what := strings.Join(lineWords[3:], ", ") + " or a node with a colon"
		if findVerb(head.text) != nil {
			what = `a node before the verb, as in "` + p.sc.nodes[0] + ": " + head.text + `"`
		}
		p.fail(head.off, head.text, what, starts)
	}
	p.last = false
}

func (p *parser) version(words []word, first bool) {
	if !first {
		p.fail(words[0].off, "script", "the version on the first line only", nil)
		return
	}
	if len(words) != 2 || words[1].text != Version {
		off, got := words[0].end(), ""
		if len(words) > 1 {
			off, got = words[1].off, words[1].text
		}
		if len(words) > 2 && got == Version {
			off, got = words[2].off, words[2].text
		}
		p.fail(off, got, "version "+Version+` of the language, "script `+Version+`"`, nil)
		return
	}
	p.add(&headStmt{"script", []string{Version}})
}

// header reads seed and nodes.
func (p *parser) header(words []word) {
	head := words[0]
	if p.sc.more {
		p.fail(head.off, head.text, "no seed or nodes in a script that goes on from another", nil)
		return
	}
	if p.sc.used {
		p.fail(head.off, head.text, head.text+" before the first line that does something", nil)
		return
	}
	if head.text == "seed" {
		if !p.count(words, 2, "one number") {
			return
		}
		n, ok := parseNumber(words[1].text)
		if !ok {
			p.fail(words[1].off, words[1].text, "a number from 0 to 2^64-1", nil)
			return
		}
		p.seed = n
		p.add(&headStmt{"seed", []string{words[1].text}})
		return
	}
	if len(words) == 1 {
		p.fail(head.end(), "", "the names of the nodes", nil)
		return
	}
	var names []string
	seen := map[string]bool{}
	for _, w := range words[1:] {
		switch {
		case !isName(w.text) || reserved[w.text]:
			p.fail(w.off, w.text, "a name for a node: a letter, then letters, digits and _", nil)
			return
		case seen[w.text]:
			p.fail(w.off, w.text, "a name that is not given twice", nil)
			return
		case len(names) == maxNodes:
			p.fail(w.off, w.text, fmt.Sprintf("at most %d nodes", maxNodes), nil)
			return
		}
		seen[w.text] = true
		names = append(names, w.text)
	}
	p.sc.nodes = names
	p.add(&headStmt{"nodes", names})
}

// reserved words would make a line or a path ambiguous.
var reserved = map[string]bool{
	"event": true, "counter": true, "since": true, "wire": true, "quiet": true, "none": true, "ret": true,
	"posted": true, "port": true, "script": true, "expect": true, "pair": true, "fault": true,
}

// count demands exactly n words.
func (p *parser) count(words []word, n int, what string) bool {
	switch {
	case len(words) < n:
		p.fail(words[len(words)-1].end(), "", what, nil)
	case len(words) > n:
		p.fail(words[n].off, words[n].text, "the end of the line", nil)
	default:
		return true
	}
	return false
}

// node checks the name of a node.
func (p *parser) node(w word) bool {
	if p.loose && isName(w.text) && !reserved[w.text] {
		return true
	}
	if p.sc.hasNode(w.text) {
		return true
	}
	p.fail(w.off, w.text, "a node: "+strings.Join(p.sc.nodes, ", "), p.sc.nodes)
	return false
}

// nodeLine reads NODE: verb …
func (p *parser) nodeLine(node, after word, rest []word) {
	p.sc.used = true
	p.last = false
	if !p.node(node) {
		return
	}
	if len(rest) == 0 {
		p.fail(after.off, "", "a verb", nil)
		return
	}
	verb := rest[0]
	spec := findVerb(strings.TrimPrefix(strings.ToLower(verb.text), "ibv_"))
	if spec == nil {
		p.fail(verb.off, verb.text, "a verb", verbNames())
		return
	}
	if st := p.verb(node.text, spec, verb, rest[1:]); st != nil {
		p.add(st)
	}
	p.last = true
}

// verb reads what follows a verb. It returns nil after an error.
func (p *parser) verb(node string, spec *verbSpec, verb word, rest []word) *verbStmt {
	before := len(p.errs)
	st := &verbStmt{node: node, spec: spec}
	var def word
	if spec.form != formNone {
		if len(rest) == 0 {
			p.fail(verb.end(), "", "the name of "+spec.obj.plain(), nil)
			return nil
		}
		switch w := rest[0]; spec.form {
		case formDef:
			def = w
			st.obj = w.text
			p.newName(node, w)
		case formRef:
			st.obj = w.text
			p.object(node, w, spec.obj, false)
		default:
			v, ok := p.rangeValue(w, node, spec.obj, false)
			if spec.form == formPlace && ok && v.rng.span == spanCut {
				p.fail(w.off, w.text, "a place such as mr1 or mr1+8", nil)
			}
			st.rng = v.rng
		}
		verb, rest = rest[0], rest[1:]
	}
	st.groups, st.label = p.args(node, spec, verb, rest)
	if spec.form == formDef && isName(def.text) && !reserved[def.text] {
		r := ref{node, def.text}
		if _, dup := p.sc.objs[r]; !dup {
			p.sc.objs[r] = def0(spec.obj, p.no)
		}
	}
	if st.label != "" {
		if _, dup := p.sc.labels[st.label]; !dup {
			p.sc.labels[st.label] = p.no
		}
	}
	if len(p.errs) > before || p.full {
		return nil
	}
	return st
}

func def0(kind objKind, line int) def { return def{kind, line} }

// args reads the requests of a verb line and its label.
func (p *parser) args(node string, spec *verbSpec, verb word, rest []word) (groups []args, label string) {
	var group args
	seen := map[string]int{} // key to its offset
	end := verb
	finish := func() {
		p.complete(spec, group, end, seen)
		groups = append(groups, group)
	}
	for _, w := range rest {
		if w.text == ";" {
			if !spec.list {
				p.fail(w.off, ";", "one request; "+spec.name+" takes no list", nil)
				return groups, label
			}
			if len(groups)+2 > maxListLen {
				p.fail(w.off, ";", fmt.Sprintf("at most %d requests in a list", maxListLen), nil)
				return groups, label
			}
			finish()
			group, seen, end = nil, map[string]int{}, w
			continue
		}
		key, op, val := splitArg(w)
		name := strings.ToLower(key.text)
		if op.text != "=" {
			p.fail(key.off, w.text, "key=value; "+spec.name+" takes "+keyList(spec), keyNames(spec.keys))
			continue
		}
		if name == "label" {
			label = p.label(val, label)
			end = w
			continue
		}
		k := spec.key(name)
		if k == nil {
			p.fail(key.off, key.text, "a key that "+spec.name+" takes: "+keyList(spec), append(keyNames(spec.keys), "label"))
			continue
		}
		if _, dup := seen[name]; dup {
			p.fail(key.off, key.text, "each key once", nil)
			continue
		}
		seen[name] = key.off
		end = w
		if v, ok := p.value(*k, val, node); ok {
			group = append(group, arg{name, v})
		} else {
			group = append(group, arg{name, value{}})
		}
	}
	finish()
	return groups, label
}

func keyList(spec *verbSpec) string {
	if len(spec.keys) == 0 {
		return "only label"
	}
	return strings.Join(keyNames(spec.keys), " ")
}

func (p *parser) label(val word, old string) string {
	line, dup := p.sc.labels[val.text]
	switch {
	case old != "":
		p.fail(val.off, val.text, "one label a line", nil)
	case !isName(val.text) || reserved[val.text] || p.sc.hasNode(val.text):
		p.fail(val.off, val.text, "a name that is neither a node nor a word of the language", nil)
	case dup:
		p.fail(val.off, val.text, fmt.Sprintf("a new label (%s is the one of line %d)", val.text, line), nil)
	default:
		return val.text
	}
	return ""
}

// complete checks that a request has the keys that it needs.
func (p *parser) complete(spec *verbSpec, g args, end word, offs map[string]int) {
	for _, k := range spec.keys {
		if _, ok := g.get(k.name); k.required && !ok {
			p.fail(end.end(), "", k.name+"=, which "+spec.name+" needs", nil)
			return
		}
	}
	if len(spec.oneOf) > 0 {
		n := 0
		for _, name := range spec.oneOf {
			if _, ok := g.get(name); ok {
				n++
			}
		}
		if n == 0 || (n > 1 && spec.name != "modify_srq" && spec.name != "reg_mr" && spec.name != "rereg_mr") {
			p.fail(end.end(), "", "one of "+strings.Join(spec.oneOf, "=, ")+"=", nil)
			return
		}
	}
	_, av := g.get("av")
	for _, k := range pathKeys {
		if _, ok := g.get(k.name); ok && !av && spec.name == "modify_qp" {
			p.fail(end.end(), "", "av=, without which "+k.name+"= means nothing", nil)
			return
		}
	}
	if spec.name == "post_send" {
		p.completeSend(g, end, offs)
	}
}

// completeSend checks the keys of a request against its opcode.
func (p *parser) completeSend(g args, end word, offs map[string]int) {
	op, _ := g.get("opcode")
	rule, ok := sendRules[op.text]
	if !ok {
		return
	}
	_, remote := g.get("remote")
	_, addr := g.get("remote_addr")
	_, rkey := g.get("rkey")
	legal := map[string]bool{"wr_id": true, "opcode": true, "send_flags": true, "ah": true, "dest": true, "qkey": true}
	for _, k := range append(append([]string(nil), rule.need...), rule.may...) {
		legal[k] = true
		if k == "remote" {
			legal["remote_addr"], legal["rkey"] = true, true
		}
	}
	for _, one := range g {
		if !legal[one.key] {
			p.fail(offs[one.key], one.key, "no "+one.key+"=: opcode="+op.text+" does not use it", nil)
			return
		}
	}
	for _, k := range rule.need {
		if _, ok := g.get(k); ok || (k == "remote" && addr && rkey) {
			continue
		}
		what := k + "="
		if k == "remote" {
			what = "remote= (or remote_addr= and rkey=)"
		}
		p.fail(end.end(), "", what+", which opcode="+op.text+" needs", nil)
		return
	}
	if remote && addr && rkey {
		p.fail(offs["remote"], "remote", "remote= with at most one of remote_addr= and rkey= in place of its own", nil)
	}
}
