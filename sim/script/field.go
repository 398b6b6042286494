package script

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"rdmaprep/sim/verbs"
)

// ValueKind says which field of a Value counts.
type ValueKind uint8

// The kinds of Value.
const (
	ValueNumber   ValueKind = iota + 1 // Num
	ValueName                          // a C constant or flags: Text, and Num as its value
	ValueDuration                      // Dur
	ValueText                          // Text: text, bytes in hexadecimal, or the name of an object
)

// Value is what a path names.
type Value struct {
	Kind ValueKind
	Num  uint64
	Dur  time.Duration
	Text string
}

// String is the value as a script writes it.
func (v Value) String() string {
	switch v.Kind {
	case ValueNumber:
		return strconv.FormatUint(v.Num, 10)
	case ValueDuration:
		return v.Dur.String()
	}
	return v.Text
}

func number(n uint64) Value          { return Value{Kind: ValueNumber, Num: n} }
func nameOf(e *enum, n uint64) Value { return Value{Kind: ValueName, Num: n, Text: e.print(n)} }
func text(s string) Value            { return Value{Kind: ValueText, Text: s} }

func boolean(b bool) Value {
	if b {
		return number(1)
	}
	return number(0)
}

func refused(err error) bool {
	var e *verbs.Error
	return errors.As(err, &e)
}

// wcField is one field of a completion. why is not empty when it is undefined.
func (s *Session) wcField(node string, wc verbs.WC, key string) (v Value, why string) {
	switch key {
	case "wr_id":
		return number(wc.ID), ""
	case "status":
		return nameOf(wcStatusEnum, uint64(wc.Status)), ""
	case "qp":
		return Value{Kind: ValueName, Num: uint64(wc.QPNum), Text: s.qpName(node, wc.QPNum)}, ""
	case "vendor_err":
		return number(uint64(wc.VendorErr)), ""
	}
	if wc.Status != verbs.WCSuccess {
		return Value{}, key + " is undefined when the status is " + wc.Status.String()
	}
	switch key {
	case "opcode":
		return nameOf(wcOpcodeEnum, uint64(wc.Opcode)), ""
	case "byte_len":
		return number(uint64(wc.ByteLen)), ""
	case "flags":
		return nameOf(wcFlagsEnum, uint64(wc.Flags)), ""
	case "imm":
		if wc.Flags&verbs.WCWithImm == 0 {
			return Value{}, "imm is undefined without WITH_IMM"
		}
		return number(uint64(wc.Imm)), ""
	case "inv_rkey":
		if wc.Flags&verbs.WCWithInv == 0 {
			return Value{}, "inv_rkey is undefined without WITH_INV"
		}
		return Value{Kind: ValueName, Num: uint64(wc.InvalidRKey), Text: s.keyName(node, wc.InvalidRKey)}, ""
	case "src_qp":
		return Value{Kind: ValueName, Num: uint64(wc.SrcQP), Text: s.srcName(node, wc.SrcQP)}, ""
	}
	return Value{}, "a completion has no " + key
}

// qpField is one attribute of a QP.
func (s *Session) qpField(o *object, a verbs.QPAttr, key string) (Value, bool) {
	numbers := map[string]uint64{
		"pkey_index": uint64(a.PKeyIndex), "port": uint64(a.Port), "qkey": uint64(a.QKey),
		"rq_psn": uint64(a.RQPSN), "sq_psn": uint64(a.SQPSN), "path_mtu": uint64(a.PathMTU.Bytes()),
		"max_rd_atomic": uint64(a.MaxRDAtomic), "max_dest_rd_atomic": uint64(a.MaxDestRDAtomic),
		"min_rnr_timer": uint64(a.MinRNRTimer), "timeout": uint64(a.Timeout),
		"retry_cnt": uint64(a.RetryCnt), "rnr_retry": uint64(a.RNRRetry),
		"max_send_wr": uint64(a.Cap.MaxSendWR), "max_recv_wr": uint64(a.Cap.MaxRecvWR),
		"max_send_sge": uint64(a.Cap.MaxSendSGE), "max_recv_sge": uint64(a.Cap.MaxRecvSGE),
		"max_inline": uint64(a.Cap.MaxInline), "qp_num": uint64(o.qp.Num),
	}
	if n, ok := numbers[key]; ok {
		return number(n), true
	}
	switch key {
	case "state":
		return nameOf(qpStateEnum, uint64(a.State)), true
	case "cur_state":
		return nameOf(qpStateEnum, uint64(a.CurState)), true
	case "type":
		return nameOf(qpTypeEnum, uint64(o.init.Type)), true
	case "access":
		return nameOf(accessEnum, uint64(a.Access)), true
	case "dest":
		v := Value{Kind: ValueName, Num: uint64(a.DestQPN), Text: decimal(uint64(a.DestQPN))}
		if o.destName != "" {
			v.Text = o.destName
		}
		return v, true
	case "en_sqd_async_notify":
		return boolean(a.EnSQDAsyncNotify), true
	case "sq_draining":
		return boolean(a.SQDraining), true
	case "sq_sig_all":
		return boolean(o.init.SQSigAll), true
	}
	for name, cq := range map[string]*object{"send_cq": o.sendCQ, "recv_cq": o.recvCQ, "srq": o.srqObj} {
		if name == key && cq != nil {
			return text(cq.name), true
		}
	}
	return Value{}, false
}

// objectField is one field of an object that is not a completion or an event.
func (s *Session) objectField(o *object, r rangeRef, key string) (Value, error) {
	dev := s.bench.Node(o.node)
	if findKey(byteKeys, key) != nil {
		return s.bytesField(o, r, key)
	}
	if o.gone && o.kind&(kQP|kSRQ) != 0 {
		return Value{}, stopf("%s.%s is destroyed", o.node, o.name)
	}
	switch {
	case o.kind == kQP:
		a, err := dev.QueryQP(o.qp.QP)
		if err != nil {
			return Value{}, err
		}
		if v, ok := s.qpField(o, a, key); ok {
			return v, nil
		}
	case o.kind == kSRQ:
		a, err := dev.QuerySRQ(o.srq.SRQ)
		if err != nil {
			return Value{}, err
		}
		n, ok := map[string]int{"max_wr": a.MaxWR, "max_sge": a.MaxSGE, "limit": a.Limit}[key]
		if ok {
			return number(uint64(n)), nil
		}
	case key == "rkey" && o.kind&(kMR|kMW) != 0:
		return number(uint64(o.rkey())), nil
	case key == "lkey" && o.kind == kMR:
		return number(uint64(o.mr.LKey)), nil
	case key == "length" && o.kind&(kMR|kBuf) != 0:
		return number(o.length), nil
	case key == "addr" && o.kind&(kMR|kBuf) != 0:
		return number(o.base()), nil
	case key == "access" && o.kind == kMR:
		return nameOf(accessEnum, uint64(o.access)), nil
	case key == "type" && o.kind == kMW:
		return nameOf(mwTypeEnum, uint64(o.mw.Type)), nil
	case key == "cqe" && o.kind == kCQ:
		return number(uint64(o.cq.CQE)), nil
	case key == "count" && o.kind == kCQ:
		return number(uint64(len(o.wcs))), nil
	case key == "count" && o.kind == kChannel:
		return number(uint64(len(o.evs))), nil
	}
	return Value{}, stopf("%s.%s is %s, which has no %s", o.node, o.name, o.kind.plain(), key)
}

// bytesField reads memory as a number, text or hexadecimal.
func (s *Session) bytesField(o *object, r rangeRef, key string) (Value, error) {
	if r.zero() {
		r.ref = o.ref
	}
	width := map[string]uint64{"u8": 1, "u16": 2, "u32": 4, "u64": 8}[key]
	if width > 0 {
		if r.span == spanCut && r.hi-r.lo < width {
			return Value{}, stopf("%s is shorter than the %d bytes of %s", r.text(o.node), width, key)
		}
		r.span, r.hi = spanCut, r.lo+width
	}
	b, err := s.bytes(r)
	if err != nil {
		return Value{}, err
	}
	switch width {
	case 1:
		return number(uint64(b[0])), nil
	case 2:
		return number(uint64(binary.LittleEndian.Uint16(b))), nil
	case 4:
		return number(uint64(binary.LittleEndian.Uint32(b))), nil
	case 8:
		return number(binary.LittleEndian.Uint64(b)), nil
	}
	switch key {
	case "hex":
		return text(hex.EncodeToString(b)), nil
	case "fill":
		for _, c := range b {
			if c != b[0] {
				return text("mixed bytes"), nil
			}
		}
		if len(b) == 0 {
			return text("no bytes"), nil
		}
		return number(uint64(b[0])), nil
	}
	return text(fmt.Sprintf("%q", trimZeros(b))), nil
}

// trimZeros cuts the zero bytes after a text.
func trimZeros(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return b
}
