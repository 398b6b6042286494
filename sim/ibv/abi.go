//go:build linux && (amd64 || arm64) && !noibv

package ibv

import "unsafe"

// The structs below have the layout of <infiniband/verbs.h> (rdma-core 44) on a
// 64-bit Linux; a test compares each with what the C compiler says. A pointer
// of C is a uintptr here: it never points into the Go heap. Of objects that the
// library makes, only the fields before the first lock are mirrored.

type cContext struct {
	device   uintptr
	ops      [32]uintptr
	cmdFD    int32
	asyncFD  int32
	vectors  int32
	_        int32
	mutex    [mutexSize]byte
	abiCompt uint64
}

// Places in cContext.ops of the calls that the header makes inline.
const (
	opAllocMW     = 7
	opBindMW      = 8
	opDeallocMW   = 9
	opPollCQ      = 11
	opReqNotify   = 12
	opPostSRQRecv = 20
	opPostSend    = 25
	opPostRecv    = 26
)

// struct verbs_context ends with the struct ibv_context that programs see.
const (
	vctxContext   = 320 // of the context in struct verbs_context
	vctxQueryPort = 0
	vctxSize      = 312 // of sz
	abiExtended   = ^uint64(0)
)

// struct ibv_device.
const (
	devName    = 24
	devUverbs  = 88
	sysNameMax = 64
)

type cMR struct {
	context, pd, addr, length uintptr
	handle, lkey, rkey        uint32
}

type cMW struct {
	context, pd        uintptr
	rkey, handle, kind uint32
}

type cChannel struct {
	context    uintptr
	fd, refcnt int32
}

type cCQ struct {
	context, channel, cqContext uintptr
	handle                      uint32
	cqe                         int32
}

type cQP struct {
	context, qpContext, pd, sendCQ, recvCQ, srq uintptr
	handle, num, state, kind                    uint32
}

type cSGE struct {
	addr         uint64
	length, lkey uint32
}

// cSendWR is struct ibv_send_wr; union holds wr.rdma, wr.atomic or wr.ud.
type cSendWR struct {
	id         uint64
	next       uintptr
	sgList     uintptr
	numSGE     int32
	opcode     uint32
	flags      uint32
	immOrKey   uint32 // imm_data is big endian, invalidate_rkey is not
	union      [4]uint64
	xrc        uint64
	mw         uintptr
	bindRKey   uint32
	_          uint32
	mr         uintptr
	bindAddr   uint64
	bindLength uint64
	bindAccess uint32
	_          uint32
}

type cRecvWR struct {
	id     uint64
	next   uintptr
	sgList uintptr
	numSGE int32
	_      int32
}

type cWC struct {
	id                                 uint64
	status, opcode, vendorErr, byteLen uint32
	immOrKey, qpNum, srcQP, flags      uint32
	pkeyIndex, slid                    uint16
	sl, dlidPathBits                   uint8
	_                                  [2]byte
}

type cAHAttr struct {
	dgid         [16]byte
	flowLabel    uint32
	sgidIndex    uint8
	hopLimit     uint8
	trafficClass uint8
	_            uint8
	dlid         uint16
	sl           uint8
	srcPathBits  uint8
	staticRate   uint8
	isGlobal     uint8
	port         uint8
	_            uint8
}

type cQPCap struct {
	maxSendWR, maxRecvWR, maxSendSGE, maxRecvSGE, maxInline uint32
}

type cQPInitAttr struct {
	qpContext, sendCQ, recvCQ, srq uintptr
	cap                            cQPCap
	kind                           uint32
	sqSigAll                       int32
	_                              int32
}

type cQPAttr struct {
	state, curState, pathMTU, migState      uint32
	qkey, rqPSN, sqPSN, destQPN, access     uint32
	cap                                     cQPCap
	av, altAV                               cAHAttr
	pkeyIndex, altPKeyIndex                 uint16
	enSQDAsyncNotify, sqDraining            uint8
	maxRDAtomic, maxDestRDAtomic            uint8
	minRNRTimer, port, timeout              uint8
	retryCnt, rnrRetry, altPort, altTimeout uint8
	_                                       uint8
	rateLimit                               uint32
	_                                       uint32
}

type cPortAttr struct {
	state, maxMTU, activeMTU uint32
	gidTableLen              int32
	capFlags, maxMsgSize     uint32
	badPKey, qkeyViol        uint32
	pkeyTableLen, lid, smLID uint16
	lmc, maxVL, smSL         uint8
	subnetTimeout, initReply uint8
	width, speed, phys       uint8
	linkLayer, flags         uint8
	capFlags2                uint16
	_                        uint16
}

type cDeviceAttr struct {
	fwVer                             [64]byte
	nodeGUID, sysImageGUID            uint64
	maxMRSize, pageSizeCap            uint64
	vendorID, vendorPart, hwVer       uint32
	maxQP, maxQPWR                    int32
	capFlags                          uint32
	maxSGE, maxSGERD, maxCQ, maxCQE   int32
	maxMR, maxPD                      int32
	maxQPRDAtom, maxEERDAtom          int32
	maxResRDAtom, maxQPInitRDAtom     int32
	maxEEInitRDAtom                   int32
	atomicCap                         uint32
	maxEE, maxRDD, maxMW              int32
	maxRawIPv6, maxRawEthy            int32
	maxMcastGrp, maxMcastQP, maxMcast int32
	maxAH, maxFMR, maxMapPerFMR       int32
	maxSRQ, maxSRQWR, maxSRQSGE       int32
	maxPKeys                          uint16
	localCAAckDelay, physPortCount    uint8
	_                                 uint32
}

type cSRQAttr struct{ maxWR, maxSGE, limit uint32 }

type cSRQInitAttr struct {
	srqContext uintptr
	attr       cSRQAttr
	_          uint32
}

type cMWBind struct {
	id     uint64
	flags  uint32
	_      uint32
	mr     uintptr
	addr   uint64
	length uint64
	access uint32
	_      uint32
}

type cAsyncEvent struct {
	element uintptr
	kind    uint32
	_       uint32
}

type cGIDEntry struct {
	gid     [16]byte
	index   uint32
	port    uint32
	kind    uint32
	ifIndex uint32
}

// Bits and values of the header that sim/verbs has no name for.
const (
	capMemWindow   = 1 << 17
	capMemWindow2B = 1 << 24
	atomicHCA      = 1
	gidRoCEv2      = 2
	optionalAccess = 0x3ff00000 // IBV_ACCESS_OPTIONAL_RANGE
)

// at is C memory at an address. Going through the variable's own address says
// what vet cannot know: that the number is an address outside the Go heap.
func at[T any](addr uintptr) *T {
	return (*T)(*(*unsafe.Pointer)(unsafe.Pointer(&addr)))
}
