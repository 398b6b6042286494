package script

import (
	"encoding/hex"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rdmaprep/sim/verbs"
)

func errno(n uint64) syscall.Errno { return syscall.Errno(n) }

// errnoText is the name of an errno, "0" for success.
func errnoText(e syscall.Errno) string {
	if e == 0 {
		return "0"
	}
	return verbs.ErrnoName(e)
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// valKind says how the value of a key is written.
type valKind uint8

const (
	vNum    valKind = iota + 1
	vEnum           // keySpec.enum
	vDur            // 10ms
	vRef            // an object of the line's own node
	vAnyRef         // an object of any node, or a number
	vNode           // a node
	vRange          // mr1[0:64] of the own node
	vRemote         // b.mr1[0:64] of any node
	vPlace          // mr1+8, or a number
	vSGE            // mr1[0:64],mr2[0:16]
	vKey            // rkey: a number, a region or a window of any node
	vText           // "…"
	vHex            // 0a0b
	vFill           // 0xab:64
	vByte           // 0xab
	vPSN            // +5
	vLabel          // a new label
	vOn             // what an asynchronous event is about
)

// keySpec is one key that a verb or an expect line takes.
type keySpec struct {
	name     string
	kind     valKind
	enum     *enum
	max      uint64  // vNum, vKey, vPlace
	kinds    objKind // the kinds of object that a reference may name
	required bool
}

// value is a parsed value. text is how it prints; which of the others count
// follows from kind.
type value struct {
	kind  valKind
	text  string
	num   uint64
	dur   time.Duration
	ref   ref
	rng   rangeRef
	sges  []sgeRef
	bytes []byte
	set   []value
	path  *Path
}

// ref names an object.
type ref struct{ node, name string }

func (r ref) zero() bool { return r.name == "" }

type span uint8

const (
	spanAll  span = iota // mr1
	spanCut              // mr1[lo:hi]
	spanFrom             // mr1+lo
)

// rangeRef is a part of a region, a buffer or a window.
type rangeRef struct {
	ref
	span   span
	lo, hi uint64
}

func (r rangeRef) text(node string) string {
	name := r.name
	if r.node != node {
		name = r.node + "." + name
	}
	switch r.span {
	case spanCut:
		return name + "[" + decimal(r.lo) + ":" + decimal(r.hi) + "]"
	case spanFrom:
		return name + "+" + decimal(r.lo)
	}
	return name
}

// sgeRef is one SGE: a range, and a key other than the range's own if hasKey.
type sgeRef struct {
	rng    rangeRef
	hasKey bool
	key    value
}

// parseNumber reads 64, 0x2b1, 4k or 1m.
func parseNumber(s string) (uint64, bool) {
	digits, scale := s, uint64(1)
	if !strings.HasPrefix(strings.ToLower(s), "0x") && s != "" {
		switch s[len(s)-1] {
		case 'k', 'K':
			digits, scale = s[:len(s)-1], 1<<10
		case 'm', 'M':
			digits, scale = s[:len(s)-1], 1<<20
		}
	}
	base := 10
	if rest, ok := strings.CutPrefix(strings.ToLower(digits), "0x"); ok {
		digits, base = rest, 16
	}
	if digits == "" || digits[0] == '+' || digits[0] == '-' || digits[0] == '_' {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil || n > ^uint64(0)/scale {
		return 0, false
	}
	return n * scale, true
}

const maxDuration = time.Hour

// parseDuration reads 10ms, 4.2us, 1s or 100ns, up to an hour.
func parseDuration(s string) (time.Duration, bool) {
	for _, u := range []struct {
		name string
		unit time.Duration
	}{{"ns", time.Nanosecond}, {"us", time.Microsecond}, {"ms", time.Millisecond}, {"s", time.Second}} {
		digits, ok := strings.CutSuffix(strings.ToLower(s), u.name)
		if !ok {
			continue
		}
		if digits == "" || strings.Trim(digits, "0123456789.") != "" || len(digits) > 16 {
			return 0, false
		}
		f, err := strconv.ParseFloat(digits, 64)
		if err != nil || f*float64(u.unit) > float64(maxDuration) {
			return 0, false
		}
		return time.Duration(f*float64(u.unit) + 0.5), true
	}
	return 0, false
}

// quoted reads "…" with the escapes \" \\ \n \t \0 and \xNN.
func quoted(s string) ([]byte, bool) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return nil, false
	}
	s = s[1 : len(s)-1]
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '"' {
			return nil, false
		}
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		i++
		if i == len(s) {
			return nil, false
		}
		switch s[i] {
		case '"', '\\':
			out = append(out, s[i])
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case '0':
			out = append(out, 0)
		case 'x':
			if i+2 >= len(s) {
				return nil, false
			}
			b, err := hex.DecodeString(s[i+1 : i+3])
			if err != nil {
				return nil, false
			}
			out = append(out, b...)
			i += 2
		default:
			return nil, false
		}
	}
	return out, true
}
