package script

import (
	"fmt"
	"strings"
	"syscall"

	"rdmaprep/sim/verbs"
)

func (c *call) createQP() error {
	o := &object{}
	init := verbs.QPInitAttr{
		Type:     verbs.QPType(c.a.num("type", 0)),
		SQSigAll: c.a.num("sq_sig_all", 0) == 1,
		Cap: verbs.QPCap{
			MaxSendWR: int(c.a.num("max_send_wr", 16)), MaxRecvWR: int(c.a.num("max_recv_wr", 16)),
			MaxSendSGE: int(c.a.num("max_send_sge", 1)), MaxRecvSGE: int(c.a.num("max_recv_sge", 1)),
			MaxInline: int(c.a.num("max_inline", 0)),
		},
	}
	pd, err := c.ref("pd")
	if err != nil {
		return err
	}
	if o.sendCQ, err = c.ref("send_cq"); err != nil {
		return err
	}
	if o.recvCQ, err = c.ref("recv_cq"); err != nil {
		return err
	}
	if o.srqObj, err = c.ref("srq"); err != nil {
		return err
	}
	init.SendCQ, init.RecvCQ = o.sendCQ.cq.CQ, o.recvCQ.cq.CQ
	if o.srqObj != nil {
		init.SRQ = o.srqObj.srq.SRQ
	}
	if o.qp, err = c.dev.CreateQP(pd.pd, init); err != nil {
		return err
	}
	o.init = init
	c.made(o)
	return nil
}

func (c *call) destroyQP() error { return c.end(c.dev.DestroyQP(c.o.qp.QP)) }

// modifyQP sets exactly the attributes that the line names.
func (c *call) modifyQP() error {
	var attr verbs.QPAttr
	var mask verbs.QPAttrMask
	dest := ""
	for _, one := range c.a {
		switch one.key {
		case "av":
			av, err := c.s.way(one.val.ref.node, c.st.node, c.a)
			if err != nil {
				return err
			}
			attr.AV, mask = av, mask|verbs.MaskAV
		case "dest":
			n := uint32(one.val.num)
			if !one.val.ref.zero() {
				peer, err := c.s.find(one.val.ref)
				if err != nil {
					return err
				}
				n, dest = peer.qp.Num, peer.node+"."+peer.name
			}
			attr.DestQPN, mask = n, mask|verbs.MaskDestQPN
		default:
			mask |= setAttr(&attr, one.key, one.val.num)
		}
	}
	if err := c.dev.ModifyQP(c.o.qp.QP, attr, mask); err != nil {
		return err
	}
	if dest != "" {
		c.o.destName = dest
	}
	if mask&verbs.MaskState != 0 && attr.State == verbs.RESET {
		c.o.sq, c.o.rq = nil, 0
	}
	return nil
}

// setAttr sets one attribute and returns its bit of the mask.
func setAttr(a *verbs.QPAttr, key string, n uint64) verbs.QPAttrMask {
	switch key {
	case "state":
		a.State = verbs.QPState(n)
		return verbs.MaskState
	case "cur_state":
		a.CurState = verbs.QPState(n)
		return verbs.MaskCurState
	case "en_sqd_async_notify":
		a.EnSQDAsyncNotify = n == 1
		return verbs.MaskEnSQDAsyncNotify
	case "access":
		a.Access = verbs.AccessFlags(n)
		return verbs.MaskAccessFlags
	case "pkey_index":
		a.PKeyIndex = uint16(n)
		return verbs.MaskPKeyIndex
	case "port":
		a.Port = uint8(n)
		return verbs.MaskPort
	case "qkey":
		a.QKey = uint32(n)
		return verbs.MaskQKey
	case "path_mtu":
		a.PathMTU, _ = verbs.ParseMTU(decimal(n))
		return verbs.MaskPathMTU
	case "rq_psn":
		a.RQPSN = uint32(n)
		return verbs.MaskRQPSN
	case "sq_psn":
		a.SQPSN = uint32(n)
		return verbs.MaskSQPSN
	case "max_rd_atomic":
		a.MaxRDAtomic = uint8(n)
		return verbs.MaskMaxQPRDAtomic
	case "max_dest_rd_atomic":
		a.MaxDestRDAtomic = uint8(n)
		return verbs.MaskMaxDestRDAtomic
	case "min_rnr_timer":
		a.MinRNRTimer = uint8(n)
		return verbs.MaskMinRNRTimer
	case "timeout":
		a.Timeout = uint8(n)
		return verbs.MaskTimeout
	case "retry_cnt":
		a.RetryCnt = uint8(n)
		return verbs.MaskRetryCnt
	case "rnr_retry":
		a.RNRRetry = uint8(n)
		return verbs.MaskRNRRetry
	}
	return setCap(&a.Cap, key, n)
}

func setCap(c *verbs.QPCap, key string, n uint64) verbs.QPAttrMask {
	switch key {
	case "max_send_wr":
		c.MaxSendWR = int(n)
	case "max_recv_wr":
		c.MaxRecvWR = int(n)
	case "max_send_sge":
		c.MaxSendSGE = int(n)
	case "max_recv_sge":
		c.MaxRecvSGE = int(n)
	case "max_inline":
		c.MaxInline = int(n)
	default:
		return 0 // part of the path
	}
	return verbs.MaskCap
}

func (c *call) queryQP() error {
	a, err := c.dev.QueryQP(c.o.qp.QP)
	if err != nil {
		return err
	}
	c.said.said = "state=" + a.State.String()
	var parts []string
	for _, k := range attrKeys {
		if v, ok := c.s.qpField(c.o, a, k.name); ok {
			parts = append(parts, k.name+"="+v.String())
		}
	}
	c.said.text = strings.Join(parts, " ")
	return nil
}

// sgl resolves a list of SGEs.
func (s *Session) sgl(v value) ([]verbs.SGE, error) {
	var list []verbs.SGE
	for _, r := range v.sges {
		o, err := s.find(r.rng.ref)
		if err != nil {
			return nil, err
		}
		e := verbs.SGE{Addr: o.base() + r.rng.lo, Length: uint32(o.size(r.rng)), LKey: o.mr.LKey}
		if r.hasKey {
			e.LKey = uint32(r.key.num)
			if !r.key.ref.zero() {
				k, err := s.find(r.key.ref)
				if err != nil {
					return nil, err
				}
				e.LKey = k.mr.LKey
			}
		}
		list = append(list, e)
	}
	return list, nil
}

// rkeyOf is the remote key that a value names.
func (s *Session) rkeyOf(v value) (uint32, error) {
	if v.ref.zero() {
		return uint32(v.num), nil
	}
	o, err := s.find(v.ref)
	if err != nil {
		return 0, err
	}
	return o.rkey(), nil
}

func (c *call) postRecv() error {
	wrs := make([]verbs.RecvWR, len(c.st.groups))
	for i, g := range c.st.groups {
		v, _ := g.get("sge")
		sgl, err := c.s.sgl(v)
		if err != nil {
			return err
		}
		wrs[i] = verbs.RecvWR{ID: g.num("wr_id", 0), SGL: sgl}
	}
	var err error
	if c.o.kind == kSRQ {
		c.res.posted, err = c.dev.PostSRQRecv(c.o.srq.SRQ, wrs)
	} else {
		c.res.posted, err = c.dev.PostRecv(c.o.qp.QP, wrs)
	}
	c.o.rq += c.res.posted
	return err
}

func (c *call) postSend() error {
	wrs := make([]verbs.SendWR, len(c.st.groups))
	binds := map[int]*object{}
	for i, g := range c.st.groups {
		wr, mw, err := c.sendWR(g)
		if err != nil {
			return err
		}
		wrs[i] = wr
		if mw != nil {
			binds[i] = mw
		}
	}
	n, err := c.dev.PostSend(c.o.qp.QP, wrs)
	c.res.posted = n
	for i, wr := range wrs[:min(n, len(wrs))] {
		c.o.sq = append(c.o.sq, sent{wr.ID, wr.Flags&verbs.SendSignaled != 0 || c.o.init.SQSigAll})
		if mw := binds[i]; mw != nil {
			text, _ := c.st.groups[i].get("mr")
			// Only the low byte is the owner's to choose; the index stays.
			mw.bindTo(wr.Bind, mw.mw.RKey&^0xff|wr.BindRKey&0xff, text.text)
		}
	}
	return err
}

// sendWR builds one request; mw is the window that it binds.
func (c *call) sendWR(g args) (wr verbs.SendWR, mw *object, err error) {
	s := c.s
	wr = verbs.SendWR{
		ID: g.num("wr_id", 0), Opcode: verbs.WROpcode(g.num("opcode", 0)),
		Flags: verbs.SendFlags(g.num("send_flags", 0)), Imm: uint32(g.num("imm", 0)),
		CompareAdd: g.num("add", g.num("compare", 0)), Swap: g.num("swap", 0),
		RemoteQKey: uint32(g.num("qkey", 0)),
	}
	if v, ok := g.get("sge"); ok {
		if wr.SGL, err = s.sgl(v); err != nil {
			return wr, nil, err
		}
	}
	if err = c.remote(&wr, g); err != nil {
		return wr, nil, err
	}
	if v, ok := g.get("inv_rkey"); ok {
		if wr.InvRKey, err = s.rkeyOf(v); err != nil {
			return wr, nil, err
		}
	}
	if v, ok := g.get("ah"); ok {
		ah, err := s.alive(v.ref)
		if err != nil {
			return wr, nil, err
		}
		wr.AH = ah.ah
	}
	if v, ok := g.get("dest"); ok {
		wr.RemoteQPN = uint32(v.num)
		if !v.ref.zero() {
			peer, err := s.find(v.ref)
			if err != nil {
				return wr, nil, err
			}
			wr.RemoteQPN = peer.qp.Num
		}
	}
	if wr.Opcode == verbs.WRBindMW {
		if mw, wr.Bind, err = c.bind(g); err != nil {
			return wr, nil, err
		}
		// The owner of the key picks its low eight bits; ibv_inc_rkey(3) adds
		// one to them.
		next := mw.mw.RKey&^0xff | (mw.mw.RKey+1)&0xff
		wr.MW, wr.BindRKey = mw.mw.MW, uint32(g.num("bind_rkey", uint64(next)))
	}
	return wr, mw, nil
}

// remote fills in the far address and key.
func (c *call) remote(wr *verbs.SendWR, g args) error {
	if v, ok := g.get("remote"); ok {
		o, err := c.s.find(v.rng.ref)
		if err != nil {
			return err
		}
		wr.RemoteVA, wr.RKey = o.base()+v.rng.lo, o.rkey()
	}
	if v, ok := g.get("remote_addr"); ok {
		wr.RemoteVA = v.num
		if !v.rng.zero() {
			o, err := c.s.find(v.rng.ref)
			if err != nil {
				return err
			}
			wr.RemoteVA = o.base() + v.rng.lo
		}
	}
	v, ok := g.get("rkey")
	if !ok {
		return nil
	}
	key, err := c.s.rkeyOf(v)
	if wr.Opcode == verbs.WRLocalInv {
		wr.InvRKey = key
	} else {
		wr.RKey = key
	}
	return err
}

// pollCQ takes up to n completions now: what an earlier line found and left
// unread first, then the CQ's own.
func (c *call) pollCQ() error {
	n := int(c.a.num("n", 1))
	o, s := c.o, c.s
	at := s.cur.read[o]
	if missing := n - (len(o.wcs) - at); missing > 0 {
		if _, err := s.poll(o, missing); err != nil {
			return err
		}
	}
	end := min(at+n, len(o.wcs))
	c.said.wcs = append([]verbs.WC(nil), o.wcs[at:end]...)
	s.cur.read[o] = end
	var got []string
	for _, wc := range c.said.wcs {
		text := s.wcText(o.node, wc)
		got = append(got, text)
		c.said.lines = append(c.said.lines, o.name+" -> "+text)
	}
	c.said.said = fmt.Sprintf("n=%d", len(got))
	c.said.text = fmt.Sprintf("%d", len(got))
	if len(got) > 0 {
		c.said.text += ": " + strings.Join(got, "; ")
	}
	return nil
}

// wait is the wait of a node; running out of time is ETIMEDOUT.
func (c *call) wait() error {
	limit, _ := c.a.get("limit")
	var ready func() (bool, error)
	what := ""
	if v, ok := c.a.get("state"); ok {
		if c.o.kind != kQP {
			return stopf("state= is for a QP; %s is %s", c.o.name, c.o.kind.plain())
		}
		what = "state " + v.text
		ready = func() (bool, error) {
			a, err := c.dev.QueryQP(c.o.qp.QP)
			return a.State == verbs.QPState(v.num), err
		}
	} else {
		if c.o.kind != kCQ {
			return stopf("count= is for a CQ; %s is %s", c.o.name, c.o.kind.plain())
		}
		n := int(c.a.num("count", 1))
		what = fmt.Sprintf("%d unread completions", n)
		ready = func() (bool, error) {
			missing := n - (len(c.o.wcs) - c.s.cur.read[c.o])
			if missing > 0 {
				got, err := c.s.poll(c.o, missing)
				return got == missing, err
			}
			return true, nil
		}
	}
	ok, err := c.s.wait(c.ctx, limit.dur, ready)
	if err == nil && !ok {
		err = &verbs.Error{Op: "wait", Errno: syscall.Errno(110), Why: what + " did not come"}
	}
	return err
}
