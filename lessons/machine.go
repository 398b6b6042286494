package lessons

import (
	"fmt"
	"slices"
	"time"

	"rdmaprep/content"
	"rdmaprep/lessons/decision"
	"rdmaprep/quiz"
)

// labFormat is the version of LabState.
const labFormat = 1

// place is a step of a part, both from 0 over AllParts.
type place struct{ part, step int }

func (p place) String() string { return fmt.Sprintf("%d.%d", p.part+1, p.step+1) }

// stepRun is what came of one step.
type stepRun struct {
	hints  int
	locked *Locked
	obs    *Observation
	tried  string        // why no run came about
	took   time.Duration // from the first look at it to the lock
}

// Lab is a walk through a lab. It is for one goroutine.
type Lab struct {
	cfg    Config
	parts  []content.Part
	places []place
	runs   []stepRun // one a place
	phase  Phase
	at     int // the place that is next, or was run last
	cursor int // the place that is looked at, up to at
	pick   int
	sure   int
	seq    int // of the last RunStep
	replay int // the place that is run again, -1 when none is
	upTo   int // replay ends before this place

	answer string
	marked []bool
	record decision.Record

	unsaved []quiz.Attempt
	failed  map[quiz.ID]string
	saving  bool // the record
	msg     string

	spent    time.Duration
	since    time.Time // when the clock started, zero while it stands
	readFrom time.Duration
}

// NewLab makes a lab that stands before its first step. It is an error if the
// lab has no steps.
func NewLab(cfg Config) (*Lab, error) {
	if cfg.Profile == "" {
		cfg.Profile = cfg.Lab.Profile
	}
	if cfg.Profile == "" {
		cfg.Profile = "spec"
	}
	if cfg.Seed == 0 {
		cfg.Seed = cfg.Lab.Seed
	}
	l := &Lab{cfg: cfg, parts: cfg.Lab.AllParts(), phase: Reading, pick: -1, replay: -1, failed: map[quiz.ID]string{}}
	for p, part := range l.parts {
		for s := range part.Steps {
			l.places = append(l.places, place{p, s})
		}
	}
	if len(l.places) == 0 {
		return nil, fmt.Errorf("lab %s has no steps: add some to its parts", cfg.Lab.ID)
	}
	l.runs = make([]stepRun, len(l.places))
	return l, nil
}

// Step is the only door: it takes an event and the time at which it happened,
// and returns what is to be done, in order. Where anything changed that is
// worth resuming, the last effect is SaveState.
func (l *Lab) Step(at time.Time, ev Event) []Effect {
	l.msg = ""
	r := &reply{}
	if l.replay >= 0 && !duringReplay(ev) {
		l.msg = "the earlier steps are being run again; wait a moment"
		return nil
	}
	l.tick(at)
	switch ev := ev.(type) {
	case Begin:
		l.begin(at, r)
	case Pick, SetConfidence:
		l.predict(ev, r)
	case Run:
		l.run(r)
	case Hint:
		l.hint(r)
	case Next:
		l.next(at, r)
	case Back:
		l.look(l.cursor - 1)
	case Forward:
		l.look(l.cursor + 1)
	case Draft, Give, Mark:
		l.scale(ev, r)
	case Edit:
		l.edit(ev.Record, r)
	case Save:
		l.save(ev.Anyway, r)
	case Retry:
		l.retry(r)
	case Leave:
		l.since = time.Time{}
		r.changed = true
	case StepRan, StepFailed:
		l.ran(at, ev, r)
	case Saved, SaveFailed:
		l.saved(ev, r)
	}
	if r.changed {
		r.effects = append(r.effects, SaveState{l.State()})
	}
	return r.effects
}

// duringReplay says which events make sense while steps are run again.
func duringReplay(ev Event) bool {
	switch ev.(type) {
	case StepRan, StepFailed, Saved, SaveFailed, Back, Forward, Leave:
		return true
	}
	return false
}

// reply collects what an event leads to.
type reply struct {
	effects []Effect
	changed bool
}

// tick adds the time since the last event.
func (l *Lab) tick(at time.Time) {
	if !l.since.IsZero() {
		l.spent += max(0, at.Sub(l.since))
		l.since = at
	}
}

// begin starts the clock, and after a resume sends again what was not saved and
// runs again what was run.
func (l *Lab) begin(at time.Time, r *reply) {
	if !l.since.IsZero() {
		return
	}
	l.since = at
	for _, a := range l.unsaved {
		r.effects = append(r.effects, SaveAttempt{a})
	}
	clear(l.failed)
	if l.upTo > 0 {
		l.replayFrom(0, r)
	}
}

// replayFrom runs the next place again that was run before, from i.
func (l *Lab) replayFrom(i int, r *reply) {
	for i < l.upTo && l.runs[i].tried != "" {
		i++
	}
	if i >= l.upTo {
		l.replay, l.upTo = -1, 0
		return
	}
	l.replay = i
	l.ask(i, r)
}

// ask emits the run of a place.
func (l *Lab) ask(i int, r *reply) {
	p := l.places[i]
	l.seq++
	// A step that follows one that did not run has no Bench to stand on.
	fresh := p.step == 0 || l.runs[i-1].obs == nil || l.runs[i-1].tried != ""
	r.effects = append(r.effects, RunStep{
		Seq: l.seq, Part: p.part, Step: p.step, Fresh: fresh, Profile: l.cfg.Profile, Seed: l.cfg.Seed,
	})
}

func (l *Lab) content(i int) content.Step {
	p := l.places[i]
	return l.parts[p.part].Steps[p.step]
}

// predict changes a prediction that is not locked.
func (l *Lab) predict(ev Event, r *reply) {
	p := l.content(l.at).Predict
	switch {
	case l.cursor != l.at:
		l.msg = "this step was run; go forward to the one that comes next"
		return
	case l.phase != Reading:
		l.msg = "the prediction is locked"
		return
	case l.runs[l.at].locked != nil:
		l.msg = "the prediction is locked; run the step"
		return
	case p == nil:
		l.msg = "this step asks for no prediction; run it"
		return
	}
	switch ev := ev.(type) {
	case Pick:
		if ev.Option < 0 || ev.Option >= len(p.Options) {
			l.msg = fmt.Sprintf("choose one of 1 to %d", len(p.Options))
			return
		}
		l.pick = ev.Option
	case SetConfidence:
		if ev.Percent < 50 || ev.Percent > 100 {
			l.msg = "how sure is a number from 50 to 100"
			return
		}
		l.sure = (ev.Percent + 5) / 10 * 10
	}
}

// run locks the prediction and runs the step.
func (l *Lab) run(r *reply) {
	st := &l.runs[l.at]
	p := l.content(l.at).Predict
	switch {
	case l.cursor != l.at:
		l.msg = "this step was run; go forward to the one that comes next"
		return
	case l.phase == Running:
		l.msg = "the step is running"
		return
	case l.phase != Reading:
		l.msg = "this step was run; go on to the next"
		return
	case p != nil && st.locked == nil && l.pick < 0:
		l.msg = fmt.Sprintf("predict first: choose one of 1 to %d", len(p.Options))
		return
	case p != nil && st.locked == nil && l.sure == 0:
		l.msg = "say how sure you are, 50 to 100, before the run"
		return
	}
	if p != nil && st.locked == nil {
		st.locked = &Locked{Option: l.pick, Sure: l.sure}
		st.took = max(0, l.spent-l.readFrom)
	}
	l.pick, l.sure = -1, 0
	st.tried = ""
	l.phase = Running
	l.ask(l.at, r)
	r.changed = true
}

// ran takes in what a run showed, or why there was none.
func (l *Lab) ran(at time.Time, ev Event, r *reply) {
	obs, seq, why := (*Observation)(nil), 0, ""
	switch ev := ev.(type) {
	case StepRan:
		o := ev.Observation
		obs, seq = &o, ev.Seq
	case StepFailed:
		seq, why = ev.Seq, ev.Why
		if why == "" {
			why = "the step could not be run"
		}
	}
	if seq != l.seq || l.replay < 0 && l.phase != Running {
		return // an answer to something older
	}
	if l.replay >= 0 {
		i := l.replay
		if obs == nil {
			obs = &Observation{Err: "it could not be run again: " + why, Profile: l.cfg.Profile, Seed: l.cfg.Seed}
		}
		l.runs[i].obs = obs
		l.replayFrom(i+1, r)
		return
	}
	st := &l.runs[l.at]
	r.changed = true
	if obs == nil {
		st.tried = why
		l.phase = Reading
		l.msg = "not run: " + why + "; try again, or go on without it"
		return
	}
	st.obs, st.tried = obs, ""
	l.phase = Observing
	l.judge(at, r)
}

// judge says which prediction was right, and saves it, once.
func (l *Lab) judge(at time.Time, r *reply) {
	st := &l.runs[l.at]
	p := l.content(l.at).Predict
	if p == nil || st.locked == nil {
		return
	}
	right := st.obs.Right
	// Where no option holds, the device did something that the lab does not
	// know: that is nobody's wrong prediction.
	st.locked.Graded = len(right) == len(p.Options) && slices.Contains(right, true)
	st.locked.Correct = st.locked.Graded && right[st.locked.Option]
	a := quiz.Attempt{
		ID: l.cfg.NewID(), Session: l.cfg.ID, Kind: quiz.LabKind,
		Question: quiz.LabQuestion(l.cfg.Lab.ID, l.places[l.at].part, l.places[l.at].step), Variant: l.cfg.Seed,
		At: at, Day: quiz.DayNumber(at), Answer: quiz.Answer{Picks: []int{st.locked.Option}},
		Yours: p.Options[st.locked.Option].Text, Right: held(p, st.obs),
		Correct: st.locked.Correct, Graded: st.locked.Graded, Sure: st.locked.Sure, Hints: st.hints,
		Took: st.took,
	}
	if a.Graded {
		a.Rating = quiz.RatingOf(a.Correct, a.Sure, a.Hints)
	}
	if a.Correct {
		a.Score = 1
	}
	l.unsaved = append(l.unsaved, a)
	r.effects = append(r.effects, SaveAttempt{a})
}

func (l *Lab) hint(r *reply) {
	st := &l.runs[l.at]
	switch {
	case l.cursor != l.at || l.phase != Reading || st.locked != nil:
		l.msg = "hints come before the run"
	case st.hints >= len(l.content(l.at).Hints):
		l.msg = "there is no further hint"
	default:
		st.hints++
		r.changed = true
	}
}

// look moves the cursor over what was run and what comes next.
func (l *Lab) look(to int) {
	switch {
	case to < 0:
		l.msg = "this is the first step"
	case to > l.at:
		l.msg = "the next step comes after this one was run"
	default:
		l.cursor = to
	}
}

// next goes on: to the next step, the question of scale, the record.
func (l *Lab) next(at time.Time, r *reply) {
	r.changed = true
	switch {
	case l.cursor != l.at:
		l.cursor++
		r.changed = false
	case l.phase == Observing, l.phase == Reading && l.runs[l.at].tried != "":
		l.pick, l.sure, l.readFrom = -1, 0, l.spent
		if l.at+1 < len(l.places) {
			l.at++
			l.cursor, l.phase = l.at, Reading
			return
		}
		l.phase = Scaling
		if l.cfg.Lab.Scale.Prompt == "" {
			l.toRecord(at)
		}
	case l.phase == Marking && len(l.marked) == len(l.cfg.Lab.Scale.Rubric):
		l.toRecord(at)
	case l.phase == Marking:
		l.msg = "mark the points of the answer first"
		r.changed = false
	case l.phase == Scaling:
		l.msg = "answer the question first; an empty answer will do if you said it aloud"
		r.changed = false
	case l.phase == Recording:
		l.msg = "save the record"
		r.changed = false
	case l.phase == Finished:
		l.msg = "the lab is done"
		r.changed = false
	default:
		l.msg = "run the step first"
		r.changed = false
	}
}

// maxAnswer is the length of the typed answer in bytes.
const maxAnswer = 64 << 10

// scale takes the answer to the question of scale, and its marks.
func (l *Lab) scale(ev Event, r *reply) {
	rubric := l.cfg.Lab.Scale.Rubric
	switch ev := ev.(type) {
	case Draft:
		if l.phase == Scaling && l.answer != ev.Text && len(ev.Text) <= maxAnswer {
			l.answer, r.changed = ev.Text, true
		}
	case Give:
		switch {
		case l.phase != Scaling:
			l.msg = "there is no question to answer here"
		case len(ev.Text) > maxAnswer:
			l.msg = fmt.Sprintf("the answer is longer than %d bytes: shorten it", maxAnswer)
		default:
			l.answer, l.phase = ev.Text, Marking
			r.changed = true
		}
	case Mark:
		if l.phase != Marking || len(l.marked) >= len(rubric) {
			l.msg = "there is no point to mark"
			return
		}
		l.marked = append(l.marked, ev.Made)
		r.changed = true
	}
}

func (l *Lab) toRecord(at time.Time) {
	l.phase = Recording
	l.record = l.prefill(at)
}

// edit takes what a person may write and keeps what the run knows.
func (l *Lab) edit(n decision.Record, r *reply) {
	if l.phase != Recording && l.phase != Finished {
		l.msg = "the record comes at the end of the lab"
		return
	}
	if l.saving {
		l.msg = "the record is being saved; wait a moment"
		return
	}
	old := l.record
	n.Format, n.ID, n.Lab, n.At = old.Format, old.ID, old.Lab, old.At
	n.Predictions, n.Evidence, n.Scale, n.Elapsed = old.Predictions, old.Evidence, old.Scale, old.Elapsed
	l.record, l.phase = n, Recording
	r.changed = true
}

func (l *Lab) save(anyway bool, r *reply) {
	switch problems, findings := l.record.Validate(), l.record.Redact(); {
	case l.phase != Recording:
		l.msg = "there is no record to save"
	case l.saving:
		l.msg = "the record is being saved"
	case len(problems) > 0:
		l.msg = fmt.Sprintf("not saved: %s %s", problems[0].Field, problems[0].Text)
	case len(findings) > 0 && !anyway:
		l.msg = fmt.Sprintf("not saved: %s %s; take it out, or save anyway", findings[0].Field, findings[0].Why)
	default:
		l.saving = true
		r.effects = append(r.effects, SaveRecord{l.record})
	}
}

func (l *Lab) retry(r *reply) {
	for _, a := range l.unsaved {
		if _, ok := l.failed[a.ID]; ok {
			delete(l.failed, a.ID)
			r.effects = append(r.effects, SaveAttempt{a})
		}
	}
}

// saved takes in what became of a save.
func (l *Lab) saved(ev Event, r *reply) {
	switch ev := ev.(type) {
	case Saved:
		if l.saving && ev.ID == l.record.ID {
			l.saving, l.phase = false, Finished
			r.changed = true
			return
		}
		delete(l.failed, quiz.ID(ev.ID))
		before := len(l.unsaved)
		l.unsaved = slices.DeleteFunc(l.unsaved, func(a quiz.Attempt) bool { return string(a.ID) == ev.ID })
		r.changed = before != len(l.unsaved)
	case SaveFailed:
		if l.saving && ev.ID == l.record.ID {
			l.saving = false
			l.msg = "the record is not saved: " + ev.Why
			return
		}
		if slices.ContainsFunc(l.unsaved, func(a quiz.Attempt) bool { return string(a.ID) == ev.ID }) {
			l.failed[quiz.ID(ev.ID)] = ev.Why
			l.msg = "the prediction is not saved: " + ev.Why
		}
	}
}
