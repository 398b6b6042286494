package peer

import (
	"fmt"

	"rdmaprep/sim/verbs"
)

// FailingBench is a Bench of which one side at least can be made to fail. What
// passes between the nodes passes that side, so that fault lines of the wire
// are its to carry out, in both directions.
type FailingBench struct{ *Bench }

var (
	_ verbs.Bench   = FailingBench{}
	_ verbs.Faulter = FailingBench{}
)

// Failing is the Bench with its faults, and false if neither side has any.
func (b *Bench) Failing() (FailingBench, bool) {
	_, here := b.local.(verbs.Faulter)
	return FailingBench{b}, here || b.remote.theirs.Faults
}

// Inject hands a fault line to the side that carries it out: one of a node to
// that node's, one of the wire to one side, the local one if it can.
func (b FailingBench) Inject(f verbs.Fault) error {
	local, here := b.local.(verbs.Faulter)
	there := b.remote.theirs.Faults
	if f.Node != "" {
		here, there = here && f.Node == b.role, there && f.Node != b.role
	}
	switch {
	case here:
		return local.Inject(f)
	case there:
		return b.remote.Inject(f)
	}
	return fmt.Errorf("fault: node %s is a real device, and only the model can be made to fail: let the fault be of the other node, or of the wire", f.Node)
}
