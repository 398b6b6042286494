package cli_test

import (
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/vt"
)

// home is a data folder of the test's own, in the program's environment.
func home(t testing.TB) []string { return []string{"RDMAPREP_HOME=" + t.TempDir()} }

// A newcomer starts the trainer, takes the first step of the guided exercise,
// makes the window smaller, too small, and large again, and leaves.
func TestTrainerInATerminal(t *testing.T) {
	x := start(t, 120, 40, home(t), "rdmaprep")
	x.until("New here?")
	x.keys("\r")
	x.until("Which completions will there be?")
	x.keys("1")
	x.keys("8")
	x.until("[80]")
	x.keys("\r")
	x.until("As you predicted")
	x.until("WRITE_ONLY psn=256")
	x.resize(80, 24)
	x.until("As you predicted")
	x.resize(40, 10)
	x.until("60")
	if s := x.screen(); strings.Contains(s, "As you predicted") {
		t.Errorf("a terminal of 40x10 is too small, and the lab is still drawn:\n%s", s)
	}
	x.resize(120, 40)
	x.until("As you predicted")
	x.keys("\x03")
	restored(t, x, 0)
}

// restored checks that a program has ended and left the terminal as it was: the
// main screen, a visible cursor, no bracketed paste, no colour.
func restored(t *testing.T, x *terminal, status int) {
	t.Helper()
	if got := x.exit(); got != status {
		t.Errorf("exit status %d, expected %d; the screen is\n%s", got, status, x.screen())
	}
	x.with(func(e *vt.Emulator) {
		if e.IsAltScreen() {
			t.Error("the alternate screen is still shown")
		}
	})
	raw := x.written()
	for _, mode := range []struct{ on, off, what string }{
		{"\x1b[?1049h", "\x1b[?1049l", "the alternate screen"},
		{"\x1b[?25l", "\x1b[?25h", "the hidden cursor"},
		{"\x1b[?2004h", "\x1b[?2004l", "bracketed paste"},
	} {
		if on := strings.LastIndex(raw, mode.on); on >= 0 && strings.LastIndex(raw, mode.off) < on {
			t.Errorf("%s was set and not taken back", mode.what)
		}
	}
}

// SIGTERM ends the trainer and gives the terminal back.
func TestTermSignal(t *testing.T) {
	x := start(t, 80, 24, home(t), "rdmaprep")
	x.until("New here?")
	if err := x.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	restored(t, x, 0)
}

// A panic gives the terminal back and says where the report is.
func TestPanicRestores(t *testing.T) {
	x := start(t, 80, 24, home(t), "rdmaprep-panics")
	x.until("report")
	restored(t, x, 1)
}

// With NO_COLOR no colour is sent, and the words are the same.
func TestNoColour(t *testing.T) {
	x := start(t, 120, 40, append(home(t), "NO_COLOR=1"), "rdmaprep")
	x.until("New here?")
	x.keys("\x03")
	restored(t, x, 0)
	// SGR sequences with a colour: 30-38, 40-48, 90-97, 100-107 (ECMA-48, xterm).
	colour := regexp.MustCompile(`\x1b\[(?:\d+;)*(?:[34][0-8]|9[0-7]|10[0-7])(?:;\d+)*m`)
	if sent := colour.FindString(x.written()); sent != "" {
		t.Errorf("with NO_COLOR the program sent %q", sent)
	}
}

// Without NO_COLOR the same screen has colours, so that the test above can fail.
func TestColour(t *testing.T) {
	x := start(t, 120, 40, append(home(t), "COLORTERM=truecolor"), "rdmaprep")
	x.until("New here?")
	x.keys("\x03")
	restored(t, x, 0)
	if !regexp.MustCompile(`\x1b\[[\d;]*38;`).MatchString(x.written()) {
		t.Error("the screen has no colour")
	}
}
