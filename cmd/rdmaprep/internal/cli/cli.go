package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"rdmaprep/sim/script"
)

// Version is the version that --version prints.
const Version = "0.1.0"

// The exit statuses.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// Host is everything that the commands need from outside.
type Host struct {
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Env     []string
	Now     func() time.Time // in the learner's time zone
	Entropy io.Reader
}

// System is the host of a real process.
func System() Host {
	return Host{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Environ(), Now: time.Now, Entropy: rand.Reader}
}

// usageError is a command line that cannot be carried out as it is written.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errSilent is a failure whose reason was printed already.
var errSilent = errors.New("")

// Main runs one command line and returns the exit status.
func Main(ctx context.Context, host Host, args []string) int {
	a := &app{host: host}
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	err = errors.Join(err, a.close())
	var usage usageError
	var parse *script.ParseError
	var parses script.ParseErrors
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errSilent):
		return exitFailure
	case errors.As(err, &usage) || !a.started:
		fmt.Fprintf(host.Err, "rdmaprep: %v\nSee: %s --help\n", err, cmd.CommandPath())
		return exitUsage
	case errors.As(err, &parses), errors.As(err, &parse):
		// FILE:LINE:COLUMN first, so that editors find the place.
		fmt.Fprintf(host.Err, "%v\n", err)
		return exitFailure
	}
	fmt.Fprintf(host.Err, "rdmaprep: %v\n", err)
	return exitFailure
}

// root builds the tree of commands. Cobra reports a usage error before any
// command has started.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "rdmaprep",
		Short: "Prepare for RDMA interviews: quizzes, labs on a software NIC, decision records",
		Long: "rdmaprep is a terminal trainer for RDMA interviews. Without a command it opens the\n" +
			"trainer's screen. The same without a screen: rdmaprep quiz --plain, rdmaprep lab ID --plain.",
		Version:       Version,
		Args:          noArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRun: func(*cobra.Command, []string) {
			a.started = true
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return a.trainer(cmd.Context()) },
	}
	root.SetIn(a.host.In)
	root.SetOut(a.host.Out)
	root.SetErr(a.host.Err)
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate("rdmaprep {{.Version}}\n")
	root.SetHelpCommand(helpCommand())
	root.CompletionOptions.HiddenDefaultCmd = true
	flags := root.PersistentFlags()
	flags.StringVar(&a.dataDir, "data-dir", "", "where answers and records are kept (default: $RDMAPREP_HOME, else the XDG data folder)")
	flags.StringArrayVar(&a.packs, "content", nil, "a folder with a pack of your own, besides the shipped content (may be repeated)")
	root.AddCommand(
		a.quizCommand(), a.labCommand(), a.runCommand(), a.contentCommand(),
		a.recordsCommand(), a.exportCommand(), a.manCommand(), a.wireCommand(), a.profileCommand(),
		a.doctorCommand(), a.rxeCommand(),
	)
	return root
}
