package quiz

import (
	"rdmaprep/content"
	"rdmaprep/quiz/fsrs"
)

// Live returns the attempts that stand, in the order of their days, then
// times, then ids: voids and what they void are left out. The order makes the
// fold of two merged logs the same on every machine.
func Live(log []Attempt) []Attempt { return live(log) }

// Fold computes every card from the log. A card is nothing but this fold, so
// that a void restores it exactly.
func Fold(log []Attempt) map[string]fsrs.Card {
	cards := map[string]fsrs.Card{}
	for _, a := range live(log) {
		if c, ok := Apply(cards[a.Question], a); ok {
			cards[a.Question] = c
		}
	}
	return cards
}

// Apply is one step of Fold; it says whether the attempt moves the card. An
// attempt without a rating does not; nor does a lab's prediction that was right
// where no card exists yet, since only wrong predictions become cards.
func Apply(c fsrs.Card, a Attempt) (fsrs.Card, bool) {
	if a.Rating == 0 || a.Kind == Voided || a.Kind == Skipped {
		return c, false
	}
	if a.Kind == LabKind && a.Correct && c.New() {
		return c, false
	}
	return fsrs.ReviewOn(c, a.Rating, a.Day), true
}

// RatingOf turns an outcome into a rating, which is all that a card sees:
//
//   - wrong is Again, however sure one was;
//   - right with a hint is Hard, since the hint did part of it;
//   - right while not surer than 60 percent is Hard: half of that is luck;
//   - right at 70 to 90 percent, or if confidence was not asked, is Good;
//   - right at 100 percent is Easy.
func RatingOf(correct bool, sure, hints int) fsrs.Rating {
	switch {
	case !correct:
		return fsrs.Again
	case hints > 0, sure > 0 && sure <= 60:
		return fsrs.Hard
	case sure >= 100:
		return fsrs.Easy
	}
	return fsrs.Good
}

// NewOn counts the questions that were answered for the first time on a day.
func NewOn(log []Attempt, day int) int { return newOn(log, day) }

// TopicMastery is how well a topic is known.
type TopicMastery struct {
	Topic     string  `json:"topic"`
	Mastery   float64 `json:"mastery"` // 0 to 1
	Questions int     `json:"questions"`
	Seen      int     `json:"seen"`
	Due       int     `json:"due"` // seen, and due today or before
}

// Mastery is computed for each topic of the library, in its order, as the mean
// over all gradable questions of the topic of the chance (0 to 1) that the
// answer is recalled today; a question that was never answered counts 0. The
// predictions of labs are not counted: they exist only once they went wrong.
func Mastery(lib *content.Library, cards map[string]fsrs.Card, today int) []TopicMastery {
	return mastery(lib, cards, today)
}

// Calibration compares how sure the learner was with how often that was right.
type Calibration struct {
	N int `json:"n"` // graded answers with a confidence
	// Brier is the mean squared difference between confidence (0.5 to 1) and
	// outcome (0 or 1): 0 is perfect, 0.25 is a coin that says 50.
	Brier float64          `json:"brier"`
	Rows  []CalibrationRow `json:"rows"` // one a confidence that was used, rising
}

// CalibrationRow is the outcome of the answers of one confidence.
type CalibrationRow struct {
	Percent int `json:"percent"` // how sure
	N       int `json:"n"`
	Right   int `json:"right"` // of N
}

// Calibrate computes the calibration over the attempts that stand.
func Calibrate(log []Attempt) Calibration { return calibrate(log) }
