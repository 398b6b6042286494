package plain

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rdmaprep/quiz"
)

// parseAnswer reads what was typed for an instance; numbers count from 1.
func parseAnswer(in *quiz.Instance, line string) (quiz.Answer, error) {
	switch in.Input() {
	case quiz.PickOne:
		picks, err := numbers(line, len(in.Choices))
		if err != nil || len(picks) != 1 {
			return quiz.Answer{}, not(line, "type one number from 1 to %d, or skip", len(in.Choices))
		}
		return quiz.Answer{Picks: picks}, nil
	case quiz.PickMany:
		if line == "0" {
			return quiz.Answer{Picks: []int{}}, nil
		}
		picks, err := numbers(line, len(in.Choices))
		if err != nil || len(picks) == 0 {
			return quiz.Answer{}, not(line, "type the numbers of all that are right, from 1 to %d, or 0 for none", len(in.Choices))
		}
		return quiz.Answer{Picks: picks}, nil
	case quiz.PickOrder:
		order, err := numbers(line, len(in.Choices))
		if err != nil || len(order) != len(in.Choices) {
			return quiz.Answer{}, not(line, "type all %d numbers, each once, first step first", len(in.Choices))
		}
		return quiz.Answer{Order: order}, nil
	case quiz.Speak:
		return quiz.Answer{Text: line}, nil
	}
	if line == "" {
		return quiz.Answer{}, not(line, "type an answer, h for a hint, or skip")
	}
	a := quiz.Answer{Text: line}
	if why := in.Refusal(a); why != "" {
		return quiz.Answer{}, errors.New(why)
	}
	return a, nil
}

// not says what to type instead of a line.
func not(line, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if line == "" {
		return err
	}
	return fmt.Errorf("%q is no answer here: %w", line, err)
}

// numbers reads different numbers from 1 to n and returns them from 0.
func numbers(line string, n int) ([]int, error) {
	var out []int
	seen := map[int]bool{}
	for _, f := range strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' }) {
		v, err := strconv.Atoi(f)
		if err != nil || v < 1 || v > n || seen[v] {
			return nil, fmt.Errorf("%q is not a number from 1 to %d, or comes twice", f, n)
		}
		seen[v] = true
		out = append(out, v-1)
	}
	return out, nil
}
