// Package peer lets one script run on two hosts: the side that drives the
// script sees the other side's node as a Remote, a verbs.Device that asks for
// every call with a datagram, and the other side has a Server that carries the
// calls out on its own device, each exactly once.
//
// It promises that a lost, repeated, reordered or broken datagram changes
// nothing but the time, that a datagram that is not wholly understood carries
// nothing out, that no datagram is larger than both sides take, and that every
// wait is bounded and ends in an error that names the peer and what to do.
//
// It does not open sockets, read clocks or start goroutines: a Conn and a Clock
// come in. It does not authenticate: whoever can send from the peer's address
// can drive the device, so it belongs into a lab's network.
//
// # Datagrams
//
// Numbers of the frame are big endian: 4 bytes "RDMP", a byte of version, a
// byte of kind, 8 bytes of session, 4 of sequence number, the body, and a
// CRC-32 (IEEE) of all before it. The frame and the bodies of refuse and bye,
// which are UTF-8 text, are the same in every version; the other bodies are
// Go values field by field: varints for numbers, a length before what has one.
package peer
