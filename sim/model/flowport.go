package model

import "rdmaprep/sim/verbs"

// flowPort is the UDP source port, which spreads flows over equal paths: of a
// connected queue pair made from the address's flow label, or without one from
// both numbers (include/rdma/ib_verbs.h of Linux 6.1, rdma_get_udp_sport), of
// another one from its own number (rxe_qp.c rxe_qp_init_req, hash_32).
func (q *qp) flowPort() uint16 {
	if q.typ == verbs.UD {
		return firstFlowPort + uint16(q.num*0x61c88647>>18)
	}
	label := q.attr.AV.FlowLabel
	if label == 0 {
		v := uint64(q.num) * uint64(q.attr.DestQPN)
		v ^= v >> 20
		v ^= v >> 40
		label = uint32(v)
	}
	return firstFlowPort | uint16(label&0x3fff^label>>14&0x3f)
}

// firstFlowPort is the lowest source port of RoCEv2.
const firstFlowPort = 0xc000
