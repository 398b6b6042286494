package script

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// newName checks the name of a new object.
func (p *parser) newName(node string, w word) {
	if !isName(w.text) || reserved[w.text] {
		p.fail(w.off, w.text, "a name for the new object: a letter, then letters, digits and _", nil)
		return
	}
	if d, dup := p.sc.objs[ref{node, w.text}]; dup {
		p.fail(w.off, w.text, fmt.Sprintf("a new name (%s.%s is %s of line %d)", node, w.text, d.kind.plain(), d.line), nil)
	}
}

// object checks the name of an object, with NODE. before it or, unless any, on
// the line's own node.
func (p *parser) object(node string, w word, kinds objKind, any bool) (ref, bool) {
	r := ref{node, w.text}
	at := w
	if n, name, dotted := strings.Cut(w.text, "."); dotted {
		nw := word{n, w.off}
		if !p.node(nw) {
			return ref{}, false
		}
		if !any && n != node {
			p.fail(w.off, w.text, kinds.plain()+" of node "+node, p.sc.names(node, kinds))
			return ref{}, false
		}
		r = ref{n, name}
		at = word{name, w.off + len(n) + 1}
	}
	if !isName(r.name) {
		p.fail(at.off, at.text, "the name of "+kinds.plain(), p.candidates(r.node, kinds))
		return ref{}, false
	}
	if p.loose {
		return r, true
	}
	d, ok := p.sc.objs[r]
	switch {
	case !ok:
		p.fail(at.off, at.text, "the name of "+kinds.plain()+" of node "+r.node+" that a line above makes", p.candidates(r.node, kinds))
	case d.kind&kinds == 0:
		p.fail(at.off, at.text, kinds.plain()+"; "+r.node+"."+r.name+" is "+d.kind.plain(), p.candidates(r.node, kinds))
	default:
		return r, true
	}
	return ref{}, false
}

func (p *parser) candidates(node string, kinds objKind) []string {
	if p.loose {
		return nil
	}
	return p.sc.names(node, kinds)
}

// value reads the value of a key.
func (p *parser) value(k keySpec, w word, node string) (value, bool) {
	v := value{kind: k.kind, text: w.text}
	if w.text == "" {
		p.fail(w.off, "", "a value for "+k.name, nil)
		return v, false
	}
	switch k.kind {
	case vNum:
		return p.number(k, w)
	case vEnum:
		return p.constant(k.enum, w)
	case vDur:
		d, ok := parseDuration(w.text)
		if !ok {
			p.fail(w.off, w.text, "a duration up to an hour, such as 10ms or 4.2us", nil)
		}
		v.dur = d
		return v, ok
	case vNode:
		v.ref.node = w.text
		return v, p.node(w)
	case vRef:
		r, ok := p.object(node, w, k.kinds, false)
		v.ref, v.text = r, r.name
		return v, ok
	case vAnyRef, vKey:
		if w.text[0] >= '0' && w.text[0] <= '9' {
			return p.number(k, w)
		}
		r, ok := p.object(node, w, k.kinds, true)
		v.ref, v.text = r, rangeRef{ref: r}.text(node)
		return v, ok
	case vRange, vRemote:
		return p.rangeValue(w, node, k.kinds, k.kind == vRemote)
	case vPlace:
		if w.text[0] >= '0' && w.text[0] <= '9' {
			return p.number(k, w)
		}
		return p.rangeValue(w, node, k.kinds, true)
	case vSGE:
		return p.sgeList(w, node)
	case vOn:
		if w.text == "port" {
			return v, true
		}
		r, ok := p.object(node, w, kCQ|kQP|kSRQ, false)
		v.ref, v.text = r, r.name
		return v, ok
	}
	return p.bytesValue(k, w)
}

func (p *parser) number(k keySpec, w word) (value, bool) {
	n, ok := parseNumber(w.text)
	if !ok || n > k.max {
		what := "a number from 0 to " + decimal(k.max)
		if k.kind != vNum {
			what = "the name of " + k.kinds.plain() + " or " + what
		}
		p.fail(w.off, w.text, what, nil)
		return value{}, false
	}
	return value{kind: k.kind, text: strings.ToLower(w.text), num: n}, true
}

// constant reads a C constant or flags; text becomes its full name.
func (p *parser) constant(e *enum, w word) (value, bool) {
	n, ok := e.parse(w.text)
	if !ok {
		what := e.what
		if len(e.names) <= 10 {
			what += ": " + strings.Join(e.names, " ")
		}
		off, got := w.off, w.text
		if e.flags {
			what += " joined by |"
			for _, part := range strings.Split(w.text, "|") {
				if _, good := e.parse(part); !good || part == "0" {
					got = part
					break
				}
				off += len(part) + 1
			}
		}
		p.fail(off, got, what, e.names)
		return value{}, false
	}
	return value{kind: vEnum, text: e.print(n), num: n}, true
}

func (p *parser) bytesValue(k keySpec, w word) (value, bool) {
	v := value{kind: k.kind, text: w.text}
	switch k.kind {
	case vText:
		b, ok := quoted(w.text)
		if !ok {
			p.fail(w.off, w.text, `text in quotation marks, with \" \\ \n \t \0 \xNN`, nil)
		}
		v.bytes = b
		return v, ok
	case vHex:
		b, err := hex.DecodeString(w.text)
		if err != nil {
			p.fail(w.off, w.text, "bytes in hexadecimal, two digits each", nil)
		}
		v.bytes, v.text = b, strings.ToLower(w.text)
		return v, err == nil
	case vByte:
		return p.number(keySpec{name: k.name, kind: vNum, max: max8}, w)
	case vFill:
		b, n, _ := strings.Cut(w.text, ":")
		fill, ok := p.number(keySpec{kind: vNum, max: max8}, word{b, w.off})
		if !ok {
			return v, false
		}
		count, ok := p.number(keySpec{kind: vNum, max: maxBytes}, word{n, w.off + min(len(b)+1, len(w.text))})
		v.num, v.bytes, v.text = count.num, []byte{byte(fill.num)}, fill.text+":"+count.text
		return v, ok
	case vPSN:
		digits, plus := strings.CutPrefix(w.text, "+")
		n, ok := parseNumber(digits)
		if !ok || !plus || n > max24 {
			p.fail(w.off, w.text, "a PSN counted from the initial one, such as +5, below 2^24", nil)
			return v, false
		}
		v.num = n
		return v, true
	}
	p.fail(w.off, w.text, "no value here", nil)
	return v, false
}

// rangeValue reads mr1, mr1[0:64], mr1+8, with NODE. before it if any.
func (p *parser) rangeValue(w word, node string, kinds objKind, any bool) (value, bool) {
	v := value{kind: vRange}
	name := w.text
	if i := strings.IndexAny(name, "[+"); i >= 0 {
		name = name[:i]
	}
	r, ok := p.object(node, word{name, w.off}, kinds, any)
	if !ok {
		return v, false
	}
	v.rng.ref = r
	rest, off := w.text[len(name):], w.off+len(name)
	bad := func(what string) (value, bool) {
		p.fail(off, rest, what, nil)
		return v, false
	}
	switch {
	case rest == "":
	case rest[0] == '+':
		n, ok := parseNumber(rest[1:])
		if !ok || n > maxBytes {
			return bad("an offset in bytes such as +8, at most " + decimal(maxBytes))
		}
		v.rng.span, v.rng.lo = spanFrom, n
	default:
		lo, hi, ok := cutRange(rest)
		if !ok || hi > maxBytes {
			return bad("a range of bytes such as [0:64], up to " + decimal(maxBytes))
		}
		if hi < lo {
			return bad("a range that ends after it starts")
		}
		v.rng.span, v.rng.lo, v.rng.hi = spanCut, lo, hi
	}
	v.text = v.rng.text(node)
	return v, true
}

// cutRange reads [lo:hi].
func cutRange(s string) (lo, hi uint64, ok bool) {
	if len(s) < 2 || s[0] != '[' || s[len(s)-1] != ']' {
		return 0, 0, false
	}
	a, b, ok := strings.Cut(s[1:len(s)-1], ":")
	if !ok {
		return 0, 0, false
	}
	lo, ok1 := parseNumber(a)
	hi, ok2 := parseNumber(b)
	return lo, hi, ok1 && ok2
}

// sgeList reads mr1[0:64],mr2[0:16]/lkey=0xdead or none.
func (p *parser) sgeList(w word, node string) (value, bool) {
	v := value{kind: vSGE, text: "none"}
	if w.text == "none" {
		return v, true
	}
	off := w.off
	var texts []string
	for _, part := range strings.Split(w.text, ",") {
		place, key, hasKey := strings.Cut(part, "/")
		rng, ok := p.rangeValue(word{place, off}, node, kMR|kBuf, false)
		if !ok {
			return v, false
		}
		s, text := sgeRef{rng: rng.rng, hasKey: hasKey}, rng.text
		if hasKey {
			name, val, _ := strings.Cut(key, "=")
			if name != "lkey" {
				p.fail(off+len(place)+1, key, "lkey= with a key", []string{"lkey"})
				return v, false
			}
			s.key, ok = p.value(keySpec{name: "lkey", kind: vKey, kinds: kMR | kMW, max: max32}, word{val, off + len(place) + 6}, node)
			if !ok {
				return v, false
			}
			text += "/lkey=" + s.key.text
		}
		v.sges = append(v.sges, s)
		texts = append(texts, text)
		off += len(part) + 1
	}
	v.text = strings.Join(texts, ",")
	return v, true
}
