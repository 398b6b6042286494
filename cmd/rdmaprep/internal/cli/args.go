package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// noArgs refuses arguments; of a group of commands it names those that exist
// and the nearest.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasAvailableSubCommands() {
		return usagef("%s takes no argument, and there is %q", cmd.CommandPath(), args[0])
	}
	return usagef("%s has no command %q%s", cmd.CommandPath(), args[0], commandsLike(cmd, args[0]))
}

// commandsLike names the commands that there are, and the nearest to a word.
func commandsLike(cmd *cobra.Command, word string) string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	cmd.SuggestionsMinimumDistance = 2
	nearest := ""
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		nearest = fmt.Sprintf(" (did you mean %s?)", near[0])
	}
	return fmt.Sprintf("%s: the commands are %s", nearest, strings.Join(names, ", "))
}

// oneArg asks for exactly one argument; missing says how to give it.
func oneArg(missing string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return usagef("%s", missing)
		case 1:
			return nil
		}
		return usagef("one argument is too many: %q", args[1])
	}
}

func atMostOneArg(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("one argument is too many: %q", args[1])
	}
	return nil
}

// flagError puts a wrong flag into plain words.
func flagError(_ *cobra.Command, err error) error {
	text := err.Error()
	// The only cause that the flags' own parser gives as a Go call.
	if head, cause, ok := strings.Cut(text, ": strconv."); ok {
		switch {
		case strings.HasSuffix(cause, strconv.ErrRange.Error()):
			text = head + ": the number is out of range"
		case strings.HasPrefix(cause, "ParseUint"):
			text = head + ": give a whole number, 0 or more"
		case strings.HasPrefix(cause, "ParseBool"):
			text = head + ": give true or false, or the flag alone"
		default:
			text = head + ": give a whole number"
		}
	}
	return usageError{errors.New(text)}
}
