// Package store keeps what a learner has done in one SQLite file: attempts,
// voids, card state, daily totals, decision records, sessions to resume,
// settings and lab progress.
//
// It promises that what a save reported as saved is on disk (write-ahead log,
// synchronous=FULL) and survives kill -9, a full disk and a second instance;
// that the log of attempts only grows, and that saving the same id twice is the
// same as saving it once, so that a save whose outcome is unclear may be tried
// again; that card state and daily totals are never more than a fold of that
// log, written in the attempt's own transaction; and that every error names the
// file and what to do. A file of a newer version is left as it is.
//
// It does not grade, schedule, or know what a question is, and it does not read
// a clock: days and times come in with the rows.
package store
