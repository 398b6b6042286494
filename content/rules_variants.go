package content

import (
	"regexp"
	"strings"
)

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

// variants checks the draws and formulas of a question without working them
// out; Check does that, for every combination up to a limit.
func (l *loader) variants(s spot, q *Question) {
	v := q.Variants
	if v == nil {
		for key, text := range map[string]string{"prompt": q.Prompt, "answer": q.Answer, "explain": q.Explain} {
			if strings.Contains(text, "{{.") {
				l.bad(s.at(key), "a template without variants: add [question.variants], or write the number")
			}
		}
		return
	}
	if len(v.Draw) == 0 || len(v.Draw) > MaxDraws {
		l.bad(s.at("variants.draw"), "%d draws: give 1 to %d", len(v.Draw), MaxDraws)
	}
	if len(v.Let) > MaxLets {
		l.bad(s.at("variants.let"), "%d formulas: at most %d", len(v.Let), MaxLets)
	}
	seen := map[string]bool{}
	name := func(at spot, n string) {
		if !nameForm.MatchString(n) {
			l.bad(at.at("name"), "the name %q is not a letter followed by letters, digits or _", n)
		} else if seen[n] {
			l.bad(at.at("name"), "the name %q is used twice", n)
		}
		seen[n] = true
	}
	for i, d := range v.Draw {
		at := s.elem("variants.draw", i)
		name(at, d.Name)
		if len(d.From) < 2 || len(d.From) > MaxDrawValues {
			l.bad(at.at("from"), "%d values: a draw takes one of 2 to %d", len(d.From), MaxDrawValues)
		}
		for _, x := range d.From {
			switch x.(type) {
			case int64, float64, string, bool:
			default:
				l.bad(at.at("from"), "a draw takes numbers or words, not a %T", x)
			}
		}
	}
	for i, let := range v.Let {
		at := s.elem("variants.let", i)
		name(at, let.Name)
		l.need(at, "expr", let.Expr)
		if len(let.Expr) > MaxExprBytes {
			l.bad(at.at("expr"), "the formula has %d bytes; the limit is %d", len(let.Expr), MaxExprBytes)
		}
	}
}
