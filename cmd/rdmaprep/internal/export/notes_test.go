package export

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rdmaprep/content"
	"rdmaprep/lessons/decision"
	"rdmaprep/quiz"
	"rdmaprep/quiz/fsrs"
)

// The day of the tests, 2026-03-10, by the calendar: 20,522 days after 1970-01-01.
const today = 20_522

var now = time.Date(2026, 3, 10, 9, 30, 0, 0, time.FixedZone("", 3600))

// library has every kind of question that is told in its own way.
func library() *content.Library {
	man := &content.Source{ID: "man:x", Title: "ibv_post_send(3)", Layer: content.Official, Where: "rdma-core v44"}
	lib := &content.Library{
		Topics: []*content.Topic{
			{ID: "ordering", Title: "Ordering & visibility", Blurb: "What | you may rely on."},
			{ID: "never", Title: "Never studied"},
		},
		Glossary: []*content.Term{
			{Term: "memory region (MR)", Means: "Registered memory.", Confuse: "A window.", Topic: "ordering"},
			{Term: "fence", Means: "A flag.", Topic: "ordering"},
			{Term: "AH", Means: "Never met.", Topic: "never"},
		},
		Questions: []*content.Question{
			{
				ID: "ordering.choice", Topic: "ordering", Kind: content.Choice, Prompt: "Which *one*?\n\n```c\nibv_post_send();\n```",
				Explain: "Because of the fences.", Scope: "one send queue", Layer: content.Official,
				Choices: []content.Option{{Text: "the `first`", Right: true, Why: "It is."}, {Text: "the second"}},
			},
			{
				ID: "ordering.number", Topic: "ordering", Kind: content.Number, Prompt: "How many?", Explain: "Counted.",
				Scope: "one QP", Layer: content.Report, Unit: "packets", Proof: &content.Proof{Script: "…", Asks: "a.cq1[0].byte_len"},
			},
			{
				ID: "ordering.open", Topic: "ordering", Kind: content.Open, Prompt: "Explain.", Model: "A model answer.",
				Layer: content.Inference, Rubric: []content.Point{{Text: "names the MR", Must: true}, {Text: "gives a figure"}},
			},
			{ID: "ordering.right", Topic: "ordering", Kind: content.Fill, Prompt: "Name?", Answer: "RTR", Layer: content.Official},
		},
		Labs: []*content.Lab{{
			ID: "stale", Topic: "ordering", Title: "A stale rkey", Profile: "spec",
			Parts: []content.Part{{Title: "Part", Steps: []content.Step{{
				Title: "Deregister", Explain: "The peer goes.", Notice: "It is gone.",
				Predict: &content.Prediction{Prompt: "What comes?", Options: []content.Option{{Text: "an error"}, {Text: "nothing"}}},
			}}}},
		}},
	}
	for _, q := range lib.Questions {
		q.Refs = []content.Ref{{Source: man, Place: "SEND_FENCE"}}
	}
	return lib
}

var attemptNumber int

// attempt is an answer of a day; wrong ones are graded.
func attempt(question string, day int, correct bool, sure int) quiz.Attempt {
	attemptNumber++
	return quiz.Attempt{
		ID: quiz.ID(strings.Repeat("0", 28) + string(rune('a'+attemptNumber%26)) + time.Unix(int64(attemptNumber), 0).UTC().Format("405")), Kind: quiz.Answered,
		Question: question, At: time.Unix(int64(day)*86400+36_000+int64(attemptNumber), 0).UTC(), Day: day,
		Correct: correct, Graded: true, Sure: sure, Took: 30 * time.Second, Rating: fsrs.Good,
	}
}

func data() Data {
	attemptNumber = 0
	lib := library()
	choice := attempt("ordering.choice", today-3, false, 90)
	in, _ := quiz.Draw(lib.Questions[0], choice.Variant)
	for i, c := range in.Choices {
		if c.Text == "the second" {
			choice.Answer.Picks = []int{i}
		}
	}
	number := attempt("ordering.number", today-2, false, 70)
	number.Answer.Text, number.Right = "3 <b>packets</b>", "5 packets, as shown then"
	open := attempt("ordering.open", today-1, false, 0)
	open.Answer = quiz.Answer{Text: "# My answer\n```\nis *this*", Points: []bool{false, true}, Grade: 1}
	lab := attempt("lab/stale/1.1", today-1, false, 60)
	lab.Kind, lab.Yours, lab.Right = quiz.LabKind, "nothing", "an error"
	gone := attempt("old.question", today-9, false, 50)
	gone.Yours, gone.Right = "[a](b)", "c"
	slip := attempt("ordering.right", today, false, 80)
	undo := quiz.Attempt{ID: "f", Kind: quiz.Voided, Voids: slip.ID, At: slip.At.Add(time.Second), Day: today}
	skip := attempt("ordering.right", today, false, 0)
	skip.Kind, skip.Graded = quiz.Skipped, false
	d := Data{
		Now: now, Library: lib,
		Log: []quiz.Attempt{choice, attempt("ordering.choice", today-1, true, 90), number, open, lab, gone, slip, undo, skip, attempt("ordering.right", today, true, 90)},
		Records: []decision.Record{
			{Format: 1, ID: "bb11", Lab: "stale", Title: "Second", At: now, Question: "Which?", Verdict: decision.Confirmed},
			{Format: 1, ID: "aa22/../..", Lab: "../../etc", Title: "First [x](y)", At: now.Add(-48 * time.Hour), Verdict: decision.Refuted, Notes: "```\nan open fence\n# and a heading"},
		},
		Right: func(_ context.Context, question string, _ uint64) (string, error) {
			if question == "ordering.number" {
				return "4 packets", nil
			}
			return "", errors.New("the model has no such device")
		},
	}
	d.Cards = quiz.Fold(d.Log)
	return d
}

func render(t *testing.T, d Data) map[string]string {
	t.Helper()
	notes, err := Render(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, f := range notes.Files {
		pages[f.Name] = f.Body
	}
	return pages
}

// Every question that was graded wrong and not taken back is told whole.
func TestEveryMissedQuestionIsTold(t *testing.T) {
	got := outline(t, render(t, data())["topics/ordering.md"])
	want := map[string]map[string]string{
		"ordering.choice": {
			"":         "Wrong 1 time of 2, the last time on 2026-03-07, 90% sure; right since, on 2026-03-09.",
			"Question": "Which one?\nibv_post_send();", "Your answer": "the second",
			"Right answer": "the first\nIt is.", "Why": "Because of the fences.",
			"Scope": "one send queue", "Layer": "official", "Source": "ibv_post_send(3), SEND_FENCE (rdma-core v44); official",
		},
		"ordering.number": {
			"": "Wrong 1 time of 1, the last time on 2026-03-08, 70% sure.", "Question": "How many?",
			"Your answer": "3 <b>packets</b>", "Right answer, from a run of its proof": "4 packets", "Why": "Counted.",
			"Scope": "one QP", "Layer": "report", "Source": "ibv_post_send(3), SEND_FENCE (rdma-core v44); official",
		},
		"ordering.open": {
			"": "Wrong 1 time of 1, the last time on 2026-03-09.", "Question": "Explain.",
			"Your answer": "# My answer\n```\nis *this*", "A model answer": "A model answer.",
			"(missed, a must) names the MR": "", "(made) gives a figure": "",
			"Scope": "not stated", "Layer": "inference", "Source": "ibv_post_send(3), SEND_FENCE (rdma-core v44); official",
		},
		"lab/stale/1.1": {
			"":         "Wrong 1 time of 1, the last time on 2026-03-09, 60% sure.",
			"Question": "Lab \"A stale rkey\", Part, Deregister\nThe peer goes.\nWhat comes?", "Your answer": "nothing",
			"Right answer, as it was shown then (the proof did not run this time: the model has no such device)": "an error",
			"Why": "It is gone.", "Scope": "not stated", "Layer": "official", "Source": "not stated",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want-, page+:\n%s", diff)
	}
}

// A question that left the library is still told, from the log alone.
func TestQuestionGoneFromTheLibrary(t *testing.T) {
	got := outline(t, render(t, data())["topics/gone.md"])
	want := map[string]map[string]string{"old.question": {
		"": "Wrong 1 time of 1, the last time on 2026-03-01, 50% sure.", "Your answer": "[a](b)", "Right answer, as it was shown then": "c",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want-, page+:\n%s", diff)
	}
}

// The index counts what stands: 8 entries of the log, one of them a skip, on 6
// days (9, 3, 2 and 1 days ago, and today: 5).
func TestIndexCounts(t *testing.T) {
	d := data()
	page := textOf(render(t, d)["index.md"])
	m := quiz.Mastery(d.Library, d.Cards, today)[0]
	for _, want := range []string{
		"Written 2026-03-10 09:30 +0100.",
		"days with study: 5",
		"answers: 6; of 6 graded, 2 were right (33%)",
		"predictions in labs: 1",
		"skipped: 1",
		"time before questions and predictions: 3m30s", // 7 of 30 s
		// 50, 60, 70 and 90% wrong, 90% right twice: (.25+.36+.49+.81+.01+.01)/6
		"Brier score 0.322 over 6 answers",
		"90% 3 2 (67%)",
		"2 terms came up in what was answered.",
		fmt.Sprintf("Ordering & visibility %.0f%% %d of 4 %d 4", 100*m.Mastery, m.Seen, m.Due), // 3 questions and a prediction missed
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the index does not say %q:\n%s", want, page)
		}
	}
}

// Terms are those that stand as words in what was answered: "fences" and "MR"
// do, "AH" does not.
func TestGlossaryTermsMet(t *testing.T) {
	page := textOf(render(t, data())["glossary.md"])
	for want, there := range map[string]bool{"fence": true, "memory region (MR)": true, "A window.": true, "Never met.": false} {
		if strings.Contains(page, want) != there {
			t.Errorf("%q there: %v, want %v", want, !there, there)
		}
	}
	for _, c := range []struct {
		text, name string
		want       bool
	}{
		{"a fence.", "fence", true},
		{"Fences", "fence", true},
		{"defence", "fence", false},
		{"fenced", "fence", false},
		{"ah!", "AH", false},
		{"two AHs", "AH", true},
		{"an_AH_x", "AH", false},
	} {
		if got := speaksOf(c.text, c.name); got != c.want {
			t.Errorf("%q speaks of %q: %v, want %v", c.text, c.name, got, c.want)
		}
	}
}

// Every page is reached from the index by a link, and every link leads to a
// page.
func TestEveryPageIsLinked(t *testing.T) {
	pages := render(t, data())
	linked := map[string]bool{"index.md": true}
	for _, target := range links(pages["index.md"]) {
		linked[target] = true
		if pages[target] == "" {
			t.Errorf("a link to %s, which is not there", target)
		}
	}
	for name := range pages {
		if !linked[name] {
			t.Errorf("no link to %s", name)
		}
	}
	if len(pages) != 6 { // index, two topics, two records, glossary
		t.Errorf("%d pages, want 6", len(pages))
	}
}

// Equal data give equal bytes, in whatever order rows come from the store.
func TestEqualDataGiveEqualBytes(t *testing.T) {
	want := render(t, data())
	random := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		d := data()
		random.Shuffle(len(d.Log), func(i, j int) { d.Log[i], d.Log[j] = d.Log[j], d.Log[i] })
		random.Shuffle(len(d.Records), func(i, j int) { d.Records[i], d.Records[j] = d.Records[j], d.Records[i] })
		if diff := cmp.Diff(want, render(t, d)); diff != "" {
			t.Fatalf("first-, shuffled+:\n%s", diff)
		}
	}
}

func TestNothingStudiedYet(t *testing.T) {
	pages := render(t, Data{Now: now, Library: library()})
	if len(pages) != 1 {
		t.Errorf("%d pages, want the index alone", len(pages))
	}
	for _, want := range []string{"answers: 0; of 0 graded, 0 were right (-)", "0 cards due", "None yet"} {
		if !strings.Contains(textOf(pages["index.md"]), want) {
			t.Errorf("the index does not say %q:\n%s", want, pages["index.md"])
		}
	}
}

// A record whose text is Markdown of its own is still one page with its own
// headings.
func TestRecordCannotBreakItsPage(t *testing.T) {
	page := render(t, data())["records/2026-03-08-etc-aa22.md"]
	heads := headings(page)
	if len(heads) == 0 || heads[0] != "1 Decision: First [x](y)" {
		t.Errorf("the headings are %q", heads)
	}
	if last := heads[len(heads)-1]; last != "2 Notes" {
		t.Errorf("the last heading is %q, want Notes", last)
	}
	if !strings.Contains(textOf(page), "an open fence # and a heading") && !strings.Contains(textOf(page), "an open fence\n# and a heading") {
		t.Errorf("the notes are not there:\n%s", page)
	}
}

func TestOverContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	d := data()
	d.Right = func(context.Context, string, uint64) (string, error) {
		cancel() // during a run
		return "", ctx.Err()
	}
	if _, err := Render(ctx, d); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want Canceled", err)
	}
}
