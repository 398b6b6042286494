package cli_test

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"rdmaprep/cmd/rdmaprep/internal/cli"
)

// TestMain lets the scripts call this test binary as rdmaprep.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"rdmaprep": func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			code := cli.Main(ctx, cli.System(), os.Args[1:])
			stop()
			os.Exit(code)
		},
		"rdmaprep-panics": panics,
		"empty-program":   emptyProgram,
	})
}

// TestStories plays what a person does on the command line, one story a file.
func TestStories(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("RDMAPREP_HOME", filepath.Join(e.WorkDir, "home"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"text-only": textOnly,
			"status":    status,
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// textOnly checks that the last command's output holds no control byte but the
// newline: text-only stdout.
func textOnly(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: text-only stdout|stderr")
	}
	for i, r := range ts.ReadFile(args[0]) {
		if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 {
			ts.Fatalf("%s holds the control character %#x at byte %d", args[0], r, i)
		}
	}
}

// status runs a command and asks for its exit status: status 2 rdmaprep quizz.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND ARG...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, expected %s", got, args[0])
	}
}
