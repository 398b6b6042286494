// Package tui is the trainer on a terminal: the one root model, which routes
// messages to the screens, lays out the frame, carries out saves in order and
// answers the keys that work everywhere.
//
// It promises that every frame fits the terminal, that quitting waits for what
// is being saved, and that a fault of its own restores the terminal and leaves
// a report. It does not decide what is right, due or saved: quiz, lessons and
// study do.
package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/screen/device"
	"rdmaprep/cmd/rdmaprep/internal/tui/theme"
	"rdmaprep/cmd/rdmaprep/internal/tui/widget"
)

// The smallest terminal that the screens are made for, in columns and lines.
const (
	MinWidth  = 60
	MinHeight = 15
)

// Model is the root model.
type Model struct {
	cfg    Config
	host   *nav.Host
	stack  []nav.Screen
	w, h   int
	saves  outbox
	notice *nav.Notice

	help       bool
	helpScroll widget.Scroll

	quitting bool // waits for the saves
	forced   bool // quits even if they fail
	warned   bool // was told once that something is not saved
	mayQuit  bool // tea.Quit was sent by the model itself
	crash    *crash
	onCrash  func() // stops the program after a panic in View
}

// New returns the root model with the home screen on it.
func New(cfg Config) *Model {
	cfg = cfg.withDefaults()
	m := &Model{cfg: cfg}
	m.host = &nav.Host{Ctx: cfg.Ctx, Theme: theme.New(!cfg.Light), Now: cfg.Now, Tick: cfg.Tick, Device: cfg.Device}
	return m
}

// Init opens the first screen and asks for the terminal's background.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.open(nav.Place{Kind: nav.Home}), tea.RequestBackgroundColor}
	if m.cfg.Start.Kind != "" {
		cmds = append(cmds, m.open(m.cfg.Start))
	}
	return guard(tea.Batch(cmds...))
}

// Update takes one message.
func (m *Model) Update(msg tea.Msg) (out tea.Model, cmd tea.Cmd) {
	out = m
	defer func() {
		if v := recover(); v != nil {
			m.crash, m.mayQuit = newCrash("Update", v), true
			cmd = tea.Quit
		}
	}()
	return m, guard(m.update(msg))
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		return nil
	case tea.BackgroundColorMsg:
		return m.retheme(msg.IsDark())
	case tea.ResumeMsg:
		return tea.ClearScreen
	case tea.KeyPressMsg:
		return m.key(msg)
	case crashMsg:
		m.crash, m.mayQuit = msg.c, true
		return tea.Quit
	case nav.Go:
		return m.open(msg.Place)
	case nav.Swap:
		return m.swap(msg.Place)
	case nav.Back:
		return m.back()
	case nav.Quit:
		return m.quit(false)
	case stop:
		return m.quit(true)
	case nav.Notice:
		m.notice = &msg
		return nil
	case nav.Save:
		return m.saves.add(msg)
	case saveDone:
		return m.saved(msg.err)
	case nav.Result:
		return m.to(msg.Owner, msg)
	}
	if s := m.top(); s != nil {
		return s.Update(msg)
	}
	return nil
}

// stop is a request to end from outside: a signal.
type stop struct{}

func (m *Model) top() nav.Screen {
	if len(m.stack) == 0 {
		return nil
	}
	return m.stack[len(m.stack)-1]
}

// to hands a message to the screen with the given owner number; that of a
// screen which was left is dropped.
func (m *Model) to(owner int, msg tea.Msg) tea.Cmd {
	for _, s := range m.stack {
		if s.Owner() == owner {
			return s.Update(msg)
		}
	}
	return nil
}

func (m *Model) retheme(dark bool) tea.Cmd {
	if dark == m.host.Theme.Dark {
		return nil
	}
	m.host.Theme.Set(dark)
	for _, s := range m.stack {
		s.Update(nav.Themed{})
	}
	return nil
}

func (m *Model) saved(err error) tea.Cmd {
	told, next := m.saves.done(err)
	cmd := m.to(told.Owner, told)
	if m.quitting && m.saves.idle() {
		if m.saves.failed == nil || m.forced {
			return m.exit()
		}
		m.quitting = false
	}
	return tea.Batch(cmd, next)
}

// quit ends the program once nothing is being saved. force is for signals:
// what cannot be saved is given up and reported after the end.
func (m *Model) quit(force bool) tea.Cmd {
	m.forced = m.forced || force
	held := m.hold()
	switch {
	case m.saves.running:
		m.quitting = true
		return held
	case m.saves.failed != nil && !force && !m.warned:
		m.warned = true
		m.notice = &nav.Notice{Level: nav.Bad, Text: "Quit again to lose it, or ctrl+r to try again."}
		return nil
	}
	return m.exit()
}

// hold asks for the saves of what is typed on the screens and not given yet.
func (m *Model) hold() tea.Cmd {
	var cmds []tea.Cmd
	for _, s := range m.stack {
		if h, ok := s.(nav.Holder); ok {
			for _, save := range h.Hold() {
				cmds = append(cmds, m.saves.add(save))
			}
		}
	}
	return tea.Batch(cmds...)
}

func (m *Model) exit() tea.Cmd {
	for _, s := range m.stack {
		s.Close()
	}
	m.stack = nil
	m.mayQuit = true
	return tea.Quit
}

func (m *Model) back() tea.Cmd {
	if len(m.stack) <= 1 {
		return m.quit(false)
	}
	m.top().Close()
	m.stack = m.stack[:len(m.stack)-1]
	return m.top().Update(nav.Shown{})
}

func (m *Model) swap(p nav.Place) tea.Cmd {
	if len(m.stack) > 1 {
		m.top().Close()
		m.stack = m.stack[:len(m.stack)-1]
	}
	return m.open(p)
}

func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	s := m.top()
	switch {
	case nav.QuitKey.Is(msg):
		return m.quit(false)
	case nav.SuspendKey.Is(msg):
		return tea.Suspend
	case nav.RetryKey.Is(msg) && m.saves.failed != nil:
		m.notice, m.warned = nil, false
		return m.saves.start()
	case s == nil || m.tooSmall():
		return nil
	case m.help:
		return m.helpKey(msg)
	case msg.String() == "f1", nav.HelpKey.Is(msg) && !s.Typing():
		m.help, m.notice = true, nil
		m.helpScroll.Top()
		return nil
	}
	m.notice, m.warned = nil, false
	if _, there := s.(*device.Screen); nav.DeviceKey.Is(msg) && !s.Typing() && !there {
		return m.open(nav.Place{Kind: nav.Device})
	}
	return s.Update(msg)
}

func (m *Model) helpKey(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case nav.UpKey.Is(msg):
		m.helpScroll.Move(-1)
	case nav.DownKey.Is(msg):
		m.helpScroll.Move(1)
	case nav.PageUp.Is(msg):
		m.helpScroll.Page(-1)
	case nav.PageDown.Is(msg):
		m.helpScroll.Page(1)
	case nav.BackKey.Is(msg), nav.HelpKey.Is(msg), nav.EnterKey.Is(msg):
		m.help = false
	}
	return nil
}

func (m *Model) tooSmall() bool { return m.w < MinWidth || m.h < MinHeight }

// View draws the frame.
func (m *Model) View() (v tea.View) {
	v.AltScreen = true
	v.WindowTitle = "rdmaprep"
	defer func() {
		if r := recover(); r != nil {
			v.Content, v.Cursor = "", nil
			if m.crash == nil {
				m.crash, m.mayQuit = newCrash("View", r), true
				if m.onCrash != nil {
					m.onCrash()
				}
			}
		}
	}()
	v.Content, v.Cursor = m.Frame()
	return v
}

// Frame is the text of the whole screen and where the cursor stands in it.
func (m *Model) Frame() (string, *tea.Cursor) {
	switch {
	case m.w <= 0 || m.h <= 0 || m.top() == nil:
		return "", nil
	case m.tooSmall():
		return m.smallFrame(), nil
	}
	s := m.top()
	lines := []string{m.header(s)}
	note := m.noteLines()
	bodyH := m.h - 2 - len(note)
	var cur *tea.Cursor
	var keys []nav.Key
	if m.help {
		page := widget.Help(m.host.Theme, s.Title(), s.Keys(), m.w-4)
		body, _ := widget.Pane{Title: "Keys", Page: page, Scroll: &m.helpScroll, Focus: true}.View(m.host.Theme, m.w, bodyH)
		lines = append(lines, body...)
		keys = []nav.Key{nav.DownKey.With("scroll"), nav.BackKey.With("close")}
	} else {
		body, c := s.View(m.w, bodyH)
		lines = append(lines, widget.Block(strings.Split(body, "\n"), m.w, bodyH)...)
		if c != nil && c.Y >= 0 && c.Y < bodyH && c.X >= 0 && c.X < m.w {
			at := *c
			at.Y++
			cur = &at
		}
		keys = s.Keys() // they may depend on the room that the view had
	}
	lines = append(lines, note...)
	lines = append(lines, widget.Footer(m.host.Theme, keys, s.Typing() && !m.help, m.w))
	return strings.Join(lines, "\n"), cur
}

// Keys are the keys of the screen on top.
func (m *Model) Keys() []nav.Key {
	if s := m.top(); s != nil {
		return s.Keys()
	}
	return nil
}

func (m *Model) header(s nav.Screen) string {
	t := m.host.Theme
	trail := make([]string, 0, len(m.stack))
	for _, s := range m.stack {
		trail = append(trail, s.Title())
	}
	if len(trail) > 1 {
		trail = trail[1:]
	}
	strip := s.Strip()
	if strip == "" {
		strip = m.host.Device
	}
	if m.saves.busy() {
		strip = "saving · " + strip
	}
	return widget.Ends(t.Title.Render(strings.Join(trail, " ▸ ")), t.Muted.Render(strip), m.w)
}

// noteLines are the lines between the body and the footer: what could not be
// saved, and the notice.
func (m *Model) noteLines() []string {
	t := m.host.Theme
	var out []string
	if text := m.saves.warning(); text != "" {
		for i, l := range widget.Wrap(text, m.w) {
			if i < 3 {
				out = append(out, t.Bad.Render(widget.Fit(l, m.w)))
			}
		}
	}
	if m.quitting {
		out = append(out, widget.Fit(t.Warn.Render("Saving, then quitting …"), m.w))
	}
	if m.notice != nil {
		st := t.Text
		switch m.notice.Level {
		case nav.Good:
			st = t.Good
		case nav.Warn:
			st = t.Warn
		case nav.Bad:
			st = t.Bad
		}
		for i, l := range widget.Wrap(m.notice.Text, m.w) {
			if i < 3 {
				out = append(out, widget.Fit(st.Render(l), m.w))
			}
		}
	}
	return out
}

func (m *Model) smallFrame() string {
	page := widget.NewPage(m.w)
	page.Text(sizeNeeded(m.w, m.h))
	return strings.Join(widget.Block(page.Lines, m.w, m.h), "\n")
}
