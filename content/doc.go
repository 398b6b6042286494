// Package content is the typed library of what is taught: topics, sources,
// glossary, questions, lessons and labs, as TOML and Markdown files with a
// format version, and the linter that keeps them true.
//
// It promises that a library that loads without a problem is complete: every
// reference resolves, every question has an answer that can be graded, and,
// once Check has run the proofs, that each answer is what a run shows. It
// reads an fs.FS that is given to it and nothing else; it grades nobody.
package content
