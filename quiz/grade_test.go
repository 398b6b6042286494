package quiz

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rdmaprep/content"
	"rdmaprep/quiz/fsrs"
)

// What is right follows from the definition of the units: SI prefixes are
// powers of 1000, IEC 80000-13 prefixes of 1024, a byte has 8 bits.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		typed, right, unit string
		tol                float64
		ok                 bool
		note               string // a part of it
	}{
		{"67.1 ms", "67.1", "ms", 0, true, ""},
		{"67.1ms", "67.1", "ms", 0, true, ""},
		{"67.1", "67.1", "ms", 0, true, ""},
		{"0.0671 s", "67.1", "ms", 0, true, ""},
		{"67100 us", "67.1", "ms", 0, true, ""},
		{"67100µs", "67.1", "ms", 0, true, ""},
		{"6.71e-2 s", "67.1", "ms", 0, true, ""},
		{"67.2 ms", "67.1", "ms", 0, false, ""},
		{"67.2 ms", "67.1", "ms", 0.01, true, ""},
		{"68 ms", "67.1", "ms", 0.01, false, ""},
		{"67.1 s", "67.1", "ms", 0, false, "right in ms, not in s"},
		{"67.1 packets", "67.1", "ms", 0, false, "the unit is wrong"},
		{"67.1 furlongs", "67.1", "ms", 0, false, "not a unit"},
		{"67 ms", "67108864 ns", "ms", 0.01, true, ""},
		{"1,024 bytes", "1024", "bytes", 0, true, ""},
		{"1 KiB", "1024", "bytes", 0, true, ""},
		{"1 KB", "1024", "bytes", 0, false, ""},
		{"8192 bits", "1024", "bytes", 0, true, ""},
		{"4k", "4096", "bytes", 0, true, ""},
		{"0x400", "1024", "bytes", 0, true, ""},
		{"1,02 bytes", "102", "bytes", 0, false, "does not begin with a number"},
		{"12.5 GB/s", "100", "Gb/s", 0, true, ""},
		{"100 Gbps", "100", "Gb/s", 0, true, ""},
		{"100 gb/s", "100", "Gb/s", 0, false, "not a unit"}, // bits or bytes?
		{"7 retries", "7", "retries", 0, true, ""},
		{"7 packets", "7", "retries", 0, false, "the number is right, but the unit is wrong"},
		{"7", "7", "", 0, true, ""},
		{"-3", "3", "count", 0, false, ""},
		{"80 percent", "80", "%", 0, true, ""},
		{"1e99999999 ms", "1", "ms", 0, false, "does not begin with a number"},
		{"ms", "1", "ms", 0, false, "does not begin with a number"},
		{"", "1", "ms", 0, false, "type a number"},
	} {
		m, err := matchNumber(c.typed, c.right, c.unit, c.tol)
		if err != nil {
			t.Errorf("%q: %v", c.typed, err)
		}
		if m.right != c.ok || !strings.Contains(m.note, c.note) || c.note == "" && m.note != "" {
			t.Errorf("%q for %s %s within %g: right %v, note %q", c.typed, c.right, c.unit, c.tol, m.right, m.note)
		}
	}
}

// A quantity is right in whatever unit of its dimension it is written.
func TestAnyUnitOfTheDimension(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.Int64Range(1, 1e15).Draw(t, "ns")
		for unit, one := range map[string]int64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9} {
			text := new(big.Rat).SetFrac64(ns, one).FloatString(9) + unit
			m, err := matchNumber(text, new(big.Rat).SetInt64(ns).FloatString(0), "ns", 0)
			if err != nil || !m.right {
				t.Fatalf("%s is not %d ns: %v %v", text, ns, m, err)
			}
			wrong, _ := matchNumber(text, new(big.Rat).SetInt64(ns+1).FloatString(0), "ns", 0)
			if wrong.right {
				t.Fatalf("%s is %d ns", text, ns+1)
			}
		}
	})
}

func TestParseQuantityNeverPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`[-+0-9.,exk ]{0,12}[a-zA-Z/%]{0,4}`)).Draw(t, "s")
		if q, err := parseQuantity(s); err == nil && q.value == nil {
			t.Fatalf("%q gives neither a number nor an error", s)
		}
		_ = sameName(s, s)
	})
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		typed, right string
		ok           bool
	}{
		{"WR_FLUSH_ERR", "WR_FLUSH_ERR", true},
		{"ibv_wc_wr_flush_err", "WR_FLUSH_ERR", true},
		{"IBV_WC_WR_FLUSH_ERR", "IBV_WC_WR_FLUSH_ERR", true},
		{" wr flush err ", "WR_FLUSH_ERR", true},
		{"wr-flush-err", "WR_FLUSH_ERR", true},
		{"`RTS`", "IBV_QPS_RTS", true},
		{"rts", "RTR", false},
		{"FLUSH_ERR", "WR_FLUSH_ERR", false},
		{"ibv_post_send()", "post_send", true},
		{"REMOTE_WRITE|LOCAL_WRITE", "IBV_ACCESS_LOCAL_WRITE|IBV_ACCESS_REMOTE_WRITE", true},
		{"REMOTE_WRITE", "LOCAL_WRITE|REMOTE_WRITE", false},
		{"42", "0x2a", true},
		{"43", "0x2a", false},
		{"", "", false},
		{"IBV_", "RTS", false},
	} {
		if got := sameName(c.typed, c.right); got != c.ok {
			t.Errorf("%q for %q: %v", c.typed, c.right, got)
		}
	}
}

// The rule of a multi question, written as sets: right is every right choice
// and no other.
func TestPicksAgainstSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "n")
		key := Key{}
		in := &Instance{Question: &content.Question{ID: "x", Kind: content.Multi}}
		right, given := map[int]bool{}, map[int]bool{}
		for i := range n {
			in.Choices = append(in.Choices, Shown{Text: string(rune('a' + i)), Origin: i})
			key.Right = append(key.Right, rapid.Bool().Draw(t, "right"))
			if key.Right[i] {
				right[i] = true
			}
		}
		var a Answer
		for i := range n {
			if rapid.Bool().Draw(t, "pick") {
				a.Picks = append(a.Picks, i)
				given[i] = true
			}
		}
		equal := len(right) == len(given)
		for i := range right {
			equal = equal && given[i]
		}
		v := Grade(in, key, a)
		if v.Correct != equal || !v.Graded || (v.Score == 1) != equal || v.Score < 0 || v.Score > 1 {
			t.Fatalf("right %v, given %v: %+v", right, given, v)
		}
		for i, c := range v.Choices {
			if c.Right != right[i] || c.Picked != given[i] {
				t.Fatalf("choice %d: %+v", i, c)
			}
		}
	})
}

// Without a proof an order is right if sorting it by the content's positions
// changes nothing; its score is one less the share of inversions.
func TestOrderAgainstSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "n")
		in := &Instance{Question: &content.Question{ID: "x", Kind: content.Order}}
		for _, o := range rapid.Permutation(indexesTo(n)).Draw(t, "shown") {
			in.Choices = append(in.Choices, Shown{Text: string(rune('a' + o)), Origin: o})
		}
		a := Answer{Order: rapid.Permutation(indexesTo(n)).Draw(t, "given")}
		var origins []int
		for _, i := range a.Order {
			origins = append(origins, in.Choices[i].Origin)
		}
		inversions, pairs := 0, n*(n-1)/2
		sorted := slices.Clone(origins)
		for i := range sorted { // bubble sort counts inversions
			for j := range len(sorted) - 1 - i {
				if sorted[j] > sorted[j+1] {
					sorted[j], sorted[j+1] = sorted[j+1], sorted[j]
					inversions++
				}
			}
		}
		v := Grade(in, Key{}, a)
		if v.Correct != slices.IsSorted(origins) {
			t.Fatalf("%v: %+v", origins, v)
		}
		if want := float64(pairs-inversions) / float64(pairs); v.Score != want {
			t.Fatalf("%v: score %v, want %v", origins, v.Score, want)
		}
	})
}

func indexesTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func TestGradeByKind(t *testing.T) {
	choice, fill, number := draw(t, "t1.choice"), draw(t, "t1.fill"), draw(t, "t1.number")
	predict, seq := draw(t, "t1.predict"), draw(t, "t1.sequence")
	maybe, open, proof := draw(t, "t1.maybe"), draw(t, "t2.open"), draw(t, "t1.proof")
	key := func(in *Instance) Key { k, _ := ContentKey(in); return k }
	ran := Key{Value: "RNR_RETRY_EXC_ERR"}
	order := picks(seq, "INIT", "RTR", "RTS")
	other := picks(seq, "RTR", "INIT", "RTS")
	for _, c := range []struct {
		name            string
		in              *Instance
		key             Key
		a               Answer
		graded, correct bool
		right           string
	}{
		{"choice right", choice, key(choice), Answer{Picks: picks(choice, "yes")}, true, true, "yes"},
		{"choice wrong", choice, key(choice), Answer{Picks: picks(choice, "no")}, true, false, "yes"},
		{"fill", fill, key(fill), Answer{Text: "ibv_wc_wr_flush_err"}, true, true, "WR_FLUSH_ERR"},
		{"fill, other spelling", fill, key(fill), Answer{Text: "Flush Error"}, true, true, "WR_FLUSH_ERR"},
		{"number", number, key(number), Answer{Text: "0.0671 s"}, true, true, "67.1 ms"},
		{"predict right", predict, ran, Answer{Picks: picks(predict, "RNR_RETRY_EXC_ERR")}, true, true, "RNR_RETRY_EXC_ERR"},
		{"predict wrong", predict, ran, Answer{Picks: picks(predict, "SUCCESS")}, true, false, "RNR_RETRY_EXC_ERR"},
		{"predict, none of the options", predict, Key{Value: "LOC_LEN_ERR"}, Answer{Picks: picks(predict, "SUCCESS")}, false, false, "LOC_LEN_ERR"},
		{"order passes", seq, Key{Order: order, OrderPasses: true}, Answer{Order: order}, true, true, "INIT → RTR → RTS"},
		{"order fails", seq, Key{Order: other}, Answer{Order: other}, true, false, "INIT → RTR → RTS"},
		{"another order passes too", seq, Key{Order: other, OrderPasses: true}, Answer{Order: other}, true, true, "INIT → RTR → RTS"},
		{"order was not run", seq, Key{Order: order, OrderPasses: true}, Answer{Order: other}, false, false, "INIT → RTR → RTS"},
		{"right order fails on the device", seq, Key{Order: order}, Answer{Order: order}, false, false, "INIT → RTR → RTS"},
		{"no key for a proof", proof, Key{}, Answer{Picks: []int{0}}, false, false, ""},
		{"provisional", maybe, key(maybe), Answer{Picks: picks(maybe, "yes")}, false, false, "yes"},
		{"open good", open, Key{}, Answer{Points: []bool{true, true, false}, Grade: 3}, true, true, "also: also"},
		{"open without a must", open, Key{}, Answer{Points: []bool{false, true, true}, Grade: 4}, true, false, "also: must"},
		{"open graded again", open, Key{}, Answer{Points: []bool{true, true, true}, Grade: 1}, true, false, "every point"},
		{"open unmarked", open, Key{}, Answer{Grade: 3}, false, false, ""},
	} {
		v := Grade(c.in, c.key, c.a)
		if v.Graded != c.graded || v.Correct != c.correct || v.RightText != c.right {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
	if _, ok := ContentKey(proof); ok {
		t.Error("the content gives a key beside a proof")
	}
}

func TestSeveralOptionsOfALabMayHold(t *testing.T) {
	in, err := ForLab(library().Labs[0], 0, 1, 9)
	if err != nil {
		t.Fatal(err)
	}
	for i := range in.Choices {
		if v := Grade(in, Key{Right: []bool{true, true}}, Answer{Picks: []int{i}}); !v.Correct {
			t.Errorf("option %d holds and is wrong: %+v", i, v)
		}
	}
	if want := "script 1\npair rc\na: query_qp qp1\nb: query_qp qp1\n"; in.Question.Proof.Script != want {
		t.Errorf("the proof is %q, want setup and steps up to this one: %q", in.Question.Proof.Script, want)
	}
	if lab, part, step, ok := splitLabQuestion(in.ID()); !ok || lab != "lab1" || part != 0 || step != 1 {
		t.Errorf("%s is read as %s %d %d %v", in.ID(), lab, part, step, ok)
	}
	if _, err := ForLab(library().Labs[0], 0, 0, 9); err == nil {
		t.Error("a step without a prediction became a question")
	}
}

// The table in the comment of RatingOf, line by line.
func TestRatingOf(t *testing.T) {
	for _, c := range []struct {
		correct     bool
		sure, hints int
		want        fsrs.Rating
	}{
		{false, 100, 0, fsrs.Again},
		{false, 0, 2, fsrs.Again},
		{true, 100, 1, fsrs.Hard},
		{true, 0, 1, fsrs.Hard},
		{true, 50, 0, fsrs.Hard},
		{true, 60, 0, fsrs.Hard},
		{true, 70, 0, fsrs.Good},
		{true, 90, 0, fsrs.Good},
		{true, 0, 0, fsrs.Good},
		{true, 100, 0, fsrs.Easy},
	} {
		if got := RatingOf(c.correct, c.sure, c.hints); got != c.want {
			t.Errorf("right %v, %d%% sure, %d hints: %v, want %v", c.correct, c.sure, c.hints, got, c.want)
		}
	}
}

// An open answer is rated as the learner grades it, unless the rubric says that
// it is not good enough, or a hint did part of it.
func TestOpenRating(t *testing.T) {
	for _, c := range []struct {
		correct      bool
		grade, hints int
		want         fsrs.Rating
	}{
		{true, 4, 0, fsrs.Easy},
		{true, 3, 0, fsrs.Good},
		{true, 2, 0, fsrs.Hard},
		{true, 4, 1, fsrs.Hard},
		{false, 4, 0, fsrs.Again},
		{false, 4, 1, fsrs.Again},
	} {
		if got := openRating(c.correct, c.grade, c.hints); got != c.want {
			t.Errorf("right %v, grade %d, %d hints: %v, want %v", c.correct, c.grade, c.hints, got, c.want)
		}
	}
}

// Options that are pieces of text differ by what a free spelling would throw
// away: quotes and dots at the ends.
func TestPredictedTextIsComparedAsItIs(t *testing.T) {
	q := &content.Question{
		ID: "t.text", Kind: content.Predict, Options: []string{`"...."`, `"..xx"`, `"xx.."`}, Proof: &content.Proof{Asks: "b.mr1[0:4].text"},
	}
	in, err := Draw(q, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range in.Choices {
		v := Grade(in, Key{Value: `"..xx"`}, Answer{Picks: []int{i}})
		if want := c.Text == `"..xx"`; !v.Graded || v.Correct != want {
			t.Errorf("%s: graded %v, correct %v, want graded and correct %v", c.Text, v.Graded, v.Correct, want)
		}
	}
}
