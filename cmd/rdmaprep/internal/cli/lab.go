package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rdmaprep/cmd/rdmaprep/internal/plain"
	"rdmaprep/cmd/rdmaprep/internal/study"
	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/content"
	"rdmaprep/lessons"
)

func (a *app) labCommand() *cobra.Command {
	var plainMode, resume, asJSON bool
	var seed uint64
	cmd := &cobra.Command{
		Use:   "lab [ID]",
		Short: "Step through a lab; without an ID, list them",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listLabs(asJSON)
			}
			lib, err := a.library()
			if err != nil {
				return err
			}
			if err := checkLab(lib, args[0]); err != nil {
				return err
			}
			if !plainMode {
				return a.trainerAt(cmd.Context(), nav.Place{Kind: nav.Lab, ID: args[0]})
			}
			return a.plainLab(cmd, args[0], seed, resume)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&plainMode, "plain", false, "line by line, for pipes and screen readers")
	flags.BoolVar(&resume, "resume", false, "go on where the lab was left")
	flags.BoolVar(&asJSON, "json", false, "print the list as JSON")
	flags.Uint64Var(&seed, "seed", 0, "take permitted reorderings from this seed (default: the lab's own)")
	return cmd
}

func (a *app) listLabs(asJSON bool) error {
	lib, err := a.library()
	if err != nil {
		return err
	}
	type entry struct {
		ID      string `json:"id"`
		Topic   string `json:"topic"`
		Title   string `json:"title"`
		Minutes int    `json:"minutes"`
		Goal    string `json:"goal"`
	}
	list := []entry{}
	for _, l := range lib.Labs {
		list = append(list, entry{l.ID, l.Topic, l.Title, l.Minutes, l.Goal})
	}
	if asJSON {
		return a.json(list)
	}
	for _, l := range list {
		a.printf("%-14s %3d min  %-14s %s\n", l.ID, l.Minutes, l.Topic, l.Title)
	}
	return nil
}

func checkLab(lib *content.Library, id string) error {
	var ids []string
	for _, l := range lib.Labs {
		if l.ID == id {
			return nil
		}
		ids = append(ids, l.ID)
	}
	return usagef("there is no lab %q: %s", id, strings.Join(ids, ", "))
}

func (a *app) plainLab(cmd *cobra.Command, id string, seed uint64, resume bool) (err error) {
	ctx := cmd.Context()
	svc, err := a.service(ctx)
	if err != nil {
		return err
	}
	var lab *lessons.Lab
	var run *study.LabRun
	if resume {
		lab, run, err = svc.ResumeLab(ctx, id)
		if errors.Is(err, study.ErrNotFound) {
			return fmt.Errorf("lab %s was not left half-way: start it with rdmaprep lab %s --plain", id, id)
		}
	} else {
		lab, run, err = svc.NewLab(id, a.profile, seed)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	return plain.Lab(ctx, svc, lab, run, a.host.In, a.host.Out)
}
