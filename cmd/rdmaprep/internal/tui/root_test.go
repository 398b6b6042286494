package tui

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
)

// plate is a screen that shows one line and remembers what it was told.
type plate struct {
	req    *nav.Requests
	got    []tea.Msg
	update func(tea.Msg) tea.Cmd
	view   func() string
	closed bool
}

func (p *plate) Update(msg tea.Msg) tea.Cmd {
	if res, ok := msg.(nav.Result); ok {
		v, fresh := p.req.Take(res)
		if !fresh {
			return nil
		}
		msg = v
	}
	p.got = append(p.got, msg)
	if p.update != nil {
		return p.update(msg)
	}
	return nil
}

func (p *plate) View(int, int) (string, *tea.Cursor) {
	if p.view != nil {
		return p.view(), nil
	}
	return "plate", nil
}
func (p *plate) Keys() []nav.Key { return nil }
func (p *plate) Title() string   { return "plate" }
func (p *plate) Strip() string   { return "" }
func (p *plate) Typing() bool    { return false }
func (p *plate) Owner() int      { return p.req.Owner() }
func (p *plate) Close()          { p.closed = true; p.req.Close() }

// table is a model with plates on it instead of screens.
func table(plates ...*plate) *Model {
	m := New(Config{Now: func() time.Time { return time.Unix(1_700_000_000, 0).UTC() }})
	m.w, m.h = 80, 24
	for _, p := range plates {
		p.req = m.host.Requests()
		m.stack = append(m.stack, p)
	}
	return m
}

// press sends a key and returns what the model wants done, not yet done.
func press(m *Model, k tea.KeyPressMsg) tea.Cmd {
	_, cmd := m.Update(k)
	return cmd
}

var ctrlC = tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}

// isQuit runs a command and says whether it ends the program.
func isQuit(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	_, ok := cmd().(tea.QuitMsg)
	return ok
}

func save(p *plate, id string, err *error) nav.Save {
	return nav.Save{Owner: p.req.Owner(), ID: id, What: "answer " + id, Do: func(context.Context) error { return *err }}
}

// pump runs a command and everything that follows from it.
func pump(m *Model, cmd tea.Cmd) (quit bool) {
	if cmd == nil {
		return false
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.QuitMsg:
		return true
	case tea.BatchMsg:
		for _, c := range msg {
			quit = pump(m, c) || quit
		}
	default:
		_, next := m.Update(msg)
		quit = pump(m, next)
	}
	return quit
}

func TestQuitWaitsForTheSave(t *testing.T) {
	p := &plate{}
	m := table(p)
	var no error
	_, saving := m.Update(save(p, "1", &no))
	if isQuit(press(m, ctrlC)) {
		t.Fatal("quit while a save was under way")
	}
	if frame, _ := m.Frame(); !strings.Contains(frame, "Saving, then quitting") {
		t.Errorf("the frame does not say that it waits:\n%s", frame)
	}
	if !pump(m, saving) {
		t.Fatal("the save is done and the program did not end")
	}
	if !p.closed {
		t.Error("the screen was not closed")
	}
}

func TestFailedSaveIsShownKeptInOrderAndRetried(t *testing.T) {
	p := &plate{}
	m := table(p)
	disk := errors.New("the disk is full")
	pump(m, func() tea.Msg { return save(p, "1", &disk) })
	pump(m, func() tea.Msg { return save(p, "2", &disk) })
	frame, _ := m.Frame()
	for _, want := range []string{"NOT SAVED", "answer 1", "1 more", "the disk is full", "ctrl+r"} {
		if !strings.Contains(frame, want) {
			t.Errorf("the frame does not say %q:\n%s", want, frame)
		}
	}
	if isQuit(press(m, ctrlC)) {
		t.Fatal("quit without a warning although an answer is not saved")
	}
	disk = nil
	pump(m, press(m, tea.KeyPressMsg{Code: 'r', Mod: tea.ModCtrl}))
	var ok []string
	for _, msg := range p.got {
		if s, is := msg.(nav.Saved); is && s.Err == nil {
			ok = append(ok, s.ID)
		}
	}
	if got := strings.Join(ok, " "); got != "1 2" {
		t.Errorf("saved %q after the retry, want \"1 2\"", got)
	}
	if frame, _ = m.Frame(); strings.Contains(frame, "NOT SAVED") {
		t.Error("the warning stays after the retry")
	}
	if !isQuit(press(m, ctrlC)) {
		t.Error("does not quit after everything was saved")
	}
}

func TestQuitTwiceGivesUpAFailedSave(t *testing.T) {
	p := &plate{}
	m := table(p)
	disk := errors.New("the disk is full")
	pump(m, func() tea.Msg { return save(p, "1", &disk) })
	if isQuit(press(m, ctrlC)) {
		t.Fatal("the first ctrl+c quit")
	}
	if !isQuit(press(m, ctrlC)) {
		t.Fatal("the second ctrl+c did not quit")
	}
}

// A signal cannot be answered with a question: it waits for what is under way
// and gives up what failed.
func TestSignalWaitsForTheSaveOnly(t *testing.T) {
	p := &plate{}
	m := table(p)
	var no error
	_, saving := m.Update(save(p, "1", &no))
	msg := filter(m, tea.QuitMsg{})
	if _, ok := msg.(tea.QuitMsg); ok {
		t.Fatal("a quit from outside was let through while a save was under way")
	}
	if _, cmd := m.Update(msg); isQuit(cmd) {
		t.Fatal("it did not wait")
	}
	if !pump(m, saving) {
		t.Fatal("it did not end after the save")
	}
	if _, ok := filter(m, tea.QuitMsg{}).(tea.QuitMsg); !ok {
		t.Error("the model's own quit is held back")
	}
}

func TestPositionSavesAreCoalesced(t *testing.T) {
	p := &plate{}
	m := table(p)
	n := 0
	where := nav.Save{Owner: p.req.Owner(), What: "where you are", Do: func(context.Context) error { n++; return nil }}
	_, first := m.Update(where)
	for range 5 {
		m.Update(where)
	}
	pump(m, first)
	if n != 2 {
		t.Errorf("%d saves of the position were carried out, want 2: the one under way and the newest", n)
	}
}

func TestStaleResultsAreDropped(t *testing.T) {
	p := &plate{}
	m := table(p)
	old := p.req.Do("x", func(context.Context) tea.Msg { return "old" })
	fresh := p.req.Do("x", func(context.Context) tea.Msg { return "new" })
	pump(m, fresh)
	pump(m, old)
	if len(p.got) != 1 || p.got[0] != "new" {
		t.Errorf("the screen got %v, want only the newest answer", p.got)
	}
}

func TestLeavingCancelsAndDrops(t *testing.T) {
	below, above := &plate{}, &plate{}
	m := table(below, above)
	var ctx context.Context
	ask := above.req.Do("x", func(c context.Context) tea.Msg { ctx = c; return "late" })
	pump(m, nav.Leave)
	pump(m, ask)
	if ctx.Err() == nil {
		t.Error("the context of a screen that was left is not cancelled")
	}
	if len(above.got) != 0 {
		t.Errorf("a screen that was left got %v", above.got)
	}
	if len(below.got) != 1 || below.got[0] != (nav.Shown{}) {
		t.Errorf("the screen below got %v, want Shown", below.got)
	}
}

func TestPanicsEndWithAReport(t *testing.T) {
	boom := func() tea.Msg { panic("boom") }
	for name, cause := range map[string]func(*Model, *plate) bool{
		"Update": func(m *Model, p *plate) bool {
			p.update = func(tea.Msg) tea.Cmd { panic("boom") }
			return isQuit(press(m, tea.KeyPressMsg{Code: 'a', Text: "a"}))
		},
		"command": func(m *Model, p *plate) bool {
			p.update = func(msg tea.Msg) tea.Cmd {
				if _, ok := msg.(tea.KeyPressMsg); ok {
					return boom
				}
				return nil
			}
			return pump(m, press(m, tea.KeyPressMsg{Code: 'a', Text: "a"}))
		},
		"batch": func(m *Model, p *plate) bool {
			p.update = func(tea.Msg) tea.Cmd { return tea.Batch(boom, func() tea.Msg { return nil }) }
			return pump(m, press(m, tea.KeyPressMsg{Code: 'a', Text: "a"}))
		},
		"View": func(m *Model, p *plate) bool {
			stopped := false
			m.onCrash = func() { stopped = true }
			p.view = func() string { panic("boom") }
			m.View()
			return stopped
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &plate{}
			m := table(p)
			if !cause(m, p) {
				t.Error("the program was not ended")
			}
			if m.crash == nil {
				t.Fatal("the panic was not caught")
			}
			dir := t.TempDir()
			err := m.crash.report(dir, "v0", m.cfg.Now())
			var ce *CrashError
			if !errors.As(err, &ce) || !strings.HasPrefix(ce.Report, dir) {
				t.Fatalf("got %v, want a CrashError with a report in %s", err, dir)
			}
			text, err := os.ReadFile(ce.Report)
			if err != nil || !strings.Contains(string(text), "panic: boom") || !strings.Contains(string(text), "root_test.go") {
				t.Errorf("the report does not show the panic and where it was: %v\n%s", err, text)
			}
		})
	}
}

func TestTooSmallSaysWhatIsNeededAndRecovers(t *testing.T) {
	m := table(&plate{})
	m.Update(tea.WindowSizeMsg{Width: 40, Height: 10})
	frame, _ := m.Frame()
	if !strings.Contains(frame, "60 by 15") {
		t.Errorf("does not say what size is needed:\n%s", frame)
	}
	m.Update(tea.WindowSizeMsg{Width: 60, Height: 15})
	if frame, _ = m.Frame(); !strings.Contains(frame, "plate") {
		t.Errorf("does not recover:\n%s", frame)
	}
}

func TestSuspend(t *testing.T) {
	m := table(&plate{})
	cmd := press(m, tea.KeyPressMsg{Code: 'z', Mod: tea.ModCtrl})
	if _, ok := cmd().(tea.SuspendMsg); !ok {
		t.Error("ctrl+z does not suspend")
	}
}
