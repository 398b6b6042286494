// Package lessons holds lessons and labs as pure state machines.
//
// A lab is walked step by step: read, predict with a confidence, lock, run,
// observe. It promises that a locked prediction never changes, that a
// prediction is locked before its step runs, that going back looks at
// observations and changes none, and that what a run showed is what decides
// which predictions were right. Everything that has to be done (run a step,
// save a prediction, save the record) leaves as an effect, and its outcome
// comes back as an event.
//
// It runs nothing, reads no clock and stores nothing.
package lessons
