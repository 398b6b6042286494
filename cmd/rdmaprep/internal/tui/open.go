package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/ask"
	"rdmaprep/cmd/rdmaprep/internal/tui/evidence"
	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/screen/device"
	"rdmaprep/cmd/rdmaprep/internal/tui/screen/home"
	"rdmaprep/cmd/rdmaprep/internal/tui/screen/lab"
	"rdmaprep/cmd/rdmaprep/internal/tui/screen/lesson"
	"rdmaprep/cmd/rdmaprep/internal/tui/screen/quiz"
	"rdmaprep/cmd/rdmaprep/internal/tui/screen/records"
)

// depthLimit bounds how many screens lie on top of one another.
const depthLimit = 8

// open shows a place on top of the present screen.
func (m *Model) open(p nav.Place) tea.Cmd {
	if len(m.stack) >= depthLimit {
		m.notice = &nav.Notice{Level: nav.Warn, Text: "Go back first (esc): too many screens are open."}
		return nil
	}
	var s nav.Screen
	var cmd tea.Cmd
	switch p.Kind {
	case nav.Home:
		s, cmd = home.Open(m.host, m.cfg.Backend)
	case nav.Quiz, nav.Interview:
		s, cmd = quiz.Open(m.host, m.cfg.Backend, p)
	case nav.Lessons, nav.Lesson:
		s, cmd = lesson.Open(m.host, m.cfg.Backend, p.ID)
	case nav.Labs, nav.Lab:
		s, cmd = lab.Open(m.host, m.cfg.Backend, p.ID)
	case nav.Device:
		s, cmd = device.Open(m.host, m.cfg.Backend)
	case nav.Records:
		s, cmd = records.Open(m.host, m.cfg.Backend, p.ID)
	default:
		m.notice = &nav.Notice{Level: nav.Warn, Text: fmt.Sprintf("There is no screen %q.", p.Kind)}
		return nil
	}
	m.stack = append(m.stack, s)
	return cmd
}

// Backend is everything that the screens ask for.
type Backend interface {
	home.Service
	quiz.Service
	lesson.Service
	lab.Service
	records.Service
	device.Service
}

// KeyTable prints every key of every screen as Markdown tables, for the
// README.
func KeyTable() string {
	return strings.Join([]string{
		nav.Table("Everywhere", nav.Global()),
		nav.Table("Home", home.Table()),
		nav.Table("Answering a question", ask.AllKeys()),
		nav.Table("Quiz", quiz.Table()),
		nav.Table("Lessons", lesson.Table()),
		nav.Table("Labs", lab.Table()),
		nav.Table("Evidence", evidence.AllKeys()),
		nav.Table("Decision records", records.Table()),
		nav.Table("Device", device.Table()),
	}, "\n")
}
