package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"rdmaprep/cmd/rdmaprep/internal/study"
	"rdmaprep/lessons/decision"
)

func (a *app) recordsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "records",
		Short: "List and show decision records",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.recordsList(), a.recordsShow())
	return cmd
}

func (a *app) recordsList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the decision records, newest first",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.service(cmd.Context())
			if err != nil {
				return err
			}
			records, err := s.Records(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				if records == nil {
					records = []decision.Record{}
				}
				return a.json(records)
			}
			if len(records) == 0 {
				a.printf("No record yet. A lab ends in one: rdmaprep lab first-write --plain\n")
			}
			for _, r := range records {
				a.printf("%s  %s  %-11s  %-16s  %s\n", r.ShortID(), r.At.Format("2006-01-02"), r.Verdict, r.Lab, r.Question)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) recordsShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show one decision record as Markdown; the beginning of its id is enough",
		Args:  oneArg("name the record; rdmaprep records list shows the ids"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.service(cmd.Context())
			if err != nil {
				return err
			}
			r, err := s.Record(cmd.Context(), args[0])
			if errors.Is(err, study.ErrNotFound) {
				return fmt.Errorf("there is no record %q: rdmaprep records list shows the ids", args[0])
			}
			if err != nil {
				return err
			}
			if asJSON {
				return a.json(r)
			}
			a.printf("%s", r.Markdown())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
