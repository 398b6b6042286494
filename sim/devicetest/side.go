package devicetest

import (
	"bytes"

	"rdmaprep/sim/verbs"
)

// The buffer that a side registers, and its first packet sequence number.
const (
	bufferBytes = 16384
	firstPSN    = 0x100
	udQKey      = 0x11111111
	grhBytes    = 40
)

// side is one node's half of a pair: a PD, a region over a buffer, two CQs, and
// a QP.
type side struct {
	name           string
	dev            verbs.Device
	gid            int
	pd             verbs.PD
	sendCQ, recvCQ verbs.CQ
	buf            uint64
	mr             verbs.MRInfo
	qp             verbs.QPInfo
	typ            verbs.QPType
	ah             verbs.AH
	peer           *side
}

// setup is what a case may choose of a side.
type setup struct {
	cap      verbs.QPCap
	cqe      int
	access   verbs.AccessFlags // of the region
	qpAccess verbs.AccessFlags
	sigAll   bool
	srq      verbs.SRQ
	attr     func(*verbs.QPAttr) // last word on the attributes of modify_qp
}

const everyAccess = verbs.AccessLocalWrite | verbs.AccessRemoteWrite | verbs.AccessRemoteRead | verbs.AccessRemoteAtomic | verbs.AccessMWBind

const peerAccess = verbs.AccessRemoteWrite | verbs.AccessRemoteRead | verbs.AccessRemoteAtomic

func defaultSetup() setup {
	return setup{
		cap: verbs.QPCap{MaxSendWR: 16, MaxRecvWR: 16, MaxSendSGE: 2, MaxRecvSGE: 2, MaxInline: 64},
		cqe: 64, access: everyAccess, qpAccess: peerAccess,
	}
}

// gidIndex is the entry of the GID table that a node uses.
func (t *T) gidIndex(name string) int {
	if g, ok := t.bench.(interface{ GIDIndex(string) int }); ok {
		return g.GIDIndex(name)
	}
	return 0
}

// base makes a side without a QP.
func (t *T) base(name string, o setup) *side {
	t.Helper()
	s := &side{name: name, dev: t.dev(name), gid: t.gidIndex(name)}
	s.pd = must[verbs.PD](t, "alloc_pd")(s.dev.AllocPD())
	s.buf = must[uint64](t, "alloc")(s.dev.Alloc(bufferBytes))
	s.mr = must[verbs.MRInfo](t, "reg_mr")(s.dev.RegMR(s.pd, s.buf, bufferBytes, o.access))
	s.sendCQ = must[verbs.CQInfo](t, "create_cq")(s.dev.CreateCQ(o.cqe, 0)).CQ
	s.recvCQ = must[verbs.CQInfo](t, "create_cq")(s.dev.CreateCQ(o.cqe, 0)).CQ
	return s
}

// addQP gives a side its QP, in RESET.
func (t *T) addQP(s *side, typ verbs.QPType, o setup) {
	t.Helper()
	s.typ = typ
	s.qp = must[verbs.QPInfo](t, "create_qp")(s.dev.CreateQP(s.pd, verbs.QPInitAttr{
		Type: typ, SendCQ: s.sendCQ, RecvCQ: s.recvCQ, SRQ: o.srq, Cap: o.cap, SQSigAll: o.sigAll,
	}))
	t.made = append(t.made, madeQP{s.dev, s.qp.QP})
}

// attrs is what the modify to each state sets: the values, and the attributes
// that the state table requires.
func (t *T) attrs(s *side, o setup, to verbs.QPState) (verbs.QPAttr, verbs.QPAttrMask) {
	t.Helper()
	peer := s
	if s.peer != nil {
		peer = s.peer
	}
	a := verbs.QPAttr{
		State: to, Port: 1, QKey: udQKey, Access: o.qpAccess,
		PathMTU: verbs.MTU1024, DestQPN: peer.qp.Num, RQPSN: firstPSN, SQPSN: firstPSN,
		MaxDestRDAtomic: 4, MaxRDAtomic: 4, MinRNRTimer: 12, Timeout: 14, RetryCnt: 6, RNRRetry: 6,
	}
	a.AV = t.address(s, peer)
	if o.attr != nil {
		o.attr(&a)
	}
	return a, verbs.MaskState | required(s.typ, to)
}

// address is the AV of a peer.
func (t *T) address(s, peer *side) verbs.AHAttr {
	t.Helper()
	gid := must[verbs.GID](t, "query_gid")(peer.dev.QueryGID(1, peer.gid))
	return verbs.AHAttr{DGID: gid, SGIDIndex: s.gid, HopLimit: 64, Port: 1}
}

// required are the attributes that the modify into a state needs, for the way
// from RESET to RTS (drivers/infiniband/core/verbs.c qp_state_table).
func required(typ verbs.QPType, to verbs.QPState) verbs.QPAttrMask {
	switch {
	case to == verbs.INIT && typ == verbs.UD:
		return verbs.MaskPKeyIndex | verbs.MaskPort | verbs.MaskQKey
	case to == verbs.INIT:
		return verbs.MaskPKeyIndex | verbs.MaskPort | verbs.MaskAccessFlags
	case to == verbs.RTR && typ == verbs.RC:
		return verbs.MaskAV | verbs.MaskPathMTU | verbs.MaskDestQPN | verbs.MaskRQPSN | verbs.MaskMaxDestRDAtomic | verbs.MaskMinRNRTimer
	case to == verbs.RTR && typ == verbs.UC:
		return verbs.MaskAV | verbs.MaskPathMTU | verbs.MaskDestQPN | verbs.MaskRQPSN
	case to == verbs.RTS && typ == verbs.RC:
		return verbs.MaskTimeout | verbs.MaskRetryCnt | verbs.MaskRNRRetry | verbs.MaskSQPSN | verbs.MaskMaxQPRDAtomic
	case to == verbs.RTS:
		return verbs.MaskSQPSN
	}
	return 0
}

// modify moves a side with the required attributes.
func (t *T) modify(s *side, o setup, to verbs.QPState) error {
	t.Helper()
	a, mask := t.attrs(s, o, to)
	return s.dev.ModifyQP(s.qp.QP, a, mask)
}

// move is a modify of the state alone.
func (t *T) move(s *side, to verbs.QPState) {
	t.Helper()
	t.ok("modify_qp to "+to.String(), s.dev.ModifyQP(s.qp.QP, verbs.QPAttr{State: to}, verbs.MaskState))
}

// raise takes a side from RESET up to a state.
func (t *T) raise(s *side, o setup, to verbs.QPState) {
	t.Helper()
	for st := verbs.INIT; st <= min(to, verbs.RTS); st++ {
		t.ok("modify_qp to "+st.String(), t.modify(s, o, st))
	}
	if to > verbs.RTS {
		t.move(s, to)
	}
	if to == verbs.SQD {
		t.quiet() // it drains
	}
}

// pair connects a and b and takes both to RTS.
func (t *T) pair(typ verbs.QPType, change ...func(*setup)) (a, b *side) {
	t.Helper()
	o := defaultSetup()
	for _, f := range change {
		f(&o)
	}
	a, b = t.base("a", o), t.base("b", o)
	t.connect(a, b, typ, o)
	return a, b
}

func (t *T) connect(a, b *side, typ verbs.QPType, o setup) {
	t.Helper()
	t.addQP(a, typ, o)
	t.addQP(b, typ, o)
	a.peer, b.peer = b, a
	t.raise(a, o, verbs.RTS)
	t.raise(b, o, verbs.RTS)
	if typ == verbs.UD {
		a.ah = must[verbs.AH](t, "create_ah")(a.dev.CreateAH(a.pd, t.address(a, b)))
		b.ah = must[verbs.AH](t, "create_ah")(b.dev.CreateAH(b.pd, t.address(b, a)))
	}
}

// one makes a side with a QP of its own peer, in a state.
func (t *T) one(typ verbs.QPType, to verbs.QPState, change ...func(*setup)) (*side, setup) {
	t.Helper()
	o := defaultSetup()
	for _, f := range change {
		f(&o)
	}
	s := t.base("a", o)
	t.addQP(s, typ, o)
	t.raise(s, o, to)
	return s, o
}

// capacity is what the queues hold, as query_qp tells it.
func (t *T) capacity(s *side) verbs.QPCap {
	t.Helper()
	return must[verbs.QPAttr](t, "query_qp")(s.dev.QueryQP(s.qp.QP)).Cap
}

func (s *side) sge(off, length int) []verbs.SGE {
	return []verbs.SGE{{Addr: s.mr.Addr + uint64(off), Length: uint32(length), LKey: s.mr.LKey}}
}

// wr is a signaled request over the side's buffer; what needs a peer names the
// peer's region at its half.
func (s *side) wr(id uint64, op verbs.WROpcode, length int) verbs.SendWR {
	w := verbs.SendWR{ID: id, Opcode: op, Flags: verbs.SendSignaled, Imm: 0xa1b2c3d4}
	if length > 0 {
		w.SGL = s.sge(0, length)
	}
	if s.peer != nil {
		w.RemoteVA, w.RKey = s.peer.mr.Addr+remoteOff, s.peer.mr.RKey
		w.AH, w.RemoteQPN, w.RemoteQKey = s.ah, s.peer.qp.Num, udQKey
	}
	return w
}

// remoteOff is where in the peer's buffer requests go.
const remoteOff = bufferBytes / 2

func (t *T) send(s *side, wrs ...verbs.SendWR) {
	t.Helper()
	n, err := s.dev.PostSend(s.qp.QP, wrs)
	if err != nil || n != len(wrs) {
		t.Fatalf("post_send: %d of %d, %v (%s)", n, len(wrs), err, t.source)
	}
}

// recv posts a receive over the start of the side's buffer.
func (t *T) recv(s *side, id uint64, length int) {
	t.Helper()
	w := verbs.RecvWR{ID: id}
	if length > 0 {
		w.SGL = s.sge(0, length)
	}
	if _, err := s.dev.PostRecv(s.qp.QP, []verbs.RecvWR{w}); err != nil {
		t.Fatalf("post_recv: %v (%s)", err, t.source)
	}
}

// pattern is bytes that differ from place to place and from seed to seed.
func pattern(seed, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i*7+i>>8*13+seed*31) | 1
	}
	return p
}

func (t *T) store(s *side, off int, data []byte) {
	t.Helper()
	t.ok("store", s.dev.Store(s.buf+uint64(off), data))
}

func (t *T) load(s *side, off, n int) []byte {
	t.Helper()
	p := make([]byte, n)
	t.ok("load", s.dev.Load(s.buf+uint64(off), p))
	return p
}

// holds compares bytes of a side's buffer, and that the byte after them is
// untouched.
func (t *T) holds(s *side, off int, want []byte) {
	t.Helper()
	got := t.load(s, off, len(want)+1)
	if !bytes.Equal(got[:len(want)], want) {
		i := 0
		for i < len(want) && got[i] == want[i] {
			i++
		}
		t.Errorf("%s[%d:%d] differs from byte %d on: %#x; want %#x (%s)", s.name, off, off+len(want), i, got[i], want[i], t.source)
	}
	if got[len(want)] != 0 {
		t.Errorf("%s: the byte after the %d was written (%s)", s.name, len(want), t.source)
	}
}
