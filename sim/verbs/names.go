package verbs

import (
	"fmt"
	"strings"
)

// named is one constant of a C enum.
type named[T ~uint8 | ~uint32] struct {
	value T
	name  string
}

var qpTypes = []named[QPType]{{RC, "RC"}, {UC, "UC"}, {UD, "UD"}}

var qpStates = []named[QPState]{
	{RESET, "RESET"}, {INIT, "INIT"}, {RTR, "RTR"}, {RTS, "RTS"}, {SQD, "SQD"}, {SQE, "SQE"}, {ERR, "ERR"},
}

var wrOpcodes = []named[WROpcode]{
	{WRRDMAWrite, "RDMA_WRITE"},
	{WRRDMAWriteWithImm, "RDMA_WRITE_WITH_IMM"},
	{WRSend, "SEND"},
	{WRSendWithImm, "SEND_WITH_IMM"},
	{WRRDMARead, "RDMA_READ"},
	{WRAtomicCmpAndSwp, "ATOMIC_CMP_AND_SWP"},
	{WRAtomicFetchAdd, "ATOMIC_FETCH_AND_ADD"},
	{WRLocalInv, "LOCAL_INV"},
	{WRBindMW, "BIND_MW"},
	{WRSendWithInv, "SEND_WITH_INV"},
}

var wcOpcodes = []named[WCOpcode]{
	{WCSend, "SEND"},
	{WCRDMAWrite, "RDMA_WRITE"},
	{WCRDMARead, "RDMA_READ"},
	{WCCompSwap, "COMP_SWAP"},
	{WCFetchAdd, "FETCH_ADD"},
	{WCBindMW, "BIND_MW"},
	{WCLocalInv, "LOCAL_INV"},
	{WCRecv, "RECV"},
	{WCRecvRDMAWithImm, "RECV_RDMA_WITH_IMM"},
}

var wcStatuses = []named[WCStatus]{
	{WCSuccess, "SUCCESS"},
	{WCLocLenErr, "LOC_LEN_ERR"},
	{WCLocQPOpErr, "LOC_QP_OP_ERR"},
	{WCLocEECOpErr, "LOC_EEC_OP_ERR"},
	{WCLocProtErr, "LOC_PROT_ERR"},
	{WCWRFlushErr, "WR_FLUSH_ERR"},
	{WCMWBindErr, "MW_BIND_ERR"},
	{WCBadRespErr, "BAD_RESP_ERR"},
	{WCLocAccessErr, "LOC_ACCESS_ERR"},
	{WCRemInvReqErr, "REM_INV_REQ_ERR"},
	{WCRemAccessErr, "REM_ACCESS_ERR"},
	{WCRemOpErr, "REM_OP_ERR"},
	{WCRetryExcErr, "RETRY_EXC_ERR"},
	{WCRNRRetryExcErr, "RNR_RETRY_EXC_ERR"},
	{WCLocRDDViolErr, "LOC_RDD_VIOL_ERR"},
	{WCRemInvRDReqErr, "REM_INV_RD_REQ_ERR"},
	{WCRemAbortErr, "REM_ABORT_ERR"},
	{WCInvEECNErr, "INV_EECN_ERR"},
	{WCInvEECStateErr, "INV_EEC_STATE_ERR"},
	{WCFatalErr, "FATAL_ERR"},
	{WCRespTimeoutErr, "RESP_TIMEOUT_ERR"},
	{WCGeneralErr, "GENERAL_ERR"},
	{WCTMErr, "TM_ERR"},
	{WCTMRndvIncomplete, "TM_RNDV_INCOMPLETE"},
}

var wcFlags = []named[WCFlags]{{WCGRH, "GRH"}, {WCWithImm, "WITH_IMM"}, {WCIPCsumOK, "IP_CSUM_OK"}, {WCWithInv, "WITH_INV"}}

var sendFlags = []named[SendFlags]{
	{SendFence, "FENCE"}, {SendSignaled, "SIGNALED"}, {SendSolicited, "SOLICITED"}, {SendInline, "INLINE"},
}

var accessFlags = []named[AccessFlags]{
	{AccessLocalWrite, "LOCAL_WRITE"},
	{AccessRemoteWrite, "REMOTE_WRITE"},
	{AccessRemoteRead, "REMOTE_READ"},
	{AccessRemoteAtomic, "REMOTE_ATOMIC"},
	{AccessMWBind, "MW_BIND"},
	{AccessZeroBased, "ZERO_BASED"},
	{AccessOnDemand, "ON_DEMAND"},
	{AccessHugeTLB, "HUGETLB"},
	{AccessRelaxedOrdering, "RELAXED_ORDERING"},
}

var eventTypes = []named[EventType]{
	{EventCQErr, "CQ_ERR"},
	{EventQPFatal, "QP_FATAL"},
	{EventQPReqErr, "QP_REQ_ERR"},
	{EventQPAccessErr, "QP_ACCESS_ERR"},
	{EventCommEst, "COMM_EST"},
	{EventSQDrained, "SQ_DRAINED"},
	{EventPathMig, "PATH_MIG"},
	{EventPathMigErr, "PATH_MIG_ERR"},
	{EventDeviceFatal, "DEVICE_FATAL"},
	{EventPortActive, "PORT_ACTIVE"},
	{EventPortErr, "PORT_ERR"},
	{EventLIDChange, "LID_CHANGE"},
	{EventPKeyChange, "PKEY_CHANGE"},
	{EventSMChange, "SM_CHANGE"},
	{EventSRQErr, "SRQ_ERR"},
	{EventSRQLimitReached, "SRQ_LIMIT_REACHED"},
	{EventQPLastWQEReached, "QP_LAST_WQE_REACHED"},
	{EventClientReregister, "CLIENT_REREGISTER"},
	{EventGIDChange, "GID_CHANGE"},
	{EventWQFatal, "WQ_FATAL"},
}

var qpAttrMasks = []named[QPAttrMask]{
	{MaskState, "STATE"},
	{MaskCurState, "CUR_STATE"},
	{MaskEnSQDAsyncNotify, "EN_SQD_ASYNC_NOTIFY"},
	{MaskAccessFlags, "ACCESS_FLAGS"},
	{MaskPKeyIndex, "PKEY_INDEX"},
	{MaskPort, "PORT"},
	{MaskQKey, "QKEY"},
	{MaskAV, "AV"},
	{MaskPathMTU, "PATH_MTU"},
	{MaskTimeout, "TIMEOUT"},
	{MaskRetryCnt, "RETRY_CNT"},
	{MaskRNRRetry, "RNR_RETRY"},
	{MaskRQPSN, "RQ_PSN"},
	{MaskMaxQPRDAtomic, "MAX_QP_RD_ATOMIC"},
	{MaskAltPath, "ALT_PATH"},
	{MaskMinRNRTimer, "MIN_RNR_TIMER"},
	{MaskSQPSN, "SQ_PSN"},
	{MaskMaxDestRDAtomic, "MAX_DEST_RD_ATOMIC"},
	{MaskPathMigState, "PATH_MIG_STATE"},
	{MaskCap, "CAP"},
	{MaskDestQPN, "DEST_QPN"},
	{MaskRateLimit, "RATE_LIMIT"},
}

func nameOf[T ~uint8 | ~uint32](table []named[T], v T) string {
	for _, n := range table {
		if n.value == v {
			return n.name
		}
	}
	return fmt.Sprintf("%d", v)
}

// flagsOf joins the names of the set bits with "|"; no bit prints as 0.
func flagsOf[T ~uint32](table []named[T], v T) string {
	if v == 0 {
		return "0"
	}
	var parts []string
	for _, n := range table {
		if v&n.value != 0 {
			parts = append(parts, n.name)
			v &^= n.value
		}
	}
	if v != 0 {
		parts = append(parts, fmt.Sprintf("%#x", uint32(v)))
	}
	return strings.Join(parts, "|")
}

func (v QPType) String() string      { return nameOf(qpTypes, v) }
func (v QPState) String() string     { return nameOf(qpStates, v) }
func (v WROpcode) String() string    { return nameOf(wrOpcodes, v) }
func (v WCOpcode) String() string    { return nameOf(wcOpcodes, v) }
func (v WCStatus) String() string    { return nameOf(wcStatuses, v) }
func (v EventType) String() string   { return nameOf(eventTypes, v) }
func (v WCFlags) String() string     { return flagsOf(wcFlags, v) }
func (v SendFlags) String() string   { return flagsOf(sendFlags, v) }
func (v AccessFlags) String() string { return flagsOf(accessFlags, v) }
func (v QPAttrMask) String() string  { return flagsOf(qpAttrMasks, v) }

// String is the MTU in bytes, as a learner reads it.
func (m MTU) String() string { return fmt.Sprintf("%d", m.Bytes()) }

// namesIn lists the names of a table in the order of their values.
func namesIn[T ~uint8 | ~uint32](table []named[T]) []string {
	names := make([]string, len(table))
	for i, n := range table {
		names[i] = n.name
	}
	return names
}

// parse finds a constant by name. The C prefix may be given or left out, case
// does not count.
func parse[T ~uint8 | ~uint32](table []named[T], s string, prefixes ...string) (T, bool) {
	name := strings.ToUpper(s)
	for _, p := range prefixes {
		name = strings.TrimPrefix(name, p)
	}
	for _, n := range table {
		if n.name == name {
			return n.value, true
		}
	}
	return 0, false
}

// parseFlags reads names joined by "|"; "0" is no flag.
func parseFlags[T ~uint32](table []named[T], s, prefix string) (T, bool) {
	if s == "0" {
		return 0, true
	}
	var all T
	for _, part := range strings.Split(s, "|") {
		v, ok := parse(table, strings.TrimSpace(part), prefix)
		if !ok {
			return 0, false
		}
		all |= v
	}
	return all, true
}

// ParseQPType reads RC or IBV_QPT_RC.
func ParseQPType(s string) (QPType, bool) { return parse(qpTypes, s, "IBV_QPT_") }

// ParseQPState reads RTS or IBV_QPS_RTS.
func ParseQPState(s string) (QPState, bool) { return parse(qpStates, s, "IBV_QPS_") }

// ParseWROpcode reads RDMA_WRITE or IBV_WR_RDMA_WRITE, and the short forms
// WRITE, WRITE_WITH_IMM, READ, CMP_AND_SWP and FETCH_AND_ADD.
func ParseWROpcode(s string) (WROpcode, bool) {
	name := strings.TrimPrefix(strings.ToUpper(s), "IBV_WR_")
	for _, prefix := range []string{"", "RDMA_", "ATOMIC_"} {
		if v, ok := parse(wrOpcodes, prefix+name); ok {
			return v, true
		}
	}
	return 0, false
}

// ParseWCOpcode reads RECV or IBV_WC_RECV.
func ParseWCOpcode(s string) (WCOpcode, bool) { return parse(wcOpcodes, s, "IBV_WC_") }

// ParseWCStatus reads WR_FLUSH_ERR or IBV_WC_WR_FLUSH_ERR.
func ParseWCStatus(s string) (WCStatus, bool) { return parse(wcStatuses, s, "IBV_WC_") }

// ParseEventType reads CQ_ERR or IBV_EVENT_CQ_ERR.
func ParseEventType(s string) (EventType, bool) { return parse(eventTypes, s, "IBV_EVENT_") }

// ParseWCFlags reads flag names joined by "|".
func ParseWCFlags(s string) (WCFlags, bool) { return parseFlags(wcFlags, s, "IBV_WC_") }

// ParseSendFlags reads flag names joined by "|".
func ParseSendFlags(s string) (SendFlags, bool) { return parseFlags(sendFlags, s, "IBV_SEND_") }

// ParseAccessFlags reads flag names joined by "|".
func ParseAccessFlags(s string) (AccessFlags, bool) { return parseFlags(accessFlags, s, "IBV_ACCESS_") }

// ParseQPAttrMask reads attribute names joined by "|".
func ParseQPAttrMask(s string) (QPAttrMask, bool) { return parseFlags(qpAttrMasks, s, "IBV_QP_") }

// ParseMTU reads the bytes (1024) or the constant (IBV_MTU_1024).
func ParseMTU(s string) (MTU, bool) {
	s = strings.TrimPrefix(strings.ToUpper(s), "IBV_MTU_")
	for m := MTU256; m <= MTU4096; m++ {
		if s == m.String() {
			return m, true
		}
	}
	return 0, false
}

// WCStatusNames lists every completion status in the order of its value.
func WCStatusNames() []string { return namesIn(wcStatuses) }

// QPStateNames lists every queue-pair state in the order of its value.
func QPStateNames() []string { return namesIn(qpStates) }

// WROpcodeNames lists every send operation in the order of its value.
func WROpcodeNames() []string { return namesIn(wrOpcodes) }

// WCOpcodeNames lists every completion opcode in the order of its value.
func WCOpcodeNames() []string { return namesIn(wcOpcodes) }

// EventTypeNames lists every asynchronous event in the order of its value.
func EventTypeNames() []string { return namesIn(eventTypes) }

// AccessFlagNames lists every access flag in the order of its value.
func AccessFlagNames() []string { return namesIn(accessFlags) }

// QPAttrMaskNames lists every queue-pair attribute in the order of its bit.
func QPAttrMaskNames() []string { return namesIn(qpAttrMasks) }
