package quiz

import (
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"rdmaprep/quiz/fsrs"
)

// ID is a random 128-bit number as 32 hexadecimal digits.
type ID string

// NewID reads 16 bytes of entropy.
func NewID(entropy io.Reader) (ID, error) {
	var b [16]byte
	if _, err := io.ReadFull(entropy, b[:]); err != nil {
		return "", fmt.Errorf("reading 16 random bytes for an id: %w", err)
	}
	return ID(hex.EncodeToString(b[:])), nil
}

// AttemptKind says what an entry of the log is.
type AttemptKind string

// The kinds of attempts.
const (
	Answered AttemptKind = "answer" // a question was answered
	Skipped  AttemptKind = "skip"   // a question was passed over; moves no card
	Voided   AttemptKind = "void"   // takes back the attempt named by Voids
	LabKind  AttemptKind = "lab"    // a prediction of a lab was run
)

// Attempt is one entry of the append-only log that everything else is computed
// from: cards, mastery, calibration. Nothing is ever changed or removed; undo
// appends an attempt of kind Voided.
type Attempt struct {
	ID       ID          `json:"id"`
	Session  ID          `json:"session"`
	Kind     AttemptKind `json:"kind"`
	Voids    ID          `json:"voids,omitempty"` // of kind Voided: what it takes back
	Question string      `json:"question"`        // content id; "lab/ID/PART.STEP" for a prediction, both from 1
	Variant  uint64      `json:"variant"`         // the seed that the instance was drawn with
	At       time.Time   `json:"at"`
	Day      int         `json:"day"` // DayNumber(At) where the learner was
	Answer   Answer      `json:"answer"`
	Yours    string      `json:"yours,omitempty"` // the answer in words, as it was shown
	Right    string      `json:"right,omitempty"` // what was right, in words, as it was shown
	Score    float64     `json:"score"`           // 0 to 1
	Correct  bool        `json:"correct"`
	Graded   bool        `json:"graded"`     // false: provisional, skipped, or the proof could not run
	Sure     int         `json:"confidence"` // percent, 50 to 100; 0 was not asked
	Hints    int         `json:"hints"`      // hints seen before the answer
	// Took is the time that the question was before the learner, up to the answer.
	Took   time.Duration `json:"took"`   // nanoseconds
	Rating fsrs.Rating   `json:"rating"` // 0 moves no card
}

// Answer is what the learner gave. Indexes count from 0 over the instance's
// Choices as shown.
type Answer struct {
	Picks  []int  `json:"picks,omitempty"`  // choice, multi, and predict or fill with options
	Order  []int  `json:"order,omitempty"`  // order: all indexes of Choices, first step first
	Text   string `json:"text,omitempty"`   // number, fill, predict, open
	Points []bool `json:"points,omitempty"` // open: which points of the rubric were made
	Grade  int    `json:"grade,omitempty"`  // open: the learner's own grade, 1 (again) to 4 (easy)
}

// dayBegins is the hour at which a learner's day begins: who studies past
// midnight is still on the same day.
const dayBegins = 4 * time.Hour

// DayNumber is the number of the learner's local day: calendar days since 1
// January 1970 in at's own time zone, a day beginning at 04:00.
func DayNumber(at time.Time) int {
	at = at.Add(-dayBegins)
	y, m, d := at.Date()
	return int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
}
