// Package evidence shows what a run showed: the transcript, the objects with
// their states, and the packets as a ladder whose every field can be looked
// at.
//
// It promises that nothing it shows was made up: a line is from the transcript
// or from the trace of the run. It runs nothing; whoever shows it does.
package evidence

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/ladder"
	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/theme"
	"rdmaprep/cmd/rdmaprep/internal/tui/widget"
	"rdmaprep/lessons"
	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// Run is one run to be shown.
type Run struct {
	Title      string
	Profile    string
	Device     string // the name of a live device
	Live       bool
	Wire       string // where Live: the profile of the model that the packets are of
	ModelWhy   string // why a run asked of a live device was made on the model
	Seed       uint64
	At         time.Duration // device time at the end
	Transcript []Line
	Objects    []Object
	Events     []verbs.TraceEvent
	Err        string // why there is nothing to show, or where it stopped
	// Fixed says that the run cannot be made under another profile.
	Fixed bool
}

// Line is one line of a transcript. Odd marks one that failed or was refused.
type Line struct {
	Text string
	Odd  bool
}

// Object is one object of the script at the end of the run. State is set for a
// queue pair.
type Object struct {
	Name  string
	State string
	Text  string
}

// What a key asked of whoever shows the evidence.
const (
	Nothing = iota
	Close
	OtherProfile
)

// View is the evidence on the screen.
type View struct {
	t      *theme.Theme
	run    Run
	rows   []Row
	list   widget.List
	pane   int // which pane has the focus
	left   widget.Scroll
	right  widget.Scroll
	objs   widget.Scroll
	packet bool // the fields of a packet are shown
	fields widget.Scroll
	Busy   bool // another run is under way
}

// The panes.
const (
	wirePane = iota
	scriptPane
	objectPane
	paneCount
)

// New shows a run.
func New(t *theme.Theme, run Run) *View {
	v := &View{t: t, run: run, rows: Rows(run.Events)}
	v.list.Resize(len(v.rows))
	if len(v.rows) == 0 {
		v.pane = scriptPane
	}
	for i, r := range v.rows {
		if r.To != "" || r.Rung.Odd {
			v.list.At = i // what is worth a look: the first packet or mishap
			break
		}
	}
	return v
}

// Profile is the profile of the run shown.
func (v *View) Profile() string { return v.run.Profile }

// Strip is the device line of the run.
func (v *View) Strip() string {
	return Strip(v.run.Device, v.run.Profile, v.run.Live, v.run.Seed, v.run.At)
}

var (
	paneKey    = nav.Key{Keys: []string{"tab"}, Does: "next pane", Help: "packets, transcript, objects"}
	profileKey = nav.Key{Keys: []string{"p"}, Does: "other profile", Help: "run again under the other profile of the model"}
	fieldsKey  = nav.Key{Keys: []string{"enter"}, Does: "fields", Help: "every field of the packet at the arrow"}
)

// Keys are the keys that work now.
func (v *View) Keys() []nav.Key {
	if v.packet {
		return []nav.Key{nav.BackKey.With("ladder"), nav.DownKey.With("scroll"), nav.UpKey, nav.PageDown.With(""), nav.PageUp}
	}
	keys := []nav.Key{nav.BackKey.With("close"), paneKey}
	if v.pane == wirePane && len(v.rows) > 0 {
		keys = append(keys, fieldsKey)
	}
	if !v.run.Fixed {
		keys = append(keys, profileKey)
	}
	return append(keys, nav.DownKey, nav.UpKey, nav.PageDown.With(""), nav.PageUp)
}

// AllKeys are the keys of the evidence in any state, for the table of keys.
func AllKeys() []nav.Key { return []nav.Key{paneKey, profileKey, fieldsKey} }

// Update takes a key and says what it asks of whoever shows the evidence.
func (v *View) Update(k tea.KeyPressMsg) int {
	if v.packet {
		v.fieldKey(k)
		return Nothing
	}
	switch {
	case nav.BackKey.Is(k), k.String() == "x":
		return Close
	case profileKey.Is(k) && !v.run.Fixed && !v.Busy:
		return OtherProfile
	case paneKey.Is(k):
		v.pane = (v.pane + 1) % paneCount
	case fieldsKey.Is(k) && v.pane == wirePane && len(v.rows) > 0:
		v.packet = true
		v.fields.Top()
	case nav.DownKey.Is(k):
		v.move(1)
	case nav.UpKey.Is(k):
		v.move(-1)
	case nav.PageDown.Is(k):
		v.move(8)
	case nav.PageUp.Is(k):
		v.move(-8)
	}
	return Nothing
}

func (v *View) move(n int) {
	switch v.pane {
	case wirePane:
		v.list.Move(n)
	case scriptPane:
		v.left.Move(n)
	default:
		v.objs.Move(n)
	}
}

func (v *View) fieldKey(k tea.KeyPressMsg) {
	switch {
	case nav.BackKey.Is(k), nav.EnterKey.Is(k):
		v.packet = false
	case nav.Moves(k, &v.fields):
	}
}

// View draws the evidence: side by side where there is room, else one pane at
// a time.
func (v *View) View(w, h int) (string, *tea.Cursor) {
	if v.packet {
		return v.packetView(w, h), nil
	}
	if w < 100 || h < 14 {
		return strings.Join(v.one(v.pane, w, h), "\n"), nil
	}
	lw := w * 45 / 100
	left := v.one(scriptPane, lw, h)
	objH := min(max(len(v.run.Objects)+1, 3), h/3)
	panes := []widget.Pane{v.of(objectPane, w-lw), v.of(wirePane, w-lw)}
	right, _ := widget.Stack(v.t, w-lw, panes, []int{objH, h - objH})
	return strings.Join(widget.Beside(left, right), "\n"), nil
}

func (v *View) one(pane, w, h int) []string {
	lines, _ := v.of(pane, w).View(v.t, w, h)
	return lines
}

func (v *View) of(pane, w int) widget.Pane {
	p := widget.NewPage(w - 4)
	out := widget.Pane{Page: p, Focus: pane == v.pane}
	switch pane {
	case wirePane:
		out.Title, out.Scroll = "Wire and what followed", &v.right
		if v.run.Live {
			out.Title = WireTitle(v.run.Wire)
		}
		if len(v.rows) == 0 {
			p.Text(NoPackets(v.run.Live, v.run.Wire))
			break
		}
		at := -1
		if v.pane == wirePane {
			at = v.list.At
		}
		p.Add(widget.Ladder(v.t, Rungs(v.rows), at, p.W)...)
		if at >= 0 {
			p.From, p.To = max(at-1, 0), at+1
		}
	case scriptPane:
		out.Title, out.Scroll = "Transcript", &v.left
		v.transcript(p)
	default:
		out.Title, out.Scroll = "Objects", &v.objs
		DrawObjects(v.t, p, v.run.Objects)
	}
	return out
}

// WireTitle is the title over the packets that the model shows beside a live
// run.
func WireTitle(profile string) string {
	switch profile {
	case "":
		return "Wire"
	case lessons.RealWire:
		return "Wire, at the MODEL's end"
	}
	return "Wire: MODEL " + profile
}

// NoPackets says why there are none.
func NoPackets(live bool, wire string) string {
	if live && wire == "" {
		return "A live device shows no packets, and the model could not run the same lines."
	}
	return "No packet crossed the wire."
}

func (v *View) transcript(p *widget.Page) {
	if v.run.Title != "" {
		p.Text(v.t.Muted.Render(v.run.Title))
		p.Gap()
	}
	if v.run.ModelWhy != "" {
		p.Text(v.t.Warn.Render("MODEL: " + v.run.ModelWhy + "."))
		p.Gap()
	}
	if v.Busy {
		p.Add(v.t.Muted.Render("running …"))
	}
	for _, l := range v.run.Transcript {
		lead := "  "
		if l.Odd {
			lead = "! "
		}
		for i, part := range widget.Wrap(l.Text, max(p.W-4, 8)) {
			if i > 0 {
				lead = "    "
			}
			if l.Odd {
				part = v.t.Warn.Render(part)
			}
			p.Add(lead + part)
		}
	}
	if v.run.Err != "" {
		p.Gap()
		p.Text(v.t.Bad.Render(v.run.Err))
	}
}

// DrawObjects adds one line for each object, queue pairs with their states.
func DrawObjects(t *theme.Theme, p *widget.Page, objects []Object) {
	if len(objects) == 0 {
		p.Add(t.Muted.Render("none yet"))
	}
	name := 5
	for _, o := range objects {
		name = max(name, min(widget.Width(o.Name), 10))
	}
	for _, o := range objects {
		line := widget.Fit(o.Name, name) + " "
		if o.State != "" {
			line += widget.States(t, o.State, p.W-name-1)
			if o.Text != "" && widget.Width(line)+2+widget.Width(o.Text) <= p.W {
				line += "  " + t.Muted.Render(o.Text)
			}
		} else {
			line += o.Text
		}
		p.Add(line)
	}
}

func (v *View) packetView(w, h int) string {
	e := v.rows[v.list.At].Event
	p := widget.NewPage(w - 4)
	title := v.rows[v.list.At].Rung.Text
	switch {
	case len(e.Frame) == 0:
		title = "Event"
		p.Text(v.rows[v.list.At].Rung.Text)
		p.Gap()
		p.Text(fmt.Sprintf("at node %s, t=%s, event %d of the trace", e.Node, ladder.Millis(e.At), e.Seq))
		if e.Cause >= 0 {
			p.Text(fmt.Sprintf("caused by event %d", e.Cause))
		}
		if e.Why != "" {
			p.Text(e.Why)
		}
	default:
		p.Add(v.t.Muted.Render(fmt.Sprintf("%s to %s, t=%s, %d bytes", e.Node, e.Peer, ladder.Millis(e.At), len(e.Frame))))
		v.drawFields(p, e.Frame)
	}
	lines, _ := widget.Pane{Title: title, Page: p, Scroll: &v.fields, Focus: true}.View(v.t, w, h)
	return strings.Join(lines, "\n")
}

func (v *View) drawFields(p *widget.Page, frame []byte) {
	fields, err := wire.Fields(frame)
	layer := ""
	for _, f := range fields {
		if f.Layer != layer {
			layer = f.Layer
			p.Gap()
			p.Add(v.t.Title.Render(layer))
		}
		bits := f.Bits()
		if bits != "" {
			bits = " bits " + bits
		}
		where := fmt.Sprintf("byte %d+%d%s", f.Offset, f.Length, bits)
		p.Add("  " + widget.Ends(widget.Fit(f.Name, 16)+" "+f.Value, v.t.Muted.Render(where), min(p.W-2, 76)))
	}
	if err != nil {
		p.Text(v.t.Warn.Render(err.Error()))
	}
}
