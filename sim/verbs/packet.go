package verbs

import "slices"

// PacketInfo names a RoCEv2 packet without its bytes.
type PacketInfo struct {
	Opcode   string // BTH opcode without its transport, such as "SEND_ONLY"
	PSN      uint32 // 24 bits
	AckReq   bool
	Syndrome uint8 // AETH, where the packet has one
	HasAETH  bool
	Payload  int // bytes, without headers, pad and ICRC
}

// PacketKinds are the groups of packets that a fault line and a count of
// packets may name besides an opcode: by direction, by what an acknowledgement
// says (the AETH syndromes of IBTA vol. 1, 9.7.5.2), and the responses of a READ.
func PacketKinds() []string {
	return []string{
		"any", "request", "response", "ack", "nak", "nak_sequence", "nak_invalid", "nak_access", "nak_operational",
		"rnr", "read_resp",
	}
}

// Syndromes that tell acknowledgements apart; the low five bits of an ACK are
// its credits, of an RNR NAK its timer, of a NAK its reason.
const (
	syndromeKind = 0xe0
	kindACK      = 0x00
	kindRNR      = 0x20
	kindNAK      = 0x60
)

var nakReasons = map[string]uint8{
	"nak_sequence": 0x60, "nak_invalid": 0x61, "nak_access": 0x62, "nak_operational": 0x63,
}

var readResponses = []string{
	"RDMA_READ_RESPONSE_FIRST", "RDMA_READ_RESPONSE_MIDDLE", "RDMA_READ_RESPONSE_LAST", "RDMA_READ_RESPONSE_ONLY",
}

// Is tells whether the packet is of a kind: one of PacketKinds, or an opcode.
func (p *PacketInfo) Is(kind string) bool {
	acknowledge := p.Opcode == "ACKNOWLEDGE"
	switch kind {
	case "any":
		return true
	case "request":
		return !p.response()
	case "response":
		return p.response()
	case "ack":
		return acknowledge && p.Syndrome&syndromeKind == kindACK
	case "nak":
		return acknowledge && p.Syndrome&syndromeKind == kindNAK
	case "rnr":
		return acknowledge && p.Syndrome&syndromeKind == kindRNR
	case "read_resp":
		return slices.Contains(readResponses, p.Opcode)
	}
	if reason, ok := nakReasons[kind]; ok {
		return acknowledge && p.Syndrome == reason
	}
	return p.Opcode == kind
}

func (p *PacketInfo) response() bool {
	return p.Opcode == "ACKNOWLEDGE" || p.Opcode == "ATOMIC_ACKNOWLEDGE" || slices.Contains(readResponses, p.Opcode)
}
