package widget

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/theme"
)

// words draws text of the kind that content has: words, long names, arrows,
// several lines.
func words(t *rapid.T, label string) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{
		"a", "RNR_RETRY_EXC_ERR", "post_send", "→", "█░", "`code`", "**bold**", "\n", "ibv_post_send(qp, &wr, &bad_wr);", "  ", "▸", "x",
	}), 0, 40).Draw(t, label)
	return strings.Join(parts, " ")
}

// Whatever is written on a page, panes are exactly as wide and as high as they
// were told.
func TestPanesFit(t *testing.T) {
	th := theme.New(true)
	md := NewMarkdown(th)
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.IntRange(20, 130).Draw(t, "w")
		heights := []int{rapid.IntRange(2, 20).Draw(t, "h1"), rapid.IntRange(2, 20).Draw(t, "h2")}
		var panes []Pane
		for _, name := range []string{"one", "two"} {
			p := NewPage(w - 4)
			p.Text(words(t, name+" text"))
			p.Hang("  lead ", words(t, name+" hang"))
			p.Add(md.Lines(words(t, name+" md"), p.W)...)
			p.Add(words(t, name+" raw"))
			s := &Scroll{Off: rapid.IntRange(0, 30).Draw(t, name+" off")}
			panes = append(panes, Pane{Title: words(t, name+" title"), Page: p, Scroll: s})
		}
		for i := range panes {
			panes[i].Title = strings.ReplaceAll(panes[i].Title, "\n", " ")
			for k := range panes[i].Page.Lines {
				panes[i].Page.Lines[k] = strings.ReplaceAll(panes[i].Page.Lines[k], "\n", " ")
			}
		}
		lines, _ := Stack(th, w, panes, heights)
		if len(lines) != heights[0]+heights[1] {
			t.Fatalf("%d lines, want %d", len(lines), heights[0]+heights[1])
		}
		for i, l := range lines {
			if Width(l) != w {
				t.Fatalf("line %d is %d wide, want %d: %q", i, Width(l), w, Plain(l))
			}
		}
	})
}

// A page that is scrolled to the end shows its last line; the line to be seen
// is seen.
func TestScrollShowsWhatMustBeSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, h := rapid.IntRange(1, 60).Draw(t, "lines"), rapid.IntRange(1, 30).Draw(t, "h")
		at := rapid.IntRange(0, n-1).Draw(t, "at")
		p := NewPage(20)
		for i := range n {
			line := "line"
			if i == at {
				line = "HERE"
			}
			p.Add(line)
		}
		p.From, p.To = at, at+1
		s := &Scroll{Off: rapid.IntRange(0, 80).Draw(t, "off")}
		lines, _ := s.View(p, 20, h)
		if !strings.Contains(strings.Join(lines, "\n"), "HERE") {
			t.Fatalf("line %d of %d is not among the %d shown from %d", at, n, h, s.Off)
		}
		s.Move(n)
		if s.View(p, 20, h); !s.AtEnd() {
			t.Fatalf("scrolling by %d does not reach the end", n)
		}
	})
}

func TestLadder(t *testing.T) {
	th := theme.New(true)
	rungs := []Rung{
		{From: "a", To: "b", Text: "SEND_ONLY psn=256", When: "0.001 ms", Rightward: true},
		{From: "b", To: "a", Text: "NAK remote access (0x62) psn=256", Odd: true},
		{From: "a", To: "b", Text: "SEND_ONLY psn=257", Lost: true, Rightward: true},
		{From: "a", Text: "completion wr_id=1 REM_ACCESS_ERR"},
	}
	want := []string{
		"a ─ SEND_ONLY psn=256 ────────────────────────▶ b 0.001 ms",
		"a ◀─ NAK remote access (0x62) psn=256 ────────────────── b",
		"a ─ SEND_ONLY psn=257 LOST ───────────────────────────✗ b",
		"a   completion wr_id=1 REM_ACCESS_ERR",
	}
	for i, l := range Ladder(th, rungs, -1, 58) {
		got := strings.TrimRight(Plain(l), " ")
		if Width(l) > 58 {
			t.Errorf("rung %d is %d wide", i, Width(l))
		}
		for _, word := range strings.Fields(want[i]) {
			if strings.Trim(word, "─") != "" && !strings.Contains(got, strings.Trim(word, "─")) {
				t.Errorf("rung %d is %q, want all of %q", i, got, want[i])
			}
		}
		if !strings.HasPrefix(got, "a") {
			t.Errorf("rung %d does not have a at the left: %q", i, got)
		}
	}
}

func TestStatesMarkThePresentOneWithoutColour(t *testing.T) {
	th := theme.New(true)
	for state, want := range map[string]string{
		"RTS": "RESET─INIT─RTR─[RTS]─SQD  ERR",
		"ERR": "RESET─INIT─RTR─RTS─SQD  [ERR]",
		"SQE": "RESET─INIT─RTR─RTS─SQD  [SQE]",
	} {
		if got := Plain(States(th, state, 60)); got != want {
			t.Errorf("%s is drawn %q, want %q", state, got, want)
		}
	}
	if got := Plain(States(th, "RTS", 10)); got != "[RTS]" {
		t.Errorf("in 10 columns: %q, want [RTS]", got)
	}
}

func TestFooterKeepsHelpAndFits(t *testing.T) {
	th := theme.New(true)
	keys := []nav.Key{nav.EnterKey, nav.BackKey, nav.FilterKey, nav.PageDown}
	for w := 12; w < 80; w++ {
		line := Footer(th, keys, false, w)
		if Width(line) != w {
			t.Fatalf("the footer is %d wide, want %d", Width(line), w)
		}
		if !strings.Contains(Plain(line), "? help") {
			t.Fatalf("at %d columns help is gone: %q", w, Plain(line))
		}
	}
}

func TestConfidenceShowsTheChoiceWithoutColour(t *testing.T) {
	th := theme.New(true)
	if got := Plain(Confidence(th, 80, true)); !strings.Contains(got, "[80]") || strings.Contains(got, "[70]") {
		t.Errorf("80 is drawn %q", got)
	}
	if got := Plain(Confidence(th, 0, false)); strings.Contains(got, "[") {
		t.Errorf("nothing chosen is drawn %q", got)
	}
}

func TestInlineMarkup(t *testing.T) {
	th := theme.New(true)
	md := NewMarkdown(th)
	for text, want := range map[string]string{
		"use `ibv_poll_cq` here": "use ibv_poll_cq here",
		"a **bold** word":        "a bold word",
		"3 * 4 and one ` alone":  "3 * 4 and one ` alone",
	} {
		if got := Plain(md.Inline(text)); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
