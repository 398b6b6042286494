// Package lesson is the screen of the lessons: the list of them, and one
// lesson as a page to scroll with its checks answered in place.
//
// It promises that reading never answers anything by itself: a check takes
// keys only after enter has gone into it. Checks are graded by the quiz room.
package lesson

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/ask"
	"rdmaprep/cmd/rdmaprep/internal/tui/evidence"
	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/widget"
	"rdmaprep/content"
	"rdmaprep/lessons"
	"rdmaprep/quiz"
)

// Service is what the screen asks for.
type Service interface {
	Lessons() []*content.Lesson
	TopicTitle(id string) string
	OpenLesson(ctx context.Context, id string) (*lessons.Reader, error)
	// LessonMarks says of each lesson, by id, whether it was read: "" or "read".
	LessonMarks(ctx context.Context) (map[string]string, error)
	MarkLesson(ctx context.Context, id string) error
	// Prove runs the proof of a check.
	Prove(ctx context.Context, in *quiz.Instance, order []int, profile string) (quiz.Key, evidence.Run, error)
	// Show runs a proof to be looked at, on the device that was chosen.
	Show(ctx context.Context, in *quiz.Instance, order []int) (quiz.Key, evidence.Run, error)
	SaveAttempt(ctx context.Context, a quiz.Attempt) error
}

// Screen is the lesson screen.
type Screen struct {
	host *nav.Host
	req  *nav.Requests
	svc  Service
	md   *widget.Markdown

	all    []*content.Lesson
	marks  map[string]string
	list   widget.List
	scroll widget.Scroll

	id     string
	direct bool
	r      *lessons.Reader
	err    error
	page   widget.Scroll
	focus  int // block of the check that takes the keys, -1 for none
	form   *ask.Form
	ev     *evidence.View
	marked bool // the lesson was marked as read
	warned bool // was told that something typed is not given
}

type marks struct {
	marks map[string]string
	err   error
}

type opened struct {
	r   *lessons.Reader
	err error
}

type proved struct {
	block, seq int
	why        string
	key        quiz.Key
	run        evidence.Run
	err        error
}

// Open returns the list of lessons, or the lesson with the given id.
func Open(host *nav.Host, svc Service, id string) (*Screen, tea.Cmd) {
	s := &Screen{host: host, req: host.Requests(), svc: svc, md: widget.NewMarkdown(host.Theme), all: svc.Lessons(), focus: -1, direct: id != ""}
	s.list.Resize(len(s.all))
	if id != "" {
		return s, s.open(id)
	}
	return s, s.loadMarks()
}

func (s *Screen) loadMarks() tea.Cmd {
	return s.req.Do("marks", func(ctx context.Context) tea.Msg {
		m, err := s.svc.LessonMarks(ctx)
		return marks{m, err}
	})
}

func (s *Screen) open(id string) tea.Cmd {
	s.id, s.r, s.err, s.focus, s.form, s.ev, s.marked, s.warned = id, nil, nil, -1, nil, nil, false, false
	s.page.Top()
	return s.req.Do("open", func(ctx context.Context) tea.Msg {
		r, err := s.svc.OpenLesson(ctx, id)
		return opened{r, err}
	})
}

// Owner tells this screen's results from those of the others.
func (s *Screen) Owner() int { return s.req.Owner() }

// Title is the screen's part of the trail.
func (s *Screen) Title() string {
	for _, l := range s.all {
		if l.ID == s.id {
			return "lessons ▸ " + l.Title
		}
	}
	return "lessons"
}

// Strip is the device line.
func (s *Screen) Strip() string {
	if s.ev != nil {
		return s.ev.Strip()
	}
	return ""
}

// Typing says that letters go into the input of a check.
func (s *Screen) Typing() bool { return s.ev == nil && s.form != nil && s.form.Typing() }

// Close cancels what is under way.
func (s *Screen) Close() { s.req.Close() }

// Update takes one message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case nav.Result:
		if v, fresh := s.req.Take(msg); fresh {
			return s.result(v)
		}
	case nav.Saved:
		return s.savedMsg(msg)
	case nav.Shown:
		return s.loadMarks()
	case tea.PasteMsg:
		if s.Typing() {
			s.form.Update(msg)
		}
	case tea.KeyPressMsg:
		return s.key(msg)
	}
	return nil
}

func (s *Screen) result(v tea.Msg) tea.Cmd {
	switch v := v.(type) {
	case marks:
		if v.err != nil {
			return nav.Tell(nav.Warn, "Which lessons were read could not be found out: "+v.err.Error())
		}
		s.marks = v.marks
	case opened:
		s.r, s.err = v.r, v.err
		if v.r != nil && v.err != nil {
			s.err = nil
			return nav.Tell(nav.Warn, v.err.Error())
		}
	case proved:
		return s.proved(v)
	}
	return nil
}

func (s *Screen) proof(ctx context.Context, e quiz.RunProof) (quiz.Key, evidence.Run, error) {
	if e.Why == quiz.ForEvidence {
		return s.svc.Show(ctx, e.Instance, e.Order)
	}
	return s.svc.Prove(ctx, e.Instance, e.Order, "")
}

func (s *Screen) proved(v proved) tea.Cmd {
	if v.why == quiz.ForEvidence {
		if v.err != nil && v.run.Err == "" {
			v.run.Err = v.err.Error()
		}
		v.run.Fixed = true
		s.ev = evidence.New(s.host.Theme, v.run)
	}
	if v.err != nil {
		return s.step(v.block, quiz.ProofFailed{Seq: v.seq, Why: v.err.Error()})
	}
	return s.step(v.block, quiz.ProofDone{Seq: v.seq, Key: v.key})
}

func (s *Screen) step(block int, ev quiz.Event) tea.Cmd {
	if s.r == nil {
		return nil
	}
	var cmds []tea.Cmd
	for _, e := range s.r.Step(s.host.Now(), block, ev) {
		switch e := e.Effect.(type) {
		case quiz.SaveAttempt:
			a := e.Attempt
			cmds = append(cmds, nav.Keep(nav.Save{
				Owner: s.req.Owner(), ID: string(a.ID), What: "the answer to " + a.Question,
				Do: func(ctx context.Context) error { return s.svc.SaveAttempt(ctx, a) },
			}))
		case quiz.RunProof:
			cmds = append(cmds, s.prove(block, e))
		}
	}
	s.refresh(block)
	return tea.Batch(append(cmds, s.markIfRead())...)
}

func (s *Screen) prove(block int, e quiz.RunProof) tea.Cmd {
	return s.req.Do(fmt.Sprint("proof", block), func(ctx context.Context) tea.Msg {
		key, run, err := s.proof(ctx, e)
		return proved{block: block, seq: e.Seq, why: e.Why, key: key, run: run, err: err}
	})
}

// refresh takes the form away once its check was answered.
func (s *Screen) refresh(block int) {
	v, ok := s.r.Check(block)
	if ok && block == s.focus && v.Phase != quiz.Asking {
		s.form = nil
	}
}

// markIfRead marks the lesson as read once every check was answered and the
// end was seen.
func (s *Screen) markIfRead() tea.Cmd {
	if s.marked || s.r == nil || !s.r.Finished() || !s.page.AtEnd() && len(s.r.Checks()) == 0 {
		return nil
	}
	s.marked = true
	id := s.id
	return nav.Keep(nav.Save{
		Owner: s.req.Owner(), What: "that the lesson was read",
		Do: func(ctx context.Context) error { return s.svc.MarkLesson(ctx, id) },
	})
}

// savedMsg tells the checks how a save went; a check that did not ask for it
// drops it.
func (s *Screen) savedMsg(m nav.Saved) tea.Cmd {
	if m.ID == "" || s.r == nil {
		return nil
	}
	var cmds []tea.Cmd
	for _, b := range s.r.Checks() {
		if m.Err != nil {
			cmds = append(cmds, s.step(b, quiz.SaveFailed{ID: quiz.ID(m.ID), Why: m.Err.Error()}))
		} else {
			cmds = append(cmds, s.step(b, quiz.Saved{ID: quiz.ID(m.ID)}))
		}
	}
	return tea.Batch(cmds...)
}
