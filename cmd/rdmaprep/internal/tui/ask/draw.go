package ask

import (
	"fmt"

	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/widget"
	"rdmaprep/quiz"
)

// The keys of a form.
var (
	tabKey    = nav.Key{Keys: []string{"tab", "shift+tab"}, Label: "tab", Does: "how sure", Help: "between the answer and how sure you are; there h, n and the other letters are keys again"}
	numberKey = nav.Key{Keys: []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}, Label: "1-9", Does: "choose", Help: "choose by number"}
	levelKey  = nav.Key{Keys: []string{"5", "6", "7", "8", "9", "0"}, Label: "5-9 0", Does: "how sure", Help: "how sure you are: 5 is 50 %, 9 is 90 %, 0 is 100 %"}
	lessKey   = nav.Key{Keys: []string{"left"}, Label: "←", Help: "less sure"}
	moreKey   = nav.Key{Keys: []string{"right"}, Label: "→", Help: "surer"}
	toggleKey = nav.Key{Keys: []string{"space", "x"}, Label: "space", Does: "mark", Help: "mark or unmark (all that are right)"}
	moveDown  = nav.Key{Keys: []string{"J", "shift+down"}, Label: "J/K", Does: "move", Help: "move the step down or up (shift+arrows too)"}
	moveUp    = nav.Key{Keys: []string{"K", "shift+up"}, Label: "J/K", Help: "move the step down or up (shift+arrows too)"}
)

// Keys are the keys that work now.
func (f *Form) Keys() []nav.Key {
	if f.onBar {
		back := nav.UpKey.With("change")
		back.Help = "back to the answer"
		return []nav.Key{nav.EnterKey.With("answer"), levelKey, lessKey, moreKey, back, tabKey.With("")}
	}
	switch f.In.Input() {
	case quiz.PickOne:
		return []nav.Key{numberKey, nav.EnterKey.With("choose"), nav.UpKey, nav.DownKey, tabKey.With("")}
	case quiz.PickMany:
		return []nav.Key{toggleKey, nav.EnterKey.With("done"), numberKey.With(""), nav.UpKey, nav.DownKey, tabKey.With("")}
	case quiz.PickOrder:
		return []nav.Key{moveDown, nav.EnterKey.With("done"), nav.UpKey, nav.DownKey, tabKey.With("")}
	case quiz.Speak:
		return []nav.Key{tabKey.With("done, how sure")}
	}
	return []nav.Key{nav.EnterKey.With("done"), tabKey}
}

// AllKeys are the keys of a form in any state, for the table of keys.
func AllKeys() []nav.Key {
	return []nav.Key{numberKey, nav.UpKey, nav.DownKey, toggleKey, moveDown, nav.EnterKey, levelKey, lessKey, moreKey, tabKey}
}

// Draw adds the choices or the input, and the confidence bar, to a page. h is
// how many lines the page has room for.
func (f *Form) Draw(p *widget.Page, h int) {
	from := len(p.Lines)
	switch f.In.Input() {
	case quiz.TypeText:
		f.drawLine(p)
	case quiz.Speak:
		f.text.Draw(p, max(min(h/3, 8), 3))
	case quiz.PickOrder:
		for i, k := range f.order {
			f.choice(p, i, fmt.Sprintf("%d ", i+1), f.In.Choices[k].Text)
		}
	default:
		for i, c := range f.In.Choices {
			f.choice(p, i, f.mark(i), c.Text)
		}
	}
	if f.onBar {
		p.Cursor = nil
	}
	p.Gap()
	p.Add(widget.Confidence(f.t, f.sure, f.onBar))
	if f.onBar {
		if len(p.Lines)-from <= h {
			p.See(from)
		} else {
			p.See(len(p.Lines) - 1)
		}
	}
	if f.Note != "" {
		for _, l := range widget.Wrap(f.Note, p.W) {
			p.Add(f.t.Warn.Render(l))
		}
		p.To = len(p.Lines)
	}
}

func (f *Form) drawLine(p *widget.Page) {
	f.line.Draw(p)
	if u := f.In.Question.Unit; u != "" {
		p.Add(f.t.Muted.Render("in " + u))
		p.To = len(p.Lines)
	}
}

func (f *Form) mark(i int) string {
	n := fmt.Sprintf("%d ", i+1)
	if f.In.Input() == quiz.PickMany {
		if f.picked[i] {
			return n + "[x] "
		}
		return n + "[ ] "
	}
	if f.picked[i] {
		return n + "● "
	}
	return n + "○ "
}

func (f *Form) choice(p *widget.Page, i int, lead, text string) {
	from := len(p.Lines)
	text = f.md.Inline(text)
	arrow := "  "
	at := i == f.list.At && !f.onBar
	if at {
		arrow = f.t.Accent.Render("▸ ")
	}
	if at {
		p.Add(widget.Hang(arrow+f.t.Accent.Render(lead), text, p.W)...)
		p.See(from)
		return
	}
	p.Hang(arrow+lead, text)
}
