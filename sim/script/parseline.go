package script

import (
	"fmt"
	"strings"
	"time"

	"rdmaprep/sim/verbs"
)

// faultSpec is a parsed fault line; it is what the Bench gets.
type faultSpec = verbs.Fault

// waitQuiet reads wait quiet limit=1s.
func (p *parser) waitQuiet(words []word) {
	if len(words) < 2 || words[1].text != "quiet" {
		off, got := words[0].end(), ""
		if len(words) > 1 {
			off, got = words[1].off, words[1].text
		}
		p.fail(off, got, `"quiet" (to wait for a CQ or a QP, name its node: "a: wait cq1 count=1")`, []string{"quiet"})
		return
	}
	st := &timeStmt{verb: timeQuiet, text: "wait quiet"}
	for _, w := range words[2:] {
		key, op, val := splitArg(w)
		if key.text != "limit" || op.text != "=" || st.dur != 0 {
			p.fail(key.off, key.text, "limit= once", []string{"limit"})
			return
		}
		v, ok := p.value(keySpec{name: "limit", kind: vDur}, val, "")
		if !ok {
			return
		}
		st.dur = v.dur
		st.text += " limit=" + v.text
	}
	p.add(st)
}

// timeLine reads mark NAME and advance DURATION.
func (p *parser) timeLine(words []word) {
	if words[0].text == "mark" {
		if !p.count(words, 2, "a name for the mark") {
			return
		}
		w := words[1]
		if !isName(w.text) {
			p.fail(w.off, w.text, "a name for the mark", nil)
			return
		}
		if line, dup := p.sc.marks[w.text]; dup {
			p.fail(w.off, w.text, fmt.Sprintf("a new mark (%s is the one of line %d)", w.text, line), nil)
			return
		}
		p.sc.marks[w.text] = p.no
		p.add(&timeStmt{verb: timeMark, mark: w.text, text: "mark " + w.text})
		return
	}
	if !p.count(words, 2, "a duration such as 10ms") {
		return
	}
	if v, ok := p.value(keySpec{name: "advance", kind: vDur}, words[1], ""); ok {
		p.add(&timeStmt{verb: timeAdvance, dur: v.dur, text: "advance " + v.text})
	}
}

// wireFaults are the faults of packets on their way, nodeFaults those of a node.
var (
	wireFaults = map[string]verbs.FaultKind{
		"drop": verbs.FaultDrop, "delay": verbs.FaultDelay, "duplicate": verbs.FaultDuplicate,
		"reorder": verbs.FaultReorder, "corrupt": verbs.FaultCorrupt, "forge": verbs.FaultForge,
	}
	nodeFaults = map[string]verbs.FaultKind{
		"link_down": verbs.FaultLinkDown, "link_up": verbs.FaultLinkUp,
		"peer_stop": verbs.FaultPeerStop, "peer_restart": verbs.FaultPeerRestart,
	}
	faultVerbs = append(append(sortedKeys(wireFaults), "cq_stall"), sortedKeys(nodeFaults)...)
)

// fault reads the fault lines.
func (p *parser) fault(words []word) {
	if len(words) < 2 {
		p.fail(words[0].end(), "", "one of "+strings.Join(faultVerbs, ", "), nil)
		return
	}
	w := words[1]
	if kind, ok := wireFaults[w.text]; ok {
		p.wireFault(words, kind)
		return
	}
	if kind, ok := nodeFaults[w.text]; ok {
		if p.count(words, 3, "a node") && p.node(words[2]) {
			f := verbs.Fault{Kind: kind, Node: words[2].text}
			p.add(&faultStmt{text: "fault " + w.text + " " + f.Node, f: f})
		}
		return
	}
	if w.text == "cq_stall" {
		p.stallFault(words)
		return
	}
	p.fail(w.off, w.text, "one of "+strings.Join(faultVerbs, ", "), faultVerbs)
}

// stallFault reads fault cq_stall a.cq1 by=2ms.
func (p *parser) stallFault(words []word) {
	if !p.count(words, 4, "a CQ such as a.cq1 and by= with how long, such as by=2ms") {
		return
	}
	node, name, dotted := strings.Cut(words[2].text, ".")
	if !dotted {
		p.fail(words[2].off, words[2].text, "a CQ with its node, such as "+p.sc.nodes[0]+"."+words[2].text, nil)
		return
	}
	if !p.node(word{node, words[2].off}) {
		return
	}
	if _, ok := p.object(node, words[2], kCQ, true); !ok {
		return
	}
	key, op, val := splitArg(words[3])
	by := plain("by", vDur)
	if key.text != "by" || op.text != "=" {
		p.fail(words[3].off, words[3].text, "by= with how long, such as by=2ms", nil)
		return
	}
	v, ok := p.value(by, val, "")
	if !ok {
		return
	}
	if v.dur <= 0 {
		p.fail(words[3].off, words[3].text, "a stall above 0, such as by=2ms", nil)
		return
	}
	p.add(&faultStmt{
		text: "fault cq_stall " + words[2].text + " by=" + v.text, cq: ref{node, name},
		f: verbs.Fault{Kind: verbs.FaultCQStall, Node: node, Delay: v.dur},
	})
}

// direction reads a->b.
func (p *parser) direction(w word) (from, to string, ok bool) {
	from, to, ok = strings.Cut(w.text, "->")
	if !ok {
		p.fail(w.off, w.text, "a direction such as "+p.sc.nodes[0]+"->"+p.sc.nodes[len(p.sc.nodes)-1], nil)
		return "", "", false
	}
	return from, to, p.node(word{from, w.off}) && p.node(word{to, w.off + len(from) + 2})
}

var whichPackets = strings.Join(verbs.PacketKinds(), ", ") + ", or an opcode such as SEND_ONLY"

// packet reads a kind of packets, or an opcode.
func (p *parser) packet(w word) (string, bool) {
	names := append(verbs.PacketKinds(), packetOpcodes...)
	for _, n := range names {
		if strings.EqualFold(n, w.text) {
			return n, true
		}
	}
	p.fail(w.off, w.text, whichPackets, names)
	return "", false
}

func (p *parser) wireFault(words []word, kind verbs.FaultKind) {
	f := verbs.Fault{Kind: kind, Count: 1}
	ks := []keySpec{num("count", maxCount), num("skip", maxCount), plain("psn", vPSN)}
	switch kind {
	case verbs.FaultDelay, verbs.FaultDuplicate:
		ks = append(ks, plain("by", vDur))
	case verbs.FaultReorder:
		f.Behind = 1
		ks = append(ks, num("behind", maxCount))
	case verbs.FaultForge:
		ks = append(ks, forgeKeys...)
	default:
	}
	if len(words) < 3 {
		p.fail(words[1].end(), "", "a direction such as a->b", nil)
		return
	}
	var ok bool
	if f.From, f.To, ok = p.direction(words[2]); !ok {
		return
	}
	if len(words) < 4 {
		p.fail(words[2].end(), "", "which packets: "+whichPackets, nil)
		return
	}
	if f.Match, ok = p.packet(words[3]); !ok {
		return
	}
	text := []string{"fault", words[1].text, words[2].text, f.Match}
	var forge args
	seen := map[string]bool{}
	for _, w := range words[4:] {
		key, op, val := splitArg(w)
		k := findKey(ks, key.text)
		if k == nil || op.text != "=" || seen[key.text] {
			p.fail(key.off, key.text, strings.Join(keyNames(ks), "=, ")+"=, each once", keyNames(ks))
			return
		}
		seen[key.text] = true
		if !p.forgeNode(k, val) {
			return
		}
		v, ok := p.value(*k, val, "")
		if !ok {
			return
		}
		switch key.text {
		case "count":
			f.Count = int(v.num)
		case "skip":
			f.Skip = int(v.num)
		case "psn":
			f.PSN, f.HasPSN = uint32(v.num), true
		case "by":
			f.Delay = v.dur
		case "behind":
			f.Behind = int(v.num)
		default:
			if !p.forgeField(f.Match, key, val, v) {
				return
			}
			forge = append(forge, arg{k.name, v})
		}
		text = append(text, key.text+"="+v.text)
	}
	if !p.faultWhole(&f, forge, words[len(words)-1].end()) {
		return
	}
	p.add(&faultStmt{text: strings.Join(text, " "), f: f, forge: forge})
}

// faultWhole checks that a fault line says what its kind needs.
func (p *parser) faultWhole(f *faultSpec, forge args, end int) bool {
	switch {
	case f.Kind == verbs.FaultDelay && f.Delay <= 0:
		p.fail(end, "", "by= with how long, such as by=2ms", nil)
		return false
	case f.Kind == verbs.FaultReorder && f.Behind < 1:
		p.fail(end, "", "behind= with how many packets pass, at least 1", nil)
		return false
	case f.Kind == verbs.FaultForge && len(forge) == 0:
		names := fieldsOf(f.Match)
		p.fail(end, "", "what to forge: "+strings.Join(names, "=, ")+"=", names)
		return false
	}
	return true
}

// ignore reads ignore a.cq1 and ignore a.event.
func (p *parser) ignore(words []word) {
	if !p.count(words, 2, "a CQ such as a.cq1, or a.event") {
		return
	}
	w := words[1]
	node, name, dotted := strings.Cut(w.text, ".")
	if !dotted {
		p.fail(w.off, w.text, "a CQ with its node, such as "+p.sc.nodes[0]+"."+w.text, nil)
		return
	}
	if !p.node(word{node, w.off}) {
		return
	}
	if name != "event" {
		if _, ok := p.object(node, w, kCQ, true); !ok {
			return
		}
	}
	p.add(&ignoreStmt{ref{node, name}})
}

// defaultLimit is how much device time a wait or an expect lasts at most.
const defaultLimit = 10 * time.Second
