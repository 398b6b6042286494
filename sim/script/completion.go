package script

import (
	"fmt"
	"strings"

	"rdmaprep/sim/verbs"
)

// poll takes up to n completions from the device into the CQ's history.
func (s *Session) poll(o *object, n int) (int, error) {
	if o.gone || n <= 0 {
		return 0, nil
	}
	if len(o.wcs)+n > maxHistory {
		return 0, fmt.Errorf("%s.%s gave more than %d completions: %w", o.node, o.name, maxHistory, ErrTooMany)
	}
	buf := make([]verbs.WC, n)
	got, err := s.bench.Node(o.node).PollCQ(o.cq.CQ, buf)
	if err != nil {
		return 0, err
	}
	for _, wc := range buf[:got] {
		s.retire(o, wc)
	}
	o.wcs = append(o.wcs, buf[:got]...)
	return got, nil
}

// pollAll takes everything that the CQ holds.
func (s *Session) pollAll(o *object) error {
	const chunk = 64
	for !o.gone {
		n, err := s.poll(o, chunk)
		if err != nil {
			// A CQ that overran gives an error instead of completions.
			if refused(err) {
				return nil
			}
			return err
		}
		if n < chunk {
			return nil
		}
	}
	return nil
}

// retire gives back the places that a completion frees: of a send queue up to
// and with the request that completed, of a receive queue one.
func (s *Session) retire(cq *object, wc verbs.WC) {
	is := func(o *object) bool { return o.qp.Num == wc.QPNum && (o.sendCQ == cq || o.recvCQ == cq) }
	qp := s.lookup(cq.node, kQP, is)
	if qp == nil {
		return
	}
	recv := wc.Opcode == verbs.WCRecv || wc.Opcode == verbs.WCRecvRDMAWithImm
	if wc.Status != verbs.WCSuccess { // the opcode is not defined
		recv = qp.sendCQ != cq
	}
	if qp.sendCQ == cq && !recv {
		for i, w := range qp.sq {
			if w.id == wc.ID && (w.signaled || wc.Status != verbs.WCSuccess) {
				qp.sq = qp.sq[i+1:]
				return
			}
		}
	}
	if qp.recvCQ == cq {
		rq := qp
		if qp.srqObj != nil {
			rq = qp.srqObj
		}
		rq.rq = max(0, rq.rq-1)
	}
}

// wcText prints what is defined of a completion.
func (s *Session) wcText(node string, wc verbs.WC) string {
	parts := []string{fmt.Sprintf("wr_id=%d", wc.ID), "status=" + wc.Status.String()}
	qp := "qp=" + s.qpName(node, wc.QPNum)
	if wc.Status != verbs.WCSuccess {
		return strings.Join(append(parts, qp), " ")
	}
	parts = append(parts, "opcode="+wc.Opcode.String())
	recv := wc.Opcode == verbs.WCRecv || wc.Opcode == verbs.WCRecvRDMAWithImm
	switch wc.Opcode {
	// A provider need not fill byte_len of a SEND, a WRITE or a bind.
	case verbs.WCRecv, verbs.WCRecvRDMAWithImm, verbs.WCRDMARead, verbs.WCCompSwap, verbs.WCFetchAdd:
		parts = append(parts, fmt.Sprintf("byte_len=%d", wc.ByteLen))
	}
	if recv && wc.Flags&verbs.WCWithImm != 0 {
		parts = append(parts, fmt.Sprintf("imm=%#x", wc.Imm))
	}
	if recv && wc.Flags&verbs.WCWithInv != 0 {
		parts = append(parts, "inv_rkey="+s.keyName(node, wc.InvalidRKey))
	}
	if wc.Flags != 0 {
		parts = append(parts, "flags="+wc.Flags.String())
	}
	parts = append(parts, qp)
	if recv && s.isUD(node, wc.QPNum) {
		parts = append(parts, "src_qp="+s.srcName(node, wc.SrcQP))
	}
	return strings.Join(parts, " ")
}

func (s *Session) isUD(node string, n uint32) bool {
	o := s.lookup(node, kQP, func(o *object) bool { return o.qp.Num == n })
	return o != nil && o.init.Type == verbs.UD
}

// srcName names the QP that a datagram came from: one of another node if there
// is one of that number.
func (s *Session) srcName(node string, n uint32) string {
	is := func(o *object) bool { return o.qp.Num == n && o.init.Type == verbs.UD }
	if o := s.lookup("", kQP, func(o *object) bool { return o.node != node && is(o) }); o != nil {
		return o.node + "." + o.name
	}
	if o := s.lookup(node, kQP, is); o != nil {
		return o.node + "." + o.name
	}
	return "unknown"
}

// Unread lists the completions of a CQ that were taken from the device and not
// read by any line.
func (s *Session) Unread(node, cq string) []verbs.WC {
	o := s.objs[ref{node, cq}]
	if o == nil || o.kind != kCQ {
		return nil
	}
	return append([]verbs.WC(nil), o.wcs[s.cur.read[o]:]...)
}

// takeChannel takes the events of a completion channel until it has given want
// of them.
func (s *Session) takeChannel(o *object, want int) (bool, error) {
	for len(o.evs) < want && !o.gone {
		cq, ok, err := s.bench.Node(o.node).GetCQEvent(o.ch)
		if err != nil || !ok {
			return false, err
		}
		if len(o.evs) >= maxHistory {
			return false, fmt.Errorf("%s.%s gave more than %d events: %w", o.node, o.name, maxHistory, ErrTooMany)
		}
		name := "unknown"
		if c := s.lookup(o.node, kCQ, func(x *object) bool { return x.cq.CQ == cq }); c != nil {
			name = c.name
		}
		o.evs = append(o.evs, name)
	}
	return len(o.evs) >= want, nil
}

// takeAsync takes and acknowledges every asynchronous event of a node.
func (s *Session) takeAsync(node string) error {
	dev := s.bench.Node(node)
	for {
		ev, ok, err := dev.GetAsyncEvent()
		if err != nil || !ok {
			return err
		}
		if err := dev.AckAsyncEvent(ev); err != nil {
			return err
		}
		if len(s.events[node]) >= maxHistory {
			return fmt.Errorf("node %s raised more than %d events: %w", node, maxHistory, ErrTooMany)
		}
		s.events[node] = append(s.events[node], asyncEvent{ev.Type, s.eventObject(node, ev)})
	}
}

// eventObject names what an event is about.
func (s *Session) eventObject(node string, ev verbs.AsyncEvent) string {
	var kind objKind
	var is func(*object) bool
	switch {
	case ev.QP != 0:
		kind, is = kQP, func(o *object) bool { return o.qp.QP == ev.QP }
	case ev.CQ != 0:
		kind, is = kCQ, func(o *object) bool { return o.cq.CQ == ev.CQ }
	case ev.SRQ != 0:
		kind, is = kSRQ, func(o *object) bool { return o.srq.SRQ == ev.SRQ }
	default:
		return "port"
	}
	if o := s.lookup(node, kind, is); o != nil {
		return o.name
	}
	return "unknown"
}

func (e asyncEvent) String() string { return "type=" + e.typ.String() + " on=" + e.on }
