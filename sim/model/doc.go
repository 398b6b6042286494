// Package model is the software NIC: named nodes on one link, each a
// verbs.Device, driven by the virtual clock and the event queue of package sim.
//
// A queue pair is a pure state machine: events go in through one door (step),
// effects come out as data, and it knows no clock and no goroutine. Requester,
// responder and completer are files of their own, as they are ideas of their
// own in the specification. A Profile names each way in which a device may
// differ, with its source.
//
// It promises that equal script, profile and seed give equal traces byte for
// byte, that every frame in a trace is a real RoCEv2 frame with a correct ICRC,
// and that a mistake gets the errno that libibverbs gives. It does not model an
// adapter's bus, caches or times: its clock orders events and runs timers, and
// measures nothing.
package model
