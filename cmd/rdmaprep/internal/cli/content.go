package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"rdmaprep/content"
)

func (a *app) contentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "content",
		Short: "Count, check and register what can be studied",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.contentStats(), a.contentCheck(), a.contentIDs())
	return cmd
}

func (a *app) contentStats() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count topics, questions, proofs, lessons, labs and glossary entries",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			lib, err := a.loadContent()
			if err != nil {
				return err
			}
			s := content.Count(lib)
			if asJSON {
				return a.json(s)
			}
			a.printf("topics     %5d\nquestions  %5d\nproofs     %5d\nlessons    %5d\nlabs       %5d\nglossary   %5d\n",
				s.Topics, s.Questions, s.Proofs, s.Lessons, s.Labs, s.Glossary)
			for _, t := range lib.Topics {
				a.printf("  %-14s %3d questions\n", t.ID, s.ByTopic[t.ID])
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) contentCheck() *cobra.Command {
	var asJSON, noRun bool
	cmd := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Check a pack, proofs and labs included; without DIR, the shipped content",
		Args:  atMostOneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			fsys := content.Embedded()
			opt := content.Options{Open: a.open, Today: a.host.Now(), Jobs: runtime.GOMAXPROCS(0)}
			if noRun {
				opt.Open = nil
			}
			if len(args) == 1 {
				var err error
				if fsys, err = packFS(args[0]); err != nil {
					return err
				}
				if _, err := fs.Stat(fsys, "topics.toml"); errors.Is(err, fs.ErrNotExist) {
					if opt.Base, err = content.Shipped(); err != nil {
						return err
					}
				}
			}
			return a.reportCheck(cmd.Context(), fsys, opt, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&noRun, "no-run", false, "leave out what needs a run: proofs and labs")
	return cmd
}

func (a *app) reportCheck(ctx context.Context, fsys fs.FS, opt content.Options, asJSON bool) error {
	rep, problems := content.Check(ctx, fsys, opt)
	if asJSON {
		if err := a.json(struct {
			*content.CheckReport
			Problems []content.Problem `json:"problems"`
		}{rep, problems}); err != nil {
			return err
		}
	} else {
		for _, p := range problems {
			a.printf("%s\n", p)
		}
		a.printf("%d topics, %d questions, %d proofs, %d lessons, %d labs, %d glossary entries; %d scripts run; %d errors, %d warnings\n",
			rep.Topics, rep.Questions, rep.Proofs, rep.Lessons, rep.Labs, rep.Glossary, rep.Runs, rep.Errors, rep.Warnings)
	}
	if rep.Errors > 0 {
		return errSilent
	}
	return ctx.Err()
}

func (a *app) contentIDs() *cobra.Command {
	var write bool
	cmd := &cobra.Command{
		Use:   "ids DIR",
		Short: "Print or write the ledger of every id that a pack ever had",
		Args:  oneArg("name the folder of the pack"),
		RunE: func(_ *cobra.Command, args []string) error {
			fsys, err := packFS(args[0])
			if err != nil {
				return err
			}
			old, err := fs.ReadFile(fsys, content.LedgerFile)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			lib, _ := content.Load(fsys)
			text, err := content.Ledger(lib, old)
			if err != nil {
				return err
			}
			if !write {
				_, err := a.host.Out.Write(text)
				return err
			}
			path := filepath.Join(args[0], content.LedgerFile)
			if err := os.WriteFile(path, text, 0o644); err != nil {
				return fmt.Errorf("writing the ledger: %w", err)
			}
			a.printf("wrote %s\n", path)
			return nil
		},
	}
	cmd.Flags().BoolVar(&write, "write", false, "write it into the pack")
	return cmd
}
