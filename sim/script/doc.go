// Package script is the language of labs, proofs and tests: it parses a script,
// says what it needs of a device, and runs it on any verbs.Bench. GRAMMAR.md
// describes the language on one page.
//
// It promises that a wrong line gets an error with file, line, column, what was
// expected and the nearest right word; that Parse never panics; that a run on a
// deterministic Bench gives the same transcript every time; and that a
// transcript holds no time, key, queue-pair number or packet, so that the
// transcripts of different devices can be compared as text. It does not open
// devices, read clocks or files, or know what a lab or a question is.
package script
