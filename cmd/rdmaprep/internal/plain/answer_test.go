package plain

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rdmaprep/content"
	"rdmaprep/quiz"
)

// instance is a question of a kind with choices as shown.
func instance(kind content.Kind, choices ...string) *quiz.Instance {
	in := &quiz.Instance{Question: &content.Question{ID: "t." + string(kind), Kind: kind, Unit: "PSNs"}}
	for i, c := range choices {
		in.Choices = append(in.Choices, quiz.Shown{Text: c, Origin: i})
	}
	return in
}

// What a person types at the prompt of each kind: numbers count from 1 there and
// from 0 in the answer.
func TestParseAnswer(t *testing.T) {
	picks := func(i ...int) quiz.Answer { return quiz.Answer{Picks: append([]int{}, i...)} }
	order := func(i ...int) quiz.Answer { return quiz.Answer{Order: i} }
	text := func(s string) quiz.Answer { return quiz.Answer{Text: s} }
	choice, multi := instance(content.Choice, "a", "b", "c"), instance(content.Multi, "a", "b", "c")
	steps, typed := instance(content.Order, "a", "b", "c"), instance(content.Predict)
	for _, c := range []struct {
		in   *quiz.Instance
		line string
		want quiz.Answer
		says string // of the refusal; "" if it is taken
	}{
		{choice, "1", picks(0), ""},
		{choice, "3", picks(2), ""},
		{choice, "0", quiz.Answer{}, `"0" is no answer here: type one number from 1 to 3`},
		{choice, "4", quiz.Answer{}, "from 1 to 3"},
		{choice, "1 2", quiz.Answer{}, "one number"},
		{choice, "-1", quiz.Answer{}, "from 1 to 3"},
		{choice, "1.0", quiz.Answer{}, "from 1 to 3"},
		{choice, "a", quiz.Answer{}, "from 1 to 3"},
		{choice, "99999999999999999999", quiz.Answer{}, "from 1 to 3"},
		{choice, "", quiz.Answer{}, "type one number from 1 to 3, or skip"},

		{multi, "2", picks(1), ""},
		{multi, "3 1", picks(2, 0), ""},
		{multi, "1,3", picks(0, 2), ""},
		{multi, " 1 ,  2,3 ", picks(0, 1, 2), ""},
		{multi, "0", picks(), ""},
		{multi, "0 1", quiz.Answer{}, "0 for none"},
		{multi, "1 1", quiz.Answer{}, "from 1 to 3"},
		{multi, "1 4", quiz.Answer{}, "from 1 to 3"},
		{multi, "1 and 2", quiz.Answer{}, "from 1 to 3"},
		{multi, ",", quiz.Answer{}, "from 1 to 3"},
		{multi, "", quiz.Answer{}, "from 1 to 3"},

		{steps, "2 1 3", order(1, 0, 2), ""},
		{steps, "3,2,1", order(2, 1, 0), ""},
		{steps, "1 2", quiz.Answer{}, "all 3 numbers"},
		{steps, "1 2 2", quiz.Answer{}, "each once"},
		{steps, "1 2 3 4", quiz.Answer{}, "all 3 numbers"},
		{steps, "0", quiz.Answer{}, "all 3 numbers"},
		{steps, "first", quiz.Answer{}, "first step first"},

		{instance(content.Number), "6", text("6"), ""},
		{instance(content.Number), "67.1 ms", text("67.1 ms"), ""},
		{instance(content.Number), "0x100", text("0x100"), ""},
		{instance(content.Number), "lots", quiz.Answer{}, `"lots" does not begin with a number`},
		{instance(content.Number), "", quiz.Answer{}, "type an answer, h for a hint, or skip"},

		{instance(content.Fill), "RNR_RETRY_EXC_ERR", text("RNR_RETRY_EXC_ERR"), ""},
		{instance(content.Fill), "1", text("1"), ""},
		{instance(content.Fill), "", quiz.Answer{}, "type an answer"},
		{instance(content.Fill), strings.Repeat("x", 401), quiz.Answer{}, "longer than 400 bytes"},

		{typed, "ERR", text("ERR"), ""},
		{typed, "", quiz.Answer{}, "type an answer"},
		{instance(content.Predict, "ERR", "RTS"), "2", picks(1), ""},
		{instance(content.Predict, "ERR", "RTS"), "ERR", quiz.Answer{}, "type one number from 1 to 2"},

		{instance(content.Open), "", quiz.Answer{}, ""},
		{instance(content.Open), "1 is no number here", text("1 is no number here"), ""},
	} {
		got, err := parseAnswer(c.in, c.line)
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s %q: %v", c.in.Question.Kind, c.line, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s %q: %v, want a refusal that says %q", c.in.Question.Kind, c.line, err, c.says)
		case !cmp.Equal(got, c.want):
			t.Errorf("%s %q: %s", c.in.Question.Kind, c.line, cmp.Diff(c.want, got))
		}
	}
}

func TestPercent(t *testing.T) {
	for line, want := range map[string]int{
		"50": 50, "80": 80, "100": 100, "80%": 80, "80 %": 80, "77": 77,
		"49": 0, "101": 0, "0": 0, "-80": 0, "8o": 0, "80%%": 0, "eighty": 0, "": 0, "80.5": 0,
	} {
		got, err := percent(line)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("%q is %d (%v), want %d", line, got, err, want)
		}
		if err != nil && !strings.Contains(err.Error(), "from 50 to 100") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// No line but the last word of one is wider than a page, and the lead of the
// first counts.
func TestHang(t *testing.T) {
	var b strings.Builder
	l := newLines(t.Context(), Streams{In: strings.NewReader(""), Out: &b})
	l.hang("  Point 1 of 6: ", strings.Repeat("word ", 40)+"`code` **strong** "+strings.Repeat("x", 100), "      ")
	for i, line := range strings.Split(b.String(), "\n") {
		if len(line) > width && !strings.HasSuffix(line, "xxx") {
			t.Errorf("line %d has %d columns: %s", i, len(line), line)
		}
		if lead := []string{"  Point 1 of 6: word", "      "}[min(i, 1)]; line != "" && !strings.HasPrefix(line, lead) {
			t.Errorf("line %d begins otherwise than with %q: %q", i, lead, line)
		}
	}
	if strings.ContainsAny(b.String(), "`*") {
		t.Errorf("marks are left: %s", b.String())
	}
}
