package ask_test

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/ask"
	"rdmaprep/cmd/rdmaprep/internal/tui/theme"
	"rdmaprep/cmd/rdmaprep/internal/tui/tuitest"
	"rdmaprep/cmd/rdmaprep/internal/tui/widget"
	"rdmaprep/content"
	"rdmaprep/quiz"
)

func form(kind content.Kind, mustBeSure bool, choices ...string) *ask.Form {
	in := &quiz.Instance{Question: &content.Question{Kind: kind}}
	for i, c := range choices {
		in.Choices = append(in.Choices, quiz.Shown{Text: c, Origin: i})
	}
	t := theme.New(true)
	return ask.New(t, widget.NewMarkdown(t), in, mustBeSure)
}

// press presses keys and returns what the last one did.
func press(f *ask.Form, keys ...string) (did int) {
	for _, k := range keys {
		did = f.Update(tuitest.Press(k))
	}
	return did
}

func TestChoiceIsGivenOnlyByEnterOnTheBar(t *testing.T) {
	f := form(content.Choice, false, "one", "two", "three")
	for _, k := range []string{"j", "2", "8"} {
		if press(f, k) == ask.Submit {
			t.Fatalf("%s gave the answer", k)
		}
	}
	if press(f, "enter") != ask.Submit {
		t.Fatal("enter on the bar did not give the answer")
	}
	if got := f.Answer().Picks; !slices.Equal(got, []int{1}) || f.Sure() != 80 {
		t.Errorf("picked %v at %d %%, want [1] at 80", got, f.Sure())
	}
}

func TestEnterWithoutAChoiceIsRefused(t *testing.T) {
	f := form(content.Choice, false, "one", "two")
	if press(f, "tab", "8", "enter") == ask.Submit {
		t.Error("an answer without a choice was given")
	}
	if f.Note == "" {
		t.Error("nothing says what is missing")
	}
}

func TestConfidenceMayBeRequired(t *testing.T) {
	f := form(content.Choice, true, "one", "two")
	if press(f, "1", "enter") == ask.Submit {
		t.Error("a prediction without a confidence was locked")
	}
	if press(f, "0", "enter") != ask.Submit || f.Sure() != 100 {
		t.Errorf("0 then enter: sure %d, want 100 and the answer given", f.Sure())
	}
}

func TestMarkingSeveral(t *testing.T) {
	f := form(content.Multi, false, "one", "two", "three")
	press(f, "space", "j", "j", "space", "2", "2")
	if got := f.Answer().Picks; !slices.Equal(got, []int{0, 2}) {
		t.Errorf("marked %v, want [0 2]", got)
	}
	if press(f, "enter", "enter") != ask.Submit {
		t.Error("the answer was not given")
	}
}

func TestOrderMovesTheStepAtTheArrow(t *testing.T) {
	f := form(content.Order, false, "one", "two", "three")
	press(f, "J", "J")
	if got := f.Answer().Order; !slices.Equal(got, []int{1, 2, 0}) {
		t.Errorf("order %v, want [1 2 0]", got)
	}
	press(f, "K")
	if got := f.Answer().Order; !slices.Equal(got, []int{1, 0, 2}) {
		t.Errorf("order %v, want [1 0 2]", got)
	}
	press(f, "K", "K", "K")
	if got := f.Answer().Order; !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("order %v after moving past the top, want [0 1 2]", got)
	}
}

func TestLettersAreTextWhileTyping(t *testing.T) {
	f := form(content.Fill, false)
	if !f.Typing() {
		t.Fatal("an empty fill does not take letters")
	}
	press(f, "h", "n", "?", "q")
	if got := f.Answer().Text; got != "hn?q" {
		t.Errorf("typed %q, want hn?q", got)
	}
	press(f, "enter")
	if f.Typing() {
		t.Error("letters are still text on the confidence bar")
	}
	if press(f, "h") != ask.Ignored {
		t.Error("h on the bar is not left to the screen")
	}
	if press(f, "tab", "x"); f.Answer().Text != "hn?qx" {
		t.Errorf("tab does not go back to the input: %q", f.Answer().Text)
	}
}

// A paste must not bring escape codes or line breaks into a field of one line.
func TestPasteIsCleaned(t *testing.T) {
	f := form(content.Fill, false)
	f.Update(tea.PasteMsg{Content: "\x1b[31mRNR\r\nRETRY\x00"})
	if got := f.Answer().Text; got != "[31mRNR RETRY" {
		t.Errorf("pasted %q, want %q", got, "[31mRNR RETRY")
	}
}

func TestEnterIsALineInAText(t *testing.T) {
	f := form(content.Open, false)
	press(f, "a", "enter", "b")
	if got := f.Answer().Text; got != "a\nb" {
		t.Errorf("text %q, want a and b on two lines", got)
	}
	if press(f, "tab", "7", "enter") != ask.Submit {
		t.Error("tab, confidence, enter did not give the answer")
	}
}
