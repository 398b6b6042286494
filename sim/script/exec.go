package script

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"syscall"

	"rdmaprep/sim/verbs"
)

// answer is what a verb gives besides its errno.
type answer struct {
	text  string     // Outcome.Got, "" for the errno alone
	said  string     // what the transcript adds to the errno
	lines []string   // further lines of the transcript
	wcs   []verbs.WC // completions taken
}

// call is a verb line at run time.
type call struct {
	s    *Session
	ctx  context.Context
	st   *verbStmt
	dev  verbs.Device
	a    args    // the first request
	o    *object // the object of formRef
	res  verbResult
	said answer
}

// exec carries out a verb line. A refusal is a *verbs.Error, a line that makes
// no sense a *stopError.
func (s *Session) exec(ctx context.Context, st *verbStmt) (answer, verbResult, error) {
	c := &call{s: s, ctx: ctx, st: st, dev: s.bench.Node(st.node), a: st.groups[0]}
	if c.dev == nil {
		return answer{}, c.res, stopf("this device has no node %q", st.node)
	}
	s.quiet = false
	if st.spec.form == formRef {
		o, err := s.alive(ref{st.node, st.obj})
		if err != nil {
			return answer{}, c.res, err
		}
		if o.kind&st.spec.obj == 0 {
			return answer{}, c.res, stopf("%s.%s is %s, not %s", o.node, o.name, o.kind.plain(), st.spec.obj.plain())
		}
		c.o = o
	}
	err := execs[st.spec.name](c)
	return c.said, c.res, err
}

var execs map[string]func(*call) error

func init() { //nolint:gochecknoinits // the table and its functions name each other
	execs = map[string]func(*call) error{
		"alloc": (*call).alloc, "free": (*call).free,
		"alloc_pd": (*call).allocPD, "dealloc_pd": (*call).deallocPD,
		"reg_mr": (*call).regMR, "rereg_mr": (*call).reregMR, "dereg_mr": (*call).deregMR,
		"alloc_mw": (*call).allocMW, "dealloc_mw": (*call).deallocMW, "bind_mw": (*call).bindMW,
		"create_comp_channel": (*call).createChannel, "destroy_comp_channel": (*call).destroyChannel,
		"create_cq": (*call).createCQ, "resize_cq": (*call).resizeCQ, "destroy_cq": (*call).destroyCQ,
		"req_notify_cq": (*call).reqNotify, "get_cq_event": (*call).getCQEvent, "ack_cq_events": (*call).ackCQEvents,
		"create_srq": (*call).createSRQ, "modify_srq": (*call).modifySRQ, "query_srq": (*call).querySRQ,
		"destroy_srq": (*call).destroySRQ,
		"create_ah":   (*call).createAH, "destroy_ah": (*call).destroyAH,
		"create_qp": (*call).createQP, "modify_qp": (*call).modifyQP, "query_qp": (*call).queryQP,
		"destroy_qp": (*call).destroyQP, "query_device": (*call).queryDevice, "query_port": (*call).queryPort,
		"post_recv": (*call).postRecv, "post_srq_recv": (*call).postRecv, "post_send": (*call).postSend,
		"poll_cq": (*call).pollCQ, "wait": (*call).wait, "store": (*call).store, "load": (*call).load,
	}
}

// made puts a new object under the line's name.
func (c *call) made(o *object) {
	o.ref, o.kind = ref{c.st.node, c.st.obj}, c.st.spec.obj
	c.s.put(o)
}

// ref finds the living object that a key names, nil if the key is not given.
func (c *call) ref(key string) (*object, error) {
	v, ok := c.a.get(key)
	if !ok {
		return nil, nil
	}
	return c.s.alive(v.ref)
}

// end marks the object of the line as destroyed if err is nil.
func (c *call) end(err error) error {
	if err == nil {
		c.o.gone = true
	}
	return err
}

func (c *call) alloc() error {
	n := c.a.num("length", 0)
	addr, err := c.dev.Alloc(int(n))
	if err == nil {
		c.made(&object{cpu: addr, length: n})
	}
	return err
}

func (c *call) free() error { return c.end(c.dev.Free(c.o.cpu)) }

func (c *call) allocPD() error {
	pd, err := c.dev.AllocPD()
	if err == nil {
		c.made(&object{pd: pd})
	}
	return err
}

func (c *call) deallocPD() error { return c.end(c.dev.DeallocPD(c.o.pd)) }

func (c *call) regMR() error {
	pd, err := c.ref("pd")
	if err != nil {
		return err
	}
	o := &object{length: c.a.num("length", 0), access: verbs.AccessFlags(c.a.num("access", 0))}
	if v, ok := c.a.get("buf"); ok {
		if o.parent, err = c.s.find(v.rng.ref); err != nil {
			return err
		}
		o.cpu = o.parent.cpu + v.rng.lo
		if _, given := c.a.get("length"); !given {
			o.length = o.parent.size(v.rng)
		}
	} else if o.cpu, err = c.dev.Alloc(int(o.length)); err != nil {
		return err
	}
	if o.mr, err = c.dev.RegMR(pd.pd, o.cpu, o.length, o.access); err != nil {
		if o.parent == nil {
			_ = c.dev.Free(o.cpu) // the refusal is what counts
		}
		return err
	}
	c.made(o)
	return nil
}

func (c *call) reregMR() error {
	pd, err := c.ref("pd")
	if err != nil {
		return err
	}
	var change verbs.ReregFlags
	var d verbs.PD
	if pd != nil {
		change, d = verbs.ReregPD, pd.pd
	}
	next := *c.o
	if v, ok := c.a.get("buf"); ok {
		change |= verbs.ReregTranslation
		if next.parent, err = c.s.find(v.rng.ref); err != nil {
			return err
		}
		next.cpu, next.length = next.parent.cpu+v.rng.lo, next.parent.size(v.rng)
	}
	if v, ok := c.a.get("access"); ok {
		change |= verbs.ReregAccess
		next.access = verbs.AccessFlags(v.num)
	}
	access := next.access
	if change&verbs.ReregAccess == 0 {
		access = 0
	}
	if next.mr, err = c.dev.ReregMR(c.o.mr.MR, change, d, next.cpu, next.length, access); err == nil {
		*c.o = next
	}
	return err
}

func (c *call) deregMR() error { return c.end(c.dev.DeregMR(c.o.mr.MR)) }

func (c *call) allocMW() error {
	pd, err := c.ref("pd")
	if err != nil {
		return err
	}
	info, err := c.dev.AllocMW(pd.pd, verbs.MWType(c.a.num("type", 0)))
	if err == nil {
		c.made(&object{mw: info})
	}
	return err
}

func (c *call) deallocMW() error { return c.end(c.dev.DeallocMW(c.o.mw.MW)) }

// bind reads mw=, mr= and access=.
func (c *call) bind(a args) (mw *object, b verbs.MWBind, err error) {
	v, _ := a.get("mw")
	if mw, err = c.s.alive(v.ref); err != nil {
		return nil, b, err
	}
	r, _ := a.get("mr")
	mr, err := c.s.find(r.rng.ref)
	if err != nil {
		return nil, b, err
	}
	return mw, verbs.MWBind{
		MR: mr.mr.MR, Addr: mr.base() + r.rng.lo, Length: mr.size(r.rng),
		Access: verbs.AccessFlags(a.num("access", 0)),
	}, nil
}

// bound notes what a window covers from now on. A zero-based window is
// addressed from 0.
func (o *object) bindTo(b verbs.MWBind, key uint32, text string) {
	o.bound, o.length, o.mw.RKey, o.boundTo = b.Addr, b.Length, key, text
	if b.Access&verbs.AccessZeroBased != 0 {
		o.bound = 0
	}
}

func (c *call) bindMW() error {
	mw, b, err := c.bind(c.a)
	if err != nil {
		return err
	}
	flags := verbs.SendFlags(c.a.num("send_flags", 0))
	id := c.a.num("wr_id", 0)
	key, err := c.dev.BindMW(c.o.qp.QP, mw.mw.MW, id, flags, b)
	if err != nil {
		return err
	}
	text, _ := c.a.get("mr")
	mw.bindTo(b, key, text.text)
	c.o.sq = append(c.o.sq, sent{id, flags&verbs.SendSignaled != 0 || c.o.init.SQSigAll})
	return nil
}

func (c *call) createChannel() error {
	ch, err := c.dev.CreateChannel()
	if err == nil {
		c.made(&object{ch: ch})
	}
	return err
}

func (c *call) destroyChannel() error { return c.end(c.dev.DestroyChannel(c.o.ch)) }

func (c *call) createCQ() error {
	ch, err := c.ref("channel")
	if err != nil {
		return err
	}
	var handle verbs.Channel
	if ch != nil {
		handle = ch.ch
	}
	info, err := c.dev.CreateCQ(int(c.a.num("cqe", 0)), handle)
	if err == nil {
		c.made(&object{cq: info})
	}
	return err
}

func (c *call) resizeCQ() error {
	info, err := c.dev.ResizeCQ(c.o.cq.CQ, int(c.a.num("cqe", 0)))
	if err == nil {
		c.o.cq.CQE = info.CQE
	}
	return err
}

func (c *call) destroyCQ() error { return c.end(c.dev.DestroyCQ(c.o.cq.CQ)) }

func (c *call) reqNotify() error {
	return c.dev.ReqNotifyCQ(c.o.cq.CQ, c.a.num("solicited_only", 0) == 1)
}

// getCQEvent waits for an event of the channel; without one it is EAGAIN, as of
// a channel whose descriptor does not block.
func (c *call) getCQEvent() error {
	limit, _ := c.a.get("limit")
	had := len(c.o.evs)
	at := c.s.cur.read[c.o]
	if at < had { // an event that an expect line found and did not take
		c.s.cur.read[c.o]++
		c.said.said, c.said.text = c.o.evs[at], c.o.evs[at]
		return nil
	}
	ok, err := c.s.wait(c.ctx, limit.dur, func() (bool, error) { return c.s.takeChannel(c.o, had+1) })
	if err != nil {
		return err
	}
	if !ok {
		return &verbs.Error{Op: "get_cq_event", Errno: syscall.Errno(11), Why: "no event in the channel"}
	}
	c.s.cur.read[c.o] = had + 1
	c.said.said, c.said.text = c.o.evs[had], c.o.evs[had]
	return nil
}

func (c *call) ackCQEvents() error {
	return c.dev.AckCQEvents(c.o.cq.CQ, int(c.a.num("n", 0)))
}

func (c *call) createSRQ() error {
	pd, err := c.ref("pd")
	if err != nil {
		return err
	}
	info, err := c.dev.CreateSRQ(pd.pd, verbs.SRQAttr{
		MaxWR: int(c.a.num("max_wr", 0)), MaxSGE: int(c.a.num("max_sge", 1)), Limit: int(c.a.num("limit", 0)),
	})
	if err == nil {
		c.made(&object{srq: info})
	}
	return err
}

func (c *call) modifySRQ() error {
	var attr verbs.SRQAttr
	var mask verbs.SRQAttrMask
	if v, ok := c.a.get("limit"); ok {
		attr.Limit, mask = int(v.num), mask|verbs.MaskSRQLimit
	}
	if v, ok := c.a.get("max_wr"); ok {
		attr.MaxWR, mask = int(v.num), mask|verbs.MaskSRQMaxWR
	}
	return c.dev.ModifySRQ(c.o.srq.SRQ, attr, mask)
}

func (c *call) querySRQ() error {
	attr, err := c.dev.QuerySRQ(c.o.srq.SRQ)
	if err == nil {
		c.said.text = fmt.Sprintf("max_wr=%d max_sge=%d limit=%d", attr.MaxWR, attr.MaxSGE, attr.Limit)
	}
	return err
}

func (c *call) destroySRQ() error { return c.end(c.dev.DestroySRQ(c.o.srq.SRQ)) }

func (c *call) createAH() error {
	pd, err := c.ref("pd")
	if err != nil {
		return err
	}
	to, _ := c.a.get("to")
	attr, err := c.s.way(to.ref.node, c.st.node, c.a)
	if err != nil {
		return err
	}
	attr.Port = uint8(c.a.num("port", 1))
	ah, err := c.dev.CreateAH(pd.pd, attr)
	if err == nil {
		c.made(&object{ah: ah, peer: to.ref.node})
	}
	return err
}

func (c *call) destroyAH() error { return c.end(c.dev.DestroyAH(c.o.ah)) }

// way is the address vector from one node to another.
func (s *Session) way(to, from string, a args) (verbs.AHAttr, error) {
	index := func(node string) int {
		if g, ok := s.bench.(GIDChooser); ok {
			return g.GIDIndex(node)
		}
		return 0
	}
	dev := s.bench.Node(to)
	if dev == nil {
		return verbs.AHAttr{}, stopf("this device has no node %q", to)
	}
	gid, err := dev.QueryGID(1, index(to))
	if err != nil {
		return verbs.AHAttr{}, err
	}
	return verbs.AHAttr{
		DGID: gid, SGIDIndex: int(a.num("sgid_index", uint64(index(from)))),
		FlowLabel: uint32(a.num("flow_label", 0)), HopLimit: uint8(a.num("hop_limit", 64)),
		TrafficClass: uint8(a.num("traffic_class", 0)), Port: 1, NoGRH: a.num("is_global", 1) == 0,
	}, nil
}

func (c *call) queryDevice() error {
	d, err := c.dev.QueryDevice()
	if err == nil {
		c.said.text = fmt.Sprintf("max_qp=%d max_qp_wr=%d max_sge=%d max_cqe=%d max_mr=%d max_srq_wr=%d max_qp_rd_atom=%d max_inline=%d",
			d.MaxQP, d.MaxQPWR, d.MaxSGE, d.MaxCQE, d.MaxMR, d.MaxSRQWR, d.MaxQPRDAtom, d.MaxInline)
	}
	return err
}

func (c *call) queryPort() error {
	p, err := c.dev.QueryPort(uint8(c.a.num("port", 1)))
	if err != nil {
		return err
	}
	state := "DOWN"
	if p.State == verbs.PortActive {
		state = "ACTIVE"
	}
	c.said.text = fmt.Sprintf("state=%s active_mtu=%s max_msg_sz=%d", state, p.ActiveMTU, p.MaxMsgSize)
	c.said.said = "state=" + state
	return nil
}

// memory finds the bytes of a range for the CPU.
func (s *Session) memory(r rangeRef, n uint64) (*object, uint64, error) {
	o, err := s.find(r.ref)
	if err != nil {
		return nil, 0, err
	}
	if o.kind&(kMR|kBuf) == 0 {
		return nil, 0, stopf("%s.%s is %s, which has no bytes", r.node, r.name, o.kind.plain())
	}
	if r.lo+n > o.length {
		return nil, 0, stopf("%s.%s has %d bytes; bytes %d to %d are asked for", r.node, r.name, o.length, r.lo, r.lo+n)
	}
	return o, o.cpu + r.lo, nil
}

// bytes loads a range.
func (s *Session) bytes(r rangeRef) ([]byte, error) {
	o, err := s.find(r.ref)
	if err != nil {
		return nil, err
	}
	n := o.size(r)
	_, addr, err := s.memory(r, n)
	if err != nil {
		return nil, err
	}
	if n > maxBytes {
		return nil, stopf("at most %d bytes can be loaded at a time", maxBytes)
	}
	b := make([]byte, n)
	return b, s.bench.Node(r.node).Load(addr, b)
}

func (c *call) store() error {
	a := c.a[0]
	var b []byte
	switch a.key {
	case "u8":
		b = []byte{byte(a.val.num)}
	case "u16":
		b = binary.LittleEndian.AppendUint16(nil, uint16(a.val.num))
	case "u32":
		b = binary.LittleEndian.AppendUint32(nil, uint32(a.val.num))
	case "u64":
		b = binary.LittleEndian.AppendUint64(nil, a.val.num)
	case "fill":
		b = make([]byte, a.val.num)
		for i := range b {
			b[i] = a.val.bytes[0]
		}
	default:
		b = a.val.bytes
	}
	_, addr, err := c.s.memory(c.st.rng, uint64(len(b)))
	if err != nil {
		return err
	}
	return c.dev.Store(addr, b)
}

func (c *call) load() error {
	b, err := c.s.bytes(c.st.rng)
	if err == nil {
		c.said.said = bytesText(b)
		c.said.text = c.said.said
	}
	return err
}

// bytesText prints bytes in hexadecimal, equal tails of a long run shortened.
func bytesText(b []byte) string {
	const most = 256
	if len(b) <= most {
		return hex.EncodeToString(b)
	}
	return fmt.Sprintf("%s… %d bytes sha256=%x", hex.EncodeToString(b[:64]), len(b), digest(b))
}
