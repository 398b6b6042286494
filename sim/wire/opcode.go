package wire

import (
	"fmt"
	"strings"
)

// Opcode is the BTH opcode: transport in the top three bits, operation in the
// low five. Values and names are those of the kernel's include/rdma/ib_pack.h.
type Opcode uint8

// Transport is the top three bits of an opcode, in place.
type Transport uint8

// The transports of ib_pack.h (IB_OPCODE_RC and so on). XRC is IBTA annex A14.
const (
	RC  Transport = 0x00
	UC  Transport = 0x20
	RD  Transport = 0x40
	UD  Transport = 0x60
	CNP Transport = 0x80
	XRC Transport = 0xa0
)

// String returns the transport's name, or its hex value when it has none.
func (t Transport) String() string {
	switch t {
	case RC:
		return "RC"
	case UC:
		return "UC"
	case RD:
		return "RD"
	case UD:
		return "UD"
	case CNP:
		return "CNP"
	case XRC:
		return "XRC"
	}
	return fmt.Sprintf("transport(0x%02x)", uint8(t))
}

// The opcodes of reliable connected service.
const (
	RCSendFirst          = Opcode(RC) | opSendFirst
	RCSendMiddle         = Opcode(RC) | opSendMiddle
	RCSendLast           = Opcode(RC) | opSendLast
	RCSendLastImm        = Opcode(RC) | opSendLastImm
	RCSendOnly           = Opcode(RC) | opSendOnly
	RCSendOnlyImm        = Opcode(RC) | opSendOnlyImm
	RCWriteFirst         = Opcode(RC) | opWriteFirst
	RCWriteMiddle        = Opcode(RC) | opWriteMiddle
	RCWriteLast          = Opcode(RC) | opWriteLast
	RCWriteLastImm       = Opcode(RC) | opWriteLastImm
	RCWriteOnly          = Opcode(RC) | opWriteOnly
	RCWriteOnlyImm       = Opcode(RC) | opWriteOnlyImm
	RCReadRequest        = Opcode(RC) | opReadRequest
	RCReadResponseFirst  = Opcode(RC) | opReadRespFirst
	RCReadResponseMiddle = Opcode(RC) | opReadRespMiddle
	RCReadResponseLast   = Opcode(RC) | opReadRespLast
	RCReadResponseOnly   = Opcode(RC) | opReadRespOnly
	RCAcknowledge        = Opcode(RC) | opAcknowledge
	RCAtomicAcknowledge  = Opcode(RC) | opAtomicAck
	RCCompareSwap        = Opcode(RC) | opCompareSwap
	RCFetchAdd           = Opcode(RC) | opFetchAdd
	RCSendLastInvalidate = Opcode(RC) | opSendLastInv
	RCSendOnlyInvalidate = Opcode(RC) | opSendOnlyInv
	RCFlush              = Opcode(RC) | opFlush
	RCAtomicWrite        = Opcode(RC) | opAtomicWrite
	UCSendFirst          = Opcode(UC) | opSendFirst
	UCSendMiddle         = Opcode(UC) | opSendMiddle
	UCSendLast           = Opcode(UC) | opSendLast
	UCSendLastImm        = Opcode(UC) | opSendLastImm
	UCSendOnly           = Opcode(UC) | opSendOnly
	UCSendOnlyImm        = Opcode(UC) | opSendOnlyImm
	UCWriteFirst         = Opcode(UC) | opWriteFirst
	UCWriteMiddle        = Opcode(UC) | opWriteMiddle
	UCWriteLast          = Opcode(UC) | opWriteLast
	UCWriteLastImm       = Opcode(UC) | opWriteLastImm
	UCWriteOnly          = Opcode(UC) | opWriteOnly
	UCWriteOnlyImm       = Opcode(UC) | opWriteOnlyImm
	UDSendOnly           = Opcode(UD) | opSendOnly
	UDSendOnlyImm        = Opcode(UD) | opSendOnlyImm
	CongestionNotify     = Opcode(CNP) | 0x01 // IBTA annex A17: the CNP packet
)

// The low five bits, common to the transports.
const (
	opSendFirst Opcode = iota
	opSendMiddle
	opSendLast
	opSendLastImm
	opSendOnly
	opSendOnlyImm
	opWriteFirst
	opWriteMiddle
	opWriteLast
	opWriteLastImm
	opWriteOnly
	opWriteOnlyImm
	opReadRequest
	opReadRespFirst
	opReadRespMiddle
	opReadRespLast
	opReadRespOnly
	opAcknowledge
	opAtomicAck
	opCompareSwap
	opFetchAdd
	opReserved15
	opSendLastInv
	opSendOnlyInv
	opFlush       Opcode = 0x1c
	opAtomicWrite Opcode = 0x1d

	lastUC  = opWriteOnlyImm
	lastRD  = opFetchAdd
	lastXRC = opSendOnlyInv
)

// opFlag says what an opcode carries and what kind of packet it is.
type opFlag uint32

const (
	fRDETH opFlag = 1 << iota
	fXRCETH
	fDETH
	fFETH
	fRETH
	fAtomicETH
	fAETH
	fAtomicAck
	fImm
	fIETH
	fPayload // may carry payload
	fRequest
	fResponse
	fFirst
	fMiddle
	fLast
	fOnly
	fSend
	fWrite
	fRead
	fAtomic
	fKnown
)

// opInfo is one row of the opcode table. fixed is the only payload length that
// the opcode allows, or -1.
type opInfo struct {
	name, short string
	flags       opFlag
	headers     int // bytes: BTH and extension headers
	fixed       int
}

// baseOps describes the operations without their transport's own headers
// (IBTA 9.2 "opcode and headers" table, as in rxe_opcode.c).
var baseOps = [32]struct {
	name, short string
	flags       opFlag
}{
	opSendFirst:      {"SEND_FIRST", "SEND_FIRST", fRequest | fSend | fFirst | fPayload},
	opSendMiddle:     {"SEND_MIDDLE", "SEND_MIDDLE", fRequest | fSend | fMiddle | fPayload},
	opSendLast:       {"SEND_LAST", "SEND_LAST", fRequest | fSend | fLast | fPayload},
	opSendLastImm:    {"SEND_LAST_WITH_IMMEDIATE", "SEND_LAST_IMM", fRequest | fSend | fLast | fPayload | fImm},
	opSendOnly:       {"SEND_ONLY", "SEND_ONLY", fRequest | fSend | fOnly | fPayload},
	opSendOnlyImm:    {"SEND_ONLY_WITH_IMMEDIATE", "SEND_ONLY_IMM", fRequest | fSend | fOnly | fPayload | fImm},
	opWriteFirst:     {"RDMA_WRITE_FIRST", "WRITE_FIRST", fRequest | fWrite | fFirst | fPayload | fRETH},
	opWriteMiddle:    {"RDMA_WRITE_MIDDLE", "WRITE_MIDDLE", fRequest | fWrite | fMiddle | fPayload},
	opWriteLast:      {"RDMA_WRITE_LAST", "WRITE_LAST", fRequest | fWrite | fLast | fPayload},
	opWriteLastImm:   {"RDMA_WRITE_LAST_WITH_IMMEDIATE", "WRITE_LAST_IMM", fRequest | fWrite | fLast | fPayload | fImm},
	opWriteOnly:      {"RDMA_WRITE_ONLY", "WRITE_ONLY", fRequest | fWrite | fOnly | fPayload | fRETH},
	opWriteOnlyImm:   {"RDMA_WRITE_ONLY_WITH_IMMEDIATE", "WRITE_ONLY_IMM", fRequest | fWrite | fOnly | fPayload | fRETH | fImm},
	opReadRequest:    {"RDMA_READ_REQUEST", "READ_REQUEST", fRequest | fRead | fOnly | fRETH},
	opReadRespFirst:  {"RDMA_READ_RESPONSE_FIRST", "READ_RESP_FIRST", fResponse | fRead | fFirst | fPayload | fAETH},
	opReadRespMiddle: {"RDMA_READ_RESPONSE_MIDDLE", "READ_RESP_MIDDLE", fResponse | fRead | fMiddle | fPayload},
	opReadRespLast:   {"RDMA_READ_RESPONSE_LAST", "READ_RESP_LAST", fResponse | fRead | fLast | fPayload | fAETH},
	opReadRespOnly:   {"RDMA_READ_RESPONSE_ONLY", "READ_RESP_ONLY", fResponse | fRead | fOnly | fPayload | fAETH},
	opAcknowledge:    {"ACKNOWLEDGE", "ACK", fResponse | fOnly | fAETH},
	opAtomicAck:      {"ATOMIC_ACKNOWLEDGE", "ATOMIC_ACK", fResponse | fAtomic | fOnly | fAETH | fAtomicAck},
	opCompareSwap:    {"COMPARE_SWAP", "CMP_SWAP", fRequest | fAtomic | fOnly | fAtomicETH},
	opFetchAdd:       {"FETCH_ADD", "FETCH_ADD", fRequest | fAtomic | fOnly | fAtomicETH},
	opSendLastInv:    {"SEND_LAST_WITH_INVALIDATE", "SEND_LAST_INV", fRequest | fSend | fLast | fPayload | fIETH},
	opSendOnlyInv:    {"SEND_ONLY_WITH_INVALIDATE", "SEND_ONLY_INV", fRequest | fSend | fOnly | fPayload | fIETH},
	opFlush:          {"FLUSH", "FLUSH", fRequest | fOnly | fFETH | fRETH},
	opAtomicWrite:    {"ATOMIC_WRITE", "ATOMIC_WRITE", fRequest | fOnly | fRETH | fPayload},
}

// opTable is the one table behind every predicate, name and length.
var opTable = buildOpTable()

func buildOpTable() *[256]opInfo {
	var t [256]opInfo
	for i := range t {
		t[i].fixed = -1
	}
	for op := range Opcode(32) {
		if baseOps[op].name == "" {
			continue
		}
		addOp(&t, RC, op, 0)
		if op <= lastUC {
			addOp(&t, UC, op, 0)
		}
		extra := fRDETH // RD: every packet; RD requests carry DETH as well
		if baseOps[op].flags&fRequest != 0 {
			extra |= fDETH
		}
		if op <= lastRD {
			addOp(&t, RD, op, extra)
		}
		if op == opSendOnly || op == opSendOnlyImm {
			addOp(&t, UD, op, fDETH)
		}
		extra = 0
		if baseOps[op].flags&fRequest != 0 {
			extra = fXRCETH
		}
		if op <= lastXRC {
			addOp(&t, XRC, op, extra)
		}
	}
	t[RCAtomicWrite].fixed = 8
	t[CongestionNotify] = opInfo{name: "CNP", short: "CNP", flags: fKnown | fOnly | fPayload, headers: bthLen, fixed: cnpPayload}
	return &t
}

func addOp(t *[256]opInfo, tr Transport, op Opcode, extra opFlag) {
	b := baseOps[op]
	f := b.flags | extra | fKnown
	n := bthLen
	for _, h := range extHeaders {
		if f&h.flag != 0 {
			n += h.len
		}
	}
	row := &t[Opcode(tr)|op]
	row.name, row.short, row.flags, row.headers = tr.String()+"_"+b.name, b.short, f, n
	if f&fPayload == 0 {
		row.fixed = 0
	}
}

// Transport returns the service that the opcode belongs to.
func (o Opcode) Transport() Transport { return Transport(o & 0xe0) }

// String returns the kernel's name without IB_OPCODE_, such as
// RC_RDMA_WRITE_ONLY; an unknown opcode gives its hex value.
func (o Opcode) String() string {
	if n := opTable[o].name; n != "" {
		return n
	}
	return fmt.Sprintf("opcode(0x%02x)", uint8(o))
}

// Operation returns the kernel's name without the transport, such as
// RDMA_WRITE_ONLY: what scripts call a packet.
func (o Opcode) Operation() string {
	_, operation, ok := strings.Cut(o.String(), "_")
	if !ok {
		return o.String()
	}
	return operation
}

// Short returns the name for a ladder, without transport: WRITE_ONLY, ACK.
func (o Opcode) Short() string {
	if n := opTable[o].short; n != "" {
		return n
	}
	return fmt.Sprintf("opcode(0x%02x)", uint8(o))
}

func (o Opcode) has(f opFlag) bool { return opTable[o].flags&f != 0 }

// Known reports whether the opcode is one that this package can take apart.
func (o Opcode) Known() bool { return o.has(fKnown) }

// HeaderLen is the length in bytes of BTH and extension headers (12 for an
// unknown opcode).
func (o Opcode) HeaderLen() int { return max(opTable[o].headers, bthLen) }

// HasRETH reports an RDMA extended header: address, key and length.
func (o Opcode) HasRETH() bool { return o.has(fRETH) }

// HasImm reports immediate data.
func (o Opcode) HasImm() bool { return o.has(fImm) }

// HasAETH reports an acknowledge header: syndrome and MSN.
func (o Opcode) HasAETH() bool { return o.has(fAETH) }

// HasAtomicETH reports an atomic request header.
func (o Opcode) HasAtomicETH() bool { return o.has(fAtomicETH) }

// HasAtomicAckETH reports the old value of an atomic.
func (o Opcode) HasAtomicAckETH() bool { return o.has(fAtomicAck) }

// HasIETH reports a key to invalidate.
func (o Opcode) HasIETH() bool { return o.has(fIETH) }

// HasDETH reports a datagram header: Q_Key and source QP.
func (o Opcode) HasDETH() bool { return o.has(fDETH) }

// HasRDETH reports the RD end-to-end context.
func (o Opcode) HasRDETH() bool { return o.has(fRDETH) }

// HasXRCETH reports the XRC shared receive queue number.
func (o Opcode) HasXRCETH() bool { return o.has(fXRCETH) }

// HasFETH reports a flush header.
func (o Opcode) HasFETH() bool { return o.has(fFETH) }

// HasPayload reports whether the opcode may carry payload.
func (o Opcode) HasPayload() bool { return o.has(fPayload) }

// IsRequest reports a packet from requester to responder.
func (o Opcode) IsRequest() bool { return o.has(fRequest) }

// IsResponse reports a packet from responder to requester.
func (o Opcode) IsResponse() bool { return o.has(fResponse) }

// IsFirst reports the first of several packets of a message.
func (o Opcode) IsFirst() bool { return o.has(fFirst) }

// IsMiddle reports a packet that is neither first nor last.
func (o Opcode) IsMiddle() bool { return o.has(fMiddle) }

// IsLast reports the last of several packets of a message.
func (o Opcode) IsLast() bool { return o.has(fLast) }

// IsOnly reports a message in one packet (acknowledges, READ and atomic
// requests included).
func (o Opcode) IsOnly() bool { return o.has(fOnly) }

// Starts reports FIRST or ONLY.
func (o Opcode) Starts() bool { return o.has(fFirst | fOnly) }

// Ends reports LAST or ONLY.
func (o Opcode) Ends() bool { return o.has(fLast | fOnly) }

// IsSend reports a packet of a SEND message.
func (o Opcode) IsSend() bool { return o.has(fSend) }

// IsWrite reports a packet of an RDMA WRITE.
func (o Opcode) IsWrite() bool { return o.has(fWrite) }

// IsRead reports an RDMA READ request or one of its responses.
func (o Opcode) IsRead() bool { return o.has(fRead) }

// IsAtomic reports a COMPARE_SWAP or FETCH_ADD or the answer to one.
func (o Opcode) IsAtomic() bool { return o.has(fAtomic) }

// IsReadResponse reports one of the four READ response opcodes.
func (o Opcode) IsReadResponse() bool { return o.has(fRead) && o.has(fResponse) }
