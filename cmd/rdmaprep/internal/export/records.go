package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rdmaprep/lessons/decision"
)

// recordPage is a decision record with its page.
type recordPage struct {
	*decision.Record
	file string
}

func (r recordPage) title() string {
	return cmp.Or(r.Title, r.Question, r.Lab, r.ID)
}

// calmed is the record with what the learner may have typed kept from breaking
// its page; a record without such text stays as it is.
func calmed(r decision.Record) *decision.Record {
	for _, field := range []*string{
		&r.Question, &r.Workload.Metric, &r.Workload.Unit, &r.Workload.OutOf, &r.Workload.Target, &r.Consequence,
		&r.Guarantee, &r.Scope, &r.Reaches, &r.Default, &r.Alternative, &r.Signal, &r.FailureComplexity, &r.Recovery,
		&r.CannotShow, &r.Scale.Prompt, &r.Scale.Answer, &r.NextCheck, &r.Owner, &r.NextDate, &r.Uncertainty, &r.Notes,
	} {
		*field = calm(*field)
	}
	r.Title = word(r.Title)
	for _, list := range []*[]string{&r.Buffers, &r.Constraints, &r.Scale.Made, &r.Scale.Missed} {
		*list = slices.Clone(*list)
		for i, text := range *list {
			(*list)[i] = calm(strings.Join(strings.Fields(text), " "))
		}
	}
	return &r
}

// collectRecords orders the records oldest first, names their pages by day, lab
// and id, and looks for what should stay on this machine.
func (n *notebook) collectRecords() {
	list := slices.Clone(n.Records)
	slices.SortFunc(list, func(a, b decision.Record) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	names := newNames("records")
	for i := range list {
		r := recordPage{Record: &list[i]}
		r.file = names.take(r.At.Format(time.DateOnly) + " " + r.Lab + " " + r.ID[:min(len(r.ID), 8)])
		for _, f := range r.Redact() {
			n.warnings = append(n.warnings, Warning{Where: fmt.Sprintf("record %s (%s), field %s", r.ID, plain(r.title()), f.Field), Why: f.Why})
		}
		n.records = append(n.records, r)
	}
}
