package content

import (
	"strings"
)

// resolve follows every reference and checks every entry.
func (l *loader) resolve() {
	for _, s := range l.lib.Sources {
		l.texts(l.spots[s], map[string]string{"title": s.Title, "where": s.Where, "role": s.Role, "dated": s.Dated})
	}
	for _, t := range l.lib.Topics {
		l.texts(l.spots[t], map[string]string{"title": t.Title, "blurb": t.Blurb})
	}
	for _, t := range l.lib.Glossary {
		s := l.spots[t]
		l.topic(s, t.Topic)
		l.refs(s, t.Sources)
		l.texts(s, map[string]string{"term": t.Term, "means": t.Means, "confuse": t.Confuse})
	}
	for _, q := range l.lib.Questions {
		l.question(l.spots[q], q)
	}
	for _, x := range l.lib.Lessons {
		l.lesson(l.spots[x], x)
	}
	for _, c := range l.checks {
		q := l.questions[c.id]
		if q == nil {
			l.bad(c.spot, "there is no question %q to check here%s", c.id, didYouMean(c.id, keys(l.questions)))
			continue
		}
		c.lesson.Blocks[c.block].Check = q
	}
	for _, x := range l.lib.Labs {
		l.lab(l.spots[x], x)
	}
}

func keys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	return out
}

func (l *loader) topic(s spot, id string) {
	if id == "" {
		l.bad(s.at("topic"), "the topic is missing: name one of topics.toml")
	} else if !l.topics[id] {
		l.bad(s.at("topic"), "there is no topic %q%s", id, didYouMean(id, keys(l.topics)))
	}
}

// source finds a source by id, in the pack and then in its base.
func (l *loader) source(id string) *Source {
	if s := l.lib.Sources[id]; s != nil {
		return s
	}
	return l.base.Sources[id]
}

// refs resolves references of the form id or id#place. An id may itself hold a
// #, as those of threads do, so the longest id that exists wins.
func (l *loader) refs(s spot, list []string) []Ref {
	if len(list) == 0 {
		l.bad(s.at("sources"), "no source: name at least one entry of sources.toml")
		return nil
	}
	var refs []Ref
	seen := map[string]bool{}
	for _, text := range list {
		if seen[text] {
			l.bad(s.at("sources"), "%q is named twice", text)
		}
		seen[text] = true
		src, place := l.source(text), ""
		if i := strings.LastIndexByte(text, '#'); src == nil && i > 0 {
			src, place = l.source(text[:i]), text[i+1:]
		}
		if src == nil {
			l.bad(s.at("sources"), "there is no source %q: add it to sources.toml%s", text, l.nearSource(text))
			continue
		}
		refs = append(refs, Ref{Source: src, Place: place})
	}
	return refs
}

func (l *loader) nearSource(text string) string {
	id, _, _ := strings.Cut(text, "#")
	return didYouMean(id, append(keys(l.lib.Sources), keys(l.base.Sources)...))
}

// backed checks that a claim of a layer rests on a source of that layer, and
// that what is graded rests on an official source or on two reports that are
// independent of each other.
func (l *loader) backed(s spot, layer Layer, refs []Ref, graded bool) {
	official, reports := 0, map[string]bool{}
	for _, r := range refs {
		switch r.Source.Layer {
		case Official:
			official++
		case Report:
			reports[origin(r.Source)] = true
		case Inference: // backs nothing by itself
		}
	}
	switch {
	case layer == Official && official == 0:
		l.bad(s.at("layer"), "the layer is official and no source is: cite a specification, man page, kernel source or vendor manual, or lower the layer")
	case layer == Report && len(reports) == 0:
		l.bad(s.at("layer"), "the layer is report and no source is one: cite the report, or correct the layer")
	case graded && official == 0 && len(reports) < 2:
		l.bad(s.at("sources"), "a graded question rests on an official source or on two independent reports: add one, or set provisional = true")
	}
}

// origin tells reports that come from one place from those that do not: two
// threads of one repository are one origin.
func origin(s *Source) string {
	if s.Kind != "thread" {
		return s.ID
	}
	repo, _, _ := strings.Cut(s.ID, "#")
	return repo
}

// lesson checks a lesson but for its checks.
func (l *loader) lesson(s spot, x *Lesson) {
	l.topic(s, x.Topic)
	l.need(s, "title", x.Title)
	l.minutes(s, x.Minutes)
	x.Refs = l.refs(s, x.Sources)
	for _, id := range x.Labs {
		if l.labs[id] == nil {
			l.bad(s.at("labs"), "there is no lab %q%s", id, didYouMean(id, keys(l.labs)))
		}
	}
	if len(x.Blocks) == 0 {
		l.bad(s, "the lesson has no text after its front matter: write it")
	}
	l.texts(s, map[string]string{"title": x.Title})
}

func (l *loader) minutes(s spot, n int) {
	if n < 1 || n > 120 {
		l.bad(s.at("minutes"), "minutes is %d: say how long it takes, 1 to 120", n)
	}
}
