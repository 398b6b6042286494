package lessons

import (
	"time"

	"rdmaprep/content"
	"rdmaprep/lessons/decision"
	"rdmaprep/quiz"
)

// Phase is where a lab stands.
type Phase string

// The phases of a lab, in order.
const (
	Reading   Phase = "reading"   // explanation, and the prediction if there is one
	Running   Phase = "running"   // the step runs; its prediction is locked
	Observing Phase = "observing" // what the step showed
	Scaling   Phase = "scaling"   // the question of scale waits for an answer
	Marking   Phase = "marking"   // its rubric is being marked
	Recording Phase = "recording" // the record form
	Finished  Phase = "finished"  // the record is saved
)

// Config is what a lab is made of.
type Config struct {
	Lab     *content.Lab
	ID      quiz.ID // of this run of the lab
	NewID   func() quiz.ID
	Profile string // of the model; "" takes the lab's own, and "spec" if it has none
	Seed    uint64 // 0 takes the lab's own
}

// Locked is a prediction as it was when its step ran.
type Locked struct {
	Option  int  `json:"option"` // from 0
	Sure    int  `json:"confidence"`
	Graded  bool `json:"graded"`  // the step was run and some option held or not
	Correct bool `json:"correct"` // the option's lines held
}

// StepView is one step as the cursor shows it.
type StepView struct {
	Part, Step  int    // from 0 over AllParts
	Place       string // "1.2"
	PartTitle   string
	Setup       string // of the part, on its first step
	Adversarial bool
	Content     content.Step
	Hints       []string // shown so far
	HintsLeft   int
	Locked      *Locked      // nil until locked
	Observation *Observation // nil until run
	Tried       string       // why the last try to run it did not come about
}

// View is everything that a front end needs to draw a lab.
type View struct {
	Lab     *content.Lab
	Phase   Phase // of the step that is next; looking back does not change it
	Profile string
	Seed    uint64
	Number  int // of the step under the cursor, from 1
	Total   int
	Step    StepView // under the cursor
	// Current says that the cursor is on the step that is next or was run last,
	// so that Pick, SetConfidence, Run, Hint and Next mean something.
	Current    bool
	CanBack    bool
	CanForward bool
	Pick       int // chosen and not locked yet, -1 for none
	Sure       int // chosen and not locked yet, 0 for none
	Message    string
	// The question of scale, in phase Scaling and later.
	Scale       content.Scale
	ScaleAnswer string          // typed, in phase Scaling not given yet
	Points      []content.Point // revealed so far
	Marked      []bool          // of those, as far as marked
	// The record, in phase Recording and later.
	Record   decision.Record
	Problems []decision.Problem
	Findings []decision.Finding
	Pending  int  // saves that were not confirmed yet
	SavedOK  bool // the record is saved
	// Replaying says that a resumed lab is running its earlier steps again.
	Replaying bool
	Elapsed   time.Duration // up to the last event
}

// LabStep is one step of a saved lab, keyed by the titles of its part and step.
type LabStep struct {
	Part   string  `json:"part"`
	Step   string  `json:"step"`
	Locked *Locked `json:"locked,omitempty"`
	Hints  int     `json:"hints"`
	// Took is the time from the first look at the step to the lock.
	Took  time.Duration `json:"took"`
	Ran   bool          `json:"ran"`   // it has an observation
	Tried string        `json:"tried"` // why no run came about, "" if one did or none was tried
}

// LabState is a lab as JSON: what was chosen and how far it came, but not the
// observations, which come again by running the steps again.
type LabState struct {
	Format  int             `json:"format"`
	ID      quiz.ID         `json:"id"`
	Lab     string          `json:"lab"` // content id
	Profile string          `json:"profile"`
	Seed    uint64          `json:"seed"`
	Phase   Phase           `json:"phase"`
	Steps   []LabStep       `json:"steps"` // up to the one that is next
	Answer  string          `json:"scale_answer"`
	Marked  []bool          `json:"marked"`
	Record  decision.Record `json:"record"`
	Unsaved []quiz.Attempt  `json:"unsaved"`
	Spent   time.Duration   `json:"spent"`
	// ReadFrom is the time spent when the step that is next was first shown.
	ReadFrom time.Duration `json:"read_from"`
}
