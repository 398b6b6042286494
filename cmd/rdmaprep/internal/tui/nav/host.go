package nav

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/theme"
)

// Host is what the root model gives to every screen.
type Host struct {
	Ctx   context.Context
	Theme *theme.Theme
	// Now is the wall clock.
	Now func() time.Time
	// Tick is tea.Tick; tests give one that waits for nobody.
	Tick func(time.Duration, func(time.Time) tea.Msg) tea.Cmd
	// Device names the device in use, such as "MODEL spec".
	Device string
	owners int
}

// Requests returns a new set for a screen that is being opened.
func (h *Host) Requests() *Requests {
	h.owners++
	return NewRequests(h.Ctx, h.owners)
}
