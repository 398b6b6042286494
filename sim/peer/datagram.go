package peer

import (
	"encoding/binary"
	"hash/crc32"
	"strings"
	"unicode/utf8"
)

// Version is the version of the datagrams. Two sides of different versions
// refuse each other.
const Version = 2

// Limits of a datagram in bytes.
const (
	MaxDatagram = 32 << 10 // of any
	MinDatagram = 1200     // the least that a side may ask for: hello and counters fit
)

const (
	magic     = "RDMP"
	headBytes = len(magic) + 1 + 1 + 8 + 4
	tailBytes = 4
	maxText   = 512 // bytes of a text of refuse and bye
)

// kind is what a datagram is for.
type kind uint8

const (
	kindHello    kind = iota + 1 // the driving side presents itself
	kindCall                     // it asks for a call
	kindReply                    // to hello or call, with its sequence number
	kindRefuse                   // the hello is refused; the body says why
	kindBye                      // the sender ended the run; the body says why
	kindAnnounce                 // the serving side waits for a hello
)

// message is a datagram that was taken apart.
type message struct {
	version uint8
	kind    kind
	session uint64
	seq     uint32
	body    []byte // shares the datagram's bytes
}

// seal makes the datagram.
func seal(k kind, session uint64, seq uint32, body []byte) []byte {
	b := make([]byte, 0, headBytes+len(body)+tailBytes)
	b = append(b, magic...)
	b = append(b, Version, byte(k))
	b = binary.BigEndian.AppendUint64(b, session)
	b = binary.BigEndian.AppendUint32(b, seq)
	b = append(b, body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// open takes a datagram apart; false is one that is not ours or is damaged.
func open(b []byte) (message, bool) {
	if len(b) < headBytes+tailBytes || len(b) > MaxDatagram || string(b[:len(magic)]) != magic {
		return message{}, false
	}
	end := len(b) - tailBytes
	if crc32.ChecksumIEEE(b[:end]) != binary.BigEndian.Uint32(b[end:]) {
		return message{}, false
	}
	h := b[len(magic):]
	m := message{
		version: h[0], kind: kind(h[1]), session: binary.BigEndian.Uint64(h[2:]), seq: binary.BigEndian.Uint32(h[10:]),
		body: b[headBytes:end:end],
	}
	return m, m.kind >= kindHello && m.kind <= kindAnnounce
}

// line makes a text of another machine fit to be shown: one line, no control
// characters, a bounded length.
func line(s string, most int) string {
	if len(s) > most {
		s = s[:most]
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError {
			return '?'
		}
		return r
	}, s)
}
