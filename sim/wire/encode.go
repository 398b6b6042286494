package wire

import (
	"encoding/binary"
	"slices"
)

var be = binary.BigEndian

const (
	etherIPv4 = 0x0800
	etherIPv6 = 0x86dd
	etherVLAN = 0x8100
	protoUDP  = 17
)

// AppendFrame appends the Ethernet frame of p, from the destination address to
// the ICRC (no FCS), and returns the extended slice. It allocates only when dst
// lacks capacity for [Packet.FrameLen] more bytes. It writes what p says, wrong
// or not; fields wider than on the wire are cut to their width. It panics when
// the payload makes the packet longer than an IP length field can say (64 KiB).
func AppendFrame(dst []byte, p *Packet) []byte {
	n := p.FrameLen()
	at := len(dst)
	dst = slices.Grow(dst, n)[:at+n]
	b := dst[at:]
	copy(b, p.DstMAC[:])
	copy(b[6:], p.SrcMAC[:])
	o := 12
	if p.VLAN {
		be.PutUint16(b[o:], etherVLAN)
		be.PutUint16(b[o+2:], p.TCI)
		o += vlanLen
	}
	if p.V6 {
		be.PutUint16(b[o:], etherIPv6)
	} else {
		be.PutUint16(b[o:], etherIPv4)
	}
	o += 2
	l3 := putIPUDP(b[o:], p, n-o)
	putIB(b[o+l3:], p, b[o:o+l3])
	return dst
}

// AppendUDPPayload appends BTH to ICRC only: what a program hands to a UDP
// socket bound to the RoCEv2 port. The ICRC covers IP and UDP headers too, so
// p must hold what the kernel will put there: addresses, SrcPort, and for IPv4
// the IPID and IPFlags that it will choose.
func AppendUDPPayload(dst []byte, p *Packet) []byte {
	n := p.UDPPayloadLen()
	at := len(dst)
	dst = slices.Grow(dst, n)[:at+n]
	var h [ip6Len + udpLen]byte
	l3 := ip4Len + udpLen
	if p.V6 {
		l3 = ip6Len + udpLen
	}
	putIPUDP(h[:], p, l3+n)
	putIB(dst[at:], p, h[:l3])
	return dst
}

// putIPUDP writes IP and UDP headers for a packet of total bytes from the IP
// header to the ICRC, and returns their length.
func putIPUDP(b []byte, p *Packet, total int) int {
	if total > 0xffff {
		panic("wire: payload does not fit an IP packet")
	}
	n := ip4Len
	if p.V6 {
		n = ip6Len
		be.PutUint32(b, 6<<28|uint32(p.TOS)<<20|p.FlowLabel&0xfffff)
		be.PutUint16(b[4:], uint16(total-ip6Len))
		b[6], b[7] = protoUDP, p.TTL
		copy(b[8:], p.Src[:])
		copy(b[24:], p.Dst[:])
	} else {
		b[0], b[1] = 0x45, p.TOS
		be.PutUint16(b[2:], uint16(total))
		be.PutUint16(b[4:], p.IPID)
		be.PutUint16(b[6:], uint16(p.IPFlags&7)<<13)
		b[8], b[9] = p.TTL, protoUDP
		copy(b[12:], p.Src[12:])
		copy(b[16:], p.Dst[12:])
		be.PutUint16(b[10:], ipChecksum(b[:ip4Len]))
	}
	u := b[n : n+udpLen]
	be.PutUint16(u, p.SrcPort)
	be.PutUint16(u[2:], UDPPort)
	be.PutUint16(u[4:], uint16(total-n))
	be.PutUint16(u[6:], p.UDPSum)
	return n + udpLen
}

// putIB writes BTH to ICRC into b, which has exactly their length.
func putIB(b []byte, p *Packet, ipudp []byte) {
	putBTH(b, &p.BTH, p.Pad())
	o := bthLen + putExt(b[bthLen:], p)
	o += copy(b[o:], p.Payload)
	o += copy(b[o:], p.PadBytes[:p.Pad()])
	binary.LittleEndian.PutUint32(b[o:], icrc(ipudp, b[:o]))
}

func putBTH(b []byte, h *BTH, pad int) {
	b = b[:bthLen]
	b[0] = byte(h.Opcode)
	b[1] = bit(h.Solicited, 0x80) | bit(h.MigReq, 0x40) | byte(pad)<<4 | h.TVer&0x0f
	be.PutUint16(b[2:], h.PKey)
	b[4] = bit(h.FECN, 0x80) | bit(h.BECN, 0x40) | h.Resv6&0x3f
	put24(b[5:], h.DestQP)
	b[8] = bit(h.AckReq, 0x80) | h.Resv7&0x7f
	put24(b[9:], h.PSN)
}

// putExt writes the extension headers in the order of extHeaders and returns
// their length.
func putExt(b []byte, p *Packet) int {
	f := opTable[p.BTH.Opcode].flags
	o := 0
	if f&fRDETH != 0 {
		put8and24(b[o:], p.RDETH.Resv, p.RDETH.EEContext)
		o += 4
	}
	if f&fXRCETH != 0 {
		put8and24(b[o:], p.XRCETH.Resv, p.XRCETH.SRQ)
		o += 4
	}
	if f&fDETH != 0 {
		be.PutUint32(b[o:], p.DETH.QKey)
		put8and24(b[o+4:], p.DETH.Resv, p.DETH.SrcQP)
		o += 8
	}
	if f&fFETH != 0 {
		be.PutUint32(b[o:], p.FETH.Bits)
		o += 4
	}
	if f&fRETH != 0 {
		be.PutUint64(b[o:], p.RETH.VA)
		be.PutUint32(b[o+8:], p.RETH.RKey)
		be.PutUint32(b[o+12:], p.RETH.Len)
		o += 16
	}
	if f&fAtomicETH != 0 {
		be.PutUint64(b[o:], p.AtomicETH.VA)
		be.PutUint32(b[o+8:], p.AtomicETH.RKey)
		be.PutUint64(b[o+12:], p.AtomicETH.SwapAdd)
		be.PutUint64(b[o+20:], p.AtomicETH.Compare)
		o += 28
	}
	if f&fAETH != 0 {
		put8and24(b[o:], uint8(p.AETH.Syndrome), p.AETH.MSN)
		o += 4
	}
	if f&fAtomicAck != 0 {
		be.PutUint64(b[o:], p.AtomicAckETH.Orig)
		o += 8
	}
	if f&fImm != 0 {
		be.PutUint32(b[o:], p.ImmDt.Data)
		o += 4
	}
	if f&fIETH != 0 {
		be.PutUint32(b[o:], p.IETH.RKey)
		o += 4
	}
	return o
}

func bit(set bool, mask byte) byte {
	if set {
		return mask
	}
	return 0
}

func put24(b []byte, v uint32) {
	_ = b[2]
	b[0], b[1], b[2] = byte(v>>16), byte(v>>8), byte(v)
}

func put8and24(b []byte, hi uint8, v uint32) {
	be.PutUint32(b, uint32(hi)<<24|v&0xffffff)
}
