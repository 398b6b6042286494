package script

import "rdmaprep/sim/verbs"

// object is a named object of a node. A call that failed leaves none.
type object struct {
	ref
	kind objKind
	gone bool // destroyed

	// kBuf and the memory of a kMR: where the CPU finds it.
	cpu, length uint64
	parent      *object // the buffer or region whose memory a kMR uses

	pd      verbs.PD
	mr      verbs.MRInfo
	access  verbs.AccessFlags
	mw      verbs.MWInfo
	bound   uint64 // kMW: first address, as peers see it
	boundTo string // kMW: the range it covers
	ch      verbs.Channel
	cq      verbs.CQInfo
	srq     verbs.SRQInfo
	ah      verbs.AH
	peer    string // kAH: the node

	qp             verbs.QPInfo
	init           verbs.QPInitAttr
	sendCQ, recvCQ *object
	srqObj         *object
	destName       string // "b.qp1" once connected
	sq             []sent // posted and not known to be done
	rq             int    // kQP, kSRQ: the same of receives

	wcs []verbs.WC // kCQ: everything it gave, in order
	evs []string   // kChannel: names of the CQs it told of, in order
}

// sent is a send request that may still hold its place in the send queue.
type sent struct {
	id       uint64
	signaled bool
}

func (s *Session) find(r ref) (*object, error) {
	o := s.objs[r]
	if o == nil {
		return nil, stopf("%s.%s does not exist: the call that makes it was refused or not run", r.node, r.name)
	}
	return o, nil
}

// alive is find for a handle: libibverbs has no answer for one that is gone.
func (s *Session) alive(r ref) (*object, error) {
	o, err := s.find(r)
	if err == nil && o.gone {
		return nil, stopf("%s.%s is destroyed; a program that uses it has no defined behaviour", r.node, r.name)
	}
	return o, err
}

func (s *Session) put(o *object) {
	if s.objs[o.ref] == nil {
		s.order = append(s.order, o)
	}
	s.objs[o.ref] = o
}

// ofNode lists the objects of a node and kind, latest first, living first.
func (s *Session) lookup(node string, kind objKind, is func(*object) bool) *object {
	var dead *object
	for i := len(s.order) - 1; i >= 0; i-- {
		o := s.order[i]
		if (node != "" && o.node != node) || o.kind&kind == 0 || !is(o) {
			continue
		}
		if !o.gone {
			return o
		}
		if dead == nil {
			dead = o
		}
	}
	return dead
}

// qpName is the name of the QP with that number on a node.
func (s *Session) qpName(node string, n uint32) string {
	if o := s.lookup(node, kQP, func(o *object) bool { return o.qp.Num == n }); o != nil {
		return o.name
	}
	return "unknown"
}

// keyName is the name of the region or window with that rkey, looked for on
// node first.
func (s *Session) keyName(node string, key uint32) string {
	is := func(o *object) bool { return o.rkey() == key }
	if o := s.lookup(node, kMR|kMW, is); o != nil {
		return o.name
	}
	if o := s.lookup("", kMR|kMW, is); o != nil {
		return o.node + "." + o.name
	}
	return "unknown"
}

func (o *object) rkey() uint32 {
	if o.kind == kMW {
		return o.mw.RKey
	}
	return o.mr.RKey
}

// base is the address that an SGE or a peer uses for byte 0.
func (o *object) base() uint64 {
	switch o.kind {
	case kMR:
		return o.mr.Addr
	case kMW:
		return o.bound
	}
	return o.cpu
}

// size is the length of a range in bytes.
func (o *object) size(r rangeRef) uint64 {
	switch {
	case r.span == spanCut:
		return r.hi - r.lo
	case r.lo > o.length:
		return 0
	}
	return o.length - r.lo
}
