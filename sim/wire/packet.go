package wire

import "net/netip"

// Lengths in bytes of the headers, as in rxe_hdr.h.
const (
	ethLen  = 14
	vlanLen = 4
	ip4Len  = 20
	ip6Len  = 40
	udpLen  = 8
	bthLen  = 12
	icrcLen = 4

	cnpPayload = 16 // reserved bytes that a CNP carries (IBTA annex A17)
)

// UDPPort is the UDP destination port of RoCEv2.
const UDPPort = 4791

// DefaultPKey is the full-member default partition, the only one of most
// RoCE ports.
const DefaultPKey = 0xffff

// FlagDF is the don't-fragment bit in [Packet.IPFlags].
const FlagDF = 2

// extHeaders are the extension headers in their order on the wire.
var extHeaders = [...]struct {
	flag opFlag
	len  int
}{
	{fRDETH, 4},
	{fXRCETH, 4},
	{fDETH, 8},
	{fFETH, 4},
	{fRETH, 16},
	{fAtomicETH, 28},
	{fAETH, 4},
	{fAtomicAck, 8},
	{fImm, 4},
	{fIETH, 4},
}

// MAC is an Ethernet address.
type MAC [6]byte

// Addr is an IP address in the form of a RoCEv2 GID: sixteen bytes, IPv4 as
// ::ffff:a.b.c.d.
type Addr [16]byte

// AddrFrom turns an IP address into its GID form.
func AddrFrom(a netip.Addr) Addr { return a.As16() }

// IP returns the address, IPv4 in its four-byte form.
func (a Addr) IP() netip.Addr { return netip.AddrFrom16(a).Unmap() }

// BTH is the base transport header, 12 bytes, in every packet. The pad count
// is not here: it follows from the payload, see [Packet.Pad].
type BTH struct {
	Opcode    Opcode
	Solicited bool   // SE: raise a solicited completion event
	MigReq    bool   // path migration state; ConnectX sets it, rxe does not
	TVer      uint8  // 4 bits, 0
	PKey      uint16 // partition
	FECN      bool   // not used by RoCEv2, which marks IP ECN
	BECN      bool   // set in a CNP
	Resv6     uint8  // 6 bits, 0
	DestQP    uint32 // 24 bits
	AckReq    bool
	Resv7     uint8  // 7 bits, 0
	PSN       uint32 // 24 bits
}

// RDETH is the RD end-to-end context, 4 bytes.
type RDETH struct {
	Resv      uint8
	EEContext uint32 // 24 bits
}

// XRCETH is the XRC target, 4 bytes.
type XRCETH struct {
	Resv uint8
	SRQ  uint32 // 24 bits
}

// DETH is the datagram header, 8 bytes.
type DETH struct {
	QKey  uint32
	Resv  uint8
	SrcQP uint32 // 24 bits
}

// FETH is the flush header, 4 bytes (rxe_hdr.h of Linux 6.2 and later).
type FETH struct {
	Bits uint32 // 3:0 placement type, 5:4 selectivity level, rest 0
}

// RETH is the RDMA header, 16 bytes.
type RETH struct {
	VA   uint64 // remote address
	RKey uint32
	Len  uint32 // bytes of the whole message
}

// AtomicETH is the atomic request header, 28 bytes.
type AtomicETH struct {
	VA      uint64
	RKey    uint32
	SwapAdd uint64 // value to swap in, or to add
	Compare uint64 // COMPARE_SWAP only
}

// AETH is the acknowledge header, 4 bytes.
type AETH struct {
	Syndrome Syndrome
	MSN      uint32 // 24 bits: messages completed by the responder
}

// AtomicAckETH is the value before an atomic, 8 bytes.
type AtomicAckETH struct {
	Orig uint64
}

// ImmDt is immediate data, 4 bytes.
type ImmDt struct {
	Data uint32
}

// IETH is the key to invalidate, 4 bytes.
type IETH struct {
	RKey uint32
}

// Packet is one RoCEv2 packet. The opcode says which extension headers are
// present; the others should be zero. Everything a sender can choose is here,
// so that a decoded frame is rebuilt byte for byte.
type Packet struct {
	DstMAC, SrcMAC MAC
	VLAN           bool   // an 802.1Q tag is present
	TCI            uint16 // its priority, DEI and VLAN number

	V6        bool // IPv6; else IPv4
	Src, Dst  Addr
	TOS       uint8  // DSCP in 7:2, ECN in 1:0 (IPv6: traffic class)
	TTL       uint8  // IPv6: hop limit
	IPID      uint16 // IPv4 identification
	IPFlags   uint8  // IPv4 flags, 3 bits: FlagDF or 0
	FlowLabel uint32 // IPv6, 20 bits

	SrcPort uint16 // UDP source port: flow entropy for ECMP
	UDPSum  uint16 // UDP checksum as sent, not checked; 0 = none, what rxe sends, on IPv6 too

	BTH          BTH
	RDETH        RDETH
	XRCETH       XRCETH
	DETH         DETH
	FETH         FETH
	RETH         RETH
	AtomicETH    AtomicETH
	AETH         AETH
	AtomicAckETH AtomicAckETH
	ImmDt        ImmDt
	IETH         IETH

	Payload  []byte
	PadBytes [3]byte // what fills the pad; zero by custom
}

// New returns a packet with what most senders set: IPv4, TTL 64, DF, source
// port 0xc000, the default partition. Addresses and the rest are the caller's.
func New(op Opcode) Packet {
	p := Packet{TTL: 64, IPFlags: FlagDF, SrcPort: 0xc000}
	p.BTH.Opcode, p.BTH.PKey = op, DefaultPKey
	if op == CongestionNotify {
		p.BTH.BECN = true
		p.Payload = cnpReserved[:]
	}
	return p
}

var cnpReserved [cnpPayload]byte

// DSCP returns the differentiated services code point, 6 bits.
func (p *Packet) DSCP() uint8 { return p.TOS >> 2 }

// ECN returns the two ECN bits; 3 is "congestion experienced".
func (p *Packet) ECN() uint8 { return p.TOS & 3 }

// Pad is the number of bytes, 0 to 3, that fill the payload up to four.
func (p *Packet) Pad() int { return Pad(len(p.Payload)) }

// FrameLen is the length in bytes of the frame that [AppendFrame] writes.
func (p *Packet) FrameLen() int {
	n := ethLen + udpLen + p.UDPPayloadLen()
	if p.VLAN {
		n += vlanLen
	}
	if p.V6 {
		return n + ip6Len
	}
	return n + ip4Len
}

// UDPPayloadLen is the length in bytes from BTH to ICRC.
func (p *Packet) UDPPayloadLen() int {
	return p.BTH.Opcode.HeaderLen() + len(p.Payload) + p.Pad() + icrcLen
}
