// Package plain holds the same sessions as the screen, line by line: for pipes,
// screen readers and scripts. It reads one line at a time and writes text.
//
// It promises that nothing but text and newlines is written (no escape code, no
// cursor movement), that every prompt says what may be typed, that an answer is
// reported as saved only after the store said so, and that the end of the input
// leaves a session that can be resumed.
package plain
