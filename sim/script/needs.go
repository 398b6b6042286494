package script

import (
	"sort"
	"strings"

	"rdmaprep/sim/verbs"
)

// Needs is what a script needs of a device, computed from its lines.
type Needs struct {
	Nodes    []string
	QPTypes  []verbs.QPType   // in the order of their values
	Opcodes  []verbs.WROpcode // in the order of their values
	Atomics  bool
	MW1, MW2 bool // memory windows of type 1 and 2
	SRQ      bool
	Channel  bool // completion channels
	Async    bool // asynchronous events
	Inline   bool
	SQD      bool // the state SQD
	Reorder  bool // a seed other than 0
	Faults   bool // the model only
	Clock    bool // mark, advance, since: the model only
	Wire     bool // counts of packets: the model only
	Counters []string
	Profiles []string // profiles that have lines of their own
}

// MW says whether the script uses memory windows.
func (n Needs) MW() bool { return n.MW1 || n.MW2 }

// ModelOnly says whether no live device can run the script.
func (n Needs) ModelOnly() bool { return n.Faults || n.Clock || n.Wire || n.Reorder }

// OnlyModelWords names what of it only the model has, a phrase each.
func (n Needs) OnlyModelWords() []string {
	var out []string
	for _, one := range n.modelOnly() {
		if one.need {
			out = append(out, one.what)
		}
	}
	return out
}

// need is something that a script may need, and what it is called.
type need struct {
	need bool
	what string
}

func (n Needs) modelOnly() []need {
	return []need{
		{n.Reorder, "seeded reordering"},
		{n.Faults, "fault injection"},
		{n.Clock, "a clock of its own"},
		{n.Wire, "counts of packets"},
	}
}

// OnlyModel says what of it only the model has, such as "fault injection".
func (n Needs) OnlyModel() string {
	return Needs{Nodes: n.Nodes, Faults: n.Faults, Clock: n.Clock, Wire: n.Wire, Reorder: n.Reorder}.String()
}

// String says it for a person, such as "2 nodes, RC, SEND, fault injection".
func (n Needs) String() string {
	parts := []string{decimal(uint64(len(n.Nodes))) + " nodes"}
	if len(n.Nodes) == 1 {
		parts[0] = "1 node"
	}
	for _, t := range n.QPTypes {
		parts = append(parts, t.String())
	}
	for _, op := range n.Opcodes {
		parts = append(parts, op.String())
	}
	for _, one := range append([]need{
		{n.MW1, "memory windows of type 1"},
		{n.MW2, "memory windows of type 2"},
		{n.SRQ, "shared receive queues"},
		{n.Channel, "completion channels"},
		{n.Async, "asynchronous events"},
		{n.Inline, "inline data"},
		{n.SQD, "the state SQD"},
	}, n.modelOnly()...) {
		if one.need {
			parts = append(parts, one.what)
		}
	}
	if len(n.Counters) > 0 {
		parts = append(parts, "the counters "+strings.Join(n.Counters, " "))
	}
	if len(n.Profiles) > 0 {
		parts = append(parts, "lines of the profiles "+strings.Join(n.Profiles, " "))
	}
	return strings.Join(parts, ", ")
}

// needs gathers Needs.
type needs struct {
	Needs
	types    map[verbs.QPType]bool
	ops      map[verbs.WROpcode]bool
	counters map[string]int
	profiles map[string]int
}

// Needs says what the script needs of a device.
func (s *Script) Needs() Needs {
	g := needs{
		Needs: Needs{Nodes: s.Nodes, Reorder: s.Seed != 0},
		types: map[verbs.QPType]bool{}, ops: map[verbs.WROpcode]bool{},
		counters: map[string]int{}, profiles: map[string]int{},
	}
	for _, l := range s.Lines {
		switch st := l.stmt.(type) {
		case *verbStmt:
			g.verb(st)
		case *pairStmt:
			for _, v := range st.verbs {
				g.verb(v)
			}
		case *expectStmt:
			g.expect(st.e)
		case *faultStmt:
			g.Faults = true
		case *timeStmt:
			g.Clock = g.Clock || st.verb != timeQuiet
		case *ignoreStmt:
			g.Async = g.Async || st.ref.name == "event"
		}
	}
	for t := range g.types {
		g.QPTypes = append(g.QPTypes, t)
	}
	for op := range g.ops {
		g.Opcodes = append(g.Opcodes, op)
	}
	sort.Slice(g.QPTypes, func(i, j int) bool { return g.QPTypes[i] < g.QPTypes[j] })
	sort.Slice(g.Opcodes, func(i, j int) bool { return g.Opcodes[i] < g.Opcodes[j] })
	g.Counters, g.Profiles = sortedKeys(g.counters), sortedKeys(g.profiles)
	return g.Needs
}

func (g *needs) verb(st *verbStmt) {
	a := st.groups[0]
	switch st.spec.name {
	case "create_qp":
		g.types[verbs.QPType(a.num("type", 0))] = true
	case "modify_qp":
		v, ok := a.get("state")
		g.SQD = g.SQD || (ok && verbs.QPState(v.num) == verbs.SQD)
	case "create_srq":
		g.SRQ = true
	case "create_comp_channel":
		g.Channel = true
	case "alloc_mw":
		g.MW1 = g.MW1 || a.num("type", 0) == 1
		g.MW2 = g.MW2 || a.num("type", 0) == 2
	case "bind_mw":
		g.MW1 = true
	case "post_send":
		for _, one := range st.groups {
			g.send(one)
		}
	}
}

func (g *needs) send(a args) {
	op := verbs.WROpcode(a.num("opcode", 0))
	g.ops[op] = true
	g.Atomics = g.Atomics || op == verbs.WRAtomicCmpAndSwp || op == verbs.WRAtomicFetchAdd
	g.MW2 = g.MW2 || op == verbs.WRBindMW
	g.Inline = g.Inline || verbs.SendFlags(a.num("send_flags", 0))&verbs.SendInline != 0
}

func (g *needs) expect(e *Expect) {
	for _, p := range e.profiles {
		g.profiles[p] = 1
	}
	g.subject(e.subj)
	for _, c := range e.clauses {
		if e.subj.kind == onCounter {
			g.counters[c.key] = 1
		}
		if c.val.path != nil {
			g.subject(c.val.path.subj)
			if c.val.path.subj.kind == onCounter {
				g.counters[c.val.path.field] = 1
			}
		}
	}
}

func (g *needs) subject(s subject) {
	switch s.kind {
	case onWire:
		g.Wire = true
	case onSince:
		g.Clock = true
	case onEvent:
		g.Async = true
	}
}
