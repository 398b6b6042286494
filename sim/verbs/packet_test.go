package verbs

import "testing"

// TestPacketKinds: the groups by the AETH syndromes of IBTA vol. 1, 9.7.5.2:
// 000 ACK with credits, 001 RNR NAK with a timer, 011 NAK with a reason from 0
// (PSN sequence) to 3 (remote operational).
func TestPacketKinds(t *testing.T) {
	for _, c := range []struct {
		p    PacketInfo
		want []string
	}{
		{PacketInfo{Opcode: "SEND_ONLY"}, []string{"any", "request"}},
		{PacketInfo{Opcode: "RDMA_READ_REQUEST"}, []string{"any", "request"}},
		{PacketInfo{Opcode: "ACKNOWLEDGE", Syndrome: 0x1f}, []string{"any", "response", "ack"}},
		{PacketInfo{Opcode: "ACKNOWLEDGE", Syndrome: 0x05}, []string{"any", "response", "ack"}},
		{PacketInfo{Opcode: "ACKNOWLEDGE", Syndrome: 0x2e}, []string{"any", "response", "rnr"}},
		{PacketInfo{Opcode: "ACKNOWLEDGE", Syndrome: 0x60}, []string{"any", "response", "nak", "nak_sequence"}},
		{PacketInfo{Opcode: "ACKNOWLEDGE", Syndrome: 0x61}, []string{"any", "response", "nak", "nak_invalid"}},
		{PacketInfo{Opcode: "ACKNOWLEDGE", Syndrome: 0x62}, []string{"any", "response", "nak", "nak_access"}},
		{PacketInfo{Opcode: "ACKNOWLEDGE", Syndrome: 0x63}, []string{"any", "response", "nak", "nak_operational"}},
		{PacketInfo{Opcode: "ATOMIC_ACKNOWLEDGE", Syndrome: 0x1f}, []string{"any", "response"}},
		{PacketInfo{Opcode: "RDMA_READ_RESPONSE_MIDDLE"}, []string{"any", "response", "read_resp"}},
	} {
		var got []string
		for _, k := range PacketKinds() {
			if c.p.Is(k) {
				got = append(got, k)
			}
		}
		if !sameSet(got, c.want) {
			t.Errorf("%s %#x is of %v, want %v", c.p.Opcode, c.p.Syndrome, got, c.want)
		}
		if !c.p.Is(c.p.Opcode) || c.p.Is("CNP") {
			t.Errorf("%s is not known by its own opcode alone", c.p.Opcode)
		}
	}
}

func sameSet(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	in := map[string]bool{}
	for _, x := range a {
		in[x] = true
	}
	for _, x := range b {
		if !in[x] {
			return false
		}
	}
	return true
}
