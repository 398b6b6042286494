package verbs

import (
	"fmt"
	"syscall"
)

// Device is one device context, in the shape of libibverbs. It has no time in
// it and no call blocks. A call that libibverbs would refuse returns an *Error
// with the errno that libibverbs returns. A Device is for one goroutine.
type Device interface {
	// Name is the device's name, such as "rxe0" or "model".
	Name() string

	QueryDevice() (DeviceAttr, error)
	QueryPort(port uint8) (PortAttr, error)
	QueryGID(port uint8, index int) (GID, error)

	// Alloc gives length bytes of zeroed memory of the application, outside
	// every region; Load and Store are the CPU's own access to it.
	Alloc(length int) (addr uint64, err error)
	Free(addr uint64) error
	Load(addr uint64, dst []byte) error
	Store(addr uint64, src []byte) error

	AllocPD() (PD, error)
	DeallocPD(PD) error
	RegMR(pd PD, addr, length uint64, access AccessFlags) (MRInfo, error)
	// ReregMR changes what change names of a region and leaves its keys
	// (ibv_rereg_mr(3)); if it is refused the region is as before.
	ReregMR(mr MR, change ReregFlags, pd PD, addr, length uint64, access AccessFlags) (MRInfo, error)
	DeregMR(MR) error
	AllocMW(pd PD, t MWType) (MWInfo, error)
	DeallocMW(MW) error
	// BindMW binds a type 1 window (ibv_bind_mw): it posts, and returns the
	// window's new rkey; a completion follows if flags has SIGNALED.
	BindMW(qp QP, mw MW, id uint64, flags SendFlags, bind MWBind) (rkey uint32, err error)

	CreateChannel() (Channel, error)
	DestroyChannel(Channel) error
	// CreateCQ makes a queue of at least cqe entries; ch 0 is no channel.
	CreateCQ(cqe int, ch Channel) (CQInfo, error)
	ResizeCQ(cq CQ, cqe int) (CQInfo, error)
	DestroyCQ(CQ) error
	ReqNotifyCQ(cq CQ, solicitedOnly bool) error
	// GetCQEvent takes the oldest event of the channel, false if there is none.
	GetCQEvent(Channel) (CQ, bool, error)
	AckCQEvents(cq CQ, n int) error
	// PollCQ fills wc with the oldest completions and returns how many.
	PollCQ(cq CQ, wc []WC) (int, error)

	CreateSRQ(pd PD, attr SRQAttr) (SRQInfo, error)
	ModifySRQ(srq SRQ, attr SRQAttr, mask SRQAttrMask) error
	QuerySRQ(SRQ) (SRQAttr, error)
	DestroySRQ(SRQ) error
	// PostSRQRecv returns how many were posted; with an error that is the
	// index of bad_wr.
	PostSRQRecv(srq SRQ, wrs []RecvWR) (posted int, err error)

	CreateAH(pd PD, attr AHAttr) (AH, error)
	DestroyAH(AH) error

	CreateQP(pd PD, init QPInitAttr) (QPInfo, error)
	QueryQP(QP) (QPAttr, error)
	// ModifyQP sets the attributes of mask, or none of them if it fails.
	ModifyQP(qp QP, attr QPAttr, mask QPAttrMask) error
	DestroyQP(QP) error
	// PostSend and PostRecv return how many were posted; with an error that is
	// the index of bad_wr, and those before it are posted.
	PostSend(qp QP, wrs []SendWR) (posted int, err error)
	PostRecv(qp QP, wrs []RecvWR) (posted int, err error)

	// GetAsyncEvent takes the oldest asynchronous event, false if none.
	GetAsyncEvent() (AsyncEvent, bool, error)
	AckAsyncEvent(AsyncEvent) error

	// Counters are the device's hardware counters by name, counted from the
	// moment that the device was opened.
	Counters() (map[string]uint64, error)
	// Close releases everything that is left.
	Close() error
}

// Error is a call that the device refused.
type Error struct {
	Op    string        // the libibverbs call without its prefix, such as "modify_qp"
	Errno syscall.Errno // what libibverbs returns
	Why   string        // the reason, for a person
}

func (e *Error) Error() string {
	if e.Why == "" {
		return fmt.Sprintf("ibv_%s: %s", e.Op, ErrnoName(e.Errno))
	}
	return fmt.Sprintf("ibv_%s: %s: %s", e.Op, ErrnoName(e.Errno), e.Why)
}

// Unwrap gives the errno, so that errors.Is(err, syscall.EINVAL) works.
func (e *Error) Unwrap() error { return e.Errno }

// errnos are the numbers of Linux, whatever system this runs on.
var errnos = []struct {
	errno syscall.Errno
	name  string
}{
	{1, "EPERM"},
	{2, "ENOENT"},
	{5, "EIO"},
	{11, "EAGAIN"},
	{12, "ENOMEM"},
	{13, "EACCES"},
	{14, "EFAULT"},
	{16, "EBUSY"},
	{19, "ENODEV"},
	{22, "EINVAL"},
	{61, "ENODATA"},
	{75, "EOVERFLOW"},
	{95, "EOPNOTSUPP"},
	{101, "ENETUNREACH"},
	{110, "ETIMEDOUT"},
	{113, "EHOSTUNREACH"},
}

// ErrnoName is the C name of an errno, such as EINVAL.
func ErrnoName(e syscall.Errno) string {
	for _, n := range errnos {
		if n.errno == e {
			return n.name
		}
	}
	return fmt.Sprintf("errno %d", uint(e))
}

// ErrnoNames lists the errnos that a script may name.
func ErrnoNames() []string {
	names := make([]string, len(errnos))
	for i, n := range errnos {
		names[i] = n.name
	}
	return names
}
