// Package quiz is the screen of a session of questions: asking, marking an
// open answer, the verdict with its sources, the evidence of a proof, and the
// summary at the end.
//
// It promises that "saved" is on the screen only after the store has said so.
// What is right, due or next is decided by the quiz room; this screen draws
// its View and hands it events.
package quiz

import (
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/ask"
	"rdmaprep/cmd/rdmaprep/internal/tui/evidence"
	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/widget"
	"rdmaprep/quiz"
)

// Screen is the quiz screen.
type Screen struct {
	host  *nav.Host
	req   *nav.Requests
	svc   Service
	place nav.Place
	md    *widget.Markdown

	s   *quiz.Session
	v   quiz.View
	why string // why there is no session

	form     *ask.Form
	shown    string // which question and phase the form and the scroll are for
	scroll   widget.Scroll
	sources  bool
	ev       *evidence.View
	prompt   *widget.Line
	jumping  bool // the prompt asks for a number, not for words
	summary  bool
	log      []quiz.Attempt // what this screen asked to be saved
	finished bool
}

// Open returns the screen for a place and the command that loads the session.
func Open(host *nav.Host, svc Service, place nav.Place) (*Screen, tea.Cmd) {
	s := &Screen{host: host, req: host.Requests(), svc: svc, place: place, md: widget.NewMarkdown(host.Theme)}
	return s, s.load()
}

// Owner tells this screen's results from those of the others.
func (s *Screen) Owner() int { return s.req.Owner() }

// Title is the screen's part of the trail.
func (s *Screen) Title() string {
	if s.s != nil && s.v.Title != "" {
		return s.v.Title
	}
	return "quiz"
}

// Strip is the device line.
func (s *Screen) Strip() string {
	if s.ev != nil {
		return s.ev.Strip()
	}
	return ""
}

// Close stops the clock of the question and cancels what is under way.
func (s *Screen) Close() { s.req.Close() }

// Typing says that letters go into an input.
func (s *Screen) Typing() bool {
	switch {
	case s.prompt != nil:
		return true
	case s.ev != nil, s.s == nil, s.summary:
		return false
	}
	return s.v.Phase == quiz.Asking && s.form != nil && s.form.Typing()
}

// Update takes one message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case nav.Result:
		value, fresh := s.req.Take(msg)
		if !fresh {
			return nil
		}
		return s.result(value)
	case nav.Saved:
		return s.savedMsg(msg)
	case tea.PasteMsg:
		if s.prompt != nil {
			s.prompt.Update(msg)
		} else if s.Typing() {
			s.form.Update(msg)
		}
		return nil
	case tea.KeyPressMsg:
		return s.key(msg)
	}
	return nil
}

func (s *Screen) key(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case s.prompt != nil:
		return s.promptKey(k)
	case s.ev != nil:
		return s.evidenceKey(k)
	case s.s == nil:
		return s.emptyKey(k)
	case s.summary:
		return s.summaryKey(k)
	}
	switch s.v.Phase {
	case quiz.Asking:
		return s.askingKey(k)
	case quiz.Marking:
		return s.markingKey(k)
	}
	return s.doneKey(k)
}

// step hands an event to the session and carries out what it asks for.
func (s *Screen) step(ev quiz.Event) tea.Cmd {
	var effects []quiz.Effect
	switch ev.(type) {
	case quiz.Give, quiz.TimeUp: // takes what is typed
	default:
		effects = s.draft()
	}
	effects = append(effects, s.s.Step(s.host.Now(), ev)...)
	s.refresh()
	return s.carry(effects)
}

// draft takes what is typed and not given yet into the session.
func (s *Screen) draft() []quiz.Effect {
	if s.form == nil || s.v.Phase != quiz.Asking {
		return nil
	}
	return s.s.Step(s.host.Now(), quiz.Draft{Text: s.form.Answer().Text})
}

// Hold keeps what is typed and not given yet.
func (s *Screen) Hold() []nav.Save {
	var saves []nav.Save
	for _, e := range s.draft() {
		if e, ok := e.(quiz.SaveState); ok {
			saves = append(saves, s.savePlace(e.State))
		}
	}
	return saves
}

// refresh takes the session's view and makes a new form when another question
// or phase is shown.
func (s *Screen) refresh() {
	s.v = s.s.View()
	in := s.v.Instance
	if in == nil {
		s.form, s.shown = nil, ""
		return
	}
	shown := in.ID() + "/" + strconv.FormatUint(in.Variant, 10) + "/" + string(s.v.Phase)
	if shown == s.shown {
		return
	}
	s.shown, s.sources, s.form = shown, false, nil
	s.scroll.Top()
	if s.v.Phase == quiz.Asking {
		s.form = ask.New(s.host.Theme, s.md, in, false)
		s.form.Fill(quiz.Answer{Text: s.v.Draft}, s.v.Sure)
	}
}

func (s *Screen) leave() tea.Cmd {
	if s.s == nil {
		return nav.Leave
	}
	return tea.Batch(s.step(quiz.Leave{}), nav.Leave)
}

func (s *Screen) askingKey(k tea.KeyPressMsg) tea.Cmd {
	if nav.EscKey.Is(k) {
		return s.leave()
	}
	if s.form == nil {
		return nil
	}
	if !s.form.Typing() && s.scroll.Unread() {
		if nav.ReadsOn(k, &s.scroll) {
			return nil
		}
		s.scroll.Release()
	}
	switch s.form.Update(k) {
	case ask.Changed:
		return nil
	case ask.Sure:
		return s.step(quiz.SetConfidence{Percent: s.form.Sure()})
	case ask.Submit:
		return s.submit()
	}
	if hintKey.Is(k) {
		if s.v.HintsLeft == 0 {
			return nav.Tell(nav.Info, "There is no further hint.")
		}
		return s.step(quiz.Hint{})
	}
	return s.moveKey(k)
}

// submit gives the answer; an open one goes straight on to its rubric.
func (s *Screen) submit() tea.Cmd {
	cmd := s.step(quiz.Give{Answer: s.form.Answer()})
	if s.v.Phase == quiz.Marking {
		return tea.Batch(cmd, s.step(quiz.Reveal{}))
	}
	if s.v.Phase == quiz.Asking && s.v.Message != "" {
		s.form.Note = s.v.Message
	}
	return cmd
}

// moveKey are the keys that go from question to question.
func (s *Screen) moveKey(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case nav.BackKey.Is(k):
		return s.leave()
	case skipKey.Is(k):
		if s.v.Phase == quiz.Asking {
			cmd := s.step(quiz.Skip{})
			return tea.Batch(cmd, s.endIfFinished())
		}
		return s.next()
	case prevKey.Is(k):
		return s.step(quiz.Prev{})
	case undoKey.Is(k):
		if !s.v.CanUndo {
			return nav.Tell(nav.Info, "There is no answer of this session to take back.")
		}
		return s.step(quiz.Undo{})
	case jumpKey.Is(k):
		s.jumping, s.prompt = true, widget.NewLine("go to question number: ", "")
	case nav.FilterKey.Is(k):
		s.jumping, s.prompt = false, widget.NewLine("search: ", "")
	case nav.Moves(k, &s.scroll):
	}
	return nil
}

func (s *Screen) next() tea.Cmd {
	if cmd := s.endIfFinished(); s.summary {
		return cmd
	}
	return s.step(quiz.Next{})
}

// endIfFinished shows the summary once nothing is left to be asked.
func (s *Screen) endIfFinished() tea.Cmd {
	if !s.v.Finished || s.v.Number < s.v.Total && !s.v.Skipped && !s.finished {
		return nil
	}
	s.summary, s.finished = true, true
	s.scroll.Top()
	return nil
}

func (s *Screen) promptKey(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case nav.EscKey.Is(k):
		s.prompt = nil
		return nil
	case nav.EnterKey.Is(k):
		text, jumping := s.prompt.Value(), s.jumping
		s.prompt = nil
		if text == "" {
			return nil
		}
		if !jumping {
			return s.after(s.step(quiz.Search{Words: text}))
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > s.v.Total {
			return nav.Tell(nav.Warn, "There is no question "+strconv.Quote(text)+"; they are numbered 1 to "+strconv.Itoa(s.v.Total)+".")
		}
		return s.after(s.step(quiz.Jump{Number: n}))
	}
	s.prompt.Update(k)
	return nil
}

// after shows what the session said about an event.
func (s *Screen) after(cmd tea.Cmd) tea.Cmd {
	if s.v.Message == "" {
		return cmd
	}
	return tea.Batch(cmd, nav.Tell(nav.Info, s.v.Message))
}

func (s *Screen) markingKey(k tea.KeyPressMsg) tea.Cmd {
	marked := len(s.v.Points) == s.v.PointsTotal && s.v.Suggested > 0
	switch {
	case !marked && yesKey.Is(k):
		return s.step(quiz.Mark{Made: true})
	case !marked && noKey.Is(k):
		return s.step(quiz.Mark{Made: false})
	case marked && followKey.Is(k):
		return s.step(quiz.FollowUp{})
	case marked && nav.EnterKey.Is(k):
		return s.step(quiz.GradeSelf{Grade: s.v.Suggested})
	case marked && gradeKey.Is(k):
		return s.step(quiz.GradeSelf{Grade: int(k.String()[0] - '0')})
	}
	return s.moveKey(k)
}

func (s *Screen) doneKey(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case s.v.Phase == quiz.Done && nav.EnterKey.Is(k):
		return s.next()
	case sourcesKey.Is(k):
		s.sources = !s.sources
		return nil
	case evidenceKey.Is(k) && s.v.Phase == quiz.Done:
		if !s.v.Instance.HasProof() {
			return nav.Tell(nav.Info, "This claim is not run here: "+notRun(s.v.Instance))
		}
		return s.step(quiz.Evidence{})
	}
	return s.moveKey(k)
}

// tickEvery is how often the clock of the interview is drawn.
const tickEvery = time.Second
