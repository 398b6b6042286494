package cli

import (
	"github.com/spf13/cobra"
)

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		Args: func(cmd *cobra.Command, args []string) error {
			switch about, rest, err := cmd.Root().Find(args); {
			case err != nil:
				return usageError{err}
			case len(rest) == 0:
				return nil
			case about.HasAvailableSubCommands():
				return usagef("there is no help on %q%s", rest[0], commandsLike(about, rest[0]))
			default:
				return usagef("there is no help on %q below %s: see rdmaprep help %s", rest[0], about.CommandPath(), about.Name())
			}
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, _, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}
