package wire

import (
	"net/netip"
	"slices"
	"time"
)

// Limits of what comes in fragments.
const (
	maxReassemblies = 8
	reassembleFor   = 10 * time.Second
	maxFragments    = 64
)

// reassembly is a datagram of which fragments have come.
type reassembly struct {
	from  netip.Addr
	id    uint16
	proto uint8
	until time.Duration
	parts []part
	total int // bytes, -1 until the last fragment has come
}

type part struct {
	off  int
	data []byte
}

// fragment takes one fragment of an IPv4 packet; the whole payload comes out
// with the last one that was missing, nil before.
func (h *Host) fragment(now time.Duration, ip, body []byte) []byte {
	h.parts = slices.DeleteFunc(h.parts, func(r reassembly) bool { return r.until < now })
	from, id, proto := netip.AddrFrom4([4]byte(ip[12:16])), be.Uint16(ip[4:]), ip[9]
	i := slices.IndexFunc(h.parts, func(r reassembly) bool { return r.from == from && r.id == id && r.proto == proto })
	if i < 0 {
		if len(h.parts) >= maxReassemblies {
			h.parts = slices.Delete(h.parts, 0, 1)
		}
		h.parts = append(h.parts, reassembly{from: from, id: id, proto: proto, until: now + reassembleFor, total: -1})
		i = len(h.parts) - 1
	}
	r := &h.parts[i]
	field := be.Uint16(ip[6:])
	off := int(field&0x1fff) * 8
	if off+len(body) > maxDatagram+udpLen || len(r.parts) >= maxFragments {
		h.parts = slices.Delete(h.parts, i, i+1)
		return nil
	}
	if field&0x2000 == 0 {
		r.total = off + len(body)
	}
	if !slices.ContainsFunc(r.parts, func(p part) bool { return p.off == off }) {
		r.parts = append(r.parts, part{off, slices.Clone(body)})
	}
	whole := r.whole()
	if whole != nil {
		h.parts = slices.Delete(h.parts, i, i+1)
	}
	return whole
}

// whole puts the parts together, nil if one is missing or they overlap.
func (r *reassembly) whole() []byte {
	if r.total < 0 {
		return nil
	}
	slices.SortFunc(r.parts, func(a, b part) int { return a.off - b.off })
	whole := make([]byte, 0, r.total)
	for _, p := range r.parts {
		if p.off != len(whole) {
			return nil
		}
		whole = append(whole, p.data...)
	}
	if len(whole) != r.total {
		return nil
	}
	return whole
}

// receiveUDP hands a datagram over; a wrong checksum drops it.
func (h *Host) receiveUDP(now time.Duration, from netip.Addr, port uint16, b []byte) {
	n := int(be.Uint16(b[4:]))
	to := h.own(from)
	if h.Datagram == nil || port != h.UDPPort || n < udpLen || n > len(b) {
		return
	}
	if be.Uint16(b[6:]) != 0 && checksum(pseudo4(from, to, n), b[:n]) != 0 {
		return
	}
	if reply := h.Datagram(b[udpLen:n]); reply != nil {
		h.SendUDP(now, netip.AddrPortFrom(from, be.Uint16(b)), reply)
	}
}

// SendUDP sends a datagram from UDPPort over IPv4, in fragments if it is longer
// than the MTU. One of more than 32 KiB is not sent.
func (h *Host) SendUDP(now time.Duration, to netip.AddrPort, datagram []byte) {
	if len(datagram) > maxDatagram || !to.Addr().Is4() {
		return
	}
	b := make([]byte, udpLen, udpLen+len(datagram))
	be.PutUint16(b, h.UDPPort)
	be.PutUint16(b[2:], to.Port())
	be.PutUint16(b[4:], uint16(udpLen+len(datagram)))
	b = append(b, datagram...)
	sum := checksum(pseudo4(h.own(to.Addr()), to.Addr(), len(b)), b)
	if sum == 0 { // which would say that there is none
		sum = 0xffff
	}
	be.PutUint16(b[6:], sum)
	h.send4(now, to.Addr(), protoUDP, b)
}

// send4 sends an IPv4 payload, in fragments if need be.
func (h *Host) send4(now time.Duration, to netip.Addr, proto uint8, payload []byte) {
	from := h.own(to)
	if !from.IsValid() {
		return
	}
	mtu := h.MTU
	if mtu == 0 {
		mtu = 1500
	}
	room := (mtu - ip4Len) &^ 7
	h.nextID++
	for off := 0; off == 0 || off < len(payload); off += room {
		n := min(room, len(payload)-off)
		field := uint16(off / 8)
		if off+n < len(payload) {
			field |= 0x2000
		}
		b := make([]byte, ethLen+ip4Len, ethLen+ip4Len+n)
		copy(b[6:], h.MAC[:])
		be.PutUint16(b[12:], etherIPv4)
		ip := b[ethLen:]
		ip[0] = 0x45
		be.PutUint16(ip[2:], uint16(ip4Len+n))
		be.PutUint16(ip[4:], h.nextID)
		be.PutUint16(ip[6:], field)
		ip[8], ip[9] = 64, proto
		copy(ip[12:], from.AsSlice())
		copy(ip[16:], to.AsSlice())
		be.PutUint16(ip[10:], ipChecksum(ip))
		h.Send(now, to, append(b, payload[off:off+n]...))
	}
}

// pseudo4 is the sum of the header that UDP checksums cover.
func pseudo4(from, to netip.Addr, n int) uint32 {
	var h [12]byte
	copy(h[:], from.AsSlice())
	copy(h[4:], to.AsSlice())
	h[9] = protoUDP
	be.PutUint16(h[10:], uint16(n))
	return sum16(0, h[:])
}
