package content

import "time"

// Library is everything that can be studied, in the order of its files.
type Library struct {
	Topics    []*Topic
	Sources   map[string]*Source
	Glossary  []*Term
	Questions []*Question
	Lessons   []*Lesson
	Labs      []*Lab
}

// Layer is how far a statement can be trusted.
type Layer string

// The trust layers.
const (
	Official  Layer = "official"  // specification, man page, kernel source, vendor manual
	Report    Layer = "report"    // somebody's experience, with role and date
	Inference Layer = "inference" // ours, from the evidence
)

// Topic is one subject; ids are stable.
type Topic struct {
	ID    string `toml:"id"`
	Title string `toml:"title"`
	Blurb string `toml:"blurb"` // one line: what an interviewer wants to hear
}

// Source is one document that a claim rests on.
type Source struct {
	ID      string    `toml:"id"`    // such as "man:ibv_poll_cq.3"
	Title   string    `toml:"title"` // as a reader would look it up
	Kind    string    `toml:"kind"`  // man, kernel, header, spec, manual, test, paper, thread, article
	Layer   Layer     `toml:"layer"`
	Where   string    `toml:"where"` // file and version, or address
	Role    string    `toml:"role"`  // report: who says it
	Dated   string    `toml:"dated"` // report: when it was said
	Checked time.Time `toml:"checked"`
}

// Ref is a source with the place in it: "kernel:core/verbs.c#qp_state_table".
type Ref struct {
	Source *Source
	Place  string
}

// Term is a glossary entry.
type Term struct {
	Term    string   `toml:"term"`
	Means   string   `toml:"means"`
	Confuse string   `toml:"confuse"` // what it is often confused with, optional
	Topic   string   `toml:"topic"`
	Sources []string `toml:"sources"`
}

// Kind is the form of a question.
type Kind string

// The kinds of questions.
const (
	Choice  Kind = "choice"  // one right choice
	Multi   Kind = "multi"   // every right choice and no other
	Order   Kind = "order"   // put steps in order
	Number  Kind = "number"  // a number with its unit
	Fill    Kind = "fill"    // a name, an attribute, a status
	Predict Kind = "predict" // what a script will give
	Open    Kind = "open"    // a spoken answer, graded by oneself on a rubric
)

// Question is one question. Where Proof is set, what is right is what a run of
// it shows (Choice.Holds, Proof.Asks); else Right, Answer or Accept say it.
type Question struct {
	ID      string    `toml:"id"` // "topic.name", stable for ever
	Topic   string    `toml:"topic"`
	Level   int       `toml:"level"` // 1 recall, 2 use, 3 defend
	Kind    Kind      `toml:"kind"`
	Prompt  string    `toml:"prompt"`  // Markdown
	Explain string    `toml:"explain"` // Markdown
	Scope   string    `toml:"scope"`   // what the guarantee covers
	Layer   Layer     `toml:"layer"`
	Sources []string  `toml:"sources"`
	Checked time.Time `toml:"checked"`
	Hints   []string  `toml:"hints"`
	// NotRun says what is missing to run this claim here; required without a
	// proof.
	NotRun string `toml:"not_run"`
	// Provisional questions are shown and not graded.
	Provisional bool        `toml:"provisional"`
	Choices     []Option    `toml:"choices"`
	Steps       []OrderStep `toml:"steps"` // in the right order
	Unit        string      `toml:"unit"`
	Answer      string      `toml:"answer"` // number or fill without a proof; a template if there are variants
	Tolerance   float64     `toml:"tolerance"`
	Accept      []string    `toml:"accept"`  // fill: other spellings that are right
	Options     []string    `toml:"options"` // predict and fill: pick from these
	Rubric      []Point     `toml:"rubric"`
	Model       string      `toml:"model"` // open: one model answer
	FollowUps   []string    `toml:"follow_ups"`
	Proof       *Proof      `toml:"proof"`
	Variants    *Variants   `toml:"variants"`

	Refs []Ref  `toml:"-"`
	File string `toml:"-"`
	Line int    `toml:"-"`
}
