package verbs

// The values below are those of <infiniband/verbs.h> (rdma-core 44). String
// returns the C name without its prefix: IBV_WC_RNR_RETRY_EXC_ERR prints as
// RNR_RETRY_EXC_ERR.

// QPType is enum ibv_qp_type.
type QPType uint8

// The queue-pair types that scripts may ask for.
const (
	RC QPType = 2
	UC QPType = 3
	UD QPType = 4
)

// QPState is enum ibv_qp_state.
type QPState uint8

// The states of a queue pair.
const (
	RESET QPState = iota
	INIT
	RTR
	RTS
	SQD
	SQE
	ERR
)

// WROpcode is enum ibv_wr_opcode: what a send work request asks for.
type WROpcode uint8

// The operations of a send queue.
const (
	WRRDMAWrite        WROpcode = 0
	WRRDMAWriteWithImm WROpcode = 1
	WRSend             WROpcode = 2
	WRSendWithImm      WROpcode = 3
	WRRDMARead         WROpcode = 4
	WRAtomicCmpAndSwp  WROpcode = 5
	WRAtomicFetchAdd   WROpcode = 6
	WRLocalInv         WROpcode = 7
	WRBindMW           WROpcode = 8
	WRSendWithInv      WROpcode = 9
)

// WCOpcode is enum ibv_wc_opcode: what a completion says was done. It is
// defined only when the status is SUCCESS (ibv_poll_cq(3)).
type WCOpcode uint8

// The operations that a completion names.
const (
	WCSend            WCOpcode = 0
	WCRDMAWrite       WCOpcode = 1
	WCRDMARead        WCOpcode = 2
	WCCompSwap        WCOpcode = 3
	WCFetchAdd        WCOpcode = 4
	WCBindMW          WCOpcode = 5
	WCLocalInv        WCOpcode = 6
	WCRecv            WCOpcode = 128
	WCRecvRDMAWithImm WCOpcode = 129
)

// WCStatus is enum ibv_wc_status.
type WCStatus uint8

// The statuses of a work completion.
const (
	WCSuccess WCStatus = iota
	WCLocLenErr
	WCLocQPOpErr
	WCLocEECOpErr
	WCLocProtErr
	WCWRFlushErr
	WCMWBindErr
	WCBadRespErr
	WCLocAccessErr
	WCRemInvReqErr
	WCRemAccessErr
	WCRemOpErr
	WCRetryExcErr
	WCRNRRetryExcErr
	WCLocRDDViolErr
	WCRemInvRDReqErr
	WCRemAbortErr
	WCInvEECNErr
	WCInvEECStateErr
	WCFatalErr
	WCRespTimeoutErr
	WCGeneralErr
	WCTMErr
	WCTMRndvIncomplete
)

// WCFlags is the wc_flags bit set of a completion.
type WCFlags uint32

// The flags of a completion.
const (
	WCGRH      WCFlags = 1
	WCWithImm  WCFlags = 2
	WCIPCsumOK WCFlags = 4
	WCWithInv  WCFlags = 8
)

// SendFlags is enum ibv_send_flags.
type SendFlags uint32

// The flags of a send work request.
const (
	SendFence     SendFlags = 1
	SendSignaled  SendFlags = 2
	SendSolicited SendFlags = 4
	SendInline    SendFlags = 8
)

// AccessFlags is enum ibv_access_flags. Local read access is always given.
type AccessFlags uint32

// The access rights of a memory region, a memory window or a queue pair.
const (
	AccessLocalWrite      AccessFlags = 1
	AccessRemoteWrite     AccessFlags = 2
	AccessRemoteRead      AccessFlags = 4
	AccessRemoteAtomic    AccessFlags = 8
	AccessMWBind          AccessFlags = 16
	AccessZeroBased       AccessFlags = 32
	AccessOnDemand        AccessFlags = 64
	AccessHugeTLB         AccessFlags = 128
	AccessRelaxedOrdering AccessFlags = 1 << 20
)

// MTU is enum ibv_mtu: 1 is 256 bytes, and each step doubles it up to 4096.
type MTU uint8

// The path MTUs.
const (
	MTU256 MTU = iota + 1
	MTU512
	MTU1024
	MTU2048
	MTU4096
)

// Bytes is the payload that a packet of this MTU carries, 0 for no MTU.
func (m MTU) Bytes() int {
	if m < MTU256 || m > MTU4096 {
		return 0
	}
	return 128 << m
}

// MWType is enum ibv_mw_type.
type MWType uint8

// The types of a memory window; type 2 is 2B (bound to a queue pair).
const (
	MWType1 MWType = 1
	MWType2 MWType = 2
)

// PortState is enum ibv_port_state.
type PortState uint8

// The states of a port that RoCE uses.
const (
	PortDown   PortState = 1
	PortActive PortState = 4
)

// EventType is enum ibv_event_type: an asynchronous event.
type EventType uint8

// The asynchronous events.
const (
	EventCQErr EventType = iota
	EventQPFatal
	EventQPReqErr
	EventQPAccessErr
	EventCommEst
	EventSQDrained
	EventPathMig
	EventPathMigErr
	EventDeviceFatal
	EventPortActive
	EventPortErr
	EventLIDChange
	EventPKeyChange
	EventSMChange
	EventSRQErr
	EventSRQLimitReached
	EventQPLastWQEReached
	EventClientReregister
	EventGIDChange
	EventWQFatal
)

// QPAttrMask is enum ibv_qp_attr_mask: which attributes a modify sets.
type QPAttrMask uint32

// The attributes of a queue pair.
const (
	MaskState            QPAttrMask = 1 << 0
	MaskCurState         QPAttrMask = 1 << 1
	MaskEnSQDAsyncNotify QPAttrMask = 1 << 2
	MaskAccessFlags      QPAttrMask = 1 << 3
	MaskPKeyIndex        QPAttrMask = 1 << 4
	MaskPort             QPAttrMask = 1 << 5
	MaskQKey             QPAttrMask = 1 << 6
	MaskAV               QPAttrMask = 1 << 7
	MaskPathMTU          QPAttrMask = 1 << 8
	MaskTimeout          QPAttrMask = 1 << 9
	MaskRetryCnt         QPAttrMask = 1 << 10
	MaskRNRRetry         QPAttrMask = 1 << 11
	MaskRQPSN            QPAttrMask = 1 << 12
	MaskMaxQPRDAtomic    QPAttrMask = 1 << 13
	MaskAltPath          QPAttrMask = 1 << 14
	MaskMinRNRTimer      QPAttrMask = 1 << 15
	MaskSQPSN            QPAttrMask = 1 << 16
	MaskMaxDestRDAtomic  QPAttrMask = 1 << 17
	MaskPathMigState     QPAttrMask = 1 << 18
	MaskCap              QPAttrMask = 1 << 19
	MaskDestQPN          QPAttrMask = 1 << 20
	MaskRateLimit        QPAttrMask = 1 << 25
)

// SRQAttrMask is enum ibv_srq_attr_mask.
type SRQAttrMask uint32

// The attributes of a shared receive queue.
const (
	MaskSRQMaxWR SRQAttrMask = 1
	MaskSRQLimit SRQAttrMask = 2
)

// ReregFlags is enum ibv_rereg_mr_flags: what ReregMR changes.
type ReregFlags uint8

// The changes of ReregMR.
const (
	ReregTranslation ReregFlags = 1 << iota
	ReregPD
	ReregAccess
)
