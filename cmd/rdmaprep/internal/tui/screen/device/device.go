// Package device is the screen where a learner chooses what labs and the
// evidence of proofs run on: the model under a profile, or a live device.
//
// It promises that a device which cannot be opened changes nothing, and that
// its message and the fix stay on the screen beside the way on with the model.
package device

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/study"
	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/widget"
)

// Service is what the screen asks for. DeviceOptions and ChooseDevice may take
// time.
type Service interface {
	// DeviceOptions lists what can be chosen, the model first; none says why
	// there is no live device and how to get one.
	DeviceOptions(ctx context.Context) (options []study.Option, none error)
	ChosenDevice() study.Choice
	// ChooseDevice opens a live device on trial; an error has changed nothing.
	ChooseDevice(ctx context.Context, c study.Choice) error
}

// Screen is the device screen.
type Screen struct {
	host    *nav.Host
	req     *nav.Requests
	svc     Service
	options []study.Option
	loaded  bool
	none    error // why there is no live device
	trying  study.Choice
	busy    bool
	refused error // why the device that was tried is not open
	list    widget.List
	scroll  widget.Scroll
}

type found struct {
	options []study.Option
	none    error
}

type chosen struct {
	choice study.Choice
	err    error
}

// Open returns the screen and the command that lists the devices.
func Open(host *nav.Host, svc Service) (*Screen, tea.Cmd) {
	s := &Screen{host: host, req: host.Requests(), svc: svc}
	return s, s.load()
}

func (s *Screen) load() tea.Cmd {
	return s.req.Do("list", func(ctx context.Context) tea.Msg {
		options, none := s.svc.DeviceOptions(ctx)
		return found{options, none}
	})
}

// Owner tells this screen's results from those of the others.
func (s *Screen) Owner() int { return s.req.Owner() }

// Title is the screen's part of the trail.
func (s *Screen) Title() string { return "device" }

// Strip leaves the default device line.
func (s *Screen) Strip() string { return "" }

// Typing is never so here.
func (s *Screen) Typing() bool { return false }

// Close cancels what is under way.
func (s *Screen) Close() { s.req.Close() }

var (
	chooseKey = nav.Key{Keys: []string{"enter"}, Does: "run on it", Help: "run labs and evidence on the device at the arrow, from the next step on"}
	modelKey  = nav.Key{Keys: []string{"m"}, Does: "the model", Help: "go on with the model"}
	againKey  = nav.Key{Keys: []string{"r"}, Does: "look again", Help: "look for live devices again"}
)

// Keys are the keys that work now, the most useful first.
func (s *Screen) Keys() []nav.Key {
	if s.busy || !s.loaded {
		return []nav.Key{nav.BackKey}
	}
	keys := []nav.Key{chooseKey, nav.DownKey.With("choose"), nav.UpKey, againKey, nav.BackKey}
	if s.refused != nil {
		keys = append([]nav.Key{modelKey, chooseKey.With("try again")}, keys[1:]...)
	}
	return keys
}

// Table are all keys of this screen, for the README.
func Table() []nav.Key { return []nav.Key{chooseKey, nav.UpKey, nav.DownKey, modelKey, againKey} }

// Update takes one message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case nav.Result:
		v, fresh := s.req.Take(msg)
		if !fresh {
			return nil
		}
		switch v := v.(type) {
		case found:
			s.take(v)
		case chosen:
			return s.took(v)
		}
	case tea.KeyPressMsg:
		return s.key(msg)
	}
	return nil
}

func (s *Screen) take(v found) {
	first := !s.loaded
	s.options, s.none, s.loaded = v.options, v.none, true
	s.list.Resize(len(s.options))
	for i, o := range s.options {
		if first && o.Choice == s.svc.ChosenDevice() {
			s.list.At = i
		}
	}
}

func (s *Screen) took(v chosen) tea.Cmd {
	s.busy, s.refused = false, v.err
	if v.err != nil {
		return nil
	}
	s.host.Device = v.choice.Label()
	return tea.Batch(nav.Leave, nav.Tell(nav.Good, "From the next run on: "+v.choice.Label()+"."))
}

func (s *Screen) key(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case nav.BackKey.Is(k):
		return nav.Leave
	case s.busy || !s.loaded:
	case chooseKey.Is(k) && len(s.options) > 0:
		return s.choose(s.options[s.list.At].Choice)
	case modelKey.Is(k):
		return s.choose(study.Choice{})
	case againKey.Is(k):
		s.loaded, s.refused = false, nil
		return s.load()
	case nav.Moves(k, &s.list):
	}
	return nil
}

func (s *Screen) choose(c study.Choice) tea.Cmd {
	s.busy, s.trying, s.refused = true, c, nil
	return s.req.Do("choose", func(ctx context.Context) tea.Msg {
		return chosen{c, s.svc.ChooseDevice(ctx, c)}
	})
}

// textWidth is the most columns that prose is set in.
const textWidth = 88

// View draws the screen.
func (s *Screen) View(w, h int) (string, *tea.Cursor) {
	p := widget.NewPage(min(w-4, textWidth))
	s.draw(p)
	lines, _ := widget.Pane{Title: "Run labs and evidence on", Page: p, Scroll: &s.scroll, Focus: true}.View(s.host.Theme, w, h)
	return strings.Join(lines, "\n"), nil
}

func (s *Screen) draw(p *widget.Page) {
	t := s.host.Theme
	if !s.loaded {
		p.Add(t.Muted.Render("Looking for devices …"))
		return
	}
	now, from := s.svc.ChosenDevice(), 0
	for i, o := range s.options {
		name := o.Label()
		if o.Choice == now {
			name += "  (in use)"
		}
		line := s.list.Mark(i) + name
		if i == s.list.At {
			from = len(p.Lines)
			line = t.Accent.Render(line)
		}
		p.Add(line)
		if o.About != "" {
			p.Add(widget.Indent(widget.Wrap(o.About, p.W-4), 4)...)
		}
		if i == s.list.At {
			p.See(from)
		}
	}
	p.Gap()
	switch {
	case s.busy:
		p.Text(t.Muted.Render("Opening " + s.trying.Label() + " …"))
		p.See(len(p.Lines) - 1)
		return
	case s.refused != nil:
		from = len(p.Lines)
		p.Text(t.Bad.Render(s.trying.Label() + " is not in use: " + s.refused.Error()))
		p.Text("Nothing is lost. " + modelKey.Name() + " goes on with the model; enter tries again.")
		p.See(from)
		return
	case s.none != nil:
		p.Text(t.Warn.Render("No live device: " + s.none.Error()))
		p.Text("rdmaprep doctor, in a shell, looks at this machine and says more. r looks again.")
		p.Gap()
	}
	p.Text(t.Muted.Render("What a live device cannot run (faults, a clock, counts of packets) runs on the model and is labelled MODEL, with the reason. " +
		"Packets are the model's, or of the wire where the model is the peer. Answers are graded on the model. A lab that is open keeps its profile until A starts it again."))
}
