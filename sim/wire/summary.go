package wire

import "fmt"

// Summary is one short line about a packet, for a ladder:
//
//	WRITE_ONLY psn=256 va=0x1000 rkey=0x2b1 len=64 ack-req
//	ACK psn=256 msn=1 credits=unlimited
//	NAK remote access (0x62) psn=256
//	RNR NAK timer=1 (0.01 ms) psn=5
//
// Transports other than RC are named in front. A FIRST packet of a WRITE or
// READ shows the whole message's length, the others their payload's.
func Summary(p *Packet) string {
	op := p.BTH.Opcode
	b := make([]byte, 0, 96)
	switch {
	case op == CongestionNotify:
		return fmt.Sprintf("CNP qp=%d", p.BTH.DestQP)
	case !op.Known():
		return fmt.Sprintf("%s psn=%d len=%d", op, p.BTH.PSN, len(p.Payload))
	case op.Transport() != RC:
		b = append(append(b, op.Transport().String()...), ' ')
	}
	switch {
	case op.HasAETH() && !op.HasPayload() && !op.IsAtomic():
		b = appendAck(b, p)
	default:
		b = fmt.Appendf(b, "%s psn=%d", op.Short(), p.BTH.PSN)
		b = appendExt(b, p)
	}
	if p.BTH.AckReq {
		b = append(b, " ack-req"...)
	}
	if p.BTH.Solicited {
		b = append(b, " solicited"...)
	}
	if p.ECN() == 3 {
		b = append(b, " ecn=ce"...)
	}
	return string(b)
}

func appendAck(b []byte, p *Packet) []byte {
	s := p.AETH.Syndrome
	if s.IsAck() {
		return fmt.Appendf(b, "ACK psn=%d msn=%d credits=%s", p.BTH.PSN, p.AETH.MSN, creditText(s.Value()))
	}
	return fmt.Appendf(b, "%s psn=%d", s, p.BTH.PSN)
}

func appendExt(b []byte, p *Packet) []byte {
	op := p.BTH.Opcode
	if op.HasDETH() {
		b = fmt.Appendf(b, " src-qp=%d qkey=0x%x", p.DETH.SrcQP, p.DETH.QKey)
	}
	if op.HasAETH() {
		b = fmt.Appendf(b, " msn=%d", p.AETH.MSN)
	}
	switch {
	case op.HasRETH():
		b = fmt.Appendf(b, " va=0x%x rkey=0x%x len=%d", p.RETH.VA, p.RETH.RKey, p.RETH.Len)
	case op.HasAtomicETH():
		b = fmt.Appendf(b, " va=0x%x rkey=0x%x", p.AtomicETH.VA, p.AtomicETH.RKey)
		if op&0x1f == opFetchAdd {
			return fmt.Appendf(b, " add=%d", p.AtomicETH.SwapAdd)
		}
		return fmt.Appendf(b, " cmp=%d swap=%d", p.AtomicETH.Compare, p.AtomicETH.SwapAdd)
	case op.HasAtomicAckETH():
		return fmt.Appendf(b, " orig=%d", p.AtomicAckETH.Orig)
	default:
		b = fmt.Appendf(b, " len=%d", len(p.Payload))
	}
	if op.HasImm() {
		b = fmt.Appendf(b, " imm=0x%x", p.ImmDt.Data)
	}
	if op.HasIETH() {
		b = fmt.Appendf(b, " inv=0x%x", p.IETH.RKey)
	}
	return b
}
