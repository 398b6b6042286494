package lessons

import (
	"errors"
	"time"
)

var errNotYet = errors.New("lessons: not written yet")

// Lab is a walk through a lab. It is for one goroutine.
type Lab struct{}

func newLab(Config) (*Lab, error)              { return nil, errNotYet }
func resumeLab(Config, LabState) (*Lab, error) { return nil, errNotYet }
func (l *Lab) step(time.Time, Event) []Effect  { return nil }
func (l *Lab) view() View                      { return View{} }
func (l *Lab) snapshot() LabState              { return LabState{} }
