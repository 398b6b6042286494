package model

import (
	"fmt"

	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// What a forge line does to a packet. The ICRC is computed from what the packet
// then is, so that the receiver finds nothing wrong with the frame.

// forgeable tells whether the packet has any of the fields.
func (p *packet) forgeable(set []verbs.Forgery) bool {
	for _, f := range set {
		if p.has(f) {
			return true
		}
	}
	return false
}

// has tells whether the packet has a field. It has another opcode if the packet
// stays well formed: known to its transport, with the same headers.
func (p *packet) has(f verbs.Forgery) bool {
	op := wire.Opcode(p.op)
	switch f.Field {
	case verbs.FieldOpcode:
		other := wire.Opcode(p.op&^operationBits | uint8(f.Value))
		return other.Known() && sameHeaders(op, other) && (other.HasPayload() || len(p.payload) == 0)
	case verbs.FieldQKey:
		return op.HasDETH()
	case verbs.FieldVA:
		return op.HasRETH() || op.HasAtomicETH()
	case verbs.FieldRKey:
		return op.HasRETH() || op.HasAtomicETH() || op.HasIETH()
	case verbs.FieldSyndrome, verbs.FieldMSN:
		return op.HasAETH()
	default:
		return true
	}
}

func sameHeaders(a, b wire.Opcode) bool {
	of := func(o wire.Opcode) [7]bool {
		return [7]bool{
			o.HasDETH(), o.HasRETH(), o.HasAtomicETH(), o.HasAETH(), o.HasAtomicAckETH(), o.HasImm(), o.HasIETH(),
		}
	}
	return of(a) == of(b)
}

// forge rewrites the fields that the packet has and says from what to what.
func (p *packet) forge(set []verbs.Forgery) (said []string) {
	for _, f := range set {
		if !p.has(f) {
			continue
		}
		was := p.shown(f.Field)
		v := f.Value
		switch f.Field {
		case verbs.FieldOpcode:
			p.op = p.op&^operationBits | uint8(v)
		case verbs.FieldSolicited:
			p.se = v != 0
		case verbs.FieldPKey:
			p.pkey = uint16(v)
		case verbs.FieldDestQP:
			p.dstQP = uint32(v)
		case verbs.FieldAckReq:
			p.ackReq = v != 0
		case verbs.FieldPSN:
			p.psn = psnAdd(p.base, uint32(v))
		case verbs.FieldQKey:
			p.qkey = uint32(v)
		case verbs.FieldVA:
			p.va = v
		case verbs.FieldRKey:
			p.rkey = uint32(v)
		case verbs.FieldSyndrome:
			p.syndrome = uint8(v)
		case verbs.FieldMSN:
			p.msn = uint32(v)
		}
		said = append(said, was+" -> "+p.value(f.Field))
	}
	return said
}

// shown is a field with its value, for a person.
func (p *packet) shown(f verbs.HeaderField) string {
	name := f.String()
	if f == verbs.FieldPSN {
		name = "psn"
	}
	return name + " " + p.value(f)
}

func (p *packet) value(f verbs.HeaderField) string {
	bit := map[bool]string{false: "0", true: "1"}
	switch f {
	case verbs.FieldOpcode:
		return wire.Opcode(p.op).Operation()
	case verbs.FieldSolicited:
		return bit[p.se]
	case verbs.FieldPKey:
		return fmt.Sprintf("0x%04x", p.pkey)
	case verbs.FieldDestQP:
		return fmt.Sprint(p.dstQP)
	case verbs.FieldAckReq:
		return bit[p.ackReq]
	case verbs.FieldPSN:
		return fmt.Sprint(p.psn)
	case verbs.FieldQKey:
		return fmt.Sprintf("0x%x", p.qkey)
	case verbs.FieldVA:
		return fmt.Sprintf("0x%x", p.va)
	case verbs.FieldRKey:
		return fmt.Sprintf("0x%x", p.rkey)
	case verbs.FieldSyndrome:
		return wire.Syndrome(p.syndrome).String()
	}
	return fmt.Sprint(p.msn)
}
