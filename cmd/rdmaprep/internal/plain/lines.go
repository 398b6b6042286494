package plain

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxLine bounds one line of input.
const maxLine = 64 << 10

// errEnd says that the input ended, or that the learner wants to leave.
var errEnd = errors.New("end of input")

// lines is the conversation.
type lines struct {
	ctx context.Context
	in  *bufio.Scanner
	out io.Writer
	err error // the first write that failed
}

func newLines(ctx context.Context, in io.Reader, out io.Writer) *lines {
	s := bufio.NewScanner(in)
	s.Buffer(make([]byte, 0, 4096), maxLine)
	return &lines{ctx: ctx, in: s, out: out}
}

func (l *lines) printf(format string, args ...any) {
	if l.err != nil {
		return
	}
	_, l.err = fmt.Fprintf(l.out, format, args...)
}

// ask prints a prompt and reads a line, without its blanks at both ends.
func (l *lines) ask(format string, args ...any) (string, error) {
	l.printf(format+" ", args...)
	if l.err != nil {
		return "", l.err
	}
	if err := l.ctx.Err(); err != nil {
		return "", err
	}
	if !l.in.Scan() {
		l.printf("\n")
		if err := l.in.Err(); err != nil {
			return "", fmt.Errorf("reading the answer: %w", err)
		}
		return "", errEnd
	}
	return strings.TrimSpace(l.in.Text()), nil
}
