package model

import "rdmaprep/sim/wire"

// packet is a RoCEv2 packet on its way inside the model: header fields without
// their bytes. Packets are pooled; payload keeps its array between lives.
type packet struct {
	op       uint8  // BTH opcode with its transport
	tos      uint8  // of the IP header
	sport    uint16 // of the UDP header
	se       bool   // solicited event
	ackReq   bool
	syndrome uint8 // AETH
	pkey     uint16
	srcQP    uint32 // DETH; of the others only the model knows it
	dstQP    uint32
	psn      uint32
	base     uint32 // initial PSN of the stream that the packet belongs to
	qkey     uint32 // DETH
	va       uint64 // RETH, AtomicETH
	rkey     uint32 // RETH, AtomicETH, IETH
	length   uint32 // RETH
	swapAdd  uint64 // AtomicETH
	compare  uint64 // AtomicETH
	original uint64 // AtomicAckETH
	imm      uint32 // ImmDt
	msn      uint32 // AETH
	payload  []byte
	from, to int16     // nodes
	far      wire.Addr // of what comes from or goes to the frame port: the address there
	ip       []byte    // of a datagram from the frame port: its IP header
	tooMany  bool      // arrived beyond max_dest_rd_atomic
	corrupt  bool      // a bit flipped on the way
	trace    int       // its event on the wire
	next     *packet
}

// The BTH opcodes: three bits of transport and five of operation.
const (
	opSendFirst       = 0x00
	opSendMiddle      = 0x01
	opSendLast        = 0x02
	opSendLastImm     = 0x03
	opSendOnly        = 0x04
	opSendOnlyImm     = 0x05
	opWriteFirst      = 0x06
	opWriteMiddle     = 0x07
	opWriteLast       = 0x08
	opWriteLastImm    = 0x09
	opWriteOnly       = 0x0a
	opWriteOnlyImm    = 0x0b
	opReadRequest     = 0x0c
	opReadFirst       = 0x0d
	opReadMiddle      = 0x0e
	opReadLast        = 0x0f
	opReadOnly        = 0x10
	opAcknowledge     = 0x11
	opAtomicAck       = 0x12
	opCompareSwap     = 0x13
	opFetchAdd        = 0x14
	opSendLastInv     = 0x16
	opSendOnlyInv     = 0x17
	operationBits     = 0x1f
	transportRC       = 0x00
	transportUC       = 0x20
	transportUD       = 0x60
	psnMask           = 1<<24 - 1
	defaultPKey       = 0xffff
	grhBytes          = 40
	synACK            = 0x1f // ACK, credits unlimited
	synRNR            = 0x20 // with the timer code in the low five bits
	synNAKSequence    = 0x60
	synNAKInvalid     = 0x61
	synNAKAccess      = 0x62
	synNAKOperational = 0x63
)

// What a request opcode is made of.
const (
	isSend uint8 = 1 << iota
	isWrite
	isFirst
	isLast
	hasImm
	hasInv
	isRead
	isAtomic
)

var opClass = [32]uint8{
	opSendFirst:    isSend | isFirst,
	opSendMiddle:   isSend,
	opSendLast:     isSend | isLast,
	opSendLastImm:  isSend | isLast | hasImm,
	opSendOnly:     isSend | isFirst | isLast,
	opSendOnlyImm:  isSend | isFirst | isLast | hasImm,
	opWriteFirst:   isWrite | isFirst,
	opWriteMiddle:  isWrite,
	opWriteLast:    isWrite | isLast,
	opWriteLastImm: isWrite | isLast | hasImm,
	opWriteOnly:    isWrite | isFirst | isLast,
	opWriteOnlyImm: isWrite | isFirst | isLast | hasImm,
	opReadRequest:  isRead | isFirst | isLast,
	opCompareSwap:  isAtomic | isFirst | isLast,
	opFetchAdd:     isAtomic | isFirst | isLast,
	opSendLastInv:  isSend | isLast | hasInv,
	opSendOnlyInv:  isSend | isFirst | isLast | hasInv,
}

// isResponse tells the opcodes that a responder sends.
func isResponse(op uint8) bool {
	op &= operationBits
	return op >= opReadFirst && op <= opAtomicAck
}

// psnDiff is a minus b on the circle of 24 bits: positive if a is newer.
func psnDiff(a, b uint32) int32 { return int32((a-b)<<8) >> 8 }

func psnAdd(a uint32, n uint32) uint32 { return (a + n) & psnMask }

// packetPool hands out packets; it keeps every one that was ever made.
type packetPool struct{ free *packet }

func (p *packetPool) get() *packet {
	k := p.free
	if k == nil {
		return &packet{trace: -1, pkey: defaultPKey}
	}
	p.free = k.next
	payload := k.payload[:0]
	*k = packet{trace: -1, pkey: defaultPKey, payload: payload}
	return k
}

func (p *packetPool) put(k *packet) {
	k.next = p.free
	p.free = k
}

// room makes the payload n bytes long.
func (p *packet) room(n int) []byte {
	if cap(p.payload) < n {
		p.payload = make([]byte, n, max(n, 256))
	}
	p.payload = p.payload[:n]
	return p.payload
}
