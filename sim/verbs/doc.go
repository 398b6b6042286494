// Package verbs is the vocabulary that labs, proofs, tests and devices share:
// the types, constants, state table, work requests and completions of
// libibverbs, and the two interfaces, Device and Bench, that a script runs on.
//
// It promises that every constant has libibverbs' own value and name, and that
// the state table is the one of the Linux kernel. It has no behaviour: it posts
// nothing, keeps no state, reads no clock and allocates no device. The software
// model and a live device implement the interfaces elsewhere.
package verbs
