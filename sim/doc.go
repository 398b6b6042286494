// Package sim is the engine under the software model: a virtual clock's event
// queue with one strict order, a seeded generator of numbers, and the typed
// error of a limit.
//
// It promises that equal pushes give equal pops, whatever the machine. It has
// no wall clock, no goroutine and no global state, and knows nothing of verbs.
package sim

import "fmt"

// LimitError says that a bounded thing reached its bound.
type LimitError struct {
	What  string // the thing, with its unit
	Limit int
	Fix   string // what to do about it
}

func (e *LimitError) Error() string {
	if e.Fix == "" {
		return fmt.Sprintf("limit of %d %s reached", e.Limit, e.What)
	}
	return fmt.Sprintf("limit of %d %s reached: %s", e.Limit, e.What, e.Fix)
}
