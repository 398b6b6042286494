package model

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"rdmaprep/sim"
	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// Port is a frame port: it puts one node of the Bench on a real Ethernet, where
// it is a RoCEv2 peer of whoever is there.
type Port struct {
	// Node is the node of the Bench on the port. Remote is the name by which
	// fault lines and the trace know everybody on the other side; it is no node.
	Node, Remote string
	// MAC and Addr, an IPv4 address, are the node's own; the GID at index 1 is
	// the mapped address, that at index 0 the link-local one of the MAC.
	MAC  wire.MAC
	Addr netip.Addr
	// Peers are neighbours whose MAC address need not be asked for.
	Peers map[netip.Addr]wire.MAC
	// Wire carries the frames and tells the time.
	Wire Wire
	// Datagram is handed what comes to UDPPort while the Bench waits; what it
	// returns goes back unless it is nil. It may call devices, and must not wait.
	Datagram func(datagram []byte) []byte
	UDPPort  uint16
}

// Wire is the other side of a frame port, and the clock of its Bench.
type Wire interface {
	// Exchange sends frames, waits until frames come in or the clock shows until,
	// and returns those that came and the time. The clock starts at 0 and never
	// goes back. A time that is over does not wait.
	Exchange(ctx context.Context, out [][]byte, until time.Duration) (in [][]byte, now time.Duration, err error)
}

// port is a Port in use.
type port struct {
	Port
	host   wire.Host
	node   *node
	remote int // index of the node that stands for the other side
}

// quietTime is how long a Bench with a port and nothing to do listens before it
// says that nothing is left to happen.
const quietTime = 100 * time.Millisecond

// maxFrames is how many frames one exchange may bring.
const maxFrames = 65536

func (b *Bench) attach(p *Port) error {
	n, far := b.node(p.Node), b.node(p.Remote)
	switch {
	case n == nil || far == nil || n == far:
		return fmt.Errorf("frame port: the nodes have no %q and %q", p.Node, p.Remote)
	case !p.Addr.Is4():
		return fmt.Errorf("frame port: the address is %s, and must be an IPv4 one", p.Addr)
	case p.MAC[0]&1 != 0 || p.MAC == wire.MAC{}:
		return fmt.Errorf("frame port: %x is no MAC address of one host", p.MAC)
	case p.Wire == nil:
		return errors.New("frame port: no wire")
	}
	m := p.MAC
	link := netip.AddrFrom16([16]byte{0xfe, 0x80, 8: m[0] ^ 2, 9: m[1], 10: m[2], 11: 0xff, 12: 0xfe, 13: m[3], 14: m[4], 15: m[5]})
	b.port = &port{Port: *p, node: n, remote: far.index, host: wire.Host{
		MAC: m, Addrs: []netip.Addr{p.Addr, link}, Datagram: p.Datagram, UDPPort: p.UDPPort,
	}}
	for a, mac := range p.Peers {
		b.port.host.SetNeighbour(a, mac)
	}
	n.gids = [2]verbs.GID{link.As16(), p.Addr.As16()}
	far.gids = [2]verbs.GID{}
	far.outside = true
	return nil
}

// SendDatagram sends a UDP datagram from the port's address while the Bench waits.
func (b *Bench) SendDatagram(to netip.AddrPort, datagram []byte) error {
	if b.port == nil {
		return errors.New("the Bench has no frame port")
	}
	b.port.host.SendUDP(b.now, to, datagram)
	return nil
}

// Step brings a Bench with a frame port to now: what is due happens, then the
// frames that came in, then what is due because of them. It returns the frames to
// send and when to be called next at the latest; more is false if only a frame
// can make something happen.
func (b *Bench) Step(ctx context.Context, now time.Duration, in [][]byte) (out [][]byte, next time.Duration, more bool, err error) {
	if b.port == nil {
		return nil, 0, false, errors.New("the Bench has no frame port")
	}
	if err := b.due(ctx, now); err != nil {
		return nil, 0, false, err
	}
	b.now = max(b.now, now)
	if len(in) > maxFrames {
		return nil, 0, false, &sim.LimitError{What: "frames at once", Limit: maxFrames, Fix: "hand over fewer"}
	}
	for _, frame := range in {
		b.received(frame)
	}
	if err := b.due(ctx, b.now); err != nil {
		return nil, 0, false, err
	}
	next, more = b.upcoming()
	return b.port.host.Output(), next, more, nil
}

// due lets everything happen whose time has come.
func (b *Bench) due(ctx context.Context, now time.Duration) error {
	for i := 0; ; i++ {
		if i%ctxInterval == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at, ok := b.upcoming()
		if !ok || at > now {
			return nil
		}
		if err := b.within(i); err != nil {
			return err
		}
		b.next()
	}
}

// pace is run for a Bench with a frame port: time is what the wire's clock says.
func (b *Bench) pace(ctx context.Context, end time.Duration, ready func() (bool, error)) (bool, error) {
	var in [][]byte
	now, heard := b.now, b.now
	for i := 0; ; i++ {
		out, next, more, err := b.Step(ctx, now, in)
		if err != nil {
			return false, err
		}
		until := end
		if more {
			until = min(next, end)
		}
		stop, ok := b.now >= end, false
		switch {
		case ready != nil:
			if ok, err = ready(); ok || err != nil {
				stop = true
			}
		case !more:
			until = min(end, heard+quietTime)
			ok = b.now >= until
			stop = stop || ok
		}
		if stop {
			until = b.now
		}
		if err := b.within(i); err != nil {
			return false, err
		}
		// ready may have posted: that happens at once.
		if at, waits := b.upcoming(); waits {
			until = min(until, at)
		}
		var clock time.Duration
		in, clock, err = b.port.Wire.Exchange(ctx, append(out, b.port.host.Output()...), until)
		if err != nil {
			return false, err
		}
		now = max(b.now, clock)
		if len(in) > 0 || more {
			heard = now
		}
		if stop {
			for _, frame := range in {
				b.received(frame)
			}
			return ok, err
		}
	}
}

// received takes a frame from the wire.
func (b *Bench) received(frame []byte) {
	if !b.port.host.Receive(b.now, frame) {
		return
	}
	var w wire.Packet
	err := wire.Decode(frame, &w)
	n := b.port.node
	var bad *wire.ICRCError
	switch {
	case errors.As(err, &bad):
		n.counters.add(cntBadICRC)
		b.refusedFrame(frame, &w, "its ICRC does not match")
		return
	case err != nil:
		b.refusedFrame(frame, &w, err.Error())
		return
	}
	p := b.packetFrom(&w)
	if w.BTH.Opcode.Transport() == wire.UD {
		p.ip = ipHeader(frame, w.V6)
	}
	var x fate
	if len(b.faults) > 0 {
		x = b.fateOf(p)
		p.corrupt = x.corrupt
	}
	if b.tracing {
		seen := slices.Clone(frame)
		if len(x.forged) > 0 {
			p.headers(&w)
			seen = wire.AppendFrame(nil, &w)
		}
		if p.corrupt {
			seen[len(seen)-icrcBytes-1] ^= 1
		}
		p.trace = b.record(verbs.TraceEvent{
			Kind: verbs.TracePacket, Cause: -1, Node: b.nodeName(p.from), Peer: n.name, QPNum: p.srcQP,
			Frame: seen, Packet: p.info(),
		})
	}
	b.carry(p, b.now, x)
}

// ipHeader is a copy of the IP header of a frame without a VLAN tag.
func ipHeader(frame []byte, v6 bool) []byte {
	if v6 {
		return slices.Clone(frame[14:54])
	}
	return slices.Clone(frame[14:34])
}

// refusedFrame notes a frame that is no packet.
func (b *Bench) refusedFrame(frame []byte, w *wire.Packet, why string) {
	if !b.tracing {
		return
	}
	far := b.nodes[b.port.remote].name
	at := b.record(verbs.TraceEvent{
		Kind: verbs.TracePacket, Cause: -1, Node: far, Peer: b.port.node.name, Frame: slices.Clone(frame),
		Packet: verbs.PacketInfo{Opcode: w.BTH.Opcode.Operation(), PSN: w.BTH.PSN, AckReq: w.BTH.AckReq, Payload: len(w.Payload)},
	})
	b.record(verbs.TraceEvent{
		Kind: verbs.TraceDrop, Cause: at, Node: far, Peer: b.port.node.name, Why: why,
	})
}

// packetFrom is a decoded frame as the model has it.
func (b *Bench) packetFrom(w *wire.Packet) *packet {
	p := b.pool.get()
	p.op, p.tos = uint8(w.BTH.Opcode), w.TOS
	p.se, p.ackReq, p.pkey = w.BTH.Solicited, w.BTH.AckReq, w.BTH.PKey
	p.dstQP, p.psn = w.BTH.DestQP, w.BTH.PSN
	p.from, p.to, p.far = int16(b.port.remote), int16(b.port.node.index), w.Src
	p.qkey, p.srcQP = w.DETH.QKey, w.DETH.SrcQP
	p.va, p.rkey, p.length = w.RETH.VA, w.RETH.RKey, w.RETH.Len
	p.syndrome, p.msn = uint8(w.AETH.Syndrome), w.AETH.MSN
	p.original, p.imm = w.AtomicAckETH.Orig, w.ImmDt.Data
	switch p.op & operationBits {
	case opCompareSwap, opFetchAdd:
		p.va, p.rkey = w.AtomicETH.VA, w.AtomicETH.RKey
		p.swapAdd, p.compare = w.AtomicETH.SwapAdd, w.AtomicETH.Compare
	case opSendLastInv, opSendOnlyInv:
		p.rkey = w.IETH.RKey
	}
	copy(p.room(len(w.Payload)), w.Payload)
	if q := b.port.node.qpOfNum(p.dstQP); q != nil && q.typ != verbs.UD {
		p.srcQP, p.base = q.attr.DestQPN, q.attr.RQPSN
		if isResponse(p.op) {
			p.base = q.attr.SQPSN
		}
	}
	return p
}

// leave sends a packet off through the frame port.
func (b *Bench) leave(p *packet) {
	b.port.host.Send(b.now, p.far.IP(), slices.Clone(b.encode(nil, p)))
	b.pool.put(p)
}
