// Package fsrs schedules reviews with FSRS-6, the published spaced-repetition
// algorithm, as the Rust engine fsrs-rs computes it.
//
// It promises pure functions: equal cards, ratings and days give equal cards on
// every machine. Days are whole numbers that the caller counts; the package
// knows no clock, no time zone and no randomness (there is no fuzz of the
// intervals). It does not train the weights: they are the published defaults.
//
// One decision is worth knowing. On a second review of the same day the
// stability never falls if the rating is Hard or better. That is the rule of
// fsrs-rs and go-fsrs; py-fsrs applies it from Good upward
// (open-spaced-repetition/srs-benchmark, issue 343).
package fsrs

import "math"

// Version names the algorithm and its weights. A cache of cards is stamped
// with it and rebuilt when it changes.
const Version = "fsrs-6/1"

// Rating is how a review went.
type Rating uint8

// The ratings. 0 is no rating: the review does not count.
const (
	Again Rating = iota + 1
	Hard
	Good
	Easy
)

// String is the rating's name, as Anki prints it.
func (g Rating) String() string {
	switch g {
	case Again:
		return "again"
	case Hard:
		return "hard"
	case Good:
		return "good"
	case Easy:
		return "easy"
	}
	return "none"
}

// Limits of FSRS-6.
const (
	StabilityMin   = 0.001   // days
	StabilityMax   = 36500.0 // days
	DifficultyMin  = 1.0
	DifficultyMax  = 10.0
	IntervalMinDay = 1
	IntervalMaxDay = 36500
	// Retention is the chance of recall at which a card falls due.
	Retention = 0.9
)

// Weights are the parameters w0 to w20.
type Weights [21]float64

// Default are the published weights of FSRS-6.
var Default = Weights{
	0.212, 1.2931, 2.3065, 8.2956, 6.4133, 0.8334, 3.0194, 0.001, 1.8722, 0.1666, 0.796,
	1.4835, 0.0614, 0.2629, 1.6483, 0.6014, 1.8729, 0.5425, 0.0912, 0.0658, 0.1542,
}

// Card is what is known of one question's memory. The zero Card has never been
// reviewed.
type Card struct {
	S      float64 `json:"s"`      // stability: days until the chance of recall is 0.9
	D      float64 `json:"d"`      // difficulty, 1 to 10
	Due    int     `json:"due"`    // day number
	Last   int     `json:"last"`   // day number of the last review
	Reps   int     `json:"reps"`   // reviews
	Lapses int     `json:"lapses"` // reviews after the first that were rated Again
}

// New says whether the card was never reviewed.
func (c Card) New() bool { return c.Reps == 0 }

// Review returns the card after a review rated g, elapsedDays whole days after
// the last one (for the first review: its day number, since Last is then 0).
// Negative elapsed days, as from a clock that was set back, count as 0. A
// rating out of range returns the card unchanged.
func Review(c Card, g Rating, elapsedDays int) Card { return Default.Review(c, g, elapsedDays) }

// ReviewOn is Review for a caller that has the day's number.
func ReviewOn(c Card, g Rating, day int) Card { return Review(c, g, day-c.Last) }

// Retrievability is the chance (0 to 1) that the card is recalled on day; 0 for
// a card that was never reviewed.
func Retrievability(c Card, day int) float64 {
	if c.New() {
		return 0
	}
	return Default.Recall(c.S, float64(max(0, day-c.Last)))
}

// Interval is the number of whole days after which a card of the given
// stability has the given chance of recall, from 1 to 36500.
func Interval(stability, retention float64) int { return Default.Interval(stability, retention) }

// Review is the package's Review with these weights.
func (w *Weights) Review(c Card, g Rating, elapsedDays int) Card {
	if g < Again || g > Easy {
		return c
	}
	elapsedDays = max(0, elapsedDays)
	switch {
	case c.New():
		c.S = clampStability(w[g-1])
		c.D = clampDifficulty(w.firstDifficulty(g))
	default:
		s := w.nextStability(c, g, float64(elapsedDays))
		c.D = w.nextDifficulty(c.D, g)
		c.S = s
		if g == Again {
			c.Lapses++
		}
	}
	c.Reps++
	c.Last += elapsedDays
	c.Due = c.Last + w.Interval(c.S, Retention)
	return c
}

// Recall is the forgetting curve: the chance of recall t days after a review
// that left the given stability.
func (w *Weights) Recall(stability, t float64) float64 {
	return math.Pow(1+w.factor()*t/stability, w.decay())
}

// Interval is the package's Interval with these weights.
func (w *Weights) Interval(stability, retention float64) int {
	days := math.Round(w.rawInterval(stability, retention))
	return int(min(max(days, IntervalMinDay), IntervalMaxDay))
}

// rawInterval solves the forgetting curve for t, without rounding or limits.
func (w *Weights) rawInterval(stability, retention float64) float64 {
	return stability / w.factor() * (math.Pow(retention, 1/w.decay()) - 1)
}

func (w *Weights) decay() float64 { return -w[20] }

// factor makes Recall(S, S) equal 0.9.
func (w *Weights) factor() float64 { return math.Pow(0.9, 1/w.decay()) - 1 }

// firstDifficulty is D0(g), which is not clamped where it is the goal of the
// mean reversion.
func (w *Weights) firstDifficulty(g Rating) float64 {
	return w[4] - math.Exp(w[5]*float64(g-1)) + 1
}

func (w *Weights) nextDifficulty(d float64, g Rating) float64 {
	delta := -w[6] * (float64(g) - 3)
	moved := d + (10-d)/9*delta
	return clampDifficulty(w[7]*w.firstDifficulty(Easy) + (1-w[7])*moved)
}

func (w *Weights) nextStability(c Card, g Rating, t float64) float64 {
	if t == 0 {
		return w.sameDay(c.S, g)
	}
	r := w.Recall(c.S, t)
	if g == Again {
		lapse := w[11] * math.Pow(c.D, -w[12]) * (math.Pow(c.S+1, w[13]) - 1) * math.Exp((1-r)*w[14])
		return clampStability(min(lapse, c.S/math.Exp(w[17]*w[18])))
	}
	grow := math.Exp(w[8]) * (11 - c.D) * math.Pow(c.S, -w[9]) * (math.Exp((1-r)*w[10]) - 1)
	if g == Hard {
		grow *= w[15]
	}
	if g == Easy {
		grow *= w[16]
	}
	return clampStability(c.S * (1 + grow))
}

// sameDay is the short-term rule. The floor for ratings of Hard and better is
// that of fsrs-rs.
func (w *Weights) sameDay(s float64, g Rating) float64 {
	inc := math.Exp(w[17]*(float64(g)-3+w[18])) * math.Pow(s, -w[19])
	if g >= Hard {
		inc = max(inc, 1)
	}
	return clampStability(s * inc)
}

func clampStability(s float64) float64  { return min(max(s, StabilityMin), StabilityMax) }
func clampDifficulty(d float64) float64 { return min(max(d, DifficultyMin), DifficultyMax) }
