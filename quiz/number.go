package quiz

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// unit is how many of its dimension's base one of it is. Two units convert into
// each other if their dimensions are equal; counted things have each their own.
type unit struct {
	dim   string
	scale *big.Rat
}

// units are those of the content format and the usual spellings of the same
// dimensions. Decimal prefixes are powers of 1000 (SI), Ki and Mi of 1024 (IEC
// 80000-13).
var units = map[string]unit{
	"ns": {"time", rat(1, 1)}, "us": {"time", rat(1e3, 1)}, "µs": {"time", rat(1e3, 1)}, "μs": {"time", rat(1e3, 1)},
	"ms": {"time", rat(1e6, 1)}, "s": {"time", rat(1e9, 1)}, "sec": {"time", rat(1e9, 1)}, "seconds": {"time", rat(1e9, 1)},
	"second": {"time", rat(1e9, 1)}, "min": {"time", rat(60e9, 1)},
	"bit": {"data", rat(1, 1)}, "bits": {"data", rat(1, 1)}, "b": {"data", rat(1, 1)},
	"byte": {"data", rat(8, 1)}, "bytes": {"data", rat(8, 1)}, "B": {"data", rat(8, 1)},
	"kB": {"data", rat(8e3, 1)}, "KB": {"data", rat(8e3, 1)}, "MB": {"data", rat(8e6, 1)}, "GB": {"data", rat(8e9, 1)},
	"KiB": {"data", rat(8<<10, 1)}, "MiB": {"data", rat(8<<20, 1)}, "GiB": {"data", rat(8<<30, 1)},
	"b/s": {"rate", rat(1, 1)}, "bit/s": {"rate", rat(1, 1)}, "bps": {"rate", rat(1, 1)},
	"kb/s": {"rate", rat(1e3, 1)}, "Mb/s": {"rate", rat(1e6, 1)}, "Mbit/s": {"rate", rat(1e6, 1)}, "Mbps": {"rate", rat(1e6, 1)},
	"Gb/s": {"rate", rat(1e9, 1)}, "Gbit/s": {"rate", rat(1e9, 1)}, "Gbps": {"rate", rat(1e9, 1)}, "Tb/s": {"rate", rat(1e12, 1)},
	"B/s": {"rate", rat(8, 1)}, "kB/s": {"rate", rat(8e3, 1)}, "MB/s": {"rate", rat(8e6, 1)}, "GB/s": {"rate", rat(8e9, 1)},
	"MiB/s": {"rate", rat(8<<20, 1)}, "GiB/s": {"rate", rat(8<<30, 1)},
	"%": {"share", rat(1, 1)}, "percent": {"share", rat(1, 1)},
	"packets": {"packets", rat(1, 1)}, "packet": {"packets", rat(1, 1)},
	"QPs": {"QPs", rat(1, 1)}, "QP": {"QPs", rat(1, 1)},
	"WRs": {"WRs", rat(1, 1)}, "WR": {"WRs", rat(1, 1)},
	"messages": {"messages", rat(1, 1)}, "message": {"messages", rat(1, 1)},
	"retries": {"retries", rat(1, 1)}, "retry": {"retries", rat(1, 1)},
	"count": {"count", rat(1, 1)}, "PSNs": {"PSNs", rat(1, 1)}, "PSN": {"PSNs", rat(1, 1)},
}

func rat(a, b int64) *big.Rat { return big.NewRat(a, b) }

// lookUnit finds a unit as written; if there is none, in another case, unless
// that could mean two of them (b and B).
func lookUnit(name string) (unit, bool) {
	if u, ok := units[name]; ok {
		return u, true
	}
	var found unit
	n := 0
	for k, u := range units {
		if !strings.EqualFold(k, name) {
			continue
		}
		if n == 0 || u.dim != found.dim || u.scale.Cmp(found.scale) != 0 {
			n++
		}
		found = u
	}
	return found, n == 1
}

// Limits of a typed number: more digits or powers of ten than any answer has.
const (
	maxNumberText = 48
	maxExponent   = 30
)

// quantity is a number with the unit as it was typed, "" for none.
type quantity struct {
	value *big.Rat
	unit  string
}

// parseQuantity reads "67.1 ms", "67.1ms", "1,024 bytes", "0x2b1", "4.1e-3 s"
// and "4k" as the script language writes it. The error says what is wrong.
func parseQuantity(s string) (quantity, error) {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > maxNumberText {
		return quantity{}, fmt.Errorf("type a number of at most %d characters, such as 67.1 ms", maxNumberText)
	}
	cut := numberEnd(s)
	digits, rest := s[:cut], strings.TrimSpace(s[cut:])
	v, ok := parseRat(digits)
	if !ok {
		return quantity{}, fmt.Errorf("%q does not begin with a number; type one such as 67.1 ms", s)
	}
	if _, known := lookUnit(rest); !known {
		if scale, ok := map[string]int64{"k": 1 << 10, "m": 1 << 20}[rest]; ok {
			v.Mul(v, rat(scale, 1))
			rest = ""
		}
	}
	return quantity{value: v, unit: rest}, nil
}

// numberEnd is where the number stops and its unit begins.
func numberEnd(s string) int {
	if len(s) > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		i := 2
		for i < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[i]) >= 0 {
			i++
		}
		return i
	}
	i := 0
	for i < len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c == '.', c == ',', i == 0 && (c == '-' || c == '+'):
			i++
		case (c == 'e' || c == 'E') && i > 0 && exponentLen(s[i+1:]) > 0:
			return i + 1 + exponentLen(s[i+1:])
		default:
			return i
		}
	}
	return i
}

// exponentLen is the length of the digits, with a sign, that s begins with; 0
// if it begins with none.
func exponentLen(s string) int {
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	from := i
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i == from {
		return 0
	}
	return i
}

// parseRat reads a decimal or hexadecimal number exactly, so that 0.0671 s is
// 67.1 ms and not a little more.
func parseRat(s string) (*big.Rat, bool) {
	if h, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok {
		n, err := strconv.ParseUint(h, 16, 64)
		return new(big.Rat).SetInt(new(big.Int).SetUint64(n)), err == nil
	}
	if strings.Contains(s, ",") {
		whole, frac, dot := strings.Cut(s, ".")
		groups := strings.Split(strings.TrimLeft(whole, "+-"), ",")
		for i, g := range groups {
			if len(g) > 3 || len(g) == 0 || i > 0 && len(g) != 3 {
				return nil, false
			}
		}
		s = strings.ReplaceAll(whole, ",", "")
		if dot {
			s += "." + frac
		}
	}
	if at := strings.IndexAny(s, "eE"); at >= 0 {
		if n, err := strconv.Atoi(s[at+1:]); err != nil || n > maxExponent || n < -maxExponent {
			return nil, false
		}
	}
	if strings.Trim(s, "+-.") == "" {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

// numberMatch says how a typed number compares with the right one.
type numberMatch struct {
	right bool
	note  string
}

// matchNumber compares what was typed with the value that is right, in the unit
// that was asked for, within a relative tolerance. A number typed without a
// unit is taken in the unit asked for.
func matchNumber(typed, value, asked string, tolerance float64) (numberMatch, error) {
	want, err := parseQuantity(value)
	if err != nil {
		return numberMatch{}, fmt.Errorf("the right value %q is not a number: %w", value, err)
	}
	got, err := parseQuantity(typed)
	if err != nil {
		return numberMatch{note: err.Error()}, nil
	}
	if got.unit == "" {
		got.unit = asked
	}
	if want.unit == "" {
		want.unit = asked
	}
	gu, known := lookUnit(got.unit)
	if got.unit != "" && !known {
		return numberMatch{note: fmt.Sprintf("%q is not a unit that is known here; the answer is asked for in %s", got.unit, orNone(asked))}, nil
	}
	wu, _ := lookUnit(want.unit)
	if gu.dim != wu.dim {
		note := fmt.Sprintf("the unit is wrong: %s is asked for, %s is not that", orNone(asked), got.unit)
		if within(got.value, want.value, tolerance) {
			note = "the number is right, but " + note
		}
		return numberMatch{note: note}, nil
	}
	if within(inBase(got.value, gu), inBase(want.value, wu), tolerance) {
		return numberMatch{right: true}, nil
	}
	note := ""
	if gu.scale != nil && gu.scale.Cmp(wu.scale) != 0 && within(got.value, want.value, tolerance) {
		note = fmt.Sprintf("the number is right in %s, not in %s", want.unit, got.unit)
	}
	return numberMatch{note: note}, nil
}

func orNone(unit string) string {
	if unit == "" {
		return "a plain number"
	}
	return unit
}

func inBase(v *big.Rat, u unit) *big.Rat {
	if u.scale == nil {
		return v
	}
	return new(big.Rat).Mul(v, u.scale)
}

// within says whether |got - want| <= tolerance * |want|, exactly.
func within(got, want *big.Rat, tolerance float64) bool {
	diff := new(big.Rat).Sub(got, want)
	diff.Abs(diff)
	tol := new(big.Rat)
	if tolerance > 0 {
		// The decimal that the author wrote, not its binary neighbour.
		if _, ok := tol.SetString(strconv.FormatFloat(tolerance, 'g', -1, 64)); !ok {
			return false
		}
	}
	return diff.Cmp(tol.Mul(tol, new(big.Rat).Abs(want))) <= 0
}
