package cli_test

import (
	"context"
	"fmt"
	"os"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui"
)

// panics is the trainer with a backend that is not there: the first thing that
// it asks for panics.
func panics() {
	err := tui.Run(context.Background(), tui.Config{
		Backend: struct{ tui.Backend }{}, ReportDir: os.TempDir(), In: os.Stdin, Out: os.Stdout,
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "rdmaprep: %v\n", err)
		os.Exit(1)
	}
}

// empty is the smallest Bubble Tea program: what the library costs by itself.
type empty struct{ n int }

func (e empty) Init() tea.Cmd { return nil }

func (e empty) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		if k.String() == "ctrl+c" {
			return e, tea.Quit
		}
		e.n++
	}
	return e, nil
}

func (e empty) View() tea.View {
	v := tea.NewView(fmt.Sprintf("empty, keys %d.", e.n))
	v.AltScreen = true
	return v
}

func emptyProgram() {
	if _, err := tea.NewProgram(empty{}).Run(); err != nil {
		os.Exit(1)
	}
}
