// Package housetest keeps the rules of this house that a linter cannot keep:
// who may import whom, that every package says what it promises, how long a
// file and a function may be, and what no file may mention.
//
// It promises that each rule is a function from a file system to findings, and
// that each rule is itself tested on a small tree that breaks it. It has no
// code outside its tests, and it judges form only: it does not know whether a
// package comment is true.
package housetest
