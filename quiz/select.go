package quiz

import (
	"rdmaprep/content"
	"rdmaprep/quiz/fsrs"
)

// Mode is what a session is made of.
type Mode string

// The modes.
const (
	DueFirst   Mode = "due"        // what is due, then a few new ones
	ByTopic    Mode = "topic"      // the topics named: due, then new, then the rest
	Everything Mode = "everything" // all of it, shuffled
	Interview  Mode = "interview"  // open questions only, of the topics named or of all
)

// DefaultNew is how many new questions DueFirst brings in a day.
const DefaultNew = 10

// Filter says what to ask.
type Filter struct {
	Mode   Mode
	Topics []string // none is all of them
	// New is how many new questions may come today, those of today's earlier
	// sessions included: 0 is DefaultNew in DueFirst and no limit in the other
	// modes, negative is no limit.
	New int
	// Max is how many questions there may be in all; 0 is no limit.
	Max int
}

// Select chooses what to ask and in which order. cards is the fold of the
// history, newToday how many questions were answered for the first time today.
// Equal arguments give equal items.
func Select(lib *content.Library, cards map[string]fsrs.Card, today, newToday int, f Filter, seed uint64) []Item {
	return selectItems(lib, cards, today, newToday, f, seed)
}
