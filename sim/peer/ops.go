package peer

import (
	"fmt"
	"hash/crc32"
	"reflect"
	"strings"

	"rdmaprep/sim/verbs"
)

// op is a call of the interface, or one of the three that are about the run.
type op uint8

const (
	opSay    op = iota + 1 // a line of the transcript
	opEnd                  // the run is over
	opInject               // a fault line
	opQueryDevice
	opQueryPort
	opQueryGID
	opAlloc
	opFree
	opSpan
	opLoad
	opStore
	opAllocPD
	opDeallocPD
	opRegMR
	opReregMR
	opDeregMR
	opAllocMW
	opDeallocMW
	opBindMW
	opCreateChannel
	opDestroyChannel
	opCreateCQ
	opResizeCQ
	opDestroyCQ
	opReqNotifyCQ
	opGetCQEvent
	opAckCQEvents
	opPollCQ
	opCreateSRQ
	opModifySRQ
	opQuerySRQ
	opDestroySRQ
	opPostSRQRecv
	opCreateAH
	opDestroyAH
	opCreateQP
	opQueryQP
	opModifyQP
	opDestroyQP
	opPostSend
	opPostRecv
	opGetAsyncEvent
	opAckAsyncEvent
	opCounters
	opClose
)

// Limits of one call.
const (
	maxPoll = 512      // completions
	maxSpan = 64 << 20 // bytes that are looked at before they are loaded or stored in pieces
)

// The arguments and results of calls that have several.
type (
	none     struct{}
	argGID   struct{ Port, Index int }
	argSpan  struct{ Addr, Length uint64 }
	argStore struct {
		Addr uint64
		Data []byte
	}
	argRegMR struct {
		PD           verbs.PD
		Addr, Length uint64
		Access       verbs.AccessFlags
	}
	argReregMR struct {
		MR     verbs.MR
		Change verbs.ReregFlags
		Reg    argRegMR
	}
	argMW struct {
		PD   verbs.PD
		Type verbs.MWType
	}
	argBind struct {
		QP    verbs.QP
		MW    verbs.MW
		ID    uint64
		Flags verbs.SendFlags
		Bind  verbs.MWBind
	}
	argCQ struct {
		CQ  verbs.CQ
		CQE int
		Ch  verbs.Channel
	}
	argNotify struct {
		CQ        verbs.CQ
		Solicited bool
	}
	argSRQ struct {
		PD   verbs.PD
		SRQ  verbs.SRQ
		Attr verbs.SRQAttr
		Mask verbs.SRQAttrMask
	}
	argAH struct {
		PD   verbs.PD
		Attr verbs.AHAttr
	}
	argCreateQP struct {
		PD   verbs.PD
		Init verbs.QPInitAttr
	}
	argModifyQP struct {
		QP   verbs.QP
		Attr verbs.QPAttr
		Mask verbs.QPAttrMask
	}
	argSend struct {
		QP  verbs.QP
		WRs []verbs.SendWR
	}
	argRecv struct {
		QP  verbs.QP
		SRQ verbs.SRQ
		WRs []verbs.RecvWR
	}
	gotCQEvent struct {
		CQ    verbs.CQ
		Found bool
	}
	gotAsync struct {
		Event verbs.AsyncEvent
		Found bool
	}
)

// answer is the body of a reply.
type answer[R any] struct {
	Failure failure
	Result  R
}

// handler carries a call out and returns the body of its reply. A body that
// cannot be read is an error, and nothing was carried out.
type handler struct {
	do     func(d verbs.Device, body []byte) ([]byte, error)
	layout string
}

// on makes the handler of a call.
func on[A, R any](f func(verbs.Device, A) (R, error)) handler {
	return handler{
		do: func(d verbs.Device, body []byte) ([]byte, error) {
			a, err := unpack[A](body)
			if err != nil {
				return nil, err
			}
			r, err := f(d, a)
			return pack(nil, answer[R]{failureOf(err), r}), nil
		},
		layout: layout(reflect.TypeFor[A]()) + "->" + layout(reflect.TypeFor[answer[R]]()),
	}
}

// act is on for a call that returns an error only.
func act[A any](f func(verbs.Device, A) error) handler {
	return on(func(d verbs.Device, a A) (none, error) { return none{}, f(d, a) })
}

// ask is on for a call that takes nothing.
func get[R any](f func(verbs.Device) (R, error)) handler {
	return on(func(d verbs.Device, _ none) (R, error) { return f(d) })
}

// calls are the calls that reach the device.
var calls = map[op]handler{
	opQueryDevice: get(verbs.Device.QueryDevice),
	opQueryPort:   on(verbs.Device.QueryPort),
	opQueryGID: on(func(d verbs.Device, a argGID) (verbs.GID, error) {
		if a.Port < 0 || a.Port > 255 {
			return verbs.GID{}, fmt.Errorf("port %d: a port is 0 to 255", a.Port)
		}
		return d.QueryGID(uint8(a.Port), a.Index)
	}),
	opAlloc: on(verbs.Device.Alloc),
	opFree:  act(verbs.Device.Free),
	opSpan: act(func(d verbs.Device, a argSpan) error {
		if a.Length > maxSpan {
			return fmt.Errorf("%d bytes at once: at most %d", a.Length, maxSpan)
		}
		return d.Load(a.Addr, make([]byte, a.Length))
	}),
	opLoad: on(func(d verbs.Device, a argSpan) ([]byte, error) {
		if a.Length > MaxDatagram {
			return nil, fmt.Errorf("%d bytes in one datagram: at most %d", a.Length, MaxDatagram)
		}
		b := make([]byte, a.Length)
		if err := d.Load(a.Addr, b); err != nil {
			return nil, err
		}
		return b, nil
	}),
	opStore:     act(func(d verbs.Device, a argStore) error { return d.Store(a.Addr, a.Data) }),
	opAllocPD:   get(verbs.Device.AllocPD),
	opDeallocPD: act(verbs.Device.DeallocPD),
	opRegMR: on(func(d verbs.Device, a argRegMR) (verbs.MRInfo, error) {
		return d.RegMR(a.PD, a.Addr, a.Length, a.Access)
	}),
	opReregMR: on(func(d verbs.Device, a argReregMR) (verbs.MRInfo, error) {
		return d.ReregMR(a.MR, a.Change, a.Reg.PD, a.Reg.Addr, a.Reg.Length, a.Reg.Access)
	}),
	opDeregMR:   act(verbs.Device.DeregMR),
	opAllocMW:   on(func(d verbs.Device, a argMW) (verbs.MWInfo, error) { return d.AllocMW(a.PD, a.Type) }),
	opDeallocMW: act(verbs.Device.DeallocMW),
	opBindMW:    on(func(d verbs.Device, a argBind) (uint32, error) { return d.BindMW(a.QP, a.MW, a.ID, a.Flags, a.Bind) }),

	opCreateChannel:  get(verbs.Device.CreateChannel),
	opDestroyChannel: act(verbs.Device.DestroyChannel),
	opCreateCQ:       on(func(d verbs.Device, a argCQ) (verbs.CQInfo, error) { return d.CreateCQ(a.CQE, a.Ch) }),
	opResizeCQ:       on(func(d verbs.Device, a argCQ) (verbs.CQInfo, error) { return d.ResizeCQ(a.CQ, a.CQE) }),
	opDestroyCQ:      act(verbs.Device.DestroyCQ),
	opReqNotifyCQ:    act(func(d verbs.Device, a argNotify) error { return d.ReqNotifyCQ(a.CQ, a.Solicited) }),
	opGetCQEvent: on(func(d verbs.Device, ch verbs.Channel) (gotCQEvent, error) {
		cq, ok, err := d.GetCQEvent(ch)
		return gotCQEvent{cq, ok}, err
	}),
	opAckCQEvents: act(func(d verbs.Device, a argCQ) error { return d.AckCQEvents(a.CQ, a.CQE) }),
	opPollCQ: on(func(d verbs.Device, a argCQ) ([]verbs.WC, error) {
		if a.CQE < 0 || a.CQE > maxPoll {
			return nil, fmt.Errorf("%d completions in one datagram: at most %d", a.CQE, maxPoll)
		}
		wc := make([]verbs.WC, a.CQE)
		n, err := d.PollCQ(a.CQ, wc)
		return wc[:max(0, min(n, len(wc)))], err
	}),

	opCreateSRQ:  on(func(d verbs.Device, a argSRQ) (verbs.SRQInfo, error) { return d.CreateSRQ(a.PD, a.Attr) }),
	opModifySRQ:  act(func(d verbs.Device, a argSRQ) error { return d.ModifySRQ(a.SRQ, a.Attr, a.Mask) }),
	opQuerySRQ:   on(verbs.Device.QuerySRQ),
	opDestroySRQ: act(verbs.Device.DestroySRQ),
	opPostSRQRecv: on(func(d verbs.Device, a argRecv) (int, error) {
		return d.PostSRQRecv(a.SRQ, a.WRs)
	}),
	opCreateAH:  on(func(d verbs.Device, a argAH) (verbs.AH, error) { return d.CreateAH(a.PD, a.Attr) }),
	opDestroyAH: act(verbs.Device.DestroyAH),

	opCreateQP:  on(func(d verbs.Device, a argCreateQP) (verbs.QPInfo, error) { return d.CreateQP(a.PD, a.Init) }),
	opQueryQP:   on(verbs.Device.QueryQP),
	opModifyQP:  act(func(d verbs.Device, a argModifyQP) error { return d.ModifyQP(a.QP, a.Attr, a.Mask) }),
	opDestroyQP: act(verbs.Device.DestroyQP),
	opPostSend:  on(func(d verbs.Device, a argSend) (int, error) { return d.PostSend(a.QP, a.WRs) }),
	opPostRecv:  on(func(d verbs.Device, a argRecv) (int, error) { return d.PostRecv(a.QP, a.WRs) }),

	opGetAsyncEvent: get(func(d verbs.Device) (gotAsync, error) {
		e, ok, err := d.GetAsyncEvent()
		return gotAsync{e, ok}, err
	}),
	opAckAsyncEvent: act(verbs.Device.AckAsyncEvent),
	opCounters:      get(verbs.Device.Counters),
	opClose:         act(func(d verbs.Device, _ none) error { return d.Close() }),
}

// layouts is a digest of what every body looks like: two builds whose types
// differ must not talk.
func layouts() uint32 {
	var b strings.Builder
	for o := opSay; o <= opClose; o++ {
		fmt.Fprintf(&b, "%d %s\n", o, calls[o].layout)
	}
	b.WriteString(layout(reflect.TypeFor[Line]()) + layout(reflect.TypeFor[Verdict]()) + layout(reflect.TypeFor[Hello]()) + layout(reflect.TypeFor[verbs.Fault]()))
	return crc32.ChecksumIEEE([]byte(b.String()))
}
