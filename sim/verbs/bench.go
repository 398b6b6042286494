package verbs

import (
	"context"
	"time"
)

// Bench is what a script runs on: named nodes, each a Device, on one network.
// A Bench is for one goroutine and is used for one run.
type Bench interface {
	// Profile names the rules that the nodes follow: "spec" or "rxe-6.1" on the
	// model, "live" on a device.
	Profile() string
	// Live tells a real device from the model.
	Live() bool
	// Nodes are the names of the nodes, in order.
	Nodes() []string
	// Node returns a node's device, nil if there is no such node.
	Node(name string) Device
	// Wait lets the devices work until ready says true, nothing is left to
	// happen, or limit of device time has passed (virtual on the model, wall
	// on a live one); it reports what ready said last. A nil ready waits for
	// quiet. ctx only cancels.
	Wait(ctx context.Context, limit time.Duration, ready func() (bool, error)) (bool, error)
	Close() error
}

// Clock is a Bench with a time of its own.
type Clock interface {
	// Now is the device time since the Bench was opened.
	Now() time.Duration
	// Advance lets exactly d of device time pass.
	Advance(ctx context.Context, d time.Duration) error
}

// Fault is what a fault line asks of the wire.
type Fault struct {
	Kind FaultKind
	From string // node, "" for any
	To   string // node, "" for any
	// Match picks packets by kind: one of PacketKinds, or a BTH opcode name such
	// as "SEND_ONLY".
	Match string
	// PSN picks one packet sequence number, counted from the initial PSN of
	// the stream it belongs to; valid if HasPSN.
	PSN    uint32
	HasPSN bool
	// Count is how many packets it applies to; 0 is all until the end.
	Count int
	// Skip lets that many matching packets pass first.
	Skip   int
	Delay  time.Duration // FaultDelay; FaultDuplicate: the copy's; FaultCQStall: how long
	Behind int           // FaultReorder: how many later packets pass it
	Forge  []Forgery     // FaultForge; a packet that has none of the fields does not match
	Node   string        // the faults of a node
	CQ     CQ            // FaultCQStall
}

// FaultKind says what a Fault does.
type FaultKind uint8

// The faults of wire, host and completion queue.
const (
	FaultDrop        FaultKind = iota + 1
	FaultDelay                 // it arrives later
	FaultDuplicate             // it arrives twice
	FaultReorder               // later packets of its direction pass it
	FaultCorrupt               // a bit flips on the way
	FaultForge                 // header fields are rewritten, and the ICRC with them
	FaultLinkDown              // of a node: its port
	FaultLinkUp                // of a node
	FaultPeerStop              // of a node: the host stops, everything on it is gone
	FaultPeerRestart           // of a node: a new epoch, with nothing in it
	FaultCQStall               // of a node: a CQ shows no completion for a while
)

// Faulter is a Bench that can be made to fail.
type Faulter interface {
	Inject(Fault) error
}

// EventKind is the kind of a trace event.
type EventKind uint8

// The kinds of trace events.
const (
	TracePost      EventKind = iota + 1 // a work request was posted
	TracePacket                         // a frame was put on the wire; Frame holds it
	TraceDeliver                        // a frame arrived
	TraceDrop                           // a frame was lost or refused; Why says how
	TraceState                          // a queue pair changed state
	TraceComplete                       // a completion was added to a CQ
	TraceTimer                          // a timer ran out
	TraceAsync                          // an asynchronous event was raised
	TraceFault                          // a fault line took effect; a copy that it made has a Frame
	TraceReordered                      // a permitted reordering was taken
)

// TraceEvent is one thing that happened on the model. Equal script, profile
// and seed give equal traces.
type TraceEvent struct {
	Seq   int           // from 0
	Cause int           // the Seq of the event that led to this one, -1 for none
	At    time.Duration // device time
	Kind  EventKind
	Node  string
	Peer  string // packets: the other node
	QPNum uint32
	WRID  uint64
	// Frame is the whole Ethernet frame of a packet event, and Packet the part
	// of it that scripts count.
	Frame    []byte
	Packet   PacketInfo
	From, To QPState
	WC       *WC
	Async    *AsyncEvent
	Why      string // one line for a person
}

// Tracer is a Bench that records what happened.
type Tracer interface {
	// Trace returns the events since the Bench was opened.
	Trace() []TraceEvent
}

// Opener makes a fresh Bench. seed 0 is program order; another seed permits
// the reorderings that the profile allows.
type Opener func(ctx context.Context, profile string, seed uint64) (Bench, error)
