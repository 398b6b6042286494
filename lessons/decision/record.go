// Package decision is the decision record that a lab ends with: what was
// predicted, what was seen, on which device, from which source, and what would
// change the decision.
//
// It promises that equal records render to equal Markdown, and that Redact
// finds the usual forms of credentials and of private assessment material. It
// does not decide anything, store anything, or know where a record came from;
// Redact is a warning, not a proof of innocence.
package decision

import (
	"errors"
	"time"
)

// Format is the version of a record's JSON.
const Format = 1

// Verdict says how a record ends.
type Verdict string

// The verdicts.
const (
	Confirmed   Verdict = "confirmed"   // the run showed what was claimed
	Refuted     Verdict = "refuted"     // the run showed otherwise
	Provisional Verdict = "provisional" // open: needs a next check, an owner and a date
)

// Record is one decision. Every field is text that a person can read and edit,
// except what the run knows (Predictions, Evidence, Elapsed).
type Record struct {
	Format int       `json:"format"`
	ID     string    `json:"id"`
	Lab    string    `json:"lab"` // content id
	Title  string    `json:"title"`
	At     time.Time `json:"at"`

	Question    string   `json:"question"`
	Workload    Workload `json:"workload"`
	Sources     []Source `json:"sources"`     // what could answer it, and how far each can be trusted
	Consequence string   `json:"consequence"` // of being wrong
	Guarantee   string   `json:"guarantee"`
	Scope       string   `json:"scope"`   // operation, queue pair
	Reaches     string   `json:"reaches"` // arrival, visibility or durability
	Buffers     []string `json:"buffers"` // who owns each and until when
	Constraints []string `json:"constraints"`
	Default     string   `json:"default"`
	Alternative string   `json:"alternative"`
	Signal      string   `json:"signal"` // to switch from the default to the alternative

	FailureComplexity string `json:"failure_complexity"`
	Recovery          string `json:"recovery"` // replay, reconnect or fail, and why

	Predictions []Prediction `json:"predictions"` // locked before the run
	Evidence    Evidence     `json:"evidence"`
	CannotShow  string       `json:"cannot_show"` // by this device
	Scale       Scale        `json:"scale"`

	Verdict   Verdict `json:"verdict"`
	NextCheck string  `json:"next_check"`
	Owner     string  `json:"owner"`
	NextDate  string  `json:"next_date"` // of the next check, as 2006-01-02

	Elapsed     time.Duration `json:"elapsed"`     // nanoseconds, first step to record
	Uncertainty string        `json:"uncertainty"` // where it began
	Notes       string        `json:"notes"`
}

// ShortID is as much of the id as a person needs to name the record.
func (r *Record) ShortID() string { return r.ID[:min(len(r.ID), 8)] }

// Workload is the target that the decision serves.
type Workload struct {
	Metric string `json:"metric"`
	Unit   string `json:"unit"`
	OutOf  string `json:"out_of"` // the denominator
	Target string `json:"target"`
}

// Source is a document with its trust layer: official, report or inference.
type Source struct {
	Title string `json:"title"`
	Where string `json:"where"`
	Place string `json:"place"`
	Layer string `json:"layer"`
}

// Prediction is what was predicted of one step and what came of it.
type Prediction struct {
	Step      string `json:"step"` // "1.2 The peer deregisters"
	Prompt    string `json:"prompt"`
	Predicted string `json:"predicted"`
	Sure      int    `json:"confidence"` // percent
	Held      string `json:"held"`       // the options that held, "" if none did
	Correct   bool   `json:"correct"`
	Graded    bool   `json:"graded"` // false: the step could not be run
}

// Evidence is what the run knows.
type Evidence struct {
	Device      string   `json:"device"` // "model" or the name of a live device
	Profile     string   `json:"profile"`
	Live        bool     `json:"live"`
	Seed        uint64   `json:"seed"`
	Completions []string `json:"completions"`
	States      []string `json:"states"`
	Bytes       []string `json:"bytes"`
	Failed      []string `json:"failed"` // expectations that the device did not meet
	// OnModel names the steps that a live device could not run, with why.
	OnModel    []string `json:"on_model,omitempty"`
	Transcript string   `json:"transcript_digest"`
	Trace      string   `json:"trace_digest"` // of the model; "" on a live device
	Command    string   `json:"command"`      // that reproduces it
}

// Scale is the question "what changes at larger scale" and how it was answered.
type Scale struct {
	Prompt string   `json:"prompt"`
	Answer string   `json:"answer"`
	Made   []string `json:"made"`   // points of the rubric that were made
	Missed []string `json:"missed"` // points that were not
}

// ErrInvalid is what saving a record with problems fails with.
var ErrInvalid = errors.New("the record is not complete")
