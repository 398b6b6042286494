package lessons

import (
	"rdmaprep/lessons/decision"
	"rdmaprep/quiz"
)

// Event is what happens to a Lab. An event that makes no sense where the lab
// stands changes nothing; View.Message says why.
type Event interface{ labEvent() }

// The events of a learner.
type (
	// Begin starts the lab, and after a resume runs again what was run before.
	Begin struct{}
	// Pick chooses an option of the prediction, from 0, until it is locked.
	Pick struct{ Option int }
	// SetConfidence is how sure the learner is, 50 to 100 percent in tens,
	// until the prediction is locked.
	SetConfidence struct{ Percent int }
	// Run locks the prediction (both an option and a confidence are needed) and
	// runs the step; a step without a prediction just runs. After a run that
	// did not come about it tries again, with the same locked prediction.
	Run struct{}
	// Hint shows the next hint of the step that is next to run.
	Hint struct{}
	// Next goes on to the next step once the current one was run, to the scale
	// question after the last, and to the record after that.
	Next struct{}
	// Back and Forward move the cursor over the steps that were run and the one
	// that comes next.
	Back    struct{}
	Forward struct{}
	// Draft is what is typed to the scale question and not given yet, kept so
	// that leaving loses none of it.
	Draft struct{ Text string }
	// Give is the typed answer to the scale question; it may be empty if it was
	// spoken. Mark says whether the point of the rubric that is shown was made
	// and reveals the next.
	Give struct{ Text string }
	Mark struct{ Made bool }
	// Edit replaces the fields of the record that a person may write. What the
	// run knows (ID, Lab, At, Predictions, Evidence, Scale, Elapsed) is kept.
	Edit struct{ Record decision.Record }
	// Save asks that the record be saved. It is refused while Validate has
	// problems, or while Redact has findings unless Anyway is set.
	Save struct{ Anyway bool }
	// Retry emits the effects of every save that failed again.
	Retry struct{}
	// Leave stops the clock. The lab can be resumed from its State.
	Leave struct{}
)

// The events of whoever carries the effects out.
type (
	// StepRan answers RunStep.
	StepRan struct {
		Seq         int
		Observation Observation
	}
	// StepFailed answers RunStep when no run came about: the device could not
	// be opened, or the script could not be read. A failed expect line is not
	// this: it is part of the observation.
	StepFailed struct {
		Seq int
		Why string
	}
	// Saved and SaveFailed answer SaveAttempt (ID is the attempt's) and
	// SaveRecord (ID is the record's).
	Saved      struct{ ID string }
	SaveFailed struct {
		ID  string
		Why string
	}
)

func (Begin) labEvent()         {}
func (Pick) labEvent()          {}
func (SetConfidence) labEvent() {}
func (Run) labEvent()           {}
func (Hint) labEvent()          {}
func (Next) labEvent()          {}
func (Back) labEvent()          {}
func (Forward) labEvent()       {}
func (Draft) labEvent()         {}
func (Give) labEvent()          {}
func (Mark) labEvent()          {}
func (Edit) labEvent()          {}
func (Save) labEvent()          {}
func (Retry) labEvent()         {}
func (Leave) labEvent()         {}
func (StepRan) labEvent()       {}
func (StepFailed) labEvent()    {}
func (Saved) labEvent()         {}
func (SaveFailed) labEvent()    {}

// Effect is what a Lab asks for.
type Effect interface{ labEffect() }

// The effects of a lab.
type (
	// RunStep runs a step of a part, both from 0 over AllParts. Fresh asks for
	// a new Bench (the old one is closed) and the part's setup first. Answer
	// with StepRan or StepFailed and the same Seq.
	RunStep struct {
		Seq        int
		Part, Step int
		Fresh      bool
		Profile    string
		Seed       uint64
	}
	// SaveAttempt saves a prediction that was run, right or wrong.
	SaveAttempt struct{ Attempt quiz.Attempt }
	// SaveRecord saves the decision record; again with the same ID replaces it.
	SaveRecord struct{ Record decision.Record }
	// SaveState asks that State be kept, so that the lab can be resumed.
	SaveState struct{ State LabState }
)

func (RunStep) labEffect()     {}
func (SaveAttempt) labEffect() {}
func (SaveRecord) labEffect()  {}
func (SaveState) labEffect()   {}
