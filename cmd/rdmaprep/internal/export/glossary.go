package export

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"rdmaprep/content"
	"rdmaprep/lessons/typed"
)

const glossaryFile = "glossary.md"

// collectTerms finds the glossary terms that were met: those whose name stands
// as a word in a question that was answered: in what it asks, offers, explains
// or wants to hear.
func (n *notebook) collectTerms() {
	var text strings.Builder
	for _, t := range n.topics {
		for _, s := range t.studied {
			in := n.instance(s.id, s.last().Variant)
			if in == nil {
				continue
			}
			q := in.Question
			text.WriteString(q.Prompt + "\n" + q.Explain + "\n" + q.Scope + "\n" + q.Model + "\n")
			for _, point := range q.Rubric {
				text.WriteString(point.Text + "\n")
			}
			for _, c := range in.Choices {
				text.WriteString(c.Text + "\n" + c.Why + "\n")
			}
		}
	}
	met := text.String()
	for _, term := range n.Library.Glossary {
		if slices.ContainsFunc(namesOf(term.Term), func(name string) bool { return speaksOf(met, name) }) {
			n.terms = append(n.terms, term)
		}
	}
	slices.SortFunc(n.terms, func(a, b *content.Term) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.Term), strings.ToLower(b.Term)), cmp.Compare(a.Term, b.Term))
	})
}

// namesOf splits "address handle (AH)" into both of its names.
func namesOf(term string) []string {
	long, short, ok := strings.Cut(strings.TrimSuffix(term, ")"), " (")
	if !ok {
		return []string{term}
	}
	return []string{long, short}
}

// speaksOf says whether a name, or its plural, stands in a text as a word. An
// abbreviation must have its own case: "AH" is not "ah".
func speaksOf(text, name string) bool {
	if name == "" {
		return false
	}
	fold := "(?i)"
	if !strings.ContainsFunc(name, unicode.IsLower) {
		fold = ""
	}
	pattern := fold + `(^|[^\pL\pN_])` + regexp.QuoteMeta(name) + `(s|es)?($|[^\pL\pN_])`
	return regexp.MustCompile(pattern).MatchString(text)
}

func (n *notebook) glossary() string {
	var p page
	p.line("# Terms met")
	p.block("[All notes](index.md)")
	titles := map[string]string{}
	for _, t := range n.Library.Topics {
		titles[t.ID] = t.Title
	}
	for _, term := range n.terms {
		p.block("## %s", typed.Word(term.Term))
		p.block("%s", within(typed.Plain(term.Means)))
		if term.Confuse != "" {
			p.block("Not to be confused with:")
			p.block("%s", within(typed.Plain(term.Confuse)))
		}
		if title := titles[term.Topic]; title != "" {
			p.block("Topic: %s", typed.Word(title))
		}
	}
	return p.String()
}
