package cli

import (
	"context"
	"os"

	"golang.org/x/term"

	"rdmaprep/cmd/rdmaprep/internal/tui"
	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
)

// trainer opens the screen.
func (a *app) trainer(ctx context.Context) error { return a.trainerAt(ctx, nav.Place{}) }

func (a *app) trainerAt(ctx context.Context, start nav.Place) error {
	// Looked at before anything is opened, so that a pipe leaves no trace.
	if !isTerminal(a.host.In) || !isTerminal(a.host.Out) {
		return tui.ErrNoTerminal
	}
	svc, err := a.service(ctx)
	if err != nil {
		return err
	}
	// The screen answers signals itself: it waits for what is being saved.
	return a.aside(func() error {
		return tui.Run(context.WithoutCancel(ctx), tui.Config{
			Backend: tui.NewBackend(svc), Device: svc.Chosen().Label(), Version: Version,
			ReportDir: os.TempDir(), Now: a.host.Now,
			In: a.host.In, Out: a.host.Out, Env: a.host.Env, Start: start,
		})
	})
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
