// Package difftest holds a real Soft-RoCE device beside the model: every
// transcript of sim/model/testdata, every lab and every proof of the shipped
// content that a device can run is played on both in one process, and the
// transcripts must be equal line by line. It holds tests alone. REPORT.md says
// what was compared, what is known to differ and why, and what only the model
// can run; a test keeps it true.
//
// It does not compare times, keys, numbers of queue pairs or packets, which no
// transcript shows. What a learner could not see on a device is left out of the
// scripts beforehand: counts of packets and spans of device time.
//
//go:generate env RDMAPREP_REWRITE=1 go test -count=1 -run TestReport .
package difftest
