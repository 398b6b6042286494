package quiz

import (
	"slices"
	"strings"
)

// prefixes are those of the constants of <infiniband/verbs.h>, longest first
// where one begins another. They may be left out of an answer.
var prefixes = []string{
	"IBV_WC_", "IBV_QPS_", "IBV_QPT_", "IBV_QP_", "IBV_WR_", "IBV_SEND_", "IBV_ACCESS_", "IBV_EVENT_",
	"IBV_MTU_", "IBV_SRQ_", "IBV_PORT_", "IBV_MW_TYPE_", "IBV_MIG_", "IBV_",
}

// spelling is the form in which names are compared: case, blanks, hyphens and
// underscores, the C prefix, quotes and a call's brackets do not count, and the
// flags of a set may come in any order.
func spelling(s string) string {
	s = strings.Trim(strings.TrimSpace(s), "`\"'.")
	parts := strings.Split(s, "|")
	for i, p := range parts {
		p = strings.ToUpper(strings.TrimSuffix(strings.TrimSpace(p), "()"))
		p = strings.Join(strings.FieldsFunc(p, func(r rune) bool { return r == ' ' || r == '_' || r == '-' || r == '\t' }), "_")
		for _, pre := range prefixes {
			if rest, ok := strings.CutPrefix(p, pre); ok && rest != "" {
				p = rest
				break
			}
		}
		parts[i] = p
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), "|")
}

// sameName says whether a typed answer is one of the names that are right. Two
// numbers are compared as numbers, so that 42 is 0x2a.
func sameName(typed string, right ...string) bool {
	got := spelling(typed)
	if got == "" {
		return false
	}
	for _, r := range right {
		if r == "" {
			continue
		}
		if got == spelling(r) {
			return true
		}
		a, okA := parseRat(strings.TrimSpace(typed))
		b, okB := parseRat(strings.TrimSpace(r))
		if okA && okB && a.Cmp(b) == 0 {
			return true
		}
	}
	return false
}
