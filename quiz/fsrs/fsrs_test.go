package fsrs

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The vectors name the implementation that published or produced them. They
// were computed by those implementations, not by this package.
var vectors = []struct {
	name    string
	source  string
	w       func(*Weights)
	ratings []Rating
	days    []int
	s, d    []float64 // after each review; a single value is the last one
	tol     float64
}{
	{
		name: "memory state", source: "fsrs-rs, test_memory_state",
		ratings: []Rating{1, 3, 3, 3, 3, 3}, days: []int{0, 0, 1, 3, 8, 21},
		s: []float64{53.62691}, d: []float64{6.3574867}, tol: 1e-4,
	},
	{
		name: "memory state without short term", source: "fsrs-rs, test_memory_state",
		w:       func(w *Weights) { w[17], w[18], w[19] = 0, 0, 0 },
		ratings: []Rating{1, 3, 3, 3, 3, 3}, days: []int{0, 0, 1, 3, 8, 21},
		s: []float64{53.335106}, d: []float64{6.3574867}, tol: 1e-4,
	},
	{
		name: "all good", source: "py-fsrs 6.3.1",
		ratings: []Rating{3, 3, 3, 3, 3}, days: []int{0, 0, 2, 11, 47},
		s: []float64{2.3065, 2.3065, 10.971048, 46.316858, 164.805552}, tol: 1e-5,
	},
	{
		name: "downhill", source: "py-fsrs 6.3.1",
		ratings: []Rating{4, 3, 2, 1}, days: []int{0, 8, 32, 30},
		s: []float64{8.2956, 38.905150, 98.289672, 3.416283},
		d: []float64{1, 1, 4.010609, 8.016556}, tol: 1e-5,
	},
	{
		name: "relearning on one day", source: "py-fsrs 6.3.1",
		ratings: []Rating{1, 3, 3, 1, 3}, days: []int{0, 0, 0, 3, 0},
		s: []float64{.212, .246689, .284206, .150590, .179219}, tol: 1e-5,
	},
	{
		name: "floor for Hard", source: "an independent version of the fsrs-rs rule; py-fsrs's rule would end at 5.896913",
		ratings: []Rating{3, 2, 2, 3}, days: []int{0, 0, 0, 4},
		s: []float64{2.3065, 2.3065, 2.3065, 9.331086}, tol: 1e-5,
	},
}

func TestPublishedVectors(t *testing.T) {
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			w := Default
			if v.w != nil {
				v.w(&w)
			}
			var c Card
			for i, g := range v.ratings {
				c = w.Review(c, g, v.days[i])
				compare(t, v.source, "S", i, len(v.ratings), v.s, c.S, v.tol)
				compare(t, v.source, "D", i, len(v.ratings), v.d, c.D, v.tol)
			}
		})
	}
}

func compare(t *testing.T, source, what string, i, n int, want []float64, got, tol float64) {
	t.Helper()
	var w float64
	switch {
	case len(want) == n:
		w = want[i]
	case len(want) == 1 && i == n-1:
		w = want[0]
	default:
		return
	}
	if math.Abs(got-w) > tol {
		t.Errorf("%s after review %d: %v, %s has %v", what, i+1, got, source, w)
	}
}

// py-fsrs 6.3.1 gives the difficulty of the first and of the last review of
// the vector "all good", and fsrs-rs its intervals without an upper limit.
func TestPublishedEnds(t *testing.T) {
	var c Card
	first := 0.0
	for i, days := range []int{0, 0, 2, 11, 47} {
		if c = Review(c, Good, days); i == 0 {
			first = c.D
		}
	}
	if math.Abs(first-2.118104) > 1e-6 || math.Abs(c.D-2.090586) > 1e-6 {
		t.Errorf("D runs from %v to %v, py-fsrs from 2.118104 to 2.090586", first, c.D)
	}
	want := []float64{3116766, 34793, 2508, 387, 90, 27, 9, 3, 1} // fsrs-rs, test_next_interval
	for i, days := range want {
		r := float64(i+1) / 10
		// fsrs-rs computes in 32 bits; its largest value is off by a little.
		if got := math.Round(Default.rawInterval(1, r)); math.Abs(got-days) > days*1e-5 {
			t.Errorf("interval(1, %.1f) = %v, fsrs-rs has %v", r, got, days)
		}
	}
	if got := Interval(1, 1); got != 1 {
		t.Errorf("interval(1, 1) = %d, fsrs-rs has 1", got)
	}
	if got := Interval(1, 0.1); got != IntervalMaxDay {
		t.Errorf("interval(1, 0.1) = %d, the limit is %d", got, IntervalMaxDay)
	}
}

func drawCard(t *rapid.T) Card {
	var c Card
	n := rapid.IntRange(1, 12).Draw(t, "reviews")
	for range n {
		c = Review(c, Rating(rapid.IntRange(1, 4).Draw(t, "g")), rapid.IntRange(0, 400).Draw(t, "days"))
	}
	return c
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCard(t)
		if c.S < StabilityMin || c.S > StabilityMax || c.D < DifficultyMin || c.D > DifficultyMax {
			t.Fatalf("out of range: %+v", c)
		}
		if c.Due <= c.Last {
			t.Fatalf("due on day %d, reviewed on day %d", c.Due, c.Last)
		}
		day := c.Last + rapid.IntRange(0, 3000).Draw(t, "later")
		if r, next := Retrievability(c, day), Retrievability(c, day+1); next >= r || r > 1 || next <= 0 {
			t.Fatalf("the chance of recall goes from %v to %v", r, next)
		}
		days := rapid.IntRange(1, 400).Draw(t, "elapsed")
		again, hard := Review(c, Again, days), Review(c, Hard, days)
		good, easy := Review(c, Good, days), Review(c, Easy, days)
		if easy.S < good.S || good.S < hard.S || hard.S < c.S || again.S > c.S {
			t.Fatalf("from %v: again %v hard %v good %v easy %v", c.S, again.S, hard.S, good.S, easy.S)
		}
		if same := Review(c, Hard, 0); same.S < c.S {
			t.Fatalf("Hard on the same day took stability from %v to %v", c.S, same.S)
		}
	})
}

func TestIntervalIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.Float64Range(StabilityMin, StabilityMax).Draw(t, "s")
		more := rapid.Float64Range(s, StabilityMax).Draw(t, "more")
		r := rapid.Float64Range(0.05, 0.99).Draw(t, "r")
		higher := rapid.Float64Range(r, 0.99).Draw(t, "higher")
		if Interval(more, r) < Interval(s, r) {
			t.Fatalf("more stability, shorter interval")
		}
		if Interval(s, higher) > Interval(s, r) {
			t.Fatalf("higher retention, longer interval")
		}
	})
}

// A fold over a log that is cut in two is the fold over the whole.
func TestFoldIsAssociative(t *testing.T) {
	type review struct {
		g    Rating
		days int
	}
	rapid.Check(t, func(t *rapid.T) {
		log := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) review {
			return review{Rating(rapid.IntRange(1, 4).Draw(t, "g")), rapid.IntRange(0, 90).Draw(t, "d")}
		}), 1, 20).Draw(t, "log")
		cut := rapid.IntRange(0, len(log)).Draw(t, "cut")
		fold := func(c Card, part []review) Card {
			for _, r := range part {
				c = Review(c, r.g, r.days)
			}
			return c
		}
		if whole, cutInTwo := fold(Card{}, log), fold(fold(Card{}, log[:cut]), log[cut:]); whole != cutInTwo {
			t.Fatalf("%+v and %+v", whole, cutInTwo)
		}
	})
}

func TestNoRatingAndClockSetBack(t *testing.T) {
	c := ReviewOn(Card{}, Good, 20000)
	if c.Last != 20000 || c.Due != 20002 {
		t.Fatalf("S is 2.3065 days, so the card of day 20000 is due on 20002: %+v", c)
	}
	if got := Review(c, 0, 5); got != c {
		t.Errorf("no rating changed the card: %+v", got)
	}
	if got := ReviewOn(c, Good, 19990); got != ReviewOn(c, Good, 20000) {
		t.Errorf("a clock that was set back is not the same day: %+v", got)
	}
}
