package content

import (
	"fmt"
	"strings"
	"time"
)

// collect takes the entries of one file into the library, gives each its place
// and refuses a second entry of the same id.
func (l *loader) collect(d *decoded) {
	if d.form == nil {
		return
	}
	root := spot{file: d.file}
	switch f := d.form.(type) {
	case *topicFile:
		l.format(root, f.Format, true)
		for i, t := range f.Topic {
			l.addTopic(d.entry("topic", i, t.ID), t)
		}
	case *sourcesFile:
		l.format(root, f.Format, true)
		for i, s := range f.Source {
			l.addSource(d.entry("source", i, s.ID), s)
		}
	case *glossaryFile:
		l.format(root, f.Format, true)
		for i, t := range f.Term {
			l.addTerm(d.entry("term", i, t.Term), t)
		}
	case *questionFile:
		l.format(root, f.Format, true)
		for i, q := range f.Question {
			q.File, q.Line = d.file.name, d.top(i)
			l.addQuestion(d.entry("question", i, q.ID), q)
		}
	case *labFile:
		l.format(root, f.Format, true)
		f.File, f.Line = d.file.name, d.file.line("id")
		l.addLab(spot{d.file, "", ""}, &f.Lab)
	case *lessonHead:
		l.format(root, f.Format, false)
		f.File = d.file.name
		l.addLesson(spot{d.file, "", ""}, &f.Lesson, d)
	}
}

func (d *decoded) entry(kind string, i int, id string) spot {
	if id == "" {
		id = fmt.Sprint(i)
	}
	return spot{d.file, fmt.Sprintf("%s[%d]", kind, i), kind + "[" + id + "]"}
}

// top is the line of the i-th top-level array header.
func (d *decoded) top(i int) int {
	if i < len(d.file.tops) {
		return d.file.tops[i]
	}
	return d.file.line("")
}

func (l *loader) format(s spot, version int, required bool) {
	switch {
	case version == FormatVersion || version == 0 && !required:
	case version == 0:
		l.bad(s.at("format"), "the file does not say its format: begin it with format = %d", FormatVersion)
	case version > FormatVersion:
		l.bad(s.at("format"), "format %d is newer than this program, which reads format %d: update rdmaprep", version, FormatVersion)
	default:
		l.bad(s.at("format"), "there is no format %d; this program reads format %d", version, FormatVersion)
	}
}

func (l *loader) addTopic(s spot, t *Topic) {
	l.word(s.at("id"), t.ID)
	if l.topics[t.ID] {
		l.bad(s.at("id"), "the topic %q is there already: ids are unique over all packs", t.ID)
		return
	}
	l.need(s, "title", t.Title)
	l.need(s, "blurb", t.Blurb)
	l.topics[t.ID] = true
	l.spots[t] = s
	l.lib.Topics = append(l.lib.Topics, t)
}

// SourceKinds are the kinds of sources; a source's id begins with its kind.
var SourceKinds = []string{"man", "kernel", "header", "library", "spec", "test", "manual", "paper", "thread", "article"}

func (l *loader) addSource(s spot, x *Source) {
	kind, name, ok := strings.Cut(x.ID, ":")
	switch {
	case x.ID == "":
		l.bad(s.at("id"), "the source has no id: give it one, such as \"man:ibv_poll_cq.3\"")
	case !ok || name == "" || strings.ContainsAny(x.ID, " \t\""):
		l.bad(s.at("id"), "the id %q is not KIND:NAME without blanks, such as \"man:ibv_poll_cq.3\"", x.ID)
	case x.Kind != "" && kind != x.Kind:
		l.bad(s.at("id"), "the id begins with %q and the kind is %q: make them equal", kind, x.Kind)
	}
	l.oneOf(s.at("kind"), "kind", x.Kind, SourceKinds)
	l.layer(s, x.Layer)
	l.need(s, "title", x.Title)
	l.need(s, "where", x.Where)
	if x.Layer == Report {
		l.need(s, "role", x.Role)
		l.need(s, "dated", x.Dated)
	}
	l.date(s, &x.Checked)
	if l.lib.Sources[x.ID] != nil || l.base.Sources[x.ID] != nil {
		l.bad(s.at("id"), "the source %q is there already: cite that one, or choose another id", x.ID)
		return
	}
	l.spots[x] = s
	l.lib.Sources[x.ID] = x
}

func (l *loader) addTerm(s spot, t *Term) {
	l.need(s, "term", t.Term)
	l.need(s, "means", t.Means)
	key := strings.ToLower(t.Term)
	if l.terms[key] {
		l.bad(s.at("term"), "the term %q is explained already: join the two entries", t.Term)
		return
	}
	l.terms[key] = true
	l.spots[t] = s
	l.lib.Glossary = append(l.lib.Glossary, t)
}

func (l *loader) addQuestion(s spot, q *Question) {
	l.date(s, &q.Checked)
	topic, name, ok := strings.Cut(q.ID, ".")
	switch {
	case q.ID == "":
		l.bad(s.at("id"), "the question has no id: give it one of the form topic.name")
	case !ok || !isWord(topic) || !isWord(name):
		l.bad(s.at("id"), "the id %q is not topic.name of words of a-z, 0-9 and -", q.ID)
	case topic != q.Topic && q.Topic != "":
		l.bad(s.at("id"), "the id begins with %q and the topic is %q: make them equal", topic, q.Topic)
	}
	if old := l.questions[q.ID]; old != nil {
		l.bad(s.at("id"), "the id %q is taken by %s:%d: ids are unique over all packs", q.ID, old.File, old.Line)
		return
	}
	l.questions[q.ID] = q
	l.spots[q] = s
	l.lib.Questions = append(l.lib.Questions, q)
}

func (l *loader) addLab(s spot, x *Lab) {
	l.word(s.at("id"), x.ID)
	if old := l.labs[x.ID]; old != nil {
		l.bad(s.at("id"), "the lab %q is in %s already", x.ID, old.File)
		return
	}
	l.labs[x.ID] = x
	l.spots[x] = s
	l.lib.Labs = append(l.lib.Labs, x)
}

func (l *loader) addLesson(s spot, x *Lesson, d *decoded) {
	l.word(s.at("id"), x.ID)
	if old := l.lessons[x.ID]; old != nil {
		l.bad(s.at("id"), "the lesson %q is in %s already", x.ID, old.File)
		return
	}
	l.lessons[x.ID] = x
	l.spots[x] = s
	l.lib.Lessons = append(l.lib.Lessons, x)
	l.lessonBody(s, x, d)
}

// date cuts a day out of what TOML calls a local date, which has no zone.
func (l *loader) date(s spot, t *time.Time) {
	if t.IsZero() {
		l.bad(s.at("checked"), "it does not say when it was last checked: add checked = YYYY-MM-DD")
		return
	}
	y, m, d := t.Date()
	*t = time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

func (l *loader) need(s spot, key, text string) {
	if strings.TrimSpace(text) == "" {
		l.bad(s.at(key), "%s is missing or empty: write it", key)
	}
}

func (l *loader) word(s spot, id string) {
	if id == "" {
		l.bad(s, "the id is missing: give it one of words of a-z, 0-9 and -")
	} else if !isWord(id) {
		l.bad(s, "the id %q is not made of a-z, 0-9 and -", id)
	}
}

func isWord(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= 64 && s[0] != '-' && s[len(s)-1] != '-'
}

func (l *loader) oneOf(s spot, what, got string, known []string) {
	for _, k := range known {
		if k == got {
			return
		}
	}
	if got == "" {
		l.bad(s, "the %s is missing: one of %s", what, strings.Join(known, " "))
		return
	}
	l.bad(s, "there is no %s %q: one of %s%s", what, got, strings.Join(known, " "), didYouMean(got, known))
}

func (l *loader) layer(s spot, x Layer) {
	l.oneOf(s.at("layer"), "layer", string(x), []string{string(Official), string(Report), string(Inference)})
}
