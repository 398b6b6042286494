// Package export writes what a learner has done as a folder of Markdown notes:
// an index, a page for each topic that was studied with every question missed,
// the decision records, and the glossary terms that were met.
//
// It promises that equal data give equal bytes; that a folder appears whole or
// not at all, and only ever replaces a folder that this package made and nobody
// has touched since; that no file name leaves that folder; and that no text of
// the learner can break a page. What looks private is reported, and written only
// if the caller insists.
//
// It reads no database and runs no script: the right answer of a question with a
// proof comes through a function that the caller gives. It writes no HTML.
package export
