package script

import "strings"

// clauses reads the comparisons of an expect line.
func (p *parser) clauses(e *Expect, at word, rest []word) {
	keys := p.subjectKeys(&e.subj)
	seen := map[string]bool{}
	for _, w := range rest {
		key, op, val := splitArg(w)
		name := key.text
		if e.subj.kind != onCounter && e.subj.kind != onSince {
			name = strings.ToLower(name)
		}
		if name == "within" && op.text == "=" {
			if v, ok := p.value(keySpec{name: "within", kind: vDur}, val, ""); ok {
				e.within, e.withinAs = v.dur, v.text
			}
			continue
		}
		if seen[name+op.text] {
			p.fail(key.off, key.text, "each key once", nil)
			continue
		}
		seen[name+op.text] = true
		if c, ok := p.clause(e, keys, word{name, key.off}, op, val); ok {
			e.clauses = append(e.clauses, c)
		}
	}
	if len(e.clauses) == 0 && len(p.errs) == 0 {
		p.fail(at.end(), "", "a comparison; "+e.subj.String()+" has "+strings.Join(keyNames(keys), " "), nil)
	}
	if len(e.clauses) > 1 {
		for _, c := range e.clauses {
			if c.key == "none" || (c.key == "count" && e.subj.kind != onWire) {
				p.fail(at.end(), c.key, c.key+" alone", nil)
				return
			}
		}
	}
}

func (p *parser) clause(e *Expect, keys []keySpec, key, op, val word) (clause, bool) {
	c := clause{key: key.text, op: op.text}
	k, ok := p.clauseKey(e, keys, key, op)
	if !ok {
		return c, false
	}
	if k.name == "none" {
		c.val = value{kind: vText}
		return c, true
	}
	if op.text == "" || op.text == "!" {
		p.fail(op.off, op.text, "a comparison: = != < <= > >=", nil)
		return c, false
	}
	ordered := k.kind == vNum || k.kind == vDur || (k.kind == vEnum && k.enum == mtuEnum)
	if !ordered && op.text != "=" && op.text != "!=" {
		p.fail(op.off, op.text, "= or !=: "+k.name+" has no order", nil)
		return c, false
	}
	c.val, ok = p.clauseValue(k, val, e.subj.node, op.text)
	return c, ok
}

// clauseKey finds the key that a clause may have with this subject.
func (p *parser) clauseKey(e *Expect, keys []keySpec, key, op word) (keySpec, bool) {
	switch e.subj.kind {
	case onCounter:
		if key.text == "" || strings.Trim(key.text, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			p.fail(key.off, key.text, "the name of a hardware counter, such as out_of_sequence", nil)
			return keySpec{}, false
		}
		return num(key.text, max64), true
	case onSince:
		if _, ok := p.sc.marks[key.text]; !ok && !(p.loose && isName(key.text)) {
			p.fail(key.off, key.text, "the name of a mark", sortedKeys(p.sc.marks))
			return keySpec{}, false
		}
		return plain(key.text, vDur), true
	}
	k := findKey(keys, key.text)
	if k == nil || (k.name == "none") != (op.text == "") && k.name == "none" {
		p.fail(key.off, key.text, "what "+e.subj.String()+" has: "+strings.Join(keyNames(keys), " "), keyNames(keys))
		return keySpec{}, false
	}
	return *k, true
}

// clauseValue reads a value, a set of them, or a path.
func (p *parser) clauseValue(k keySpec, w word, node, op string) (value, bool) {
	if k.kind == vRemote { // equals=
		return p.rangeValue(w, node, k.kinds, true)
	}
	if inner, ok := strings.CutPrefix(w.text, "{"); ok {
		return p.setValue(k, word{strings.TrimSuffix(inner, "}"), w.off + 1}, node, op)
	}
	if isPath(w.text, k) {
		path, ok := p.path(w)
		if !ok {
			return value{}, false
		}
		return value{kind: k.kind, text: path.String(), path: path}, true
	}
	return p.value(k, w, node)
}

func (p *parser) setValue(k keySpec, w word, node, op string) (value, bool) {
	if op != "=" && op != "!=" {
		p.fail(w.off-1, "{"+w.text+"}", "one value after "+op, nil)
		return value{}, false
	}
	v := value{kind: k.kind, set: []value{}}
	var texts []string
	off := w.off
	for _, part := range strings.Split(w.text, ",") {
		trimmed := strings.TrimSpace(part)
		lead := strings.Index(part, trimmed)
		one, ok := p.value(k, word{trimmed, off + lead}, node)
		if !ok {
			return v, false
		}
		v.set = append(v.set, one)
		texts = append(texts, one.text)
		off += len(part) + 1
	}
	v.text = "{" + strings.Join(texts, ",") + "}"
	return v, true
}

// isPath tells a path from a plain value.
func isPath(s string, k keySpec) bool {
	if s == "" || k.kind == vText || !isName(s[:1]) {
		return false
	}
	if strings.HasPrefix(s, "wire[") {
		return true
	}
	dots := strings.Count(s, ".")
	if k.kind == vRef || k.kind == vAnyRef || k.kind == vKey || k.kind == vOn {
		return dots >= 2
	}
	return dots >= 1
}
