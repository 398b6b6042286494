package model

import (
	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// Trace returns what happened since Open, nothing if the trace is off.
func (b *Bench) Trace() []verbs.TraceEvent { return b.trace.all() }

// record adds an event and returns its number.
func (b *Bench) record(e verbs.TraceEvent) int {
	e.Seq, e.At = b.trace.count, b.now
	*b.trace.add() = e
	return e.Seq
}

// postNames are what a posted send request is called, by opcode.
var postNames = func() (names [verbs.WRSendWithInv + 1]string) {
	for o := range names {
		names[o] = "post " + verbs.WROpcode(o).String()
	}
	return names
}()

func (b *Bench) tracePost(q *qp, id uint64, what string) int {
	return b.record(verbs.TraceEvent{
		Kind: verbs.TracePost, Cause: -1, Node: q.node.name, QPNum: q.num, WRID: id, Why: what,
	})
}

func (b *Bench) nodeName(i int16) string {
	if i < 0 {
		return ""
	}
	return b.nodes[i].name
}

// info is the part of a packet that scripts count.
func (p *packet) info() verbs.PacketInfo {
	op := wire.Opcode(p.op)
	i := verbs.PacketInfo{Opcode: op.Operation(), PSN: p.psn, AckReq: p.ackReq, Payload: len(p.payload)}
	if op.HasAETH() {
		i.HasAETH, i.Syndrome = true, p.syndrome
	}
	return i
}

func (b *Bench) tracePacket(q *qp, p *packet, cause int) {
	p.trace = b.record(verbs.TraceEvent{
		Kind: verbs.TracePacket, Cause: cause, Node: q.node.name, Peer: b.nodeName(p.to), QPNum: q.num,
		Frame: b.frame(p), Packet: p.info(),
	})
}

func (b *Bench) traceDeliver(q *qp, p *packet) int {
	return b.record(verbs.TraceEvent{
		Kind: verbs.TraceDeliver, Cause: p.trace, Node: q.node.name, Peer: b.nodeName(p.from), QPNum: q.num,
		Packet: p.info(),
	})
}

func (b *Bench) traceDrop(p *packet, why string) {
	if !b.tracing {
		return
	}
	b.record(verbs.TraceEvent{
		Kind: verbs.TraceDrop, Cause: p.trace, Node: b.nodeName(p.from), Peer: b.nodeName(p.to),
		Packet: p.info(), Why: why,
	})
}

// traceRefused notes a packet that a queue pair did not take.
func (b *Bench) traceRefused(q *qp, p *packet, why string) {
	if !b.tracing {
		return
	}
	b.record(verbs.TraceEvent{
		Kind: verbs.TraceDrop, Cause: p.trace, Node: q.node.name, Peer: b.nodeName(p.from), QPNum: q.num,
		Packet: p.info(), Why: why,
	})
}

// traceOnWire notes what a fault line did to a packet, with the frame of a
// copy that it made.
func (b *Bench) traceOnWire(p *packet, why string, frame []byte) {
	if b.tracing {
		b.record(verbs.TraceEvent{
			Kind: verbs.TraceFault, Cause: p.trace, Node: b.nodeName(p.from), Peer: b.nodeName(p.to),
			Frame: frame, Packet: p.info(), Why: why,
		})
	}
}

func (b *Bench) traceFault(n *node, why string) {
	if b.tracing {
		b.record(verbs.TraceEvent{Kind: verbs.TraceFault, Cause: -1, Node: n.name, Why: why})
	}
}

func (b *Bench) traceComplete(q *qp, fx *effect) {
	b.record(verbs.TraceEvent{
		Kind: verbs.TraceComplete, Cause: fx.cause, Node: q.node.name, QPNum: q.num, WRID: fx.wc.ID, WC: b.trace.wc(fx.wc),
	})
}

func (b *Bench) traceAsync(n *node, e verbs.AsyncEvent, q *qp, cause int) {
	if !b.tracing {
		return
	}
	t := verbs.TraceEvent{Kind: verbs.TraceAsync, Cause: cause, Node: n.name, Async: &e}
	if q != nil {
		t.QPNum = q.num
	}
	b.record(t)
}

var timerNames = [numTimers]string{
	"local ACK timeout", "end of the wait after an RNR NAK", "a READ's data is fetched", "acknowledgements go out as one",
}

func (b *Bench) traceTimer(q *qp, k timerKind) int {
	if !b.tracing {
		return -1
	}
	return b.record(verbs.TraceEvent{
		Kind: verbs.TraceTimer, Cause: -1, Node: q.node.name, QPNum: q.num, Why: timerNames[k],
	})
}

// note records the effects that only the trace wants.
func (b *Bench) note(q *qp, fx *effect) {
	if !b.tracing {
		return
	}
	switch fx.kind {
	case fxState:
		b.record(verbs.TraceEvent{
			Kind: verbs.TraceState, Cause: fx.cause, Node: q.node.name, QPNum: q.num,
			From: fx.from, To: fx.to, Why: fx.why,
		})
	case fxReorder:
		b.record(verbs.TraceEvent{
			Kind: verbs.TraceReordered, Cause: fx.cause, Node: q.node.name, QPNum: q.num, Why: fx.why,
		})
	}
}

// frame is the packet as it is on the wire.
func (b *Bench) frame(p *packet) []byte {
	w := b.wirePacket(p)
	return flip(p, b.trace.frame(&w))
}

// encode appends the packet as it is on the wire.
func (b *Bench) encode(dst []byte, p *packet) []byte {
	w := b.wirePacket(p)
	return flip(p, wire.AppendFrame(dst, &w))
}

// flip damages the last byte that the ICRC covers, if a fault line says so.
func flip(p *packet, frame []byte) []byte {
	if p.corrupt {
		frame[len(frame)-icrcBytes-1] ^= 1
	}
	return frame
}

// address is a node's MAC and IP address; far is the one that the packet names.
func (b *Bench) address(node int, far wire.Addr) (wire.MAC, wire.Addr) {
	if p := b.port; p != nil {
		switch node {
		case p.remote:
			return wire.MAC{}, far
		case p.node.index:
			if far.IP().Is6() {
				return p.MAC, wire.Addr(p.node.gids[0])
			}
			return p.MAC, wire.Addr(p.node.gids[1])
		}
	}
	return macOf(node), addrOf(node)
}

// wirePacket is the packet with all that its frame shows.
func (b *Bench) wirePacket(p *packet) wire.Packet {
	w := wire.New(wire.Opcode(p.op))
	w.SrcMAC, w.Src = b.address(int(p.from), p.far)
	if p.to >= 0 {
		w.DstMAC, w.Dst = b.address(int(p.to), p.far)
	}
	w.V6 = w.Src.IP().Is6()
	w.SrcPort = p.sport
	w.TOS = p.tos
	w.BTH.MigReq = b.prof.Name == "spec"
	p.headers(&w)
	w.Payload = p.payload
	return w
}

// headers fills in the headers that a packet of the model has.
func (p *packet) headers(w *wire.Packet) {
	w.BTH.Opcode = wire.Opcode(p.op)
	w.BTH.PKey, w.BTH.Solicited, w.BTH.AckReq = p.pkey, p.se, p.ackReq
	w.BTH.DestQP, w.BTH.PSN = p.dstQP, p.psn
	w.DETH.QKey, w.DETH.SrcQP = p.qkey, p.srcQP
	w.RETH.VA, w.RETH.RKey, w.RETH.Len = p.va, p.rkey, p.length
	w.AtomicETH = wire.AtomicETH{VA: p.va, RKey: p.rkey, SwapAdd: p.swapAdd, Compare: p.compare}
	w.AETH = wire.AETH{Syndrome: wire.Syndrome(p.syndrome), MSN: p.msn}
	w.AtomicAckETH.Orig = p.original
	w.ImmDt.Data = p.imm
	w.IETH.RKey = p.rkey
}

const icrcBytes = 4

func macOf(node int) wire.MAC { return wire.MAC{0x02, 0, 0, 0, 0, byte(node + 1)} }

func addrOf(node int) wire.Addr {
	return wire.Addr{10: 0xff, 11: 0xff, 12: 10, 15: byte(node + 1)}
}

// grh is what the receiver of a datagram finds in the first 40 bytes: on IPv4
// twenty unused bytes and the IP header. What came from the frame port has its own.
func (b *Bench) grh(p *packet) [grhBytes]byte {
	var g [grhBytes]byte
	ip := p.ip
	if ip == nil {
		w := b.wirePacket(p)
		ip = ipHeader(wire.AppendFrame(nil, &w), w.V6)
	}
	copy(g[grhBytes-len(ip):], ip)
	return g
}
