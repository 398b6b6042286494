package plain

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"rdmaprep/lessons/typed"
)

// maxLine bounds one line of input.
const maxLine = 64 << 10

// errEnd says that the input ended, or that the learner wants to leave.
var errEnd = errors.New("end of input")

// errInterrupted says that a signal ended the wait for an answer.
var errInterrupted = errors.New("interrupted")

// Streams are where the learner's lines come from and where the text goes.
type Streams struct {
	In  io.Reader
	Out io.Writer
	// Echo writes each line that was read behind its prompt: for an In that is
	// no terminal, which would show it by itself.
	Echo bool
}

// lines is the conversation.
type lines struct {
	ctx  context.Context // of the one conversation
	in   *bufio.Scanner
	out  io.Writer
	echo bool
	err  error // the first write that failed
	got  chan bool
	// reading says that a goroutine still waits for a line; nobody else may
	// touch in then.
	reading bool
}

func newLines(ctx context.Context, st Streams) *lines {
	s := bufio.NewScanner(st.In)
	s.Buffer(make([]byte, 0, 4096), maxLine)
	return &lines{ctx: ctx, in: s, out: st.Out, echo: st.Echo, got: make(chan bool, 1)}
}

func (l *lines) printf(format string, args ...any) {
	if l.err != nil {
		return
	}
	_, l.err = io.WriteString(l.out, typed.Plain(fmt.Sprintf(format, args...)))
}

// ask prints a prompt and reads a line, without its blanks at both ends.
func (l *lines) ask(format string, args ...any) (string, error) {
	l.printf(format+" ", args...)
	if l.err != nil {
		return "", l.err
	}
	if l.ctx.Err() != nil || l.reading {
		return "", errInterrupted
	}
	l.reading = true
	go func() { l.got <- l.in.Scan() }()
	select {
	case <-l.ctx.Done():
		l.printf("\n")
		return "", errInterrupted
	case ok := <-l.got:
		l.reading = false
		if !ok {
			l.printf("\n")
			if err := l.in.Err(); errors.Is(err, bufio.ErrTooLong) {
				return "", fmt.Errorf("a line of the input is longer than %d bytes, the limit", maxLine)
			} else if err != nil {
				return "", fmt.Errorf("reading the answer: %w", err)
			}
			return "", errEnd
		}
	}
	line := strings.TrimSpace(strings.ToValidUTF8(l.in.Text(), "?"))
	if l.echo {
		l.printf("%s\n", line)
	}
	return line, nil
}

// quits says whether a line is the wish to leave.
func quits(line string) bool { return line == "quit" || line == "q" }

// left says whether an error is only the wish to leave.
func left(err error) bool { return errors.Is(err, errEnd) || errors.Is(err, errInterrupted) }
