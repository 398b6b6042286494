// Package quiz holds the question kinds, their grading, quiz sessions, the
// interview mode, the choice of what to ask next, mastery and calibration.
//
// It promises pure code. A session is a state machine with one door: Step takes
// an event and the time it happened, and returns effects as data ("save this
// attempt", "run this proof"); somebody else carries them out and reports back
// with another event. Equal questions, seeds, histories and events give equal
// sessions. Nothing that has a proof is graded before the proof has run, and a
// provisional question is never graded.
//
// It runs no script, reads no clock, and stores nothing.
package quiz
