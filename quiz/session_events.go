package quiz

// Event is what happens to a Session. Every event is handed to Step with the
// time at which it happened; an event that makes no sense in the session's
// phase changes nothing and has no effect.
type Event interface{ quizEvent() }

// The events of a learner.
type (
	// Begin starts the clock of the question that is shown: once at the start,
	// and once after a session was resumed.
	Begin struct{}
	// SetConfidence is how sure the learner is: 50 to 100 percent, rounded to
	// tens; 0 takes it back. Only before the answer.
	SetConfidence struct{ Percent int }
	// Hint shows the next graded hint. Only before the answer.
	Hint struct{}
	// Draft is what is typed and not given yet, kept so that leaving loses none
	// of it. Only where text is typed, and before the answer.
	Draft struct{ Text string }
	// Give is the answer. It is locked at once; a malformed one (a choice that
	// is not there, an empty text) is refused with View.Message.
	Give struct{ Answer Answer }
	// Reveal shows the first point of an open question's rubric, after Give;
	// Mark answers it and shows the next.
	Reveal struct{}
	// Mark says whether the point shown was made, and reveals the next one.
	Mark struct{ Made bool }
	// FollowUp shows the next follow-up of an open question, once every point
	// was marked.
	FollowUp struct{}
	// GradeSelf ends an open question: 1 again, 2 hard, 3 good, 4 easy. Only
	// once every point was marked.
	GradeSelf struct{ Grade int }
	// TimeUp ends the time for an open question in interview mode, with what
	// was typed until then. It is refused while there is time left.
	TimeUp struct{ Text string }
	// Skip passes the question over and shows the next one.
	Skip struct{}
	// Undo takes back what was done last: an answer that is not graded yet is
	// dropped; else the last attempt of this session is voided and its question
	// shown again.
	Undo struct{}
	// Next and Prev move by one question; Jump goes to a question by its
	// number, from 1.
	Next struct{}
	Prev struct{}
	Jump struct{ Number int }
	// Search goes to the next question whose id, topic or prompt contains every
	// word of Words, case aside; View.Matches lists all of them.
	Search struct{ Words string }
	// Evidence asks for the proof to be run for the learner to look at. Only
	// after the answer.
	Evidence struct{}
	// Retry emits the effects of every save that failed again.
	Retry struct{}
	// Leave stops the clock of the question that is shown.
	Leave struct{}
)

// The events of whoever carries the effects out.
type (
	// ProofDone answers RunProof with what the run showed.
	ProofDone struct {
		Seq int
		Key Key
	}
	// ProofFailed answers RunProof when no run came about. The answer is then
	// saved without a grade.
	ProofFailed struct {
		Seq int
		Why string
	}
	// Saved and SaveFailed answer SaveAttempt.
	Saved      struct{ ID ID }
	SaveFailed struct {
		ID  ID
		Why string
	}
)

func (Begin) quizEvent()         {}
func (SetConfidence) quizEvent() {}
func (Hint) quizEvent()          {}
func (Draft) quizEvent()         {}
func (Give) quizEvent()          {}
func (Reveal) quizEvent()        {}
func (Mark) quizEvent()          {}
func (FollowUp) quizEvent()      {}
func (GradeSelf) quizEvent()     {}
func (TimeUp) quizEvent()        {}
func (Skip) quizEvent()          {}
func (Undo) quizEvent()          {}
func (Next) quizEvent()          {}
func (Prev) quizEvent()          {}
func (Jump) quizEvent()          {}
func (Search) quizEvent()        {}
func (Evidence) quizEvent()      {}
func (Retry) quizEvent()         {}
func (Leave) quizEvent()         {}
func (ProofDone) quizEvent()     {}
func (ProofFailed) quizEvent()   {}
func (Saved) quizEvent()         {}
func (SaveFailed) quizEvent()    {}

// Effect is what a Session asks for.
type Effect interface{ quizEffect() }

// Why a proof is run.
const (
	ForGrade    = "grade"
	ForEvidence = "evidence"
)

// The effects of a session.
type (
	// SaveAttempt appends to the log. It is idempotent by the attempt's ID:
	// the same attempt comes again only after SaveFailed. Answer with Saved or
	// SaveFailed. A void is saved in the same way (Kind Voided).
	SaveAttempt struct{ Attempt Attempt }
	// RunProof runs the instance's proof on a fresh Bench. Order is set for an
	// order question: the order to run, as shown. Answer with ProofDone or
	// ProofFailed and the same Seq; an answer with an older Seq is dropped.
	// For evidence, show the observation too; the session only needs the answer.
	RunProof struct {
		Seq      int
		Instance *Instance
		Order    []int
		Why      string // ForGrade or ForEvidence
	}
	// SaveState asks that State be kept, so that the session can be resumed.
	SaveState struct{ State SessionState }
)

func (SaveAttempt) quizEffect() {}
func (RunProof) quizEffect()    {}
func (SaveState) quizEffect()   {}
