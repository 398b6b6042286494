package quiz

import (
	"time"

	"rdmaprep/content"
)

// Phase is where the question that is shown stands.
type Phase string

// The phases of a question.
const (
	Asking  Phase = "asking"  // waiting for the answer
	Proving Phase = "proving" // answered, and waiting for the proof's run
	Marking Phase = "marking" // open: the rubric is being marked
	Done    Phase = "done"    // the verdict is shown
)

// SaveStatus is how far the saving of the shown question's attempt is.
type SaveStatus string

// The states of a save.
const (
	NotSaved  SaveStatus = ""
	Saving    SaveStatus = "saving"
	SavedSafe SaveStatus = "saved"
	Unsaved   SaveStatus = "not saved" // View.Message says why; Retry tries again
)

// Item is one question of a session.
type Item struct {
	Question string `json:"question"` // content id
	Variant  uint64 `json:"variant"`
	New      bool   `json:"new"` // never answered before
	Due      bool   `json:"due"` // due today or before
}

// Config is what a session is made of.
type Config struct {
	Library *content.Library
	Items   []Item // in the order to be asked; Select makes them
	ID      ID
	// NewID gives the ids of attempts: random in the product, counted in a test.
	NewID func() ID
	// Interview is the interview mode: open questions get Limit to be answered.
	Interview bool
	Limit     time.Duration // of an open question in interview mode; 0 is DefaultLimit
	Title     string        // what the session is about, for the screen
}

// DefaultLimit is the time for one open question in interview mode.
const DefaultLimit = 3 * time.Minute

// View is everything that a front end needs to draw a session. It is a copy;
// only Instance is shared.
type View struct {
	Title     string
	Number    int // of the question shown, from 1; 0 if there is none
	Total     int
	Answered  int // graded or marked in this session
	Right     int // of those, correct
	Instance  *Instance
	Phase     Phase
	Sure      int      // confidence in percent, 0 not set
	Hints     []string // shown so far
	HintsLeft int
	Answer    Answer  // given so far
	Verdict   Verdict // in phase Done
	Save      SaveStatus
	Message   string // one line about the last event, such as why it was refused
	// Open questions in phase Marking and Done.
	Points      []content.Point // revealed so far
	PointsTotal int
	FollowUps   []string // revealed so far
	FollowUpsIn int      // how many there are
	Suggested   int      // the grade that the marked points suggest, 1 to 4; 0 while some are unmarked
	// Interview mode.
	Interview bool
	ShownAt   time.Time     // when the clock of this question started
	Limit     time.Duration // 0 is none
	Matches   []int         // numbers of the questions that the last Search found
	CanUndo   bool
	// Finished says that every question was answered or skipped.
	Finished bool
	Skipped  bool // the question shown was skipped
	Pending  int  // saves that were not confirmed yet
}

// ItemState is one question of a saved session, keyed by its content id.
type ItemState struct {
	Item
	Digest  string        `json:"digest"` // of the instance's text; another one drops what is half done
	Phase   Phase         `json:"phase"`
	Sure    int           `json:"sure"`
	Hints   int           `json:"hints"`
	Answer  Answer        `json:"answer"`
	Verdict Verdict       `json:"verdict"`
	Marked  []bool        `json:"marked,omitempty"`
	Follow  int           `json:"follow"`
	Skipped bool          `json:"skipped"`
	Attempt ID            `json:"attempt"` // the attempt that stands, "" if none
	Spent   time.Duration `json:"spent"`   // time before the learner so far
	ShownAt time.Time     `json:"shown_at"`
	Seq     int           `json:"seq"` // of the proof that is waited for
}

// SessionState is a session as JSON. It holds content ids and what was given,
// never content, so that a library that was edited since does not break it.
type SessionState struct {
	Format    int           `json:"format"`
	ID        ID            `json:"id"`
	Title     string        `json:"title"`
	Interview bool          `json:"interview"`
	Limit     time.Duration `json:"limit"`
	Current   int           `json:"current"` // index of the question shown
	Items     []ItemState   `json:"items"`
	Log       []ID          `json:"log"`     // attempts of this session that stand, oldest first
	Unsaved   []Attempt     `json:"unsaved"` // saves that were not confirmed
	Seq       int           `json:"seq"`
	Started   bool          `json:"started"`
}

// Session is a quiz. It is for one goroutine.
type Session struct {
	cfg   Config
	items []item
	state SessionState
	msg   string
	found []int
}

type item struct {
	in *Instance
}

// New makes a session. Items whose question is not in the library, or cannot
// be rendered, are left out, and the error says which; the session is usable
// all the same unless nothing is left, in which case it is nil.
func New(cfg Config) (*Session, error) { return build(cfg) }

// Resume makes the session that a state was taken from. cfg.Items, ID, Title,
// Interview and Limit are taken from the state. Questions that are gone are
// left out; what was half done on a question that was edited since is dropped.
func Resume(cfg Config, st SessionState) (*Session, error) { return resume(cfg, st) }

// Step is the only door: it takes an event and the time at which it happened,
// and returns what is to be done, in order.
func (s *Session) Step(at time.Time, ev Event) []Effect { return s.step(at, ev) }

// View is what is to be drawn.
func (s *Session) View() View { return s.view() }

// State is the session as data, to be kept and resumed.
func (s *Session) State() SessionState { return s.snapshot() }
