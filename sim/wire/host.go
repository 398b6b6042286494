package wire

import (
	"net/netip"
	"slices"
	"time"
)

// Limits of a Host.
const (
	maxNeighbours  = 256
	maxWaiting     = 64          // frames kept until a neighbour answers
	solicitEvery   = time.Second // how often a silent neighbour is asked
	etherARP       = 0x0806
	protoICMP      = 1
	protoICMPv6    = 58
	arpLen         = 28
	maxDatagram    = 32 << 10 // bytes of UDP payload
	minEthernet    = 60       // a frame without its FCS
	icmpEcho       = 8
	icmp6Echo      = 128
	icmp6EchoReply = 129
	icmp6Solicit   = 135
	icmp6Advertise = 136
)

var broadcast = MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// Host is the part of a host below RoCEv2 that a peer on a real Ethernet needs:
// it answers ARP (RFC 826), IPv6 neighbour solicitation (RFC 4861) and echo
// requests (RFC 792, 4443), finds the MAC addresses of its neighbours, and
// carries datagrams (RFC 768), IPv4 ones in fragments too (RFC 791). It routes
// nothing: every address is on the link. It holds no clock: times are the caller's,
// and it sends only in answer to a call. It is for one goroutine.
type Host struct {
	MAC   MAC
	Addrs []netip.Addr // its own, IPv4 and IPv6

	// Datagram is handed what comes to UDPPort over IPv4; what it returns goes
	// back to the sender unless it is nil. It must not call the Host.
	Datagram func(datagram []byte) []byte
	UDPPort  uint16
	// MTU is the longest IP packet that it sends for datagrams; 0 is 1500.
	MTU int

	neighbours map[netip.Addr]MAC
	asked      map[netip.Addr]time.Duration
	waiting    []waitingFrame
	parts      []reassembly
	nextID     uint16
	out        [][]byte
}

type waitingFrame struct {
	to    netip.Addr
	frame []byte
}

// SetNeighbour says which MAC address a neighbour has, so that it need not be asked.
func (h *Host) SetNeighbour(a netip.Addr, m MAC) {
	if h.neighbours == nil {
		h.neighbours = map[netip.Addr]MAC{}
	}
	if _, ok := h.neighbours[a]; !ok && len(h.neighbours) >= maxNeighbours {
		return
	}
	h.neighbours[a] = m
	kept := h.waiting[:0]
	for _, w := range h.waiting {
		if w.to != a {
			kept = append(kept, w)
			continue
		}
		copy(w.frame, m[:])
		h.out = append(h.out, w.frame)
	}
	h.waiting = kept
}

// Output takes the frames that are to be sent.
func (h *Host) Output() [][]byte {
	out := h.out
	h.out = nil
	return out
}

// Send puts a frame to a neighbour into the output, with the destination MAC
// address filled in. If that is unknown the neighbour is asked, at most once a
// second, and the frame waits; the oldest of too many is dropped.
func (h *Host) Send(now time.Duration, to netip.Addr, frame []byte) {
	if m, ok := h.neighbours[to]; ok {
		copy(frame, m[:])
		h.out = append(h.out, frame)
		return
	}
	if len(h.waiting) >= maxWaiting {
		h.waiting = slices.Delete(h.waiting, 0, 1)
	}
	h.waiting = append(h.waiting, waitingFrame{to, frame})
	if at, ok := h.asked[to]; ok && now-at < solicitEvery {
		return
	}
	if h.asked == nil || len(h.asked) >= maxNeighbours {
		h.asked = map[netip.Addr]time.Duration{}
	}
	h.asked[to] = now
	h.solicit(to)
}

// own is the address of the family of to, invalid if there is none; a link-local
// neighbour is spoken to from a link-local address.
func (h *Host) own(to netip.Addr) netip.Addr {
	var found netip.Addr
	for _, a := range h.Addrs {
		if a.Is4() == to.Is4() && (!found.IsValid() || a.IsLinkLocalUnicast() == to.IsLinkLocalUnicast()) {
			found = a
		}
	}
	return found
}

func (h *Host) solicit(to netip.Addr) {
	from := h.own(to)
	if !from.IsValid() {
		return
	}
	if to.Is4() {
		h.out = append(h.out, h.arp(1, broadcast, MAC{}, to, from))
		return
	}
	t := to.As16()
	group := [16]byte{0xff, 0x02, 11: 1, 12: 0xff, 13: t[13], 14: t[14], 15: t[15]}
	body := append([]byte{icmp6Solicit, 0, 0, 0, 0, 0, 0, 0}, t[:]...)
	body = append(append(body, 1, 1), h.MAC[:]...)
	dst := MAC{0x33, 0x33, 0xff, t[13], t[14], t[15]}
	h.out = append(h.out, h.icmp6(dst, from, netip.AddrFrom16(group), body))
}

// arp is an ARP frame: op 1 asks, op 2 answers.
func (h *Host) arp(op uint16, dst, target MAC, to, from netip.Addr) []byte {
	b := make([]byte, ethLen+arpLen, minEthernet)
	copy(b, dst[:])
	copy(b[6:], h.MAC[:])
	be.PutUint16(b[12:], etherARP)
	a := b[ethLen:]
	be.PutUint16(a, 1) // Ethernet
	be.PutUint16(a[2:], etherIPv4)
	a[4], a[5] = 6, 4
	be.PutUint16(a[6:], op)
	copy(a[8:], h.MAC[:])
	copy(a[14:], from.AsSlice())
	copy(a[18:], target[:])
	copy(a[24:], to.AsSlice())
	return b[:minEthernet]
}

// Receive looks at a frame from the link. It tells whether the frame is a
// RoCEv2 packet to one of the host's addresses, which is the caller's to decode;
// all others are dealt with, or ignored.
func (h *Host) Receive(now time.Duration, frame []byte) (roce bool) {
	if len(frame) < ethLen || len(frame) > MaxFrameBytes {
		return false
	}
	dst := MAC(frame[:6])
	if dst != h.MAC && dst[0]&1 == 0 {
		return false
	}
	b := frame[ethLen:]
	switch be.Uint16(frame[12:]) {
	case etherARP:
		h.receiveARP(b)
	case etherIPv4:
		return h.receive4(now, MAC(frame[6:12]), b)
	case etherIPv6:
		return h.receive6(MAC(frame[6:12]), b)
	}
	return false
}

func (h *Host) receiveARP(b []byte) {
	if len(b) < arpLen || be.Uint16(b) != 1 || be.Uint16(b[2:]) != etherIPv4 || b[4] != 6 || b[5] != 4 {
		return
	}
	from, to := netip.AddrFrom4([4]byte(b[14:18])), netip.AddrFrom4([4]byte(b[24:28]))
	if !slices.Contains(h.Addrs, to) {
		return
	}
	sender := MAC(b[8:14])
	h.SetNeighbour(from, sender)
	if be.Uint16(b[6:]) == 1 {
		h.out = append(h.out, h.arp(2, sender, sender, from, to))
	}
}

func (h *Host) receive4(now time.Duration, src MAC, b []byte) bool {
	if len(b) < ip4Len || b[0] != 0x45 || ipChecksum(b[:ip4Len]) != be.Uint16(b[10:]) {
		return false
	}
	end := int(be.Uint16(b[2:]))
	from, to := netip.AddrFrom4([4]byte(b[12:16])), netip.AddrFrom4([4]byte(b[16:20]))
	if end < ip4Len || end > len(b) || !slices.Contains(h.Addrs, to) {
		return false
	}
	h.SetNeighbour(from, src)
	proto, body := b[9], b[ip4Len:end]
	if be.Uint16(b[6:])&0x3fff != 0 {
		body = h.fragment(now, b, body)
	}
	switch {
	case proto == protoUDP && len(body) >= udpLen:
		port := be.Uint16(body[2:])
		if port == UDPPort {
			return true
		}
		h.receiveUDP(now, from, port, body)
	case proto == protoICMP && len(body) >= 8 && body[0] == icmpEcho:
		reply := slices.Clone(body)
		reply[0], reply[2], reply[3] = 0, 0, 0
		be.PutUint16(reply[2:], checksum(0, reply))
		h.send4(now, from, protoICMP, reply)
	}
	return false
}

func (h *Host) receive6(src MAC, b []byte) bool {
	if len(b) < ip6Len || b[0]>>4 != 6 || ip6Len+int(be.Uint16(b[4:])) > len(b) {
		return false
	}
	from, to := netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40]))
	body := b[ip6Len : ip6Len+int(be.Uint16(b[4:]))]
	mine := slices.Contains(h.Addrs, to)
	if b[6] == protoUDP {
		roce := mine && len(body) >= udpLen && be.Uint16(body[2:]) == UDPPort
		if roce {
			h.SetNeighbour(from, src)
		}
		return roce
	}
	if b[6] != protoICMPv6 || len(body) < 8 || checksum(pseudo6(from, to, len(body)), body) != 0 {
		return false
	}
	switch {
	case body[0] == icmp6Echo && mine:
		reply := slices.Clone(body)
		reply[0] = icmp6EchoReply
		h.SetNeighbour(from, src)
		h.out = append(h.out, h.icmp6(src, to, from, reply))
	case body[0] == icmp6Solicit && len(body) >= 24 && b[7] == 255:
		h.advertise(src, from, netip.AddrFrom16([16]byte(body[8:24])))
	case body[0] == icmp6Advertise && len(body) >= 32 && b[7] == 255 && body[24] == 2:
		h.SetNeighbour(netip.AddrFrom16([16]byte(body[8:24])), MAC(body[26:32]))
	}
	return false
}

// advertise answers who has target. Somebody who checks that an address is free
// asks from the unspecified one, and the answer goes to all nodes.
func (h *Host) advertise(src MAC, from, target netip.Addr) {
	if !slices.Contains(h.Addrs, target) {
		return
	}
	const solicited, override = 0x40, 0x20
	flags := byte(solicited | override)
	if from.IsUnspecified() {
		flags, from, src = override, netip.IPv6LinkLocalAllNodes(), MAC{0x33, 0x33, 0, 0, 0, 1}
	} else {
		h.SetNeighbour(from, src)
	}
	t := target.As16()
	body := append([]byte{icmp6Advertise, 0, 0, 0, flags, 0, 0, 0}, t[:]...)
	body = append(append(body, 2, 1), h.MAC[:]...)
	h.out = append(h.out, h.icmp6(src, target, from, body))
}

// icmp6 is an ICMPv6 message with its checksum.
func (h *Host) icmp6(dst MAC, from, to netip.Addr, body []byte) []byte {
	b := make([]byte, ethLen+ip6Len, ethLen+ip6Len+len(body))
	copy(b, dst[:])
	copy(b[6:], h.MAC[:])
	be.PutUint16(b[12:], etherIPv6)
	ip := b[ethLen:]
	ip[0] = 6 << 4
	be.PutUint16(ip[4:], uint16(len(body)))
	ip[6], ip[7] = protoICMPv6, 255
	copy(ip[8:], from.AsSlice())
	copy(ip[24:], to.AsSlice())
	body[2], body[3] = 0, 0
	be.PutUint16(body[2:], checksum(pseudo6(from, to, len(body)), body))
	return append(b, body...)
}

// pseudo6 is the sum of the header that ICMPv6 checksums cover.
func pseudo6(from, to netip.Addr, n int) uint32 {
	var h [40]byte
	copy(h[:], from.AsSlice())
	copy(h[16:], to.AsSlice())
	be.PutUint32(h[32:], uint32(n))
	h[39] = protoICMPv6
	return sum16(0, h[:])
}

func sum16(sum uint32, b []byte) uint32 {
	for i := 0; i+1 < len(b); i += 2 {
		sum += uint32(b[i])<<8 | uint32(b[i+1])
	}
	if len(b)%2 == 1 {
		sum += uint32(b[len(b)-1]) << 8
	}
	return sum
}

// checksum is the Internet checksum (RFC 1071) of b after sum; over a message
// that holds its own checksum it is 0. MaxFrameBytes keep the sum in 32 bits.
func checksum(sum uint32, b []byte) uint16 {
	sum = sum16(sum, b)
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
