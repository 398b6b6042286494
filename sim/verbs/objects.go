package verbs

// Handles are small values that a device gives out; they mean nothing to
// another device, and 0 is never given out.
type (
	// PD is a protection domain.
	PD uint32
	// MR is a memory region.
	MR uint32
	// MW is a memory window.
	MW uint32
	// CQ is a completion queue.
	CQ uint32
	// Channel is a completion channel.
	Channel uint32
	// SRQ is a shared receive queue.
	SRQ uint32
	// AH is an address handle.
	AH uint32
	// QP is a queue pair (its handle; the number on the wire is QPInfo.Num).
	QP uint32
)

// GID is the 128-bit address of a port; on RoCE an IPv4 address is mapped
// into ::ffff:a.b.c.d.
type GID [16]byte

// DeviceAttr is what ibv_query_device tells of limits (units: objects, entries
// or bytes, as in struct ibv_device_attr).
type DeviceAttr struct {
	MaxQP, MaxQPWR, MaxSGE         int
	MaxCQ, MaxCQE                  int
	MaxMR, MaxMW, MaxPD, MaxAH     int
	MaxQPRDAtom, MaxQPInitRDAtom   int
	MaxResRDAtom                   int
	MaxSRQ, MaxSRQWR, MaxSRQSGE    int
	MaxInline                      int // bytes; learned from create_qp, not from ibv_query_device
	AtomicHCA                      bool
	MemWindowType1, MemWindow2B    bool
	MaxPKeys                       int
	LocalCAAckDelay, PhysPortCount uint8
}

// PortAttr is what ibv_query_port tells.
type PortAttr struct {
	State             PortState
	MaxMTU, ActiveMTU MTU
	GIDTableLen       int
	MaxMsgSize        uint32 // bytes
	PKeyTableLen      int
}

// MRInfo is a registered region. Addr is the address that remote peers and
// SGEs use: the virtual address, or 0 where the region is zero based.
type MRInfo struct {
	MR         MR
	Addr       uint64
	Length     uint64 // bytes
	LKey, RKey uint32
}

// MWInfo is an allocated memory window.
type MWInfo struct {
	MW   MW
	Type MWType
	RKey uint32
}

// MWBind is struct ibv_mw_bind_info.
type MWBind struct {
	MR     MR
	Addr   uint64
	Length uint64 // bytes; 0 unbinds a type 1 window
	Access AccessFlags
}

// CQInfo is a created completion queue; CQE is its real capacity, which may
// be more than was asked.
type CQInfo struct {
	CQ  CQ
	CQE int
}

// SRQAttr is struct ibv_srq_attr.
type SRQAttr struct {
	MaxWR, MaxSGE int
	Limit         int // receive requests; 0 is not armed
}

// SRQInfo is a created shared receive queue with its real capacity.
type SRQInfo struct {
	SRQ  SRQ
	Attr SRQAttr
}

// QPCap is struct ibv_qp_cap.
type QPCap struct {
	MaxSendWR, MaxRecvWR   int
	MaxSendSGE, MaxRecvSGE int
	MaxInline              int // bytes
}

// QPInitAttr is struct ibv_qp_init_attr.
type QPInitAttr struct {
	Type           QPType
	SendCQ, RecvCQ CQ
	SRQ            SRQ // 0 for none
	Cap            QPCap
	SQSigAll       bool
}

// QPInfo is a created queue pair with its real capacities.
type QPInfo struct {
	QP  QP
	Num uint32 // 24 bits, on the wire
	Cap QPCap
}

// AHAttr is the part of struct ibv_ah_attr that RoCE uses. A RoCE address
// always has a GRH (is_global = 1).
type AHAttr struct {
	DGID         GID
	SGIDIndex    int
	FlowLabel    uint32
	HopLimit     uint8
	TrafficClass uint8
	Port         uint8
	NoGRH        bool // is_global = 0: an error on RoCE
}

// QPAttr is struct ibv_qp_attr.
type QPAttr struct {
	State, CurState   QPState
	PathMTU           MTU
	QKey              uint32
	RQPSN, SQPSN      uint32 // 24 bits
	DestQPN           uint32 // 24 bits
	Access            AccessFlags
	Cap               QPCap
	AV                AHAttr
	PKeyIndex         uint16
	EnSQDAsyncNotify  bool
	SQDraining        bool
	MaxRDAtomic       uint8 // READs and atomics outstanding as requester
	MaxDestRDAtomic   uint8 // the same as responder
	MinRNRTimer       uint8 // a code of 5 bits, see the RNR timer table
	Port              uint8
	Timeout           uint8 // a code of 5 bits: 4.096 us << Timeout, 0 waits for ever
	RetryCnt          uint8 // 3 bits
	RNRRetry          uint8 // 3 bits, 7 retries for ever
	AltPort, AltPKeyI uint8
}

// SGE is a scatter-gather element: Length bytes at Addr under LKey.
type SGE struct {
	Addr   uint64
	Length uint32
	LKey   uint32
}

// SendWR is struct ibv_send_wr. Which fields count depends on the opcode and
// on the queue pair's type.
type SendWR struct {
	ID       uint64
	Opcode   WROpcode
	Flags    SendFlags
	SGL      []SGE
	Imm      uint32 // WITH_IMM: host order here, big endian on the wire
	InvRKey  uint32 // LOCAL_INV and SEND_WITH_INV
	RemoteVA uint64 // RDMA and atomics
	RKey     uint32 // RDMA and atomics
	// Atomics: CompareAdd is the value compared with, or the one added.
	CompareAdd, Swap uint64
	// UD.
	AH         AH
	RemoteQPN  uint32
	RemoteQKey uint32
	// BIND_MW.
	MW       MW
	BindRKey uint32 // the window's new key
	Bind     MWBind
}

// RecvWR is struct ibv_recv_wr.
type RecvWR struct {
	ID  uint64
	SGL []SGE
}

// WC is struct ibv_wc. If Status is not SUCCESS only ID, Status, QPNum and
// VendorErr are defined (ibv_poll_cq(3)).
type WC struct {
	ID          uint64
	Status      WCStatus
	Opcode      WCOpcode
	VendorErr   uint32
	ByteLen     uint32
	Imm         uint32 // host order, valid with WITH_IMM
	InvalidRKey uint32 // valid with WITH_INV
	QPNum       uint32
	SrcQP       uint32 // UD
	Flags       WCFlags
}

// AsyncEvent is struct ibv_async_event; of the handles, the one of the event's
// kind is set.
type AsyncEvent struct {
	Type EventType
	QP   QP
	CQ   CQ
	SRQ  SRQ
	Port uint8
}
