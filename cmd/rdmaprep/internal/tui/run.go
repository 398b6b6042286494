package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
)

// Config is what the trainer needs from outside.
type Config struct {
	Ctx     context.Context
	Backend Backend
	Device  string // the device in use, such as "MODEL spec"
	Version string
	Light   bool // begin with the theme for light backgrounds
	// ReportDir is where the report of a crash goes.
	ReportDir string
	Now       func() time.Time
	Tick      func(time.Duration, func(time.Time) tea.Msg) tea.Cmd
	In        io.Reader
	Out       io.Writer
	Env       []string
	// Start is the first place to go to from home; its Kind is "" for none.
	Start nav.Place
}

func (c Config) withDefaults() Config {
	if c.Ctx == nil {
		c.Ctx = context.Background()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Tick == nil {
		c.Tick = tea.Tick
	}
	if c.Device == "" {
		c.Device = "MODEL spec"
	}
	return c
}

// ErrNoTerminal says that there is no terminal to draw on.
var ErrNoTerminal = errors.New("the trainer's screen needs a terminal; rdmaprep quiz --plain and rdmaprep lab ID --plain work without one")

// UnsavedError says what could not be saved before the end.
type UnsavedError struct {
	Count int
	Why   error
}

func (e *UnsavedError) Error() string {
	return fmt.Sprintf("%d thing(s) could not be saved before the end: %v", e.Count, e.Why)
}

func (e *UnsavedError) Unwrap() error { return e.Why }

// Run shows the trainer until the learner quits or ctx is done. It returns
// ErrNoTerminal, a *CrashError, an *UnsavedError, or what the terminal said.
func Run(ctx context.Context, cfg Config) error {
	if !isTerminal(cfg.In) || !isTerminal(cfg.Out) {
		return ErrNoTerminal
	}
	cfg.Ctx = ctx
	m := New(cfg)
	opts := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(cfg.In), tea.WithOutput(cfg.Out),
		tea.WithFilter(filter),
	}
	if cfg.Env != nil {
		opts = append(opts, tea.WithEnvironment(cfg.Env))
	}
	p := tea.NewProgram(m, opts...)
	m.onCrash = func() { go p.Quit() }
	_, err := p.Run()
	switch {
	case m.crash != nil:
		return m.crash.report(cfg.ReportDir, cfg.Version, m.cfg.Now())
	case m.saves.failed != nil:
		return &UnsavedError{Count: len(m.saves.queue), Why: m.saves.failed}
	case errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil:
		return ctx.Err()
	}
	return err
}

// filter turns an end that the model did not ask for, such as SIGTERM, into
// one that waits for the saves.
func filter(model tea.Model, msg tea.Msg) tea.Msg {
	switch msg.(type) {
	case tea.QuitMsg, tea.InterruptMsg:
		if m, ok := model.(*Model); ok && !m.mayQuit {
			return stop{}
		}
	}
	return msg
}

func isTerminal(x any) bool {
	f, ok := x.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(f.Fd())
}

func sizeNeeded(w, h int) string {
	return fmt.Sprintf("This terminal has %d columns and %d lines. rdmaprep needs %d by %d. Make it larger, or press ctrl+c to quit.",
		w, h, MinWidth, MinHeight)
}
