package quiz

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"rdmaprep/content"
	"rdmaprep/quiz/fsrs"
)

func attempt(id ID, q string, day int, g fsrs.Rating) Attempt {
	return Attempt{
		ID: id, Kind: Answered, Question: q, Day: day, At: noon.Add(time.Duration(day) * 24 * time.Hour),
		Graded: true, Correct: g > fsrs.Again, Rating: g,
	}
}

// Voiding the last attempt gives back the cards as they were before it, exactly,
// and the order in which two logs are merged does not matter.
func TestFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var log []Attempt
		next := counter("a")
		day := 100
		for range rapid.IntRange(1, 15).Draw(t, "n") {
			day += rapid.IntRange(0, 5).Draw(t, "days")
			q := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "q")
			log = append(log, attempt(next(), q, day, fsrs.Rating(rapid.IntRange(0, 4).Draw(t, "g"))))
		}
		before := Fold(log[:len(log)-1])
		last := log[len(log)-1]
		voided := append(slices.Clone(log), Attempt{ID: next(), Kind: Voided, Voids: last.ID, Question: last.Question, Day: day + 1})
		if diff := cmp.Diff(before, Fold(voided)); diff != "" {
			t.Fatalf("after the void: %s", diff)
		}
		mixed := rapid.Permutation(voided).Draw(t, "merged")
		if diff := cmp.Diff(before, Fold(append(mixed, voided...))); diff != "" {
			t.Fatalf("merged with itself in another order: %s", diff)
		}
	})
}

func TestOnlyWrongPredictionsBecomeCards(t *testing.T) {
	lab := func(id ID, day int, right bool) Attempt {
		a := attempt(id, "lab/lab1/1.2", day, RatingOf(right, 80, 0))
		a.Kind = LabKind
		return a
	}
	if cards := Fold([]Attempt{lab("1", 100, true)}); len(cards) != 0 {
		t.Errorf("a right prediction made a card: %v", cards)
	}
	cards := Fold([]Attempt{lab("1", 100, false)})
	if c := cards["lab/lab1/1.2"]; c.Reps != 1 || c.Due != 101 {
		t.Errorf("a wrong one is due the next day: %+v", c)
	}
	if c := Fold([]Attempt{lab("1", 100, false), lab("2", 103, true)})["lab/lab1/1.2"]; c.Reps != 2 {
		t.Errorf("once there is a card, a right one reviews it: %+v", c)
	}
}

// Mastery of two questions, one seen three days ago, is half of its chance of
// recall: FSRS's curve with the default weights at S = 2.3065 (one Good).
func TestMastery(t *testing.T) {
	lib := library()
	lib.Questions = []*content.Question{lib.Questions[0], lib.Questions[1], lib.Questions[8]} // the last is provisional
	cards := Fold([]Attempt{attempt("1", "t1.choice", 100, fsrs.Good), attempt("2", "t1.maybe", 100, fsrs.Good)})
	got := Mastery(lib, cards, 103)
	decay := -0.1542
	factor := math.Pow(0.9, 1/decay) - 1
	want := math.Pow(1+factor*3/2.3065, decay) / 2
	if len(got) != 2 || math.Abs(got[0].Mastery-want) > 1e-12 {
		t.Fatalf("%+v, want %v", got, want)
	}
	if m := got[0]; m.Questions != 2 || m.Seen != 1 || m.Due != 1 || m.Topic != "t1" {
		t.Errorf("%+v", m)
	}
	if m := got[1]; m.Mastery != 0 || m.Questions != 0 {
		t.Errorf("a topic without questions: %+v", m)
	}
}

// Four answers by hand: 100 % right (0), 100 % wrong (1), 50 % right (0.25),
// 80 % right (0.04): mean 0.3225.
func TestCalibration(t *testing.T) {
	var log []Attempt
	for i, c := range []struct {
		sure  int
		right bool
	}{{100, true}, {100, false}, {50, true}, {80, true}, {0, true}} {
		a := attempt(ID(rune('1'+i)), "x", 100+i, RatingOf(c.right, c.sure, 0))
		a.Sure = c.sure
		log = append(log, a)
	}
	log = append(log, Attempt{ID: "u", Kind: Answered, Question: "x", Sure: 90, Correct: true}) // ungraded
	got := Calibrate(log)
	want := Calibration{N: 4, Brier: 0.3225, Rows: []CalibrationRow{{50, 1, 1}, {80, 1, 1}, {100, 2, 1}}}
	if math.Abs(got.Brier-want.Brier) > 1e-12 {
		t.Errorf("Brier %v", got.Brier)
	}
	got.Brier = want.Brier
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if empty := Calibrate(nil); empty.N != 0 || empty.Brier != 0 {
		t.Errorf("of nothing: %+v", empty)
	}
}

func ids(items []Item) []string {
	var out []string
	for _, it := range items {
		out = append(out, it.Question)
	}
	return out
}

func TestSelect(t *testing.T) {
	lib := library()
	cards := Fold([]Attempt{
		attempt("1", "t1.choice", 100, fsrs.Good),     // due on 102
		attempt("2", "t1.multi", 90, fsrs.Good),       // due on 92
		attempt("3", "t1.order", 103, fsrs.Easy),      // due later
		attempt("4", "lab/lab1/1.2", 100, fsrs.Again), // due on 101
		attempt("5", "t9.gone", 50, fsrs.Good),        // not in the library any more
	})
	due := []string{"t1.multi", "lab/lab1/1.2", "t1.choice"}
	got := Select(lib, cards, 103, 0, Filter{Mode: DueFirst, New: 2}, 7)
	if !slices.Equal(ids(got)[:3], due) || len(got) != 5 || !got[0].Due || !got[3].New {
		t.Errorf("due first: %+v", got)
	}
	if got := Select(lib, cards, 103, 1, Filter{Mode: DueFirst, New: 2}, 7); len(got) != 4 {
		t.Errorf("one of two new ones was already answered today: %v", ids(got))
	}
	if got := Select(lib, cards, 103, 50, Filter{Mode: DueFirst}, 7); !slices.Equal(ids(got), due) {
		t.Errorf("more than the day's new ones: %v", ids(got))
	}
	if got := Select(lib, cards, 103, 50, Filter{Mode: Everything}, 7); len(got) != len(lib.Questions)+1 {
		t.Errorf("everything: %v", ids(got))
	}
	if got := Select(lib, cards, 103, 0, Filter{Mode: ByTopic, Topics: []string{"t2"}}, 7); !slices.Equal(ids(got), []string{"lab/lab1/1.2", "t2.open"}) {
		t.Errorf("topic t2: %v", ids(got))
	}
	if got := ids(Select(lib, cards, 103, 0, Filter{Mode: ByTopic, Topics: []string{"t1"}}, 7)); got[0] != "t1.multi" || got[len(got)-1] != "t1.order" {
		t.Errorf("topic t1 begins with what is due and ends with what is not: %v", got)
	}
	if got := Select(lib, cards, 103, 0, Filter{Mode: Interview}, 7); !slices.Equal(ids(got), []string{"t2.open"}) {
		t.Errorf("interview: %v", ids(got))
	}
	if got := Select(lib, cards, 103, 0, Filter{Mode: Everything, Max: 3}, 7); len(got) != 3 {
		t.Errorf("at most three: %v", ids(got))
	}
	a := Select(lib, cards, 103, 0, Filter{Mode: Everything}, 7)
	if diff := cmp.Diff(a, Select(lib, cards, 103, 0, Filter{Mode: Everything}, 7)); diff != "" {
		t.Errorf("the same seed gives another order: %s", diff)
	}
	if slices.Equal(ids(a), ids(Select(lib, cards, 103, 0, Filter{Mode: Everything}, 8))) {
		t.Error("another seed gives the same order")
	}
}

// Choices are shuffled by the variant, all of them are there, and steps to be
// ordered never come in the right order.
func TestDraw(t *testing.T) {
	lib := library()
	rapid.Check(t, func(t *rapid.T) {
		q := rapid.SampledFrom(lib.Questions).Draw(t, "q")
		variant := rapid.Uint64().Draw(t, "variant")
		a, err := Draw(q, variant)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := Draw(q, variant)
		if diff := cmp.Diff(a.Choices, b.Choices); diff != "" {
			t.Fatalf("the same variant differs: %s", diff)
		}
		var origins []int
		for _, c := range a.Choices {
			origins = append(origins, c.Origin)
		}
		if q.Kind == "order" && slices.IsSorted(origins) {
			t.Fatal("the steps are in the right order already")
		}
		slices.Sort(origins)
		if !slices.Equal(origins, indexesTo(len(origins))) {
			t.Fatalf("choices %v", origins)
		}
	})
}

func TestNewOn(t *testing.T) {
	log := []Attempt{
		attempt("1", "x", 100, fsrs.Good), attempt("2", "x", 101, fsrs.Good), attempt("3", "y", 101, fsrs.Again),
		{ID: "4", Kind: Skipped, Question: "z", Day: 101},
	}
	if n := NewOn(log, 101); n != 1 {
		t.Errorf("%d new on day 101, want y only", n)
	}
}
