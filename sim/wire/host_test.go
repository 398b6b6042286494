package wire

import (
	"bytes"
	"net/netip"
	"testing"
)

// twoHosts have one link between them.
func twoHosts() (a, b *Host) {
	a = &Host{MAC: MAC{2, 0, 0, 0, 0, 1}, Addrs: []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fe80::1")}, UDPPort: 47911}
	b = &Host{MAC: MAC{2, 0, 0, 0, 0, 2}, Addrs: []netip.Addr{netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("fe80::2")}, UDPPort: 47911}
	return a, b
}

// carry hands frames over until the link is quiet, and returns what is RoCEv2.
func carry(t *testing.T, a, b *Host) (roce [][]byte) {
	t.Helper()
	for range 100 {
		fa, fb := a.Output(), b.Output()
		if len(fa)+len(fb) == 0 {
			return roce
		}
		for _, f := range fa {
			if b.Receive(0, f) {
				roce = append(roce, f)
			}
		}
		for _, f := range fb {
			if a.Receive(0, f) {
				roce = append(roce, f)
			}
		}
	}
	t.Fatal("the hosts do not stop talking")
	return nil
}

// TestHostFindsNeighbour: a packet waits for ARP or neighbour discovery, and
// then goes to the address that was found.
func TestHostFindsNeighbour(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		a, b := twoHosts()
		p := New(RCSendOnly)
		p.V6, p.SrcMAC, p.Payload = v6, a.MAC, []byte("data")
		i := 0
		if v6 {
			i = 1
		}
		p.Src, p.Dst = AddrFrom(a.Addrs[i]), AddrFrom(b.Addrs[i])
		a.Send(0, b.Addrs[i], AppendFrame(nil, &p))
		got := carry(t, a, b)
		if len(got) != 1 || MAC(got[0][:6]) != b.MAC {
			t.Fatalf("IPv6 %v: %d packets came: % x", v6, len(got), got)
		}
		var back Packet
		if err := Decode(got[0], &back); err != nil || string(back.Payload) != "data" {
			t.Errorf("IPv6 %v: %v %q", v6, err, back.Payload)
		}
	}
}

// TestHostCarriesDatagrams: up to 32 KiB both ways, which takes fragments, in
// either order; a longer one is not sent, and a damaged one is dropped.
func TestHostCarriesDatagrams(t *testing.T) {
	for _, n := range []int{0, 1, 1472, 1473, maxDatagram, maxDatagram + 1} {
		a, b := twoHosts()
		var heard, answered []byte
		b.Datagram = func(d []byte) []byte { heard = bytes.Clone(d); return append([]byte{}, d...) }
		a.Datagram = func(d []byte) []byte { answered = append([]byte{}, d...); return nil }
		a.SetNeighbour(b.Addrs[0], b.MAC)
		sent := bytes.Repeat([]byte{7, 1, 200}, n/3+1)[:n]
		a.SendUDP(0, netip.AddrPortFrom(b.Addrs[0], 47911), sent)
		frames := a.Output()
		for i := range frames { // the last fragment first
			b.Receive(0, frames[len(frames)-1-i])
		}
		carry(t, a, b)
		if n > maxDatagram {
			if len(frames) != 0 || heard != nil {
				t.Errorf("%d bytes were sent", n)
			}
			continue
		}
		if heard == nil || answered == nil || !bytes.Equal(heard, sent) || !bytes.Equal(answered, sent) {
			t.Errorf("%d bytes: %d heard, %d answered", n, len(heard), len(answered))
		}
		heard = nil
		a.SendUDP(0, netip.AddrPortFrom(b.Addrs[0], 47911), sent)
		frames = a.Output()
		last := frames[len(frames)-1]
		last[len(last)-1] ^= 1
		for _, f := range frames {
			b.Receive(0, f)
		}
		if n > 0 && heard != nil {
			t.Errorf("%d bytes: a damaged datagram was taken", n)
		}
	}
}
