package script

import (
	"fmt"
	"strings"
)

// pairOption is one option of a pair line and its default.
type pairOption struct {
	keySpec
	def   string
	types string // the QP types that it means something for
}

const rwa = "REMOTE_WRITE|REMOTE_READ|REMOTE_ATOMIC"

var pairOptions = []pairOption{
	{num("mr", maxBytes), "4096", "rc uc ud"},
	{named("mr_access", accessEnum), "LOCAL_WRITE|" + rwa, "rc uc ud"},
	{named("qp_access", accessEnum), rwa, "rc uc"},
	{num("cqe", maxCount), "64", "rc uc ud"},
	{num("max_send_wr", maxCount), "16", "rc uc ud"},
	{num("max_recv_wr", maxCount), "16", "rc uc ud"},
	{num("max_send_sge", maxCount), "2", "rc uc ud"},
	{num("max_recv_sge", maxCount), "2", "rc uc ud"},
	{num("max_inline", maxCount), "64", "rc uc ud"},
	{named("sq_sig_all", boolEnum), "0", "rc uc ud"},
	{named("mtu", mtuEnum), "1024", "rc uc"},
	{num("timeout", max8), "14", "rc"},
	{num("retry_cnt", max8), "6", "rc"},
	{num("rnr_retry", max8), "6", "rc"},
	{num("min_rnr_timer", max8), "12", "rc"},
	{num("max_rd_atomic", max8), "4", "rc"},
	{num("max_dest_rd_atomic", max8), "4", "rc"},
	{num("psn", max24), "0x100", "rc uc ud"},
	{num("qkey", max32), "0x11111111", "ud"},
	{named("state", pairStateEnum), "RTS", "rc uc ud"},
	{named("split_cq", boolEnum), "0", "rc uc ud"},
	{objRef("pd", kPD), "", "rc uc ud"},
	{objRef("cq", kCQ), "", "rc uc ud"},
	{objRef("srq", kSRQ), "", "rc ud"},
	{objRef("mr_of", kMR), "", "rc uc ud"}, // mr=NAME
}

// pairStateEnum is how far a pair may go.
var pairStateEnum = &enum{
	what: "how far the pair goes", names: []string{"RESET", "INIT", "RTR", "RTS"},
	parse: func(s string) (uint64, bool) { n, ok := qpStateEnum.parse(s); return n, ok && n <= 3 },
	print: qpStateEnum.print,
}

// pairSide is one node's half of a pair.
type pairSide struct {
	node string
	opt  map[string]string
	have map[string]bool // options that were given
}

// pairLine is a pair line before it is written out.
type pairLine struct {
	typ   string
	n     int
	sides [2]pairSide
}

// pair reads a pair line and the verb lines that it stands for.
func (p *parser) pair(words []word) {
	types := []string{"rc", "uc", "ud"}
	if len(p.sc.nodes) < 2 {
		p.fail(words[0].off, "pair", "two nodes; this script names one", nil)
		return
	}
	if len(words) < 2 {
		p.fail(words[0].end(), "", "rc, uc or ud", nil)
		return
	}
	l := pairLine{typ: strings.ToLower(words[1].text), n: p.sc.pairs + 1}
	if l.typ != "rc" && l.typ != "uc" && l.typ != "ud" {
		p.fail(words[1].off, words[1].text, "rc, uc or ud", types)
		return
	}
	for i := range l.sides {
		l.sides[i] = pairSide{node: p.sc.nodes[i], opt: map[string]string{}, have: map[string]bool{}}
		for _, o := range pairOptions {
			l.sides[i].opt[o.name] = o.def
		}
	}
	before := len(p.errs)
	text := []string{"pair", l.typ}
	for _, w := range words[2:] {
		if t, ok := p.pairOption(&l, w); ok {
			text = append(text, t)
		}
	}
	p.sc.pairs++
	st := &pairStmt{text: strings.Join(text, " "), lines: l.expand()}
	for _, line := range st.lines {
		p.pairVerb(st, words[0], line)
	}
	if len(p.errs) == before && !p.full {
		p.add(st)
	}
}

// pairVerb parses one of the lines that a pair stands for; what is wrong with
// it is reported at the pair line.
func (p *parser) pairVerb(st *pairStmt, at word, line string) {
	q := &parser{file: p.file, no: p.no, src: line, sc: p.sc}
	list, _, _ := q.words(line)
	node := strings.TrimSuffix(list[0].text, ":")
	v := q.verb(node, findVerb(list[1].text), list[1], list[2:])
	if len(q.errs) > 0 {
		p.fail(at.off, "pair", q.errs[0].Expected+` in "`+line+`", which this pair stands for`, nil)
		return
	}
	st.verbs = append(st.verbs, v)
}

// pairOption reads KEY=VALUE or NODE.KEY=VALUE and returns its canonical text.
func (p *parser) pairOption(l *pairLine, w word) (string, bool) {
	key, op, val := splitArg(w)
	name, side := strings.ToLower(key.text), -1
	if node, rest, dotted := strings.Cut(key.text, "."); dotted {
		for i := range l.sides {
			if l.sides[i].node == node {
				side = i
			}
		}
		if side < 0 {
			nodes := []string{l.sides[0].node, l.sides[1].node}
			p.fail(w.off, node, "a node of the pair: "+strings.Join(nodes, " or "), nodes)
			return "", false
		}
		key = word{rest, key.off + len(node) + 1}
		name = strings.ToLower(rest)
	}
	var legal []string
	var found *pairOption
	for i, o := range pairOptions {
		if o.name != "mr_of" && strings.Contains(o.types, l.typ) {
			legal = append(legal, o.name)
			if o.name == name {
				found = &pairOptions[i]
			}
		}
	}
	if found == nil || op.text != "=" {
		p.fail(key.off, key.text, "an option of pair "+l.typ+": "+strings.Join(legal, " "), legal)
		return "", false
	}
	spec := found.keySpec
	if name == "mr" && val.text != "" && isName(val.text) {
		spec, name = findPair("mr_of").keySpec, "mr_of"
	}
	text := ""
	for i := range l.sides {
		s := &l.sides[i]
		if side >= 0 && side != i {
			continue
		}
		if s.have[name] && (side < 0 || s.have[s.node+"."+name]) {
			p.fail(key.off, key.text, "each option once", nil)
			return "", false
		}
		s.have[name] = true
		if side >= 0 {
			s.have[s.node+"."+name] = true
		}
		v, ok := p.value(spec, val, s.node)
		if !ok {
			return "", false
		}
		s.opt[name], text = v.text, v.text
	}
	if side >= 0 {
		return l.sides[side].node + "." + found.name + "=" + text, true
	}
	return found.name + "=" + text, true
}

func findPair(name string) *pairOption {
	for i := range pairOptions {
		if pairOptions[i].name == name {
			return &pairOptions[i]
		}
	}
	return nil
}

// expand writes the pair out, verb by verb: the objects of both nodes, then
// both QPs step by step, so that neither reaches RTS before the other can
// answer.
func (l *pairLine) expand() []string {
	lines := append(l.objects(0), l.objects(1)...)
	steps := []func(int) string{l.toInit, l.toRTR, l.toRTS}
	for k, step := range steps {
		for i := range l.sides {
			if int(stateNumber(l.sides[i].opt["state"])) > k {
				lines = append(lines, step(i))
			}
		}
	}
	return lines
}

func stateNumber(s string) uint64 {
	n, _ := qpStateEnum.parse(s)
	return n
}

// objects makes what the QP of one side needs, and the QP.
func (l *pairLine) objects(i int) []string {
	s, n := &l.sides[i], l.n
	o := s.opt
	var lines []string
	add := func(format string, args ...any) {
		lines = append(lines, s.node+": "+fmt.Sprintf(format, args...))
	}
	take := func(key, name, create string) string {
		if o[key] != "" {
			return o[key]
		}
		name = fmt.Sprintf("%s%d", name, n)
		add("%s", fmt.Sprintf(create, name))
		return name
	}
	pd := take("pd", "pd", "alloc_pd %s")
	var scq, rcq string
	if o["split_cq"] == "1" && o["cq"] == "" {
		scq = take("", "scq", "create_cq %s cqe="+o["cqe"])
		rcq = take("", "rcq", "create_cq %s cqe="+o["cqe"])
	} else {
		scq = take("cq", "cq", "create_cq %s cqe="+o["cqe"])
		rcq = scq
	}
	take("mr_of", "mr", "reg_mr %s pd="+pd+" length="+o["mr"]+" access="+o["mr_access"])
	qp := "create_qp %s pd=" + pd + " type=" + strings.ToUpper(l.typ) + " send_cq=" + scq + " recv_cq=" + rcq
	if o["srq"] != "" {
		qp += " srq=" + o["srq"]
	}
	for _, k := range []string{"max_send_wr", "max_recv_wr", "max_send_sge", "max_recv_sge", "max_inline", "sq_sig_all"} {
		qp += " " + k + "=" + o[k]
	}
	take("", "qp", qp)
	if l.typ == "ud" {
		take("", "ah", "create_ah %s pd="+pd+" to="+l.sides[1-i].node)
	}
	return lines
}

func (l *pairLine) modify(i int, rest string) string {
	return fmt.Sprintf("%s: modify_qp qp%d %s", l.sides[i].node, l.n, rest)
}

func (l *pairLine) toInit(i int) string {
	o := l.sides[i].opt
	if l.typ == "ud" {
		return l.modify(i, "state=INIT pkey_index=0 port=1 qkey="+o["qkey"])
	}
	return l.modify(i, "state=INIT pkey_index=0 port=1 access="+o["qp_access"])
}

func (l *pairLine) toRTR(i int) string {
	if l.typ == "ud" {
		return l.modify(i, "state=RTR")
	}
	o, peer := l.sides[i].opt, l.sides[1-i]
	line := fmt.Sprintf("state=RTR av=%s path_mtu=%s dest=%s.qp%d rq_psn=%s", peer.node, o["mtu"], peer.node, l.n, peer.opt["psn"])
	if l.typ == "rc" {
		line += " max_dest_rd_atomic=" + o["max_dest_rd_atomic"] + " min_rnr_timer=" + o["min_rnr_timer"]
	}
	return l.modify(i, line)
}

func (l *pairLine) toRTS(i int) string {
	o := l.sides[i].opt
	if l.typ != "rc" {
		return l.modify(i, "state=RTS sq_psn="+o["psn"])
	}
	return l.modify(i, fmt.Sprintf("state=RTS timeout=%s retry_cnt=%s rnr_retry=%s sq_psn=%s max_rd_atomic=%s",
		o["timeout"], o["retry_cnt"], o["rnr_retry"], o["psn"], o["max_rd_atomic"]))
}

// Expand lists the verb lines that a pair line stands for, as the first pair of
// a script with the nodes a and b; nil if text is not a pair line. Objects that
// the line takes (pd=pd1) are taken to exist.
func Expand(text string) []string {
	p := &parser{file: "pair", no: 1, src: text, sc: newScope(), loose: true}
	words, _, ok := p.words(text)
	if !ok || len(words) < 2 || words[0].text != "pair" {
		return nil
	}
	p.pairLoose(words)
	if len(p.lines) == 0 {
		return nil
	}
	return p.lines[0].Expand()
}

// pairLoose is pair with the objects that the options name made up first.
func (p *parser) pairLoose(words []word) {
	for _, w := range words[2:] {
		key, _, val := splitArg(w)
		name := key.text[strings.IndexByte(key.text, '.')+1:]
		if o := findPair(name); o != nil && (o.kind == vRef || name == "mr") && isName(val.text) {
			kind := o.kinds
			if name == "mr" {
				kind = kMR
			}
			for _, n := range p.sc.nodes {
				p.sc.objs[ref{n, val.text}] = def{kind, 0}
			}
		}
	}
	p.pair(words)
}
