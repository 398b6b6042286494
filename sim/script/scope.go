package script

import "sort"

// scope is what a line may name: the nodes, and what the lines above it
// define.
type scope struct {
	nodes  []string
	objs   map[ref]def
	labels map[string]int // name to line
	marks  map[string]int
	pairs  int
	used   bool // a line that is not of the head has been seen
	more   bool // the script goes on from another one
}

// def is one object: what it is and where it was made.
type def struct {
	kind objKind
	line int
}

func newScope() *scope {
	return &scope{
		nodes: []string{"a", "b"}, objs: map[ref]def{},
		labels: map[string]int{}, marks: map[string]int{},
	}
}

func (sc *scope) clone() *scope {
	c := *sc
	c.nodes = append([]string(nil), sc.nodes...)
	c.objs, c.labels, c.marks = map[ref]def{}, map[string]int{}, map[string]int{}
	for k, v := range sc.objs {
		c.objs[k] = v
	}
	for k, v := range sc.labels {
		c.labels[k] = v
	}
	for k, v := range sc.marks {
		c.marks[k] = v
	}
	return &c
}

func (sc *scope) hasNode(name string) bool {
	for _, n := range sc.nodes {
		if n == name {
			return true
		}
	}
	return false
}

// names lists the objects of a node that are of one of the kinds.
func (sc *scope) names(node string, kinds objKind) []string {
	var all []string
	for r, d := range sc.objs {
		if r.node == node && d.kind&kinds != 0 {
			all = append(all, r.name)
		}
	}
	sort.Strings(all)
	return all
}

func sortedKeys[V any](m map[string]V) []string {
	all := make([]string, 0, len(m))
	for k := range m {
		all = append(all, k)
	}
	sort.Strings(all)
	return all
}
