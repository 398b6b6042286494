// Package cli is the command line: one file a command. It is the only place
// that names a concrete device or a concrete store, and it hands both down as
// values.
//
// It promises exit status 0 for success, 1 for a failure and 2 for a usage
// error, that no command but the bare one queries the terminal, and that every
// list and show command has --json.
package cli
