// Package frames carries Ethernet frames between this program and a wire that
// is not its own: a TAP interface of this kernel, or the socket network of qemu.
//
// It promises that frames come and go whole and in order, that a wait ends with
// a frame, its time, its context or Wake, and that every queue is bounded. Like
// an Ethernet it may lose frames: while the interface is down, and when the
// other side takes them too slowly.
//
// It looks into no frame, makes no interface and reads no clock: the Clock comes
// in. The commands that make an interface are in its errors.
package frames
