package difftest_test

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed REPORT.md
var report string

// tally is what became of the cases of one origin.
type tally struct {
	from                                              string
	cases, equal, explained, hurt, model, lines, racy int
	left                                              int // lines and claims left out of those that ran
}

// result is what became of one case.
type result struct {
	c         *testCase
	model     *played
	diff      string // "" if both said the same
	explained *known
}

// secondTry is a case that differed, and was equal when it was played once more.
type secondTry struct{ name, first string }

// secondTries names the cases that needed a second try, and how each differed
// first: a rare difference must not hide behind a late guest.
func secondTries(late []secondTry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Equal at the second try: %d\n", len(late))
	for _, one := range late {
		first := strings.ReplaceAll(strings.TrimSpace(one.first), "\n", "\n    ")
		fmt.Fprintf(&b, "* %s\n    %s\n", one.name, first)
	}
	return b.String()
}

// render writes the report. It holds nothing that changes from run to run.
func render(results []result) string {
	var b strings.Builder
	b.WriteString(`# The model beside a real rxe

Every transcript of sim/model/testdata, every lab and every proof of the shipped content (with each combination of its
numbers that the linter runs; of an order question the right order and each pair of neighbours swapped) is played on
rxe0 of a Linux 6.1 guest and on the model under profile rxe-6.1 in one process, and the transcripts are compared line
by line. A line that permits more than one outcome (racy) shows the permitted set. Transcripts of profile spec are
played too: they stop on both at the same line. A case that differs without a reason that is known is played once more,
since an emulated guest is late now and then; the run counts and names those that were equal at the second try, with their
first difference, at the end of its own copy of this report, in summary.txt and in its log. Written by the test of this folder; RDMAPREP_REWRITE=1 writes it anew,
and a run on a device fails if it is not true.

| from | cases | equal | explained | would hurt a kernel | model only | lines compared | of them racy | lines and claims on packets or time left out |
|---|---|---|---|---|---|---|---|---|
`)
	sums, total := tallies(results)
	for _, s := range append(sums, total) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d | %d |\n", s.from, s.cases, s.equal, s.explained, s.hurt, s.model, s.lines, s.racy, s.left)
	}
	b.WriteString("\nThere is no other difference.\n\n## Differences that are explained\n\n" +
		"The first line that differs, as the device gives it, is under each where it is always the same.\n\n")
	listKnown(&b, results, false)
	b.WriteString("\n## Refused on a device, because it would hurt its kernel\n\n")
	listKnown(&b, results, true)
	b.WriteString("\n## Only on the model\n\nBecause a device has none of these. \"Up to there\": the part before the first line that needs it is\ncompared, and counted above as equal.\n")
	listModel(&b, results)
	return b.String()
}

// lastRun is when all of it was last seen to be so on a device, and on which.
const lastRun = "2026-12-01, Linux 6.1.0-57"

// The summary stands in README.md between these.
const begin, end = "<!-- difftest -->\n", "<!-- /difftest -->"

// summary is what README.md says of the report.
func summary(results []result) string {
	_, s := tallies(results)
	return fmt.Sprintf("Of %d cases %d are equal (%d lines; %d permit more than one outcome), %d differ for a reason that is\n"+
		"known, %d are refused because they would hurt the kernel, and %d need what only the model has: faults, a seed, long\n"+
		"waits. Nothing else differs (%s). The list: [sim/difftest/REPORT.md](sim/difftest/REPORT.md).\n",
		s.cases, s.equal, s.lines, s.racy, s.explained, s.hurt, s.model, lastRun)
}

// inReadme puts the summary into the text of README.md.
func inReadme(readme, summary string) (string, error) {
	head, rest, ok := strings.Cut(readme, begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return "", fmt.Errorf("README.md has no %s and %s", strings.TrimSpace(begin), end)
	}
	return head + begin + summary + end + tail, nil
}

func tallies(results []result) (sums []tally, total tally) {
	total.from = "all"
	for _, r := range results {
		i := slices.IndexFunc(sums, func(s tally) bool { return s.from == r.c.from })
		if i < 0 {
			i = len(sums)
			sums = append(sums, tally{from: r.c.from})
		}
		for _, s := range []*tally{&sums[i], &total} {
			s.cases++
			if r.c.model != "" && !r.c.cut {
				s.model++
				continue
			}
			switch {
			case r.explained == nil:
				s.equal++
			case r.explained.hurts:
				s.hurt++
			default:
				s.explained++
			}
			s.left += r.c.left
			s.lines += len(r.model.lines)
			s.racy += r.model.racy()
		}
	}
	return sums, total
}

func listKnown(b *strings.Builder, results []result, hurts bool) {
	for _, r := range results {
		if k := r.explained; k != nil && k.hurts == hurts {
			fmt.Fprintf(b, "* %s: %s\n", k.name, k.why)
			if k.live != "" {
				fmt.Fprintf(b, "  - `%s`\n", k.live)
			}
		}
	}
}

// listModel groups what only the model runs by reason.
func listModel(b *strings.Builder, results []result) {
	by := map[string][]string{}
	for _, r := range results {
		if r.c.model != "" {
			name := r.c.name
			if r.c.cut {
				name += " (up to there)"
			}
			by[r.c.model] = append(by[r.c.model], name)
		}
	}
	reasons := make([]string, 0, len(by))
	for why := range by {
		reasons = append(reasons, why)
	}
	slices.SortFunc(reasons, func(x, y string) int { return cmp.Or(len(by[y])-len(by[x]), cmp.Compare(x, y)) })
	for _, why := range reasons {
		fmt.Fprintf(b, "\n### %s (%d)\n\n", why, len(by[why]))
		for _, name := range by[why] {
			fmt.Fprintf(b, "* %s\n", name)
		}
	}
}
