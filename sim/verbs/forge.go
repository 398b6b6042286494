package verbs

import (
	"fmt"
	"slices"
)

// HeaderField is a field of a packet's headers that FaultForge can rewrite.
type HeaderField uint8

// The fields, by header (IBTA vol. 1, 9.2 to 9.3). Those of the BTH are in every
// packet.
const (
	FieldOpcode    HeaderField = iota + 1 // BTH: the operation, 5 bits; the transport stays
	FieldSolicited                        // BTH: 0 or 1
	FieldPKey                             // BTH
	FieldDestQP                           // BTH
	FieldAckReq                           // BTH: 0 or 1
	FieldPSN                              // BTH, counted from the initial PSN of the packet's stream
	FieldQKey                             // DETH
	FieldVA                               // RETH, AtomicETH
	FieldRKey                             // RETH, AtomicETH, IETH
	FieldSyndrome                         // AETH
	FieldMSN                              // AETH
)

// Forgery is one field and what it becomes.
type Forgery struct {
	Field HeaderField
	Value uint64
}

type fieldInfo struct {
	name    string
	bits    int
	headers extHeader // any of these, 0 for the BTH
}

var headerFields = [...]fieldInfo{
	FieldOpcode:    {"opcode", 5, 0},
	FieldSolicited: {"solicited", 1, 0},
	FieldPKey:      {"pkey", 16, 0},
	FieldDestQP:    {"dest_qp", 24, 0},
	FieldAckReq:    {"ackreq", 1, 0},
	FieldPSN:       {"set_psn", 24, 0},
	FieldQKey:      {"qkey", 32, extDETH},
	FieldVA:        {"va", 64, extRETH | extAtomicETH},
	FieldRKey:      {"rkey", 32, extRETH | extAtomicETH | extIETH},
	FieldSyndrome:  {"syndrome", 8, extAETH},
	FieldMSN:       {"msn", 24, extAETH},
}

// String is the field's name in scripts.
func (f HeaderField) String() string {
	if f == 0 || int(f) >= len(headerFields) {
		return fmt.Sprintf("HeaderField(%d)", uint8(f))
	}
	return headerFields[f].name
}

// HeaderFieldNames lists the fields by the names that scripts use.
func HeaderFieldNames() []string {
	var names []string
	for _, f := range headerFields[1:] {
		names = append(names, f.name)
	}
	return names
}

// ParseHeaderField is the reverse of String.
func ParseHeaderField(name string) (HeaderField, bool) {
	i := slices.IndexFunc(headerFields[:], func(f fieldInfo) bool { return f.name == name })
	return HeaderField(max(i, 0)), i > 0
}

// extHeader is a set of extension headers.
type extHeader uint8

const (
	extDETH extHeader = 1 << iota // of datagrams
	extRETH
	extAtomicETH
	extAETH
	extAtomicAck
	extImm
	extIETH
)

// operation is a BTH opcode without its transport, by its number of 5 bits
// (include/rdma/ib_pack.h), and the extension headers that go with it.
type operation struct {
	code    uint8
	name    string
	headers extHeader
}

var operations = []operation{
	{0x00, "SEND_FIRST", 0},
	{0x01, "SEND_MIDDLE", 0},
	{0x02, "SEND_LAST", 0},
	{0x03, "SEND_LAST_WITH_IMMEDIATE", extImm},
	{0x04, "SEND_ONLY", 0},
	{0x05, "SEND_ONLY_WITH_IMMEDIATE", extImm},
	{0x06, "RDMA_WRITE_FIRST", extRETH},
	{0x07, "RDMA_WRITE_MIDDLE", 0},
	{0x08, "RDMA_WRITE_LAST", 0},
	{0x09, "RDMA_WRITE_LAST_WITH_IMMEDIATE", extImm},
	{0x0a, "RDMA_WRITE_ONLY", extRETH},
	{0x0b, "RDMA_WRITE_ONLY_WITH_IMMEDIATE", extRETH | extImm},
	{0x0c, "RDMA_READ_REQUEST", extRETH},
	{0x0d, "RDMA_READ_RESPONSE_FIRST", extAETH},
	{0x0e, "RDMA_READ_RESPONSE_MIDDLE", 0},
	{0x0f, "RDMA_READ_RESPONSE_LAST", extAETH},
	{0x10, "RDMA_READ_RESPONSE_ONLY", extAETH},
	{0x11, "ACKNOWLEDGE", extAETH},
	{0x12, "ATOMIC_ACKNOWLEDGE", extAETH | extAtomicAck},
	{0x13, "COMPARE_SWAP", extAtomicETH},
	{0x14, "FETCH_ADD", extAtomicETH},
	{0x16, "SEND_LAST_WITH_INVALIDATE", extIETH},
	{0x17, "SEND_ONLY_WITH_INVALIDATE", extIETH},
}

// OperationCode is the number of a BTH opcode without its transport, 5 bits.
func OperationCode(name string) (uint8, bool) {
	for _, op := range operations {
		if op.name == name {
			return op.code, true
		}
	}
	return 0, false
}

// datagram tells the operations that UD has too, behind a DETH.
func (op *operation) datagram() bool { return op.code == 0x04 || op.code == 0x05 }

// kindOf tells whether some packet of the operation is of a kind.
func (op *operation) kindOf(match string) bool {
	for _, syndrome := range []uint8{kindACK, kindRNR, 0x60, 0x61, 0x62, 0x63} {
		if p := (PacketInfo{Opcode: op.name, Syndrome: syndrome}); p.Is(match) {
			return true
		}
	}
	return false
}

// Forgeable says why no packet of a kind, as in [Fault.Match], can be rewritten
// so, nil if some can: it must have the field, and another opcode must have the
// same headers, so that what arrives is well formed.
func (f Forgery) Forgeable(match string) error {
	if f.Field == 0 || int(f.Field) >= len(headerFields) {
		return fmt.Errorf("no such header field: %d", uint8(f.Field))
	}
	field := &headerFields[f.Field]
	if f.Value>>field.bits != 0 {
		return fmt.Errorf("%s has %d bits, %#x does not fit", field.name, field.bits, f.Value)
	}
	target := slices.IndexFunc(operations, func(op operation) bool { return uint64(op.code) == f.Value })
	if f.Field == FieldOpcode && target < 0 {
		return fmt.Errorf("%#x is no opcode", f.Value)
	}
	var twins []string
	for i := range operations {
		op := &operations[i]
		switch {
		case !op.kindOf(match):
		case f.Field == FieldOpcode:
			if op.headers == operations[target].headers {
				return nil
			}
			twins = append(twins, sameHeaders(op)...)
		case field.headers == 0 || field.headers&op.headers != 0 || field.headers == extDETH && op.datagram():
			return nil
		}
	}
	if f.Field == FieldOpcode {
		return &OtherHeadersError{Match: match, Opcodes: twins}
	}
	return fmt.Errorf("a packet that has %s: %s has none", field.name, match)
}

// OtherHeadersError refuses an opcode whose packets have other headers.
type OtherHeadersError struct {
	Match   string
	Opcodes []string // those with the same headers
}

func (e *OtherHeadersError) Error() string {
	return fmt.Sprintf("an opcode with the headers of %s: %v", e.Match, e.Opcodes)
}

func sameHeaders(op *operation) (names []string) {
	for _, other := range operations {
		if other.headers == op.headers && other.code != op.code {
			names = append(names, other.name)
		}
	}
	return names
}
