package quiz

import (
	"cmp"
	"slices"

	"rdmaprep/content"
	"rdmaprep/quiz/fsrs"
)

func live(log []Attempt) []Attempt {
	void := map[ID]bool{}
	for _, a := range log {
		if a.Kind == Voided {
			void[a.Voids] = true
		}
	}
	out := make([]Attempt, 0, len(log))
	for _, a := range log {
		if a.Kind != Voided && !void[a.ID] {
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, func(a, b Attempt) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	})
	return slices.CompactFunc(out, func(a, b Attempt) bool { return a.ID == b.ID })
}

func newOn(log []Attempt, day int) int {
	seen := map[string]bool{}
	n := 0
	for _, a := range live(log) {
		if a.Kind != Answered || seen[a.Question] {
			continue
		}
		seen[a.Question] = true
		if a.Day == day {
			n++
		}
	}
	return n
}

func mastery(lib *content.Library, cards map[string]fsrs.Card, today int) []TopicMastery {
	out := make([]TopicMastery, len(lib.Topics))
	at := map[string]int{}
	for i, t := range lib.Topics {
		out[i].Topic = t.ID
		at[t.ID] = i
	}
	for _, q := range lib.Questions {
		i, ok := at[q.Topic]
		if !ok || q.Provisional {
			continue
		}
		t := &out[i]
		t.Questions++
		c := cards[q.ID]
		if c.New() {
			continue
		}
		t.Seen++
		t.Mastery += fsrs.Retrievability(c, today)
		if c.Due <= today {
			t.Due++
		}
	}
	for i := range out {
		if out[i].Questions > 0 {
			out[i].Mastery /= float64(out[i].Questions)
		}
	}
	return out
}

func calibrate(log []Attempt) Calibration {
	var c Calibration
	rows := map[int]*CalibrationRow{}
	for _, a := range live(log) {
		if !a.Graded || a.Sure == 0 || a.Kind == Skipped {
			continue
		}
		row := rows[a.Sure]
		if row == nil {
			row = &CalibrationRow{Percent: a.Sure}
			rows[a.Sure] = row
		}
		row.N++
		outcome := 0.0
		if a.Correct {
			row.Right++
			outcome = 1
		}
		miss := float64(a.Sure)/100 - outcome
		c.Brier += miss * miss
		c.N++
	}
	if c.N > 0 {
		c.Brier /= float64(c.N)
	}
	for _, row := range rows {
		c.Rows = append(c.Rows, *row)
	}
	slices.SortFunc(c.Rows, func(a, b CalibrationRow) int { return cmp.Compare(a.Percent, b.Percent) })
	return c
}
