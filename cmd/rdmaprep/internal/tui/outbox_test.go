package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
)

// A place that cannot be kept is told in the line of what is not saved, keeps
// no answer waiting, and only its newest is tried again.
func TestPlaceThatCannotBeKept(t *testing.T) {
	p := &plate{}
	m := table(p)
	var tried []string
	full := errors.New("the disk is full")
	place := func(what string) tea.Cmd {
		return nav.Keep(nav.Save{Owner: p.req.Owner(), What: "where you are", Do: func(context.Context) error {
			tried = append(tried, what)
			return full
		}})
	}
	answer := func(id string) tea.Cmd {
		return nav.Keep(nav.Save{Owner: p.req.Owner(), ID: id, What: "the answer", Do: func(context.Context) error {
			tried = append(tried, id)
			return nil
		}})
	}
	pump(m, place("place 1"))
	for _, step := range []struct {
		cmd  tea.Cmd
		want []string
	}{
		{answer("answer 1"), []string{"place 1", "place 1", "answer 1", "place 1"}},
		{place("place 2"), []string{"place 2"}},
		{answer("answer 2"), []string{"place 2", "answer 2", "place 2"}},
	} {
		pump(m, step.cmd)
		if !slices.Equal(tried, step.want) {
			t.Errorf("tried %q, want %q", tried, step.want)
		}
		tried = nil
		frame, _ := m.Frame()
		if n := strings.Count(frame, "NOT SAVED: where you are. ctrl+r tries again. the disk is full"); n != 1 {
			t.Errorf("the failure is shown %d times:\n%s", n, frame)
		}
	}
	full = nil
	pump(m, press(m, tea.KeyPressMsg{Code: 'r', Mod: tea.ModCtrl}))
	if frame, _ := m.Frame(); strings.Contains(frame, "NOT SAVED") || !slices.Equal(tried, []string{"place 2"}) {
		t.Errorf("after ctrl+r, tried %q:\n%s", tried, frame)
	}
}
