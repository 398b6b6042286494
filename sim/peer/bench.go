package peer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rdmaprep/sim/verbs"
)

// Bench is a script's nodes on two hosts: this side's own and a Remote. It
// implements verbs.Bench and says which GID each node uses. It has no clock and
// no trace: two hosts have none that both could trust. Failing gives it faults.
type Bench struct {
	local  verbs.Bench
	remote *Remote
	clock  Clock
	names  []string
	role   string
	nodes  map[string]*timers
	end    Verdict
	closed bool
}

var _ verbs.Bench = (*Bench)(nil)

// NewBench joins the node role of local with the other side's. names are the
// script's nodes, which must be these two. The Bench closes local.
func NewBench(local verbs.Bench, role string, remote *Remote, clock Clock, names []string) (*Bench, error) {
	own := local.Node(role)
	if own == nil {
		return nil, fmt.Errorf("the local device has no node %q; its nodes are %v", role, local.Nodes())
	}
	if len(names) != 2 || names[0] == names[1] || (names[0] != role && names[1] != role) {
		return nil, fmt.Errorf("a run on two hosts has two nodes, one of them %s; this one has %v", role, names)
	}
	other := names[0]
	if other == role {
		other = names[1]
	}
	if other != remote.theirs.Role {
		return nil, &MismatchError{What: fmt.Sprintf("the script's other node is %s, and the other side has --role %s", other, remote.theirs.Role)}
	}
	return &Bench{
		local: local, remote: remote, clock: clock, role: role, names: []string{names[0], names[1]},
		nodes: map[string]*timers{role: newTimers(own), other: newTimers(remote)},
		end:   Verdict{Text: "the run ended without a verdict"},
	}, nil
}

// Profile is that of both sides; of a device and a model it is the device's.
func (b *Bench) Profile() string {
	if b.remote.theirs.Live {
		return b.remote.theirs.Profile
	}
	return b.local.Profile()
}

// Live says whether one of the nodes is a real device.
func (b *Bench) Live() bool { return b.local.Live() || b.remote.theirs.Live }

// Nodes are the names in the script's order.
func (b *Bench) Nodes() []string { return []string{b.names[0], b.names[1]} }

// Node returns a node's device, nil if there is no such node.
func (b *Bench) Node(name string) verbs.Device {
	if d := b.nodes[name]; d != nil {
		return d
	}
	return nil
}

// GIDIndex is the GID of port 1 that a node uses, as its side says.
func (b *Bench) GIDIndex(name string) int {
	if name != b.role {
		return b.remote.theirs.GIDIndex
	}
	return GIDIndex(b.local, name)
}

// GIDIndex is the GID of port 1 that a node of a Bench uses.
func GIDIndex(b verbs.Bench, node string) int {
	if c, ok := b.(interface{ GIDIndex(string) int }); ok {
		return c.GIDIndex(node)
	}
	return 0
}

// The pauses between two looks.
const (
	pauseLeast = 200 * time.Microsecond
	pauseMost  = 5 * time.Millisecond
)

// Wait looks again and again until ready says true, limit has passed, or both
// devices have been still for longer than any timer that may be running. The
// local Bench gets a little of the time, so that its own watch over its device
// works.
func (b *Bench) Wait(ctx context.Context, limit time.Duration, ready func() (bool, error)) (bool, error) {
	start := b.clock.Now()
	s := stillness{since: start}
	for pause := pauseLeast; ; pause = min(2*pause, pauseMost) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if ready != nil {
			if ok, err := ready(); ok || err != nil {
				return ok, err
			}
		}
		now := b.clock.Now()
		if now-start >= limit {
			return false, nil
		}
		quiet, err := b.still(&s, now, ready != nil)
		if err != nil {
			return false, err
		}
		if quiet {
			return ready == nil, nil
		}
		if s.looked == now {
			if _, err := b.local.Wait(ctx, pauseLeast, nil); err != nil {
				return false, err
			}
		}
		if err := b.clock.Sleep(ctx, pause); err != nil {
			return false, err
		}
	}
}

// Say shows the other side a line of the transcript.
func (b *Bench) Say(l Line) error { return b.remote.Say(l) }

// Verdict sets what Close tells the other side.
func (b *Bench) Verdict(v Verdict) { b.end = v }

// Close tells the other side that the run is over and closes the local Bench.
// A side that was not told is an *UntoldError.
func (b *Bench) Close() error {
	if b.closed {
		return nil
	}
	b.closed = true
	const most = 3 * time.Second
	err := b.remote.End(context.Background(), b.end, most)
	if _, told := Ended(err); told {
		err = nil
	} else if err != nil {
		err = &UntoldError{Err: err}
	}
	return errors.Join(err, b.local.Close())
}
