package peer

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"rdmaprep/sim/verbs"
)

// resealed changes a datagram and mends its CRC.
func resealed(b []byte, change func([]byte)) []byte {
	b = append([]byte(nil), b...)
	change(b)
	end := len(b) - tailBytes
	binary.BigEndian.PutUint32(b[end:], crc32.ChecksumIEEE(b[:end]))
	return b
}

// FuzzHandle gives the server garbage as it is and garbage in a frame that is
// right, in the middle of a run. It must not panic, and carry out nothing that
// is not exactly a call as this package writes it.
func FuzzHandle(f *testing.F) {
	for o := opSay; o <= opClose+1; o++ {
		f.Add([]byte{byte(o)})
		f.Add([]byte{byte(o), 1})
		f.Add(append([]byte{byte(o)}, pack(nil, argSend{QP: 1, WRs: []verbs.SendWR{{ID: 7, SGL: []verbs.SGE{{Addr: 1}}}}})...))
	}
	f.Add(pack(nil, Hello{Role: "a"}.filled()))
	f.Add([]byte{byte(opPostSend), 1, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, b []byte) {
		d := &recorder{}
		s := NewServer(d, Hello{Role: "b"}, nil)
		s.Handle(b)
		s.Handle(seal(kindHello, 7, 0, b))
		s.Handle(seal(kindAnnounce, 0, 0, b))
		s = NewServer(d, Hello{Role: "b"}, nil)
		greet(t, s, 7)
		if s.Handle(b); len(d.calls) > 0 {
			t.Fatalf("%q was carried out", b)
		}
		if len(b) == 0 || len(b) > MaxDatagram-headBytes-tailBytes {
			return
		}
		// The handlers of the calls, with a device that is not there.
		h, ok := calls[op(b[0])]
		if ok {
			_ = func() (err error) {
				defer func() {
					if recover() == nil {
						return
					}
					// It reached the device, so the body is a whole call.
					if !whole(op(b[0]), b[1:]) {
						t.Fatalf("call %d with %q reached the device", b[0], b[1:])
					}
				}()
				_, err = h.do(nil, b[1:])
				return err
			}()
			return
		}
		s.Handle(seal(kindCall, 7, 1, b))
	})
}

// whole says whether a body is one of the calls that take no more than one
// argument, or what one of the others takes.
func whole(o op, body []byte) bool {
	is := func(err error) bool { return err == nil }
	_, e1 := unpack[none](body)
	_, e2 := unpack[uint64](body)
	_, e3 := unpack[int](body)
	switch o {
	case opQueryGID:
		_, err := unpack[argGID](body)
		return is(err)
	case opSpan, opLoad:
		_, err := unpack[argSpan](body)
		return is(err)
	case opStore:
		_, err := unpack[argStore](body)
		return is(err)
	case opRegMR:
		_, err := unpack[argRegMR](body)
		return is(err)
	case opReregMR:
		_, err := unpack[argReregMR](body)
		return is(err)
	case opAllocMW:
		_, err := unpack[argMW](body)
		return is(err)
	case opBindMW:
		_, err := unpack[argBind](body)
		return is(err)
	case opCreateCQ, opResizeCQ, opAckCQEvents, opPollCQ:
		_, err := unpack[argCQ](body)
		return is(err)
	case opReqNotifyCQ:
		_, err := unpack[argNotify](body)
		return is(err)
	case opCreateSRQ, opModifySRQ:
		_, err := unpack[argSRQ](body)
		return is(err)
	case opPostSRQRecv, opPostRecv:
		_, err := unpack[argRecv](body)
		return is(err)
	case opCreateAH:
		_, err := unpack[argAH](body)
		return is(err)
	case opCreateQP:
		_, err := unpack[argCreateQP](body)
		return is(err)
	case opModifyQP:
		_, err := unpack[argModifyQP](body)
		return is(err)
	case opPostSend:
		_, err := unpack[argSend](body)
		return is(err)
	case opAckAsyncEvent:
		_, err := unpack[verbs.AsyncEvent](body)
		return is(err)
	}
	return is(e1) || is(e2) || is(e3)
}

// FuzzReply gives the driving side garbage for an answer, as it is and in a
// frame that is right: the call ends, with a result or an error.
func FuzzReply(f *testing.F) {
	f.Add(pack(nil, answer[[]verbs.WC]{Result: []verbs.WC{{ID: 1}}}))
	f.Add(pack(nil, answer[map[string]uint64]{Result: map[string]uint64{"x": 1}}))
	f.Add(pack(nil, answer[none]{Failure: failure{Failed: true, Refused: true, Op: "x", Errno: 22, Why: "y"}}))
	f.Add(pack(nil, Hello{Role: "b"}.filled()))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > MaxDatagram-headBytes-tailBytes {
			return
		}
		for _, k := range []kind{kindReply, kindRefuse, kindBye, kindHello} {
			p := &pipe{clock: &manual{}}
			p.answer = func([]byte) []byte { return seal(k, 1, 0, b) }
			if _, err := Dial(context.Background(), Options{Conn: p, Clock: p.clock, Node: "b", Session: 1}); err == nil && k != kindReply {
				t.Fatalf("%q is a hello", b)
			}
			s := NewServer(&recorder{}, Hello{Role: "b"}, nil)
			r, p := piped(t, s)
			p.answer = func([]byte) []byte { return seal(k, 1, r.seq, b) }
			wc := make([]verbs.WC, 4)
			if n, err := r.PollCQ(1, wc); n > len(wc) || (err == nil && k != kindReply) {
				t.Fatalf("%q gave %d completions, %v", b, n, err)
			}
			r.dead = nil
			_, _ = r.Counters()
			r.dead = nil
			_ = r.Load(0, make([]byte, 8))
			p.answer = func([]byte) []byte { return b }
			r.dead = nil
			_, _ = r.AllocPD()
		}
	})
}
