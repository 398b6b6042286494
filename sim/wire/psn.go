package wire

// PSNBits is the width of packet and message sequence numbers.
const (
	PSNBits = 24
	PSNMask = 1<<PSNBits - 1
)

// PSNAdd returns psn+n modulo 2^24; n may be negative.
func PSNAdd(psn uint32, n int) uint32 { return uint32(int64(psn)+int64(n)) & PSNMask }

// PSNDiff returns the signed distance a-b in -2^23 .. 2^23-1: positive when a
// is the newer one. It is the psn_compare of rxe, scaled down.
func PSNDiff(a, b uint32) int { return int(int32((a-b)<<8) >> 8) }

// Pad is the number of pad bytes, 0 to 3, after n bytes of payload.
func Pad(n int) int { return -n & 3 }

// MTUBytes returns the bytes of an enum ibv_mtu (1 = 256 .. 5 = 4096), or 0
// for a value outside it.
func MTUBytes(enum int) int {
	if enum < 1 || enum > 5 {
		return 0
	}
	return 128 << enum
}

// MTUEnum returns the enum ibv_mtu of a path MTU in bytes, or 0 when the
// number is not a path MTU.
func MTUEnum(bytes int) int {
	for e := 1; e <= 5; e++ {
		if MTUBytes(e) == bytes {
			return e
		}
	}
	return 0
}

// Packets returns how many packets carry a message of length bytes, at least
// one: a message of nothing is still a packet. A READ uses up as many PSNs as
// its response has packets. An mtu of 0 counts as one packet.
func Packets(length uint32, mtu int) int {
	if length == 0 || mtu <= 0 {
		return 1
	}
	return int((uint64(length) + uint64(mtu) - 1) / uint64(mtu))
}
