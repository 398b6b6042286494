package quiz

// Key is what is right: from the content, or with a proof from its run.
type Key struct {
	Right []bool `json:"right,omitempty"` // per choice as shown: it is right, or its lines hold
	Value string `json:"value,omitempty"` // number, fill, predict: the value asked for
	// Order and OrderPasses are for an order question with a proof: which order
	// was run (indexes as shown) and whether every line of it passed.
	Order       []int  `json:"order,omitempty"`
	OrderPasses bool   `json:"order_passes,omitempty"`
	Shown       string `json:"shown,omitempty"` // one line for the learner: what the run showed
}

// ChoiceVerdict is the verdict on one choice as shown.
type ChoiceVerdict struct {
	Picked bool `json:"picked"`
	Right  bool `json:"right"`
}

// Verdict is what Grade says of an answer.
type Verdict struct {
	Graded    bool            `json:"graded"`
	Correct   bool            `json:"correct"`
	Score     float64         `json:"score"` // 0 to 1
	RightText string          `json:"right_text"`
	YoursText string          `json:"yours_text"`
	Choices   []ChoiceVerdict `json:"choices,omitempty"` // one a choice as shown
	Note      string          `json:"note,omitempty"`    // such as "right number, wrong unit"
}
