package model

import (
	"maps"

	"rdmaprep/sim/verbs"
)

// counter is one of a node's hardware counters.
type counter uint8

const (
	cntSentPackets counter = iota
	cntReceivedPackets
	cntDuplicate
	cntOutOfSequence
	cntSentNAKSequence
	cntPacketSeqErr
	cntImpliedNAK
	cntLocalAckTimeout
	cntRetryExceeded
	cntRNRNakReceived
	cntRNRExceeded
	cntOutOfBuffer
	cntSentRNR
	cntRetry
	cntReqRemoteAccess
	cntReqRemoteInvalid
	cntReqRemoteOp
	cntQKeyViolation
	cntRespRemoteAccess
	cntReqCQEError
	cntReqCQEFlush
	cntRespCQEError
	cntRespCQEFlush
	cntRespLocalLength
	cntSends
	cntRecvs
	cntBadICRC
	cntLinkDowned
	cntWriteRequests
	cntReadRequests
	cntAtomicRequests
	cntNever // what rxe counts and the model cannot have
	numCounters
)

type counters [numCounters]uint64

func (c *counters) add(k counter) { c[k]++ }

// completion counts what a completion says.
func (c *counters) completion(fx *effect) {
	failed, flushed := cntRespCQEError, cntRespCQEFlush
	if fx.send {
		failed, flushed = cntReqCQEError, cntReqCQEFlush
	}
	switch fx.wc.Status {
	case verbs.WCSuccess:
		if !fx.send {
			c.add(cntRecvs)
		}
		return
	case verbs.WCWRFlushErr:
		c.add(flushed)
	case verbs.WCLocLenErr:
		if !fx.send {
			c.add(cntRespLocalLength)
		}
	}
	c.add(failed)
}

// The names of mlx5 (Documentation: "Understanding mlx5 ethtool and RDMA
// counters") under spec.
var specCounters = map[string]counter{
	"resp_remote_access_errors":      cntRespRemoteAccess,
	"resp_local_length_error":        cntRespLocalLength,
	"req_cqe_error":                  cntReqCQEError,
	"req_cqe_flush_error":            cntReqCQEFlush,
	"resp_cqe_error":                 cntRespCQEError,
	"resp_cqe_flush_error":           cntRespCQEFlush,
	"duplicate_request":              cntDuplicate,
	"out_of_sequence":                cntOutOfSequence,
	"packet_seq_err":                 cntPacketSeqErr,
	"implied_nak_seq_err":            cntImpliedNAK,
	"local_ack_timeout_err":          cntLocalAckTimeout,
	"req_transport_retries_exceeded": cntRetryExceeded,
	"rnr_nak_retry_err":              cntRNRNakReceived,
	"req_rnr_retries_exceeded":       cntRNRExceeded,
	"out_of_buffer":                  cntOutOfBuffer,
	"req_remote_access_errors":       cntReqRemoteAccess,
	"req_remote_invalid_request":     cntReqRemoteInvalid,
	"qp_qkey_violations":             cntQKeyViolation,
	"rx_icrc_encapsulated":           cntBadICRC,
	"rx_write_requests":              cntWriteRequests,
	"rx_read_requests":               cntReadRequests,
	"rx_atomic_requests":             cntAtomicRequests,
}

// The names of rxe_hw_counters.c under rxe-6.1.
var rxeCounters = map[string]counter{
	"rdma_sends":             cntSends,
	"rdma_recvs":             cntRecvs,
	"sent_pkts":              cntSentPackets,
	"rcvd_pkts":              cntReceivedPackets,
	"duplicate_request":      cntDuplicate,
	"out_of_seq_request":     cntSentNAKSequence,
	"rcvd_rnr_err":           cntRNRNakReceived,
	"rcvd_seq_err":           cntPacketSeqErr,
	"retry_exceeded_err":     cntRetryExceeded,
	"retry_rnr_exceeded_err": cntRNRExceeded,
	"send_rnr_err":           cntSentRNR,
	"completer_retry_err":    cntRetry,
	"link_downed":            cntLinkDowned,
	"ack_deferred":           cntNever,
	"send_err":               cntNever,
}

// Counters gives the device's counters by the names of its profile.
func (n *node) Counters() (map[string]uint64, error) {
	if err := n.open("counters"); err != nil {
		return nil, err
	}
	names := specCounters
	if n.prof.CapacityLessOne {
		names = rxeCounters
	}
	out := make(map[string]uint64, len(names))
	for name, k := range maps.All(names) {
		out[name] = n.counters[k]
	}
	return out, nil
}
