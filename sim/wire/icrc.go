package wire

import (
	"encoding/binary"
	"hash/crc32"
)

// The invariant CRC (IBTA annex A17.3.3, Linux rxe_icrc.c) is CRC-32 IEEE over
// 64 one bits in place of an InfiniBand LRH, then IP header, UDP header and
// everything to the end of the pad. What a router may change counts as ones:
// IPv4 TOS, TTL and checksum, IPv6 traffic class, flow label and hop limit,
// UDP checksum, and the fifth BTH byte (FECN, BECN, reserved). It is stored
// with its least significant byte first, as Ethernet's own CRC.

// icrcSeed is the CRC register after the 64 one bits (0xdebb20e3 in rxe_icrc.c).
const icrcSeed = 0xdebb20e3

// slices holds the tables for eight bytes at a time. The standard library's
// update would force the masked copy of the headers onto the heap.
var slices8 = makeSlices()

func makeSlices() *[8][256]uint32 {
	var t [8][256]uint32
	t[0] = *crc32.IEEETable
	for i := range 256 {
		c := t[0][i]
		for j := 1; j < 8; j++ {
			c = t[0][c&0xff] ^ c>>8
			t[j][i] = c
		}
	}
	return &t
}

// crcUpdate runs the raw CRC register (no inversion) over b.
func crcUpdate(crc uint32, b []byte) uint32 {
	t := slices8
	for len(b) >= 8 {
		lo := crc ^ binary.LittleEndian.Uint32(b)
		hi := binary.LittleEndian.Uint32(b[4:])
		crc = t[7][lo&0xff] ^ t[6][lo>>8&0xff] ^ t[5][lo>>16&0xff] ^ t[4][lo>>24] ^
			t[3][hi&0xff] ^ t[2][hi>>8&0xff] ^ t[1][hi>>16&0xff] ^ t[0][hi>>24]
		b = b[8:]
	}
	for _, c := range b {
		crc = t[0][byte(crc)^c] ^ crc>>8
	}
	return crc
}

// icrc returns the ICRC of ib (BTH to the end of the pad) under ipudp, which
// is an IP header of 20 or 40 bytes and a UDP header.
func icrc(ipudp, ib []byte) uint32 {
	var h [ip6Len + udpLen + bthLen]byte
	n := copy(h[:], ipudp)
	if n == ip4Len+udpLen {
		h[1], h[8], h[10], h[11] = 0xff, 0xff, 0xff, 0xff
	} else {
		h[0] |= 0x0f
		h[1], h[2], h[3], h[7] = 0xff, 0xff, 0xff, 0xff
	}
	h[n-2], h[n-1] = 0xff, 0xff
	copy(h[n:], ib[:bthLen])
	h[n+4] = 0xff
	crc := crcUpdate(icrcSeed, h[:n+bthLen])
	return crc32.Update(^crc, crc32.IEEETable, ib[bthLen:])
}

// ipChecksum is the ones' complement checksum of an IPv4 header whose checksum
// field counts as zero (RFC 1071).
func ipChecksum(h []byte) uint16 {
	var sum uint32
	for i := 0; i+1 < len(h); i += 2 {
		if i != 10 {
			sum += uint32(h[i])<<8 | uint32(h[i+1])
		}
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
