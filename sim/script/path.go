package script

import "strings"

// Path names one value of a session, such as a.cq1[0].status.
type Path struct {
	subj  subject
	field string
}

// String is the path in its canonical form.
func (p *Path) String() string {
	return p.subj.String() + "." + p.field
}

// ParsePath reads a value path. The objects that it names are looked up when it
// is used; Script.ParsePath looks them up at once.
func ParsePath(text string) (*Path, error) {
	return parsePath(&parser{file: "path", no: 1, src: text, sc: newScope(), loose: true, last: true})
}

// ParsePath reads a path into the state that the script ends in.
func (s *Script) ParsePath(name, text string) (*Path, error) {
	return parsePath(&parser{file: name, no: 1, src: text, sc: s.scope, last: true})
}

func parsePath(p *parser) (*Path, error) {
	if len(p.src) > maxLineBytes || strings.ContainsAny(p.src, " \t\r\n\"#;{}") {
		p.fail(0, p.src, "one value path, such as a.cq1[0].status", nil)
		return nil, p.err()
	}
	path, _ := p.path(word{p.src, 0})
	return path, p.err()
}

// path reads a word as a path.
func (p *parser) path(w word) (*Path, bool) {
	i := strings.LastIndexByte(w.text, '.')
	if i < 0 {
		p.fail(w.off, w.text, "a value path, such as a.cq1[0].status", nil)
		return nil, false
	}
	out := &Path{field: w.text[i+1:]}
	at := word{out.field, w.off + i + 1}
	if !p.subject(&out.subj, word{w.text[:i], w.off}) {
		return nil, false
	}
	switch out.subj.kind {
	case onCounter, onSince:
		e := &Expect{subj: out.subj}
		_, ok := p.clauseKey(e, nil, at, word{"=", at.end()})
		return out, ok
	}
	fields := p.subjectKeys(&out.subj)
	out.field = strings.ToLower(out.field)
	k := findKey(fields, out.field)
	if k == nil || k.name == "none" || k.name == "equals" || !p.indexed(&out.subj, k.name) {
		var names []string
		for _, f := range fields {
			if f.name != "none" && f.name != "equals" && p.indexed(&out.subj, f.name) {
				names = append(names, f.name)
			}
		}
		p.fail(at.off, at.text, "a field of "+out.subj.String()+": "+strings.Join(names, " "), names)
		return nil, false
	}
	return out, true
}

// indexed says whether a field can be asked for: the fields of completions and
// events need an index.
func (p *parser) indexed(s *subject, field string) bool {
	if s.hasIndex {
		return true
	}
	switch s.kind {
	case onEvent:
		return field == "count"
	case onObject:
		if p.loose {
			return true
		}
		switch p.sc.objs[ref{s.node, s.name}].kind {
		case kCQ:
			return field == "count" || field == "cqe"
		case kChannel:
			return field == "count"
		}
	}
	return true
}
