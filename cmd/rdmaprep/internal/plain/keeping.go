package plain

import (
	"context"
	"errors"
	"fmt"

	"rdmaprep/cmd/rdmaprep/internal/study"
)

// keeping is how the saving goes, of a quiz or of a lab.
type keeping struct {
	why    error // the last answer or record that could not be saved
	place  error // why the place to go on from is not kept; nil if it is
	broken error // a fault of rdmaprep
}

// note takes what an event led to and tells, once until it is mended, that the
// place is not kept.
func (k *keeping) note(l *lines, r study.Report, err error) {
	if r.Unsaved != nil {
		k.why = r.Unsaved
	}
	if r.Place != nil && k.place == nil {
		l.printf("NOT SAVED: where you are. Answers are saved apart from it. %v\n", r.Place)
	}
	if r.Kept || r.Place != nil {
		k.place = r.Place
	}
	k.broken = errors.Join(k.broken, err)
}

// stopped says why the walk cannot go on, nil if it can.
func (k *keeping) stopped(ctx context.Context) error {
	if k.broken == nil && ctx.Err() != nil {
		return errInterrupted
	}
	return k.broken
}

// lost is the error at the end for what is not saved: n answers or the like,
// and the place.
func (k *keeping) lost(what string, n int) error {
	var err error
	if n > 0 {
		err = fmt.Errorf("%s could not be saved: %w", count(n, what), k.why)
	}
	if k.place != nil {
		err = errors.Join(err, fmt.Errorf("where you are could not be saved: %w", k.place))
	}
	return err
}
