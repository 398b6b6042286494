package quiz

import (
	"cmp"
	"hash/fnv"
	"slices"

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

// candidate is a question that may be asked. mix is its place in the shuffle.
type candidate struct {
	id   string
	mix  uint64
	card fsrs.Card
}

// Select chooses what to ask and in which order. cards is the fold of the
// history, newToday how many questions were answered for the first time today.
// Equal arguments give equal items.
//
// What is due comes longest overdue first; what is new, and Everything and
// Interview as a whole, in the order of the seed; what is neither, that which
// is least likely to be recalled first. The predictions of labs that went wrong
// are asked like any other card.
func Select(lib *content.Library, cards map[string]fsrs.Card, today, newToday int, f Filter, seed uint64) []Item {
	var due, fresh, rest []candidate
	for _, c := range candidates(lib, cards, f, seed) {
		switch {
		case c.card.New():
			fresh = append(fresh, c)
		case c.card.Due <= today:
			due = append(due, c)
		default:
			rest = append(rest, c)
		}
	}
	byMix := func(a, b candidate) int { return cmp.Or(cmp.Compare(a.mix, b.mix), cmp.Compare(a.id, b.id)) }
	slices.SortFunc(fresh, byMix)
	slices.SortFunc(due, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.card.Due, b.card.Due), byMix(a, b))
	})
	slices.SortFunc(rest, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(fsrs.Retrievability(a.card, today), fsrs.Retrievability(b.card, today)), byMix(a, b))
	})
	if limit := f.newLimit(newToday); limit >= 0 && len(fresh) > limit {
		fresh = fresh[:limit]
	}
	picked := slices.Concat(due, fresh)
	if f.Mode != DueFirst {
		picked = append(picked, rest...)
	}
	if f.Mode == Everything || f.Mode == Interview {
		slices.SortFunc(picked, byMix)
	}
	if f.Max > 0 && len(picked) > f.Max {
		picked = picked[:f.Max]
	}
	items := make([]Item, len(picked))
	for i, c := range picked {
		items[i] = Item{
			Question: c.id, Variant: VariantOf(seed, c.id),
			New: c.card.New(), Due: !c.card.New() && c.card.Due <= today,
		}
	}
	return items
}

// newLimit is how many new questions may still come, negative for any number.
func (f Filter) newLimit(newToday int) int {
	switch {
	case f.New > 0:
		return max(0, f.New-newToday)
	case f.New == 0 && f.Mode == DueFirst:
		return max(0, DefaultNew-newToday)
	}
	return -1
}

func candidates(lib *content.Library, cards map[string]fsrs.Card, f Filter, seed uint64) []candidate {
	wanted := func(topic string) bool { return len(f.Topics) == 0 || slices.Contains(f.Topics, topic) }
	var out []candidate
	for _, q := range lib.Questions {
		if !wanted(q.Topic) || f.Mode == Interview && q.Kind != content.Open {
			continue
		}
		out = append(out, candidate{q.ID, mixOf(seed, q.ID), cards[q.ID]})
	}
	if f.Mode == Interview {
		return out
	}
	for _, lab := range lib.Labs {
		if !wanted(lab.Topic) {
			continue
		}
		for p, part := range lab.AllParts() {
			for s := range part.Steps {
				id := LabQuestion(lab.ID, p, s)
				if c, ok := cards[id]; ok && part.Steps[s].Predict != nil {
					out = append(out, candidate{id, mixOf(seed, id), c})
				}
			}
		}
	}
	return out
}

// VariantOf is the variant seed of a question in a session of the given seed.
func VariantOf(seed uint64, question string) uint64 { return mixOf(seed^0x76617269616e74, question) }

// mixOf spreads questions over a seed: FNV-1a of the id, then the finaliser of
// SplitMix64 (Steele, Lea and Flood 2014).
func mixOf(seed uint64, id string) uint64 {
	x := seed ^ hashOf(id)
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func hashOf(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s)) // never fails
	return h.Sum64()
}
