package export

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"rdmaprep/lessons/decision"
	"rdmaprep/lessons/typed"
)

// recordPage is a decision record with its page.
type recordPage struct {
	*decision.Record
	file string
}

func (r recordPage) title() string {
	return cmp.Or(r.Title, r.Question, r.Lab, r.ID)
}

// collectRecords orders the records oldest first, names their pages by day, lab
// and id, and looks for what should stay on this machine.
func (n *notebook) collectRecords() {
	list := slices.Clone(n.Records)
	slices.SortFunc(list, func(a, b decision.Record) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	names := newNames("records")
	for i := range list {
		r := recordPage{Record: &list[i]}
		r.file = names.take(r.At.Format(time.DateOnly) + " " + r.Lab + " " + r.ShortID())
		for _, f := range r.Redact() {
			n.warnings = append(n.warnings, Warning{Where: fmt.Sprintf("record %s (%s), field %s", r.ID, typed.Plain(r.title()), f.Field), Why: f.Why})
		}
		n.records = append(n.records, r)
	}
}
