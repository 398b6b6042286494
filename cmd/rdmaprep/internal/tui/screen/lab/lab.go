// Package lab is the screen of the guided labs: the list of them, the steps
// with prediction, run and observation, the question of scale and the form of
// the decision record.
//
// It promises that a prediction and how sure one was are locked before a step
// runs, and that the objects and the wire on the screen are those of the step
// under the cursor. The lab's own rules are the lessons room's.
package lab

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/study"
	"rdmaprep/cmd/rdmaprep/internal/tui/ask"
	"rdmaprep/cmd/rdmaprep/internal/tui/evidence"
	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/widget"
	"rdmaprep/content"
	"rdmaprep/lessons"
	"rdmaprep/lessons/decision"
	"rdmaprep/quiz"
)

// Runner runs the steps of one lab; study.LabRun is one.
type Runner interface {
	Step(ctx context.Context, part, step int, fresh bool) (lessons.Observation, error)
	Close() error
	// Where says what a part runs on as things are now.
	Where(part int) study.Where
}

// Service is what the screen asks for.
type Service interface {
	Labs() []*content.Lab
	TopicTitle(id string) string
	// OpenLab makes a lab, or goes on with one that was left half-way unless
	// anew is set; resumed says which.
	OpenLab(ctx context.Context, id string, anew bool) (l *lessons.Lab, r Runner, resumed bool, err error)
	// LabMarks says of each lab, by id, how far it is: "", "half-way", "done".
	LabMarks(ctx context.Context) (map[string]string, error)
	SaveAttempt(ctx context.Context, a quiz.Attempt) error
	SaveRecord(ctx context.Context, r decision.Record) error
	SaveLab(ctx context.Context, st lessons.LabState) error
}

// Screen is the lab screen.
type Screen struct {
	host *nav.Host
	req  *nav.Requests
	svc  Service
	md   *widget.Markdown

	// The list of labs.
	labs   []*content.Lab
	marks  map[string]string
	list   widget.List
	scroll widget.Scroll

	// The lab that is open.
	id     string
	direct bool // opened by id: leaving it leaves the screen
	l      *lessons.Lab
	run    *bench
	v      lessons.View
	err    error

	form    *ask.Form
	shown   string // which step and phase the form and the scrolls are for
	main    widget.Scroll
	wire    widget.Scroll
	objs    widget.Scroll
	narrow  bool                            // as the last frame was: one pane at a time
	side    bool                            // on a narrow screen: objects and wire instead of the step
	last    map[[2]int]*lessons.Observation // by part and step: what was run
	sources bool
	ev      *evidence.View
	text    *widget.Text // the answer to the question of scale
	rec     *recordForm
}

// Open returns the list of labs, or the lab with the given id.
func Open(host *nav.Host, svc Service, id string) (*Screen, tea.Cmd) {
	s := &Screen{host: host, req: host.Requests(), svc: svc, md: widget.NewMarkdown(host.Theme), labs: svc.Labs(), direct: id != ""}
	s.list.Resize(len(s.labs))
	if id != "" {
		return s, s.open(id, false)
	}
	return s, s.loadMarks()
}

type marked struct {
	marks map[string]string
	err   error
}

type opened struct {
	l       *lessons.Lab
	run     Runner
	resumed bool
	err     error
}

type ran struct {
	seq int
	o   lessons.Observation
	err error
}

func (s *Screen) loadMarks() tea.Cmd {
	return s.req.Do("marks", func(ctx context.Context) tea.Msg {
		m, err := s.svc.LabMarks(ctx)
		return marked{m, err}
	})
}

func (s *Screen) open(id string, anew bool) tea.Cmd {
	s.id, s.err, s.rec, s.ev, s.text, s.shown = id, nil, nil, nil, nil, ""
	return s.req.Do("open", func(ctx context.Context) tea.Msg {
		l, run, resumed, err := s.svc.OpenLab(ctx, id, anew)
		return opened{l, run, resumed, err}
	})
}

// Owner tells this screen's results from those of the others.
func (s *Screen) Owner() int { return s.req.Owner() }

// Title is the screen's part of the trail.
func (s *Screen) Title() string {
	for _, l := range s.labs {
		if l.ID == s.id {
			return "labs ▸ " + l.Title
		}
	}
	return "labs"
}

// Strip is the device line of the step under the cursor.
func (s *Screen) Strip() string {
	switch {
	case s.ev != nil:
		return s.ev.Strip()
	case s.l == nil:
		return ""
	}
	if o := s.v.Step.Observation; o != nil {
		return evidence.Strip(o.Device, o.Profile, o.Live, o.Seed, o.At)
	}
	w := s.run.run.Where(s.v.Step.Part)
	if o := s.before(); o != nil && w.Live == "" {
		return evidence.Strip(o.Device, o.Profile, o.Live, o.Seed, o.At)
	}
	return evidence.Strip(w.Live, s.v.Profile, w.Live != "", s.v.Seed, 0)
}

// before is what the step before the one under the cursor left, nil at the
// beginning of a part.
func (s *Screen) before() *lessons.Observation {
	return s.last[[2]int{s.v.Step.Part, s.v.Step.Step - 1}]
}

// Typing says that letters go into an input.
func (s *Screen) Typing() bool {
	if s.l == nil || s.ev != nil {
		return false
	}
	return s.v.Phase == lessons.Scaling && s.text != nil || s.rec != nil && s.rec.typing()
}

// Close cancels the run that is under way and closes the Bench.
func (s *Screen) Close() { s.closeLab(); s.req.Close() }

// closeLab leaves the lab that is open.
func (s *Screen) closeLab() {
	s.req.Drop("run")
	s.req.Drop("open")
	if s.run != nil {
		s.run.leave()
	}
	s.l, s.run, s.id = nil, nil, ""
}

// Update takes one message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case nav.Result:
		v, fresh := s.req.Take(msg)
		if !fresh {
			if o, ok := msg.Value.(opened); ok && o.run != nil {
				(&bench{run: o.run}).leave() // the lab was left before it was open
			}
			return nil
		}
		return s.result(v)
	case nav.Saved:
		return s.savedMsg(msg)
	case tea.PasteMsg:
		s.paste(msg)
	case tea.KeyPressMsg:
		return s.key(msg)
	}
	return nil
}

func (s *Screen) result(v tea.Msg) tea.Cmd {
	switch v := v.(type) {
	case marked:
		if v.err != nil {
			return nav.Tell(nav.Warn, "Which labs are done could not be read: "+v.err.Error())
		}
		s.marks = v.marks
	case opened:
		if v.err != nil {
			s.err = v.err
			return nil
		}
		s.l, s.run, s.last = v.l, &bench{run: v.run}, map[[2]int]*lessons.Observation{}
		cmd := s.step(lessons.Begin{})
		if v.resumed {
			cmd = tea.Batch(cmd, nav.Tell(nav.Info, "This goes on where you left it. A starts the lab again."))
		}
		return cmd
	case ran:
		if v.err != nil {
			return s.step(lessons.StepFailed{Seq: v.seq, Why: v.err.Error()})
		}
		return s.step(lessons.StepRan{Seq: v.seq, Observation: v.o})
	}
	return nil
}

func (s *Screen) step(ev lessons.Event) tea.Cmd {
	effects := s.l.Step(s.host.Now(), ev)
	s.refresh()
	return s.carry(effects)
}

// refresh takes the lab's view and makes new inputs when another step or phase
// is shown.
func (s *Screen) refresh() {
	s.v = s.l.View()
	if o := s.v.Step.Observation; o != nil {
		s.last[[2]int{s.v.Step.Part, s.v.Step.Step}] = o
	}
	shown := s.v.Step.Place + "/" + string(s.v.Phase)
	if s.v.Step.Observation != nil {
		shown += "/ran"
	}
	if shown == s.shown {
		return
	}
	s.shown, s.sources, s.form, s.side = shown, false, nil, false
	s.main.Top()
	s.wire.Top()
	s.objs.Top()
	switch s.v.Phase {
	case lessons.Reading:
		if p := s.v.Step.Content.Predict; p != nil && s.v.Current && s.v.Step.Locked == nil {
			s.form = ask.New(s.host.Theme, s.md, predictionInstance(p), true)
			if s.v.Pick >= 0 {
				s.form.Fill(quiz.Answer{Picks: []int{s.v.Pick}}, s.v.Sure)
			}
		}
	case lessons.Scaling:
		if s.text == nil {
			s.text = widget.NewText(s.v.ScaleAnswer)
		}
	case lessons.Recording:
		if s.rec == nil {
			s.rec = newRecordForm(s.v.Record)
		}
	}
}

// predictionInstance puts a prediction into the form of a question, its
// options in the lab's own order.
func predictionInstance(p *content.Prediction) *quiz.Instance {
	in := &quiz.Instance{Question: &content.Question{Kind: content.Choice, Prompt: p.Prompt}, AnyOf: true}
	for i, o := range p.Options {
		in.Choices = append(in.Choices, quiz.Shown{Text: o.Text, Why: o.Why, Origin: i})
	}
	return in
}

func (s *Screen) carry(effects []lessons.Effect) tea.Cmd {
	var cmds []tea.Cmd
	for _, e := range effects {
		switch e := e.(type) {
		case lessons.RunStep:
			cmds = append(cmds, s.runStep(e))
		case lessons.SaveAttempt:
			a := e.Attempt
			cmds = append(cmds, s.keep(string(a.ID), "the prediction "+a.Question, func(ctx context.Context) error { return s.svc.SaveAttempt(ctx, a) }))
		case lessons.SaveRecord:
			r := e.Record
			cmds = append(cmds, s.keep(r.ID, "the decision record", func(ctx context.Context) error { return s.svc.SaveRecord(ctx, r) }))
		case lessons.SaveState:
			cmds = append(cmds, nav.Keep(s.savePlace(e.State)))
		}
	}
	return tea.Batch(cmds...)
}

// savePlace is the save of where the lab stands.
func (s *Screen) savePlace(st lessons.LabState) nav.Save {
	return nav.Save{
		Owner: s.req.Owner(), What: "where you are in the lab",
		Do: func(ctx context.Context) error { return s.svc.SaveLab(ctx, st) },
	}
}

// Hold keeps what is typed and not given yet: the answer to the question of
// scale, or the field of the record that is being edited.
func (s *Screen) Hold() []nav.Save {
	var ev lessons.Event
	switch {
	case s.l == nil:
		return nil
	case s.v.Phase == lessons.Scaling && s.text != nil:
		ev = lessons.Draft{Text: s.text.Value()}
	case s.rec != nil && s.rec.typing():
		s.rec.take()
		ev = lessons.Edit{Record: s.rec.rec}
	default:
		return nil
	}
	var saves []nav.Save
	for _, e := range s.l.Step(s.host.Now(), ev) {
		if e, ok := e.(lessons.SaveState); ok {
			saves = append(saves, s.savePlace(e.State))
		}
	}
	s.refresh()
	return saves
}

func (s *Screen) keep(id, what string, do func(context.Context) error) tea.Cmd {
	return nav.Keep(nav.Save{Owner: s.req.Owner(), ID: id, What: what, Do: do})
}

func (s *Screen) runStep(e lessons.RunStep) tea.Cmd {
	run := s.run
	return s.req.Do("run", func(ctx context.Context) tea.Msg {
		o, err := run.step(ctx, e.Part, e.Step, e.Fresh)
		return ran{e.Seq, o, err}
	})
}

func (s *Screen) savedMsg(m nav.Saved) tea.Cmd {
	if m.ID == "" || s.l == nil {
		return nil
	}
	if m.Err != nil {
		return s.step(lessons.SaveFailed{ID: m.ID, Why: m.Err.Error()})
	}
	return s.step(lessons.Saved{ID: m.ID})
}
