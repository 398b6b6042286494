// Package ibv is a live RDMA device: verbs.Device and verbs.Bench on the
// system's libibverbs.so.1, loaded at run time, without cgo.
//
// It promises that each call of a Device is the call of libibverbs that the
// name says, with the same arguments, and that an error carries the errno that
// libibverbs gave; that memory which the library or the device sees is never
// memory of the Go heap; that no call blocks but those that wait for the kernel
// (ibv_modify_qp resolves an address, ibv_destroy_qp waits for the driver); that
// posting and polling allocate nothing; that it starts no goroutine; and that
// Close leaves neither object, memory nor descriptor behind. What is known to
// hurt a kernel is refused with ErrHurtsKernel, and so is what would crash the
// program itself.
//
// It does not promise a clock, faults or a trace: a real device has none of the
// three that a program can use. Quiet is what the hardware counters let one
// see. It is for one goroutine, except that two Benches are independent.
//
// The build tag noibv leaves all of it out; so does any system but Linux on
// amd64 and arm64. Open then fails with ErrUnsupported.
package ibv
