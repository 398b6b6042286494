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

// lines is the conversation.
type lines struct {
	ctx context.Context // of the one conversation
	in  *bufio.Scanner
	out io.Writer
	err error // the first write that failed
	got chan bool
	// reading says that a goroutine still waits for a line; nobody else may
	// touch in then.
	reading bool
}

func newLines(ctx context.Context, in io.Reader, out io.Writer) *lines {
	s := bufio.NewScanner(in)
	s.Buffer(make([]byte, 0, 4096), maxLine)
	return &lines{ctx: ctx, in: s, out: out, got: make(chan bool, 1)}
}

func (l *lines) printf(format string, args ...any) {
	if l.err != nil {
		return
	}
	_, l.err = io.WriteString(l.out, typed.Plain(fmt.Sprintf(format, args...)))
}

// ask prints a prompt and reads a line, without its blanks at both ends. The
// answer is echoed by the terminal, if there is one, so that nothing is
// written for it here.
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
	return strings.TrimSpace(strings.ToValidUTF8(l.in.Text(), "?")), nil
}

// left says whether an error is only the wish to leave.
func left(err error) bool { return errors.Is(err, errEnd) || errors.Is(err, errInterrupted) }
