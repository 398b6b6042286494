package wire

import (
	"fmt"
	"math/bits"
	"net/netip"
)

// Field is one field of a frame, for a view that shows every byte.
type Field struct {
	Layer          string // Ethernet, 802.1Q, IPv4, IPv6, UDP, BTH, RETH ..., Payload, Pad, ICRC, Trailer, Data
	Name           string
	Value          string // for people: decimal or hex as is usual, with a name where there is one
	Offset, Length int    // bytes of the frame
	// Mask has a one for every bit of the field in its Length bytes read big
	// endian; 0 means all of them.
	Mask uint64
}

// Bits says which bits of its bytes the field has, highest first: "7", "6:4";
// empty when it has them all.
func (f Field) Bits() string {
	if f.Mask == 0 {
		return ""
	}
	hi, lo := bits.Len64(f.Mask)-1, bits.TrailingZeros64(f.Mask)
	if hi == lo {
		return fmt.Sprint(hi)
	}
	return fmt.Sprintf("%d:%d", hi, lo)
}

// spec is a field of a layer: n bytes at the end of the field before it, or at
// the same place when mask says that it shares its bytes. show gets the masked
// number, shifted down, and the field's bytes.
type spec struct {
	name string
	n    int
	mask uint64
	show func(v uint64, b []byte) string
}

func dec(v uint64, _ []byte) string   { return fmt.Sprint(v) }
func hex8(v uint64, _ []byte) string  { return fmt.Sprintf("0x%02x", v) }
func hex16(v uint64, _ []byte) string { return fmt.Sprintf("0x%04x", v) }
func hex32(v uint64, _ []byte) string { return fmt.Sprintf("0x%08x", v) }
func hex64(v uint64, _ []byte) string { return fmt.Sprintf("0x%016x", v) }
func num24(v uint64, _ []byte) string { return fmt.Sprintf("%d (0x%06x)", v, v) }
func both(v uint64, _ []byte) string  { return fmt.Sprintf("%d (0x%x)", v, v) }
func mac(_ uint64, b []byte) string   { return fmt.Sprintf("% x", b) }

func addr(_ uint64, b []byte) string {
	a, _ := netip.AddrFromSlice(b)
	return a.String()
}

func opcode(v uint64, _ []byte) string { return fmt.Sprintf("%s (0x%02x)", Opcode(v), v) }

func syndrome(v uint64, _ []byte) string {
	s := Syndrome(v)
	if s.IsNak() {
		return s.String()
	}
	return fmt.Sprintf("%s (0x%02x)", s, v)
}

func ecn(v uint64, _ []byte) string {
	return [4]string{"0 (not ECN capable)", "1 (ECT 1)", "2 (ECT 0)", "3 (congestion experienced)"}[v&3]
}

func protocol(v uint64, _ []byte) string {
	switch v {
	case 6:
		return "6 (TCP)"
	case protoUDP:
		return "17 (UDP)"
	}
	return fmt.Sprint(v)
}

func etherType(v uint64, _ []byte) string {
	switch v {
	case etherIPv4:
		return "0x0800 (IPv4)"
	case etherIPv6:
		return "0x86dd (IPv6)"
	case etherVLAN:
		return "0x8100 (802.1Q)"
	case 0x0806:
		return "0x0806 (ARP)"
	}
	return fmt.Sprintf("0x%04x", v)
}

// The layers, each with a field for every bit.
var (
	ethSpec  = []spec{{"destination", 6, 0, mac}, {"source", 6, 0, mac}, {"type", 2, 0, etherType}}
	vlanSpec = []spec{
		{"priority", 2, 0xe000, dec},
		{"drop eligible", 2, 0x1000, dec},
		{"VLAN", 2, 0x0fff, dec},
		{"type", 2, 0, etherType},
	}
	ip4Spec = []spec{
		{"version", 1, 0xf0, dec},
		{"header words", 1, 0x0f, dec},
		{"DSCP", 1, 0xfc, dec},
		{"ECN", 1, 0x03, ecn},
		{"total length", 2, 0, dec},
		{"identification", 2, 0, hex16},
		{"reserved", 2, 0x8000, dec},
		{"don't fragment", 2, 0x4000, dec},
		{"more fragments", 2, 0x2000, dec},
		{"fragment offset", 2, 0x1fff, dec},
		{"TTL", 1, 0, dec},
		{"protocol", 1, 0, protocol},
		{"checksum", 2, 0, hex16},
		{"source", 4, 0, addr},
		{"destination", 4, 0, addr},
	}
	ip6Spec = []spec{
		{"version", 4, 0xf0000000, dec},
		{"DSCP", 4, 0x0fc00000, dec},
		{"ECN", 4, 0x00300000, ecn},
		{"flow label", 4, 0x000fffff, both},
		{"payload length", 2, 0, dec},
		{"next header", 1, 0, protocol},
		{"hop limit", 1, 0, dec},
		{"source", 16, 0, addr},
		{"destination", 16, 0, addr},
	}
	udpSpec = []spec{
		{"source port", 2, 0, dec}, {"destination port", 2, 0, dec}, {"length", 2, 0, dec}, {"checksum", 2, 0, hex16},
	}
	bthSpec = []spec{
		{"opcode", 1, 0, opcode},
		{"solicited event", 1, 0x80, dec},
		{"MigReq", 1, 0x40, dec},
		{"pad count", 1, 0x30, dec},
		{"version", 1, 0x0f, dec},
		{"P_Key", 2, 0, hex16},
		{"FECN", 1, 0x80, dec},
		{"BECN", 1, 0x40, dec},
		{"reserved", 1, 0x3f, hex8},
		{"destination QP", 3, 0, num24},
		{"AckReq", 1, 0x80, dec},
		{"reserved", 1, 0x7f, hex8},
		{"PSN", 3, 0, num24},
	}
	// extSpecs goes with extHeaders, row by row.
	extSpecs = [len(extHeaders)]struct {
		layer  string
		fields []spec
	}{
		{"RDETH", []spec{{"reserved", 1, 0, hex8}, {"EE context", 3, 0, num24}}},
		{"XRCETH", []spec{{"reserved", 1, 0, hex8}, {"XRC SRQ", 3, 0, num24}}},
		{"DETH", []spec{{"Q_Key", 4, 0, hex32}, {"reserved", 1, 0, hex8}, {"source QP", 3, 0, num24}}},
		{"FETH", []spec{{"reserved", 4, 0xffffffc0, hex32}, {"selectivity", 4, 0x30, dec}, {"placement", 4, 0x0f, dec}}},
		{"RETH", []spec{{"virtual address", 8, 0, hex64}, {"R_Key", 4, 0, hex32}, {"DMA length", 4, 0, dec}}},
		{"AtomicETH", []spec{
			{"virtual address", 8, 0, hex64}, {"R_Key", 4, 0, hex32}, {"swap or add", 8, 0, both}, {"compare", 8, 0, both},
		}},
		{"AETH", []spec{{"syndrome", 1, 0, syndrome}, {"MSN", 3, 0, num24}}},
		{"AtomicAckETH", []spec{{"original", 8, 0, both}}},
		{"ImmDt", []spec{{"immediate", 4, 0, hex32}}},
		{"IETH", []spec{{"R_Key", 4, 0, hex32}}},
	}
)

// fieldList collects the fields of one frame.
type fieldList struct {
	frame []byte
	at    int
	list  []Field
}

// layer adds the fields of specs, which must fit the frame.
func (l *fieldList) layer(name string, specs []spec) {
	for _, s := range specs {
		b := l.frame[l.at : l.at+s.n]
		var v uint64
		for _, c := range b {
			v = v<<8 | uint64(c)
		}
		if s.mask != 0 {
			v = v & s.mask >> bits.TrailingZeros64(s.mask)
		}
		l.list = append(l.list, Field{
			Layer: name, Name: s.name, Value: s.show(v, b), Offset: l.at, Length: s.n, Mask: s.mask,
		})
		if s.mask&1 != 0 || s.mask == 0 { // the last of those that share these bytes
			l.at += s.n
		}
	}
}

// bytes adds n bytes as one field, if there are any.
func (l *fieldList) bytes(layer, name string, n int) {
	if n <= 0 {
		return
	}
	const shown = 16
	b := l.frame[l.at : l.at+n]
	v := fmt.Sprintf("% x", b[:min(n, shown)])
	if n > shown {
		v += fmt.Sprintf(" ... (%d bytes)", n)
	}
	l.list = append(l.list, Field{Layer: layer, Name: name, Value: v, Offset: l.at, Length: n})
	l.at += n
}

func (l *fieldList) left() int { return len(l.frame) - l.at }

// Fields lists every field of a frame in order; together they cover every bit
// once. The error is that of [Decode]; the list is complete all the same, with
// what could not be taken apart as one field of layer Data.
func Fields(frame []byte) ([]Field, error) {
	var p Packet
	err := Decode(frame, &p)
	l := &fieldList{frame: frame}
	if end := l.outer(); end > 0 {
		l.infiniband(end)
		l.bytes("Trailer", "trailer", l.left())
	}
	l.bytes("Data", "data", l.left())
	return l.list, err
}

// outer adds Ethernet to UDP and returns where the UDP payload ends, or 0 when
// the frame is no whole RoCEv2 packet.
func (l *fieldList) outer() int {
	var p Packet
	ip, err := decodeEth(l.frame, &p)
	if len(l.frame) < ethLen {
		return 0
	}
	l.layer("Ethernet", ethSpec)
	if p.VLAN {
		l.layer("802.1Q", vlanSpec)
	}
	if err != nil {
		return 0
	}
	var l3, end int
	switch {
	case p.V6 && len(ip) >= ip6Len && ip[0]>>4 == 6:
		l.layer("IPv6", ip6Spec)
		l3, end, err = decodeIPv6(ip, &p)
	case !p.V6 && len(ip) >= ip4Len && ip[0] == 0x45:
		l.layer("IPv4", ip4Spec)
		l3, end, err = decodeIPv4(ip, &p)
	default:
		return 0
	}
	if err != nil {
		return 0
	}
	l.layer("UDP", udpSpec)
	if decodeUDP(ip[l3:end], &p) != nil || end-l3-udpLen < bthLen+icrcLen {
		return 0
	}
	return len(l.frame) - len(ip) + end
}

// infiniband adds BTH to ICRC; end is where the packet ends in the frame.
func (l *fieldList) infiniband(end int) {
	bth := l.frame[l.at:end]
	ipudp := l.frame[:l.at]
	l.layer("BTH", bthSpec)
	op := Opcode(bth[0])
	pad := int(bth[1] >> 4 & 3)
	if op.Known() && op.HeaderLen()+icrcLen <= len(bth) {
		for i, h := range extHeaders {
			if op.has(h.flag) {
				l.layer(extSpecs[i].layer, extSpecs[i].fields)
			}
		}
	} else {
		pad = 0
	}
	body := end - icrcLen - l.at
	pad = min(pad, body)
	l.bytes("Payload", "payload", body-pad)
	l.bytes("Pad", "pad", pad)
	l.icrc(ipudp, bth)
}

// icrc adds the ICRC with a verdict.
func (l *fieldList) icrc(before, ib []byte) {
	n := ip4Len + udpLen
	if len(before) >= ethLen+ip6Len+udpLen {
		n = ip6Len + udpLen
	}
	v := fmt.Sprintf("0x%08x", be.Uint32(ib[len(ib)-icrcLen:]))
	if err := checkICRC(before[len(before)-n:], ib); err != nil {
		v = err.(*ICRCError).fieldText() //nolint:errorlint // checkICRC returns no other
	} else {
		v += " (correct)"
	}
	l.list = append(l.list, Field{Layer: "ICRC", Name: "ICRC", Value: v, Offset: l.at, Length: icrcLen})
	l.at += icrcLen
}

func (e *ICRCError) fieldText() string {
	return fmt.Sprintf("0x%08x (wrong, should be 0x%08x)", e.Have, e.Want)
}
