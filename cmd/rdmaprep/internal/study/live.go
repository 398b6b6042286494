package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rdmaprep/content"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
)

// Live is a real device. Parts of labs and the evidence of proofs run on it
// where it can run them.
type Live struct {
	Name  string // as libibverbs lists it, such as "rxe0"; with Peer what is at the other end too
	Flags string // of the command line, that choose it, such as "--device rxe0"
	About string // one line for a person
	// Peer says that only node a is on the device: node b is the model's, on the
	// same wire. The Bench has fault lines then, and a trace of what passes.
	Peer bool
	// Profile is the profile of the model that it behaves as, "" for none.
	Profile string
	// Open opens it with the nodes a and b.
	Open func(ctx context.Context) (verbs.Bench, error)
	// Refused says whether an error is the device's refusal of what would hurt
	// the kernel; nil if it refuses nothing.
	Refused func(error) bool
}

// Choice is what labs and the evidence of proofs run on. The zero Choice is
// the model under the profile that a lab or a question names, else "spec".
type Choice struct {
	Profile string // of the model, for what names none
	Live    string // the name of a live device, "" for the model
}

// Label is the choice in a word or two, such as "MODEL spec".
func (c Choice) Label() string {
	if c.Live != "" {
		return "LIVE " + c.Live
	}
	return "MODEL " + cmp.Or(c.Profile, "spec")
}

// Option is a choice that there is, with one line about it.
type Option struct {
	Choice
	About string
}

// Devices is what can be chosen from.
type Devices struct {
	// Models are choices of the model, the zero Choice first.
	Models []Option
	// Find lists the live devices. The error says why there is none, and how
	// to get one.
	Find func(ctx context.Context) ([]Live, error)
}

// Offer gives the service what can be chosen from; without it there is only
// the model. It is called before anything else.
func (s *Service) Offer(d Devices) { s.devices = d }

// Options lists what can be chosen; none says why there is no live device.
func (s *Service) Options(ctx context.Context) (options []Option, none error) {
	options = slices.Clone(s.devices.Models)
	if len(options) == 0 {
		options = []Option{{}}
	}
	if s.devices.Find == nil {
		return options, nil
	}
	live, err := s.devices.Find(ctx)
	for _, d := range live {
		options = append(options, Option{Choice{Live: d.Name}, d.About})
	}
	return options, err
}

// Chosen is what runs now.
func (s *Service) Chosen() Choice {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.choice
}

// Flags are those of the command line for what runs now, "" for the model.
func (s *Service) Flags() string {
	if live := s.live(); live != nil {
		return live.Flags
	}
	return ""
}

// live is the device that was chosen, nil for the model.
func (s *Service) live() *Live {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chosen
}

// Choose takes a choice for what runs from now on: labs that are open go on
// with it from their next step. A live device is opened once on trial; if that
// fails the error says what mends it, and nothing has changed.
func (s *Service) Choose(ctx context.Context, c Choice) error {
	var chosen *Live
	if c.Live != "" {
		d, err := s.find(ctx, c.Live)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, runLimit)
		defer cancel()
		b, err := d.Open(ctx)
		if err != nil {
			return err
		}
		if err := b.Close(); err != nil {
			return fmt.Errorf("closing %s: %w", c.Live, err)
		}
		chosen = d
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.choice, s.chosen = c, chosen
	return nil
}

func (s *Service) find(ctx context.Context, name string) (*Live, error) {
	if s.devices.Find == nil {
		return nil, errors.New("this program has no live devices")
	}
	live, err := s.devices.Find(ctx)
	var names []string
	for i := range live {
		if live[i].Name == name {
			return &live[i], nil
		}
		names = append(names, live[i].Name)
	}
	switch {
	case err != nil:
		return nil, err
	case len(names) == 0:
		return nil, fmt.Errorf("there is no device %s, and no other", name)
	}
	return nil, fmt.Errorf("there is no device %s: there are %s", name, strings.Join(names, ", "))
}

// cannotError is a script that the live device does not run.
type cannotError struct{ why, live string }

func (e *cannotError) Error() string { return e.why }

// cannot says why the device does not run a line that was tried, "" if that is
// not why it failed.
func (d *Live) cannot(err error) string {
	var missing *script.MissingError
	var refused *verbs.Error
	switch {
	case err == nil:
	case errors.As(err, &missing):
		return "it needs " + missing.What
	case d.Refused != nil && d.Refused(err) && errors.As(err, &refused):
		return refused.Why
	}
	return ""
}

// onlyModel names what a script needs that the device does not have.
func (d *Live) onlyModel(n script.Needs) []string {
	if d.Peer {
		n.Faults, n.Wire = false, false
	}
	return n.OnlyModelWords()
}

// partNeeds says what a part needs that the device does not have, "" for nothing.
func (d *Live) partNeeds(part *content.Part) string {
	text := part.Setup
	if strings.TrimSpace(text) == "" {
		text = "script 1\n"
	}
	last, err := script.Parse("setup", []byte(text))
	if err != nil {
		return "" // the run tells of it
	}
	why := d.onlyModel(last.Needs())
	for i := range part.Steps {
		if strings.TrimSpace(part.Steps[i].Script) == "" {
			continue
		}
		if last, err = script.ParseAfter(last, "step", []byte(part.Steps[i].Script)); err != nil {
			return ""
		}
		why = append(why, d.onlyModel(last.Needs())...)
	}
	return needed(why)
}

// needed puts into one phrase what only the model has.
func needed(words []string) string {
	slices.Sort(words)
	words = slices.Compact(words)
	if len(words) == 0 {
		return ""
	}
	last := len(words) - 1
	list := words[last]
	if last > 0 {
		list = strings.Join(words[:last], ", ") + " and " + list
	}
	return "only the model has " + list
}
