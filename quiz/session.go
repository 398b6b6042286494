package quiz

import (
	"errors"
	"fmt"
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
	Draft     string  // typed and not given yet
	Answer    Answer  // given so far
	Verdict   Verdict // in phase Done
	Save      SaveStatus
	Message   string // one line about the last event, such as why it was refused
	// Open questions in phase Marking and Done.
	Points      []content.Point // revealed so far
	Marked      []bool          // of those, as far as marked
	PointsTotal int
	FollowUps   []string // revealed so far
	FollowUpsIn int      // how many there are
	Suggested   int      // the grade that the marked points suggest, 1 to 4; 0 while some are unmarked
	// Interview mode.
	Interview bool
	ShownAt   time.Time     // when the clock of this question began, time away left out; zero while it stands
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
	Digest   string        `json:"digest"` // of the instance's text; another one drops what is half done
	Phase    Phase         `json:"phase"`
	Sure     int           `json:"sure,omitzero"`
	Hints    int           `json:"hints,omitzero"`
	Draft    string        `json:"draft,omitzero"` // typed and not given yet
	Answer   Answer        `json:"answer,omitzero"`
	Verdict  Verdict       `json:"verdict,omitzero"`
	Revealed int           `json:"revealed,omitzero"` // points of the rubric
	Marked   []bool        `json:"marked,omitempty"`
	Follow   int           `json:"follow,omitzero"` // follow-ups shown
	Skipped  bool          `json:"skipped,omitzero"`
	Attempt  ID            `json:"attempt,omitzero"`  // the answer that stands, "" if none
	Spent    time.Duration `json:"spent,omitzero"`    // before the learner, up to ShownAt
	ShownAt  time.Time     `json:"shown_at,omitzero"` // zero while the clock stands
	GivenAt  time.Time     `json:"given_at,omitzero"`
	Seq      int           `json:"seq,omitzero"` // of the proof that is waited for
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
	Log       []Logged      `json:"log"`     // attempts of this session that stand, oldest first
	Unsaved   []Attempt     `json:"unsaved"` // saves that were not confirmed
	Seq       int           `json:"seq"`
	Started   bool          `json:"started"`
}

// Logged is an attempt of this session that Undo can take back.
type Logged struct {
	ID       ID     `json:"id"`
	Question string `json:"question"`
	Variant  uint64 `json:"variant"`
}

// stateFormat is the version of SessionState.
const stateFormat = 1

// maxItems is how many questions a session may hold.
const maxItems = 20_000

// Session is a quiz. It is for one goroutine.
type Session struct {
	cfg    Config
	drawn  []*Instance // one an item of state.Items
	state  SessionState
	failed map[ID]string // saves that failed, with the reason
	found  []int         // what the last Search found
	msg    string
}

// New makes a session. Items whose question is not in the library, or cannot
// be rendered, are left out, and the error says which; the session is usable
// all the same unless nothing is left, in which case it is nil.
func New(cfg Config) (*Session, error) {
	if cfg.Limit == 0 {
		cfg.Limit = DefaultLimit
	}
	st := SessionState{
		Format: stateFormat, ID: cfg.ID, Title: cfg.Title, Interview: cfg.Interview, Limit: cfg.Limit,
	}
	for _, it := range cfg.Items {
		st.Items = append(st.Items, ItemState{Item: it, Phase: Asking})
	}
	return assemble(cfg, st)
}

// Resume makes the session that a state was taken from. cfg.Items, ID, Title,
// Interview and Limit are taken from the state. Questions that are gone are
// left out; what was half done on a question that was edited since is dropped.
// After it, Begin sends again what was not confirmed: saves, and proofs that
// an answer waits for.
func Resume(cfg Config, st SessionState) (*Session, error) {
	if st.Format != stateFormat {
		return nil, fmt.Errorf("this session was kept in format %d and this version of rdmaprep reads %d: start a new one", st.Format, stateFormat)
	}
	cfg.ID, cfg.Title, cfg.Interview, cfg.Limit = st.ID, st.Title, st.Interview, st.Limit
	st.Started = false
	return assemble(cfg, st.clone())
}

// assemble draws every item of a state and leaves out those that cannot be.
func assemble(cfg Config, st SessionState) (*Session, error) {
	if len(st.Items) > maxItems {
		return nil, fmt.Errorf("%d questions in one session: the limit is %d; name a topic", len(st.Items), maxItems)
	}
	s := &Session{cfg: cfg, failed: map[ID]string{}, state: st}
	items := st.Items
	s.state.Items = nil
	find := finder(cfg.Library)
	var gone []error
	for i, it := range items {
		in, err := find(it.Item)
		if err != nil {
			gone = append(gone, err)
			if i < st.Current {
				s.state.Current--
			}
			continue
		}
		it.refit(in)
		s.drawn = append(s.drawn, in)
		s.state.Items = append(s.state.Items, it)
	}
	s.state.Current = max(0, min(s.state.Current, len(s.drawn)-1))
	if len(s.drawn) == 0 {
		gone = append(gone, errors.New("there is nothing to ask: choose another topic, or everything"))
		return nil, errors.Join(gone...)
	}
	return s, errors.Join(gone...)
}

// finder draws items of a library.
func finder(lib *content.Library) func(Item) (*Instance, error) {
	questions := map[string]*content.Question{}
	for _, q := range lib.Questions {
		questions[q.ID] = q
	}
	labs := map[string]*content.Lab{}
	for _, l := range lib.Labs {
		labs[l.ID] = l
	}
	return func(it Item) (*Instance, error) {
		if q := questions[it.Question]; q != nil {
			return Draw(q, it.Variant)
		}
		if id, part, step, ok := splitLabQuestion(it.Question); ok && labs[id] != nil {
			return ForLab(labs[id], part, step, it.Variant)
		}
		return nil, fmt.Errorf("question %s is not in the library any more", it.Question)
	}
}

// View is what is to be drawn.
func (s *Session) View() View { return s.view() }

// State is the session as data, to be kept and resumed.
func (s *Session) State() SessionState { return s.state.clone() }
