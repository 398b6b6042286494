package script

import (
	"errors"
	"fmt"
	"strings"

	"rdmaprep/sim/verbs"
)

// forgeKeys are the header fields that a forge line may rewrite.
var forgeKeys = []keySpec{
	named("syndrome", syndromeEnum), num("msn", max24), plain("set_psn", vPSN), num("pkey", max16), num("qkey", max32),
	{name: "rkey", kind: vKey, kinds: kMR | kMW, max: max32},
	{name: "va", kind: vPlace, kinds: kMR | kMW | kBuf, max: max64},
	{name: "dest_qp", kind: vAnyRef, kinds: kQP, max: max24},
	named("ackreq", boolEnum), named("solicited", boolEnum), named("opcode", operationEnum),
}

// syndromes are the words of a match for what an AETH says, with the code that
// the low five bits of an ACK (credits) and of an RNR NAK (timer) hold.
var syndromes = []struct {
	name  string
	base  uint64
	coded bool
}{
	{"ack", 0x00, true},
	{"rnr", 0x20, true},
	{"nak_sequence", 0x60, false},
	{"nak_invalid", 0x61, false},
	{"nak_access", 0x62, false},
	{"nak_operational", 0x63, false},
}

const unlimited = 31 // the credit code of an ACK that limits nothing

var syndromeEnum = &enum{
	what:  "an AETH syndrome: a number up to 0xff, ack:CREDITS or rnr:TIMER with a code from 0 to 31, or one of",
	names: []string{"ack", "nak_sequence", "nak_invalid", "nak_access", "nak_operational", "rnr:12"},
	parse: parseSyndrome,
	print: func(n uint64) string {
		for _, s := range syndromes {
			switch {
			case s.coded && n&^31 == s.base && (s.base != 0 || n != unlimited):
				return s.name + ":" + decimal(n&31)
			case n == s.base, s.base == 0 && n == unlimited:
				return s.name
			}
		}
		return fmt.Sprintf("0x%02x", n)
	},
}

func parseSyndrome(text string) (uint64, bool) {
	if n, ok := parseNumber(text); ok {
		return n, n <= max8
	}
	name, code, coded := strings.Cut(strings.ToLower(text), ":")
	for _, s := range syndromes {
		if s.name != name {
			continue
		}
		switch {
		case name == "ack" && !coded:
			return unlimited, true
		case !s.coded || !coded:
			return s.base, !s.coded && !coded
		}
		n, ok := parseNumber(code)
		return s.base | n, ok && n < 32
	}
	return 0, false
}

var operationEnum = &enum{
	what: "an opcode such as RDMA_READ_RESPONSE_LAST", names: packetOpcodes,
	parse: func(text string) (uint64, bool) {
		code, ok := verbs.OperationCode(strings.ToUpper(text))
		return uint64(code), ok
	},
	print: func(n uint64) string {
		for _, name := range packetOpcodes {
			if code, ok := verbs.OperationCode(name); ok && uint64(code) == n {
				return name
			}
		}
		return ""
	},
}

// forgeNode checks that an object that a forge line names is named with its node.
func (p *parser) forgeNode(k *keySpec, w word) bool {
	if k.kinds == 0 || w.text == "" || !isName(w.text[:1]) || strings.Contains(w.text, ".") {
		return true
	}
	p.fail(w.off, w.text, "a number, or an object with its node, such as "+p.sc.nodes[0]+"."+w.text, nil)
	return false
}

// forgeField checks that some packet of the match has a field.
func (p *parser) forgeField(match string, key, val word, v value) bool {
	field, _ := verbs.ParseHeaderField(key.text)
	err := verbs.Forgery{Field: field, Value: v.num}.Forgeable(match)
	var other *verbs.OtherHeadersError
	switch {
	case err == nil:
		return true
	case errors.As(err, &other):
		p.fail(val.off, val.text, "an opcode with the headers of "+match+": "+strings.Join(other.Opcodes, " "), other.Opcodes)
	default:
		p.fail(key.off, key.text, "a field that "+match+" has: "+strings.Join(fieldsOf(match), "=, ")+"=", nil)
	}
	return false
}

// fieldsOf are the fields that packets of a match can have.
func fieldsOf(match string) (names []string) {
	for _, k := range forgeKeys {
		f, _ := verbs.ParseHeaderField(k.name)
		if f == verbs.FieldOpcode || (verbs.Forgery{Field: f}).Forgeable(match) == nil {
			names = append(names, k.name)
		}
	}
	return names
}

// forgery is a forge line's fields with the numbers that its names stand for.
func (s *Session) forgery(fields args) ([]verbs.Forgery, error) {
	var out []verbs.Forgery
	for _, a := range fields {
		field, _ := verbs.ParseHeaderField(a.key)
		set := verbs.Forgery{Field: field, Value: a.val.num}
		at := a.val.ref
		if a.key == "va" {
			at = a.val.rng.ref
		}
		if !at.zero() {
			o, err := s.find(at)
			if err != nil {
				return nil, err
			}
			switch a.key {
			case "dest_qp":
				set.Value = uint64(o.qp.Num)
			case "rkey":
				set.Value = uint64(o.rkey())
			default:
				set.Value = o.base() + a.val.rng.lo
			}
		}
		out = append(out, set)
	}
	return out, nil
}
