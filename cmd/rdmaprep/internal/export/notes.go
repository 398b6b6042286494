package export

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"rdmaprep/content"
	"rdmaprep/lessons/decision"
	"rdmaprep/quiz"
	"rdmaprep/quiz/fsrs"
)

// RightAnswer tells in words what is right of a question with a proof, from a
// run of it. question is the id as in quiz.Attempt, of a lab's prediction too.
type RightAnswer func(ctx context.Context, question string, variant uint64) (string, error)

// Data is what the notes are made of.
type Data struct {
	Now     time.Time // where the learner is; printed, and decides what is due
	Library *content.Library
	Log     []quiz.Attempt // the whole log, voids included
	Cards   map[string]fsrs.Card
	Records []decision.Record
	// Right may be nil: then a proof's answer is told as it was shown when the
	// question was answered.
	Right RightAnswer
}

// File is one page. Name is relative, with slashes.
type File struct {
	Name string
	Body string
}

// Warning is a place that looks like something that should not leave the
// machine.
type Warning struct {
	Where string // such as "record 1a2b (Title), field notes"
	Why   string
}

// Notes are the pages, in the order of their names, and what was found in them.
type Notes struct {
	Files    []File
	Warnings []Warning
}

// MaxPages is how many pages one export makes.
const MaxPages = 20_000

// notebook is the data put in the order of the pages.
type notebook struct {
	Data
	ctx      context.Context //nolint:containedctx // lives for one Render only
	today    int
	standing []quiz.Attempt
	topics   []*topic // with something studied, in the library's order
	records  []recordPage
	terms    []*content.Term
	warnings []Warning
}

// topic is the page of one topic.
type topic struct {
	content.Topic
	file    string
	mastery quiz.TopicMastery
	studied []*studied // by question id
}

// studied is one question or prediction that was answered.
type studied struct {
	id       string
	attempts []quiz.Attempt // standing, oldest first, without skips
	missed   int            // of attempts: graded and wrong
	card     fsrs.Card
}

// last is the newest attempt.
func (s *studied) last() quiz.Attempt { return s.attempts[len(s.attempts)-1] }

// lastMiss is the newest attempt that was graded and wrong.
func (s *studied) lastMiss() quiz.Attempt {
	for _, a := range slices.Backward(s.attempts) {
		if isMiss(a) {
			return a
		}
	}
	return quiz.Attempt{}
}

func isMiss(a quiz.Attempt) bool { return a.Graded && !a.Correct }

// Render makes the notes. It fails if the context is over, or if there would be
// more than MaxPages; a proof that cannot be run is told on its page instead.
func Render(ctx context.Context, d Data) (Notes, error) {
	n := &notebook{Data: d, ctx: ctx, today: quiz.DayNumber(d.Now), standing: quiz.Live(d.Log)}
	n.collect()
	n.collectRecords()
	n.collectTerms()
	files := []File{{"index.md", n.index()}}
	for _, t := range n.topics {
		if err := ctx.Err(); err != nil {
			return Notes{}, err
		}
		files = append(files, File{t.file, n.topicPage(t)})
	}
	for _, r := range n.records {
		files = append(files, File{r.file, r.Markdown()})
	}
	if len(n.terms) > 0 {
		files = append(files, File{glossaryFile, n.glossary()})
	}
	if err := ctx.Err(); err != nil {
		return Notes{}, err // a run was cut off: its page would say so for ever
	}
	if len(files) > MaxPages {
		return Notes{}, fmt.Errorf("the notes would have %d pages, at most %d", len(files), MaxPages)
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return Notes{Files: files, Warnings: n.warnings}, nil
}

// collect sorts what was answered under the topics.
func (n *notebook) collect() {
	mastery := map[string]quiz.TopicMastery{}
	for _, m := range quiz.Mastery(n.Library, n.Cards, n.today) {
		mastery[m.Topic] = m
	}
	byID := map[string]*studied{}
	for _, a := range n.standing {
		if a.Kind == quiz.Skipped {
			continue
		}
		s := byID[a.Question]
		if s == nil {
			s = &studied{id: a.Question, card: n.Cards[a.Question]}
			byID[a.Question] = s
		}
		s.attempts = append(s.attempts, a)
		if isMiss(a) {
			s.missed++
		}
		n.warn(a)
	}
	topicOf := n.topicsOfQuestions()
	under := map[string][]*studied{}
	for id, s := range byID {
		under[topicOf[id]] = append(under[topicOf[id]], s)
	}
	names := newNames("topics")
	gone := content.Topic{Title: "No longer in the library", Blurb: "Answered once; the question has been taken out since."}
	for _, t := range append(slices.Clone(n.Library.Topics), &gone) {
		list := under[t.ID]
		if len(list) == 0 {
			continue
		}
		slices.SortFunc(list, func(a, b *studied) int { return cmp.Compare(a.id, b.id) })
		name := t.ID
		if t == &gone {
			name = "gone"
		}
		n.topics = append(n.topics, &topic{Topic: *t, file: names.take(name), mastery: mastery[t.ID], studied: list})
	}
}

// topicsOfQuestions is the topic of every question and prediction; "" is none.
func (n *notebook) topicsOfQuestions() map[string]string {
	known := map[string]bool{}
	for _, t := range n.Library.Topics {
		known[t.ID] = true
	}
	topicOf := map[string]string{}
	for _, q := range n.Library.Questions {
		if known[q.Topic] {
			topicOf[q.ID] = q.Topic
		}
	}
	n.eachPrediction(func(lab *content.Lab, part, step int) {
		if known[lab.Topic] {
			topicOf[quiz.LabQuestion(lab.ID, part, step)] = lab.Topic
		}
	})
	return topicOf
}

func (n *notebook) eachPrediction(f func(lab *content.Lab, part, step int)) {
	for _, lab := range n.Library.Labs {
		for part, p := range lab.AllParts() {
			for step, s := range p.Steps {
				if s.Predict != nil {
					f(lab, part, step)
				}
			}
		}
	}
}

// instance draws a question or prediction as it was put, or nil if that is not
// possible any more.
func (n *notebook) instance(id string, variant uint64) *quiz.Instance {
	var in *quiz.Instance
	for _, q := range n.Library.Questions {
		if q.ID == id {
			in, _ = quiz.Draw(q, variant)
			return in
		}
	}
	n.eachPrediction(func(lab *content.Lab, part, step int) {
		if in == nil && quiz.LabQuestion(lab.ID, part, step) == id {
			in, _ = quiz.ForLab(lab, part, step, variant)
		}
	})
	return in
}

// warn looks at what the learner typed.
func (n *notebook) warn(a quiz.Attempt) {
	for _, f := range (&decision.Record{Notes: a.Answer.Text}).Redact() {
		n.warnings = append(n.warnings, Warning{Where: fmt.Sprintf("the answer to %s of %s", a.Question, dayDate(a.Day)), Why: f.Why})
	}
}

// dayDate is the date of a local day number.
func dayDate(day int) string {
	return time.Unix(int64(day)*24*60*60, 0).UTC().Format(time.DateOnly)
}
