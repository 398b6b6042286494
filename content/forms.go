package content

// Option is one choice of a choice or multi question.
type Option struct {
	Text  string   `toml:"text"`
	Right bool     `toml:"right"` // without a proof only
	Holds []string `toml:"holds"` // with a proof: the expect lines that this choice claims
	Why   string   `toml:"why"`   // shown after the answer: why this is right or wrong
}

// OrderStep is one step of an order question. With a proof, Do is appended to
// the proof's script in the order that the learner gives.
type OrderStep struct {
	Text string `toml:"text"`
	Do   string `toml:"do"`
}

// Point is one point of a rubric.
type Point struct {
	Text string `toml:"text"`
	Must bool   `toml:"must"` // an answer without it is not good enough
}

// Proof is a script whose outcome decides the answer.
type Proof struct {
	Script string `toml:"script"`
	// Asks is the value path that a number, fill or predict question asks for.
	Asks string `toml:"asks"`
	// Profile is the one profile that the prompt names; empty means that the
	// outcome is the same under every profile.
	Profile string `toml:"profile"`
}

// Variants draw numbers from a seed so that an answer cannot be memorised.
type Variants struct {
	Draw []Draw `toml:"draw"`
	// Let are named expr-lang formulas over the draws, in order; prompts,
	// scripts, answers and explanations are text/templates over both.
	Let []Let `toml:"let"`
}

// Draw takes one of a list of values.
type Draw struct {
	Name string `toml:"name"`
	From []any  `toml:"from"`
}

// Let names a formula.
type Let struct {
	Name string `toml:"name"`
	Expr string `toml:"expr"`
}

// Lesson is a page of Markdown with TOML front matter. Body is cut at the
// checks, the questions that are answered in place.
type Lesson struct {
	ID      string   `toml:"id"`
	Topic   string   `toml:"topic"`
	Title   string   `toml:"title"`
	Minutes int      `toml:"minutes"`
	Sources []string `toml:"sources"`
	Labs    []string `toml:"labs"`

	Blocks []Block `toml:"-"`
	Refs   []Ref   `toml:"-"`
	File   string  `toml:"-"`
}

// Block is a piece of a lesson: Markdown, or a check.
type Block struct {
	Markdown string
	Check    *Question
}

// Lab is a guided exercise: parts of steps, an adversarial case, a question of
// scale and a decision record.
type Lab struct {
	ID          string   `toml:"id"`
	Topic       string   `toml:"topic"`
	Title       string   `toml:"title"`
	Minutes     int      `toml:"minutes"`
	Goal        string   `toml:"goal"`
	Profile     string   `toml:"profile"` // of the model; "spec" if empty
	Seed        uint64   `toml:"seed"`
	Sources     []string `toml:"sources"`
	Parts       []Part   `toml:"parts"`
	Adversarial Part     `toml:"adversarial"`
	Scale       Scale    `toml:"scale"`
	Record      Record   `toml:"record"`

	Refs []Ref  `toml:"-"`
	File string `toml:"-"`
	Line int    `toml:"-"`
}

// AllParts are the parts in the order of play, the adversarial case last.
func (l *Lab) AllParts() []Part { return append(append([]Part(nil), l.Parts...), l.Adversarial) }

// Part is a run of steps on one fresh Bench. Setup runs before the first step
// and is shown with it.
type Part struct {
	Title string `toml:"title"`
	Setup string `toml:"setup"`
	Steps []Step `toml:"steps"`
}

// Step is one step of a lab.
type Step struct {
	Title   string      `toml:"title"`
	Explain string      `toml:"explain"` // Markdown, before the run
	Calls   string      `toml:"calls"`   // the C calls that the script stands for
	Script  string      `toml:"script"`  // with the expect lines of the solution
	Predict *Prediction `toml:"predict"`
	Hints   []string    `toml:"hints"`
	Notice  string      `toml:"notice"` // Markdown, after the run
}

// Prediction is what the learner commits to before a step runs. The right
// options are those whose lines hold after the step.
type Prediction struct {
	Prompt  string   `toml:"prompt"`
	Options []Option `toml:"options"`
}

// Scale is the question "what changes at larger scale".
type Scale struct {
	Prompt string  `toml:"prompt"`
	Rubric []Point `toml:"rubric"`
	Model  string  `toml:"model"`
}

// Record is what a lab knows beforehand of its decision record; the fields are
// those of lessons/decision.
type Record struct {
	Question          string   `toml:"question"`
	Workload          Workload `toml:"workload"`
	Consequence       string   `toml:"consequence"`
	Guarantee         string   `toml:"guarantee"`
	Scope             string   `toml:"scope"`
	Reaches           string   `toml:"reaches"` // arrival, visibility or durability
	Buffers           []string `toml:"buffers"` // who owns each and until when
	Constraints       []string `toml:"constraints"`
	Default           string   `toml:"default"`
	Alternative       string   `toml:"alternative"`
	Signal            string   `toml:"signal"`
	FailureComplexity string   `toml:"failure_complexity"`
	Recovery          string   `toml:"recovery"` // replay, reconnect or fail, and why
	CannotShow        string   `toml:"cannot_show"`
	NextCheck         string   `toml:"next_check"`
}

// Workload is the target that a decision serves.
type Workload struct {
	Metric string `toml:"metric"`
	Unit   string `toml:"unit"`
	OutOf  string `toml:"out_of"` // the denominator
	Target string `toml:"target"`
}

// Problem is one thing wrong with a pack, with its place.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	Key  string `json:"key,omitempty"` // such as "question[foundations.zero-copy].choices[1].holds"
	Text string `json:"text"`          // what is wrong and how to mend it
	// Warning marks what does not make a pack wrong, such as a file that
	// nothing reads.
	Warning bool `json:"warning,omitempty"`
}
