package lessons

import (
	"time"

	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
)

// RealWire is the Wire of an Observation whose packets passed a real wire, with
// the model at its other end.
const RealWire = "real"

// Observation is what one run showed: a step of a lab, or a proof.
type Observation struct {
	// Outcomes, Transcript and Events are new since the last step of the part;
	// Objects are all objects as they are now.
	Outcomes []script.Outcome
	Objects  []script.Object
	// Events are the model's. Where Live, they are of a run of the same lines on
	// the model under the profile Wire: a live device shows no packets. With Wire
	// RealWire they are of the run itself, seen at the model's end of the wire.
	Events     []verbs.TraceEvent
	Wire       string
	Transcript []script.TranscriptLine
	At         time.Duration // device time at the end; 0 on a live device
	Profile    string
	Device     string // "model", or the name of a live device
	Flags      string // of the command line that choose a live device; "" is --device and its name
	Live       bool
	// ModelWhy says why a run that was asked of a live device was made on the
	// model, "" if it was not asked or was live.
	ModelWhy string
	Seed     uint64
	// Right says which options of the prediction hold, in the order of the
	// content (a proof: of the instance's choices as shown); nil without one.
	Right []bool
	// Digest is of the part's transcript so far, TraceDigest of its trace;
	// both are hex SHA-256, and TraceDigest is "" without a trace.
	Digest      string
	TraceDigest string
	// Completions are those that the lines of this step took, and Bytes the
	// named ranges of memory that they looked at, as text.
	Completions []string
	Bytes       []string
	// Failed are the expect lines that the device did not meet, each with what
	// was got; the run went on.
	Failed []Failure
	// Err says why the script stopped early, "" if it did not: such as a call
	// that was refused.
	Err string
}

// Failure is an expectation that was not met.
type Failure struct {
	Line string // as written
	Got  string // what the device showed instead
}
