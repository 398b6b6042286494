// Package study carries out what quizzes and lessons ask for: it runs proofs
// and lab steps on a fresh Bench, and saves attempts, records and progress.
// Both front ends share it.
//
// It promises that every run has a limit of time, that every Bench that it
// opened is closed, and that its errors say what to do. It draws nothing, knows
// no concrete device and no database: both come in as values.
package study
