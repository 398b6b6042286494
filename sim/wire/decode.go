package wire

import (
	"encoding/binary"
	"math/bits"
)

// v4Prefix is the start of an IPv4 address in GID form.
var v4Prefix = [12]byte{10: 0xff, 11: 0xff}

// Decode fills p from an Ethernet frame. p.Payload points into frame. Bytes
// after the IP packet (Ethernet padding, FCS) are ignored.
//
// Errors: *[ShortError], *[NotRoCEError] and *[LengthError] of an outer layer
// leave p filled as far as that layer; *[OpcodeError], *[LengthError] of a
// payload, *[ChecksumError] and *[ICRCError], looked for in that order, leave
// it filled whole. A nil error means that [AppendFrame] gives the same bytes.
func Decode(frame []byte, p *Packet) error {
	*p = Packet{}
	ip, err := decodeEth(frame, p)
	if err != nil {
		return err
	}
	var l3, end int
	if p.V6 {
		l3, end, err = decodeIPv6(ip, p)
	} else {
		l3, end, err = decodeIPv4(ip, p)
	}
	if err != nil {
		return err
	}
	udp := ip[l3:end]
	if err := decodeUDP(udp, p); err != nil {
		return err
	}
	ib := udp[udpLen:]
	if err := decodeIB(ib, p); err != nil {
		return err
	}
	if !p.V6 {
		if have, want := be.Uint16(ip[10:]), ipChecksum(ip[:ip4Len]); have != want {
			return &ChecksumError{Want: want, Have: have}
		}
	}
	return checkICRC(ip[:l3+udpLen], ib)
}

// DecodeUDPPayload fills the InfiniBand part of p from b, the bytes from BTH
// to ICRC as a UDP socket receives them. The caller has set the IP and UDP
// fields of p that the ICRC covers (see [AppendUDPPayload]). Errors are those
// of [Decode].
func DecodeUDPPayload(b []byte, p *Packet) error {
	ip := *p
	*p = Packet{
		DstMAC: ip.DstMAC, SrcMAC: ip.SrcMAC, VLAN: ip.VLAN, TCI: ip.TCI, V6: ip.V6,
		Src: ip.Src, Dst: ip.Dst, TOS: ip.TOS, TTL: ip.TTL, IPID: ip.IPID, IPFlags: ip.IPFlags,
		FlowLabel: ip.FlowLabel, SrcPort: ip.SrcPort, UDPSum: ip.UDPSum,
	}
	if err := decodeIB(b, p); err != nil {
		return err
	}
	var h [ip6Len + udpLen]byte
	l3 := ip4Len + udpLen
	if p.V6 {
		l3 = ip6Len + udpLen
	}
	if l3+len(b) > 0xffff {
		return &LengthError{What: "IP packet", Want: 0xffff, Have: l3 + len(b)}
	}
	putIPUDP(h[:], p, l3+len(b))
	return checkICRC(h[:l3], b)
}

func checkICRC(ipudp, ib []byte) error {
	at := len(ib) - icrcLen
	have, want := binary.LittleEndian.Uint32(ib[at:]), icrc(ipudp, ib[:at])
	if have != want {
		return &ICRCError{Want: bits.ReverseBytes32(want), Have: bits.ReverseBytes32(have)}
	}
	return nil
}

// decodeEth returns what follows the Ethernet header.
func decodeEth(b []byte, p *Packet) ([]byte, error) {
	if len(b) < ethLen {
		return nil, &ShortError{Layer: "Ethernet", Need: ethLen, Have: len(b)}
	}
	copy(p.DstMAC[:], b)
	copy(p.SrcMAC[:], b[6:])
	typ := be.Uint16(b[12:])
	b = b[ethLen:]
	if typ == etherVLAN {
		if len(b) < vlanLen {
			return nil, &ShortError{Layer: "802.1Q tag", Need: vlanLen, Have: len(b)}
		}
		p.VLAN, p.TCI = true, be.Uint16(b)
		typ = be.Uint16(b[2:])
		b = b[vlanLen:]
	}
	switch typ {
	case etherIPv4:
		return b, nil
	case etherIPv6:
		p.V6 = true
		return b, nil
	}
	return nil, &NotRoCEError{Layer: "Ethernet", What: "ethertype", Value: uint32(typ)}
}

// decodeIPv4 returns the header's length and where the packet ends in b.
func decodeIPv4(b []byte, p *Packet) (l3, end int, err error) {
	if len(b) < ip4Len {
		return 0, 0, &ShortError{Layer: "IPv4", Need: ip4Len, Have: len(b)}
	}
	if v := b[0] >> 4; v != 4 {
		return 0, 0, &NotRoCEError{Layer: "IPv4", What: "version", Value: uint32(v)}
	}
	if ihl := b[0] & 15; ihl != ip4Len/4 {
		return 0, 0, &NotRoCEError{Layer: "IPv4", What: "header length in words", Value: uint32(ihl)}
	}
	p.TOS, p.IPID, p.TTL = b[1], be.Uint16(b[4:]), b[8]
	copy(p.Src[:], v4Prefix[:])
	copy(p.Src[12:], b[12:16])
	copy(p.Dst[:], v4Prefix[:])
	copy(p.Dst[12:], b[16:20])
	frag := be.Uint16(b[6:])
	p.IPFlags = uint8(frag >> 13)
	if frag&0x3fff != 0 { // more fragments, or an offset
		return 0, 0, &NotRoCEError{Layer: "IPv4", What: "fragment field", Value: uint32(frag)}
	}
	if b[9] != protoUDP {
		return 0, 0, &NotRoCEError{Layer: "IPv4", What: "protocol", Value: uint32(b[9])}
	}
	end = int(be.Uint16(b[2:]))
	if end > len(b) {
		return 0, 0, &ShortError{Layer: "IPv4 packet", Need: end, Have: len(b)}
	}
	if end < ip4Len+udpLen {
		return 0, 0, &ShortError{Layer: "UDP", Need: udpLen, Have: max(end-ip4Len, 0)}
	}
	return ip4Len, end, nil
}

func decodeIPv6(b []byte, p *Packet) (l3, end int, err error) {
	if len(b) < ip6Len {
		return 0, 0, &ShortError{Layer: "IPv6", Need: ip6Len, Have: len(b)}
	}
	w := be.Uint32(b)
	if v := w >> 28; v != 6 {
		return 0, 0, &NotRoCEError{Layer: "IPv6", What: "version", Value: v}
	}
	p.TOS, p.FlowLabel, p.TTL = uint8(w>>20), w&0xfffff, b[7]
	copy(p.Src[:], b[8:24])
	copy(p.Dst[:], b[24:40])
	if b[6] != protoUDP {
		return 0, 0, &NotRoCEError{Layer: "IPv6", What: "next header", Value: uint32(b[6])}
	}
	end = ip6Len + int(be.Uint16(b[4:]))
	if end > len(b) {
		return 0, 0, &ShortError{Layer: "IPv6 packet", Need: end, Have: len(b)}
	}
	if end < ip6Len+udpLen {
		return 0, 0, &ShortError{Layer: "UDP", Need: udpLen, Have: end - ip6Len}
	}
	return ip6Len, end, nil
}

// decodeUDP checks the header of b, which is all of the IP payload.
func decodeUDP(b []byte, p *Packet) error {
	p.SrcPort, p.UDPSum = be.Uint16(b), be.Uint16(b[6:])
	if port := be.Uint16(b[2:]); port != UDPPort {
		return &NotRoCEError{Layer: "UDP", What: "destination port", Value: uint32(port)}
	}
	if n := int(be.Uint16(b[4:])); n != len(b) {
		return &LengthError{What: "UDP length", Want: len(b), Have: n}
	}
	return nil
}

// decodeIB fills p from BTH to pad. b ends with the ICRC, which is not looked at.
func decodeIB(b []byte, p *Packet) error {
	if len(b) < bthLen+icrcLen {
		return &ShortError{Layer: "BTH and ICRC", Need: bthLen + icrcLen, Have: len(b)}
	}
	h := &p.BTH
	h.Opcode = Opcode(b[0])
	h.Solicited, h.MigReq, h.TVer = b[1]&0x80 != 0, b[1]&0x40 != 0, b[1]&0x0f
	pad := int(b[1] >> 4 & 3)
	h.PKey = be.Uint16(b[2:])
	h.FECN, h.BECN, h.Resv6 = b[4]&0x80 != 0, b[4]&0x40 != 0, b[4]&0x3f
	h.DestQP = get24(b[5:])
	h.AckReq, h.Resv7 = b[8]&0x80 != 0, b[8]&0x7f
	h.PSN = get24(b[9:])
	info := &opTable[h.Opcode]
	if info.flags&fKnown == 0 {
		p.Payload = b[bthLen : len(b)-icrcLen]
		return &OpcodeError{Opcode: h.Opcode}
	}
	if need := info.headers + icrcLen; len(b) < need {
		return &ShortError{Layer: "headers of " + h.Opcode.String(), Need: need, Have: len(b)}
	}
	getExt(b[bthLen:info.headers], p)
	body := b[info.headers : len(b)-icrcLen]
	if len(body) < pad {
		return &ShortError{Layer: "pad of " + h.Opcode.String(), Need: pad, Have: len(body)}
	}
	n := len(body) - pad
	if n > 0 {
		p.Payload = body[:n:n]
	}
	copy(p.PadBytes[:], body[n:])
	if Pad(n) != pad {
		return &LengthError{What: "pad after " + h.Opcode.String(), Want: Pad(n), Have: pad}
	}
	if info.fixed >= 0 && n != info.fixed {
		return &LengthError{What: "payload of " + h.Opcode.String(), Want: info.fixed, Have: n}
	}
	return nil
}

// getExt reads the extension headers from b, which has exactly their length.
func getExt(b []byte, p *Packet) {
	f := opTable[p.BTH.Opcode].flags
	if f&fRDETH != 0 {
		p.RDETH = RDETH{Resv: b[0], EEContext: get24(b[1:])}
		b = b[4:]
	}
	if f&fXRCETH != 0 {
		p.XRCETH = XRCETH{Resv: b[0], SRQ: get24(b[1:])}
		b = b[4:]
	}
	if f&fDETH != 0 {
		p.DETH = DETH{QKey: be.Uint32(b), Resv: b[4], SrcQP: get24(b[5:])}
		b = b[8:]
	}
	if f&fFETH != 0 {
		p.FETH.Bits = be.Uint32(b)
		b = b[4:]
	}
	if f&fRETH != 0 {
		p.RETH = RETH{VA: be.Uint64(b), RKey: be.Uint32(b[8:]), Len: be.Uint32(b[12:])}
		b = b[16:]
	}
	if f&fAtomicETH != 0 {
		p.AtomicETH = AtomicETH{
			VA: be.Uint64(b), RKey: be.Uint32(b[8:]), SwapAdd: be.Uint64(b[12:]), Compare: be.Uint64(b[20:]),
		}
		b = b[28:]
	}
	if f&fAETH != 0 {
		p.AETH = AETH{Syndrome: Syndrome(b[0]), MSN: get24(b[1:])}
		b = b[4:]
	}
	if f&fAtomicAck != 0 {
		p.AtomicAckETH.Orig = be.Uint64(b)
		b = b[8:]
	}
	if f&fImm != 0 {
		p.ImmDt.Data = be.Uint32(b)
		b = b[4:]
	}
	if f&fIETH != 0 {
		p.IETH.RKey = be.Uint32(b)
	}
}

func get24(b []byte) uint32 { return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]) }
