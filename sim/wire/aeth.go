package wire

import (
	"fmt"
	"time"
)

// Syndrome is the AETH syndrome: kind in bits 7:5, value in bits 4:0.
type Syndrome uint8

// The kinds of syndrome (rxe_hdr.h enum aeth_syndrome).
const (
	SyndromeACK    Syndrome = 0x00
	SyndromeRNRNAK Syndrome = 0x20
	SyndromeResv   Syndrome = 0x40
	SyndromeNAK    Syndrome = 0x60
)

// UnlimitedCredits is the credit code of a responder that does not count
// receives: the value of rxe and of any QP with an SRQ.
const UnlimitedCredits = 31

// NakCode is the reason of a NAK.
type NakCode uint8

// The NAK codes (rxe_hdr.h AETH_NAK_*).
const (
	NakPSNSequence NakCode = iota
	NakInvalidRequest
	NakRemoteAccess
	NakRemoteOperational
	NakInvalidRDRequest
)

// String names the code in a few words.
func (c NakCode) String() string {
	switch c {
	case NakPSNSequence:
		return "PSN sequence"
	case NakInvalidRequest:
		return "invalid request"
	case NakRemoteAccess:
		return "remote access"
	case NakRemoteOperational:
		return "remote operational"
	case NakInvalidRDRequest:
		return "invalid RD request"
	}
	return fmt.Sprintf("reserved code %d", uint8(c))
}

// Ack is the syndrome of an acknowledge with a credit code (0..31).
func Ack(creditCode uint8) Syndrome { return SyndromeACK | Syndrome(creditCode&31) }

// RNRNak is the syndrome "receiver not ready" with a timer code (0..31).
func RNRNak(timer uint8) Syndrome { return SyndromeRNRNAK | Syndrome(timer&31) }

// Nak is the syndrome of a negative acknowledge.
func Nak(c NakCode) Syndrome { return SyndromeNAK | Syndrome(c&31) }

// Kind returns bits 7:5 in place.
func (s Syndrome) Kind() Syndrome { return s & 0xe0 }

// Value returns bits 4:0: credit code, timer code or NAK code.
func (s Syndrome) Value() uint8 { return uint8(s & 31) }

// IsAck reports an acknowledge.
func (s Syndrome) IsAck() bool { return s.Kind() == SyndromeACK }

// IsRNR reports a receiver-not-ready NAK.
func (s Syndrome) IsRNR() bool { return s.Kind() == SyndromeRNRNAK }

// IsNak reports a NAK with a [NakCode].
func (s Syndrome) IsNak() bool { return s.Kind() == SyndromeNAK }

// NakCode returns the code of a NAK.
func (s Syndrome) NakCode() NakCode { return NakCode(s.Value()) }

// String returns the syndrome in words: "ACK credits=unlimited",
// "RNR NAK timer=1 (0.01 ms)", "NAK remote access (0x62)".
func (s Syndrome) String() string {
	switch s.Kind() {
	case SyndromeACK:
		return "ACK credits=" + creditText(s.Value())
	case SyndromeRNRNAK:
		return fmt.Sprintf("RNR NAK timer=%d (%s)", s.Value(), rnrText(s.Value()))
	case SyndromeNAK:
		return fmt.Sprintf("NAK %s (0x%02x)", s.NakCode(), uint8(s))
	}
	return fmt.Sprintf("reserved syndrome 0x%02x", uint8(s))
}

func creditText(code uint8) string {
	if n := Credits(code); n >= 0 {
		return fmt.Sprint(n)
	}
	return "unlimited"
}

func rnrText(code uint8) string {
	us := RNRTimer(code).Microseconds()
	return fmt.Sprintf("%d.%02d ms", us/1000, us%1000/10)
}

// credits is the credit table of IBTA 9.7.7.2.5, as credit_table in
// drivers/infiniband/sw/rdmavt/rc.c.
var credits = [31]int{
	0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768,
	1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
}

// Credits returns the receives that a credit code (5 bits) stands for, or -1
// for 31, which limits nothing.
func Credits(code uint8) int {
	code &= 31
	if int(code) >= len(credits) {
		return -1
	}
	return credits[code]
}

// CreditCode returns the code of the largest table entry that is not above n.
func CreditCode(n int) uint8 {
	code := 0
	for code+1 < len(credits) && credits[code+1] <= n {
		code++
	}
	return uint8(code)
}

// rnrTimers is the RNR NAK timer field in units of 10 us (names of enum
// ib_rnr_timeout in rdma/ib_verbs.h, IB_RNR_TIMER_655_36 and so on).
var rnrTimers = [32]int64{
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
	16384, 24576, 32768, 49152,
}

// RNRTimer returns how long a requester waits at least after an RNR NAK with
// this timer code (5 bits). Code 0 is the longest. rxe waits 61.41 ms instead
// of 61.44 ms for code 25 (rnrnak_usec in rxe_comp.c).
func RNRTimer(code uint8) time.Duration {
	return time.Duration(rnrTimers[code&31]) * 10 * time.Microsecond
}

// RNRCode returns the code of the shortest timer that is at least d; 0, the
// longest, when none is.
func RNRCode(d time.Duration) uint8 {
	for code := uint8(1); code < 32; code++ {
		if RNRTimer(code) >= d {
			return code
		}
	}
	return 0
}
