package cli

import (
	"context"
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

type labFlags struct {
	plain, resume, asJSON bool
	profile               string
	seed                  uint64
}

func (a *app) labCommand() *cobra.Command {
	var f labFlags
	cmd := &cobra.Command{
		Use:   "lab [ID]",
		Short: "Step through a lab; without an ID, list them",
		Args:  atMostOneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd, &a.onto, args); err != nil {
				return err
			}
			if len(args) == 0 {
				return a.listLabs(f.asJSON)
			}
			lib, err := a.loadContent()
			if err != nil {
				return err
			}
			if err := checkLab(lib, args[0]); err != nil {
				return err
			}
			if !f.plain {
				return a.trainerAt(cmd.Context(), nav.Place{Kind: nav.Lab, ID: args[0]})
			}
			return a.plainLab(cmd.Context(), args[0], f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.plain, "plain", false, "line by line, for pipes and screen readers")
	flags.BoolVar(&f.resume, "resume", false, "go on where the lab was left")
	flags.BoolVar(&f.asJSON, "json", false, "print the list as JSON")
	flags.StringVar(&a.device, "device", "", deviceUsage)
	a.onto.add(cmd)
	flags.StringVar(&f.profile, "profile", "", "the model's profile: spec or rxe-6.1 (default: the lab's own)")
	flags.Uint64Var(&f.seed, "seed", 0, "take permitted reorderings from this seed (default: the lab's own)")
	return cmd
}

// check refuses flags that would have no effect, so that nobody believes they had.
func (f *labFlags) check(cmd *cobra.Command, onto *wireFlags, args []string) error {
	if err := errors.Join(modelFlags(cmd, "profile", "seed"), onto.check(cmd)); err != nil {
		return err
	}
	if len(args) == 0 && (f.plain || f.resume || cmd.Flags().Changed("device")) {
		return usagef("name a lab; rdmaprep lab lists them")
	}
	if len(args) == 1 && f.asJSON {
		return usagef("--json prints the list of labs: leave out %q", args[0])
	}
	for _, name := range []string{"resume", "profile", "seed"} {
		switch {
		case !cmd.Flags().Changed(name):
		case !f.plain:
			return usagef("--%s needs --plain; the screen asks by itself", name)
		case f.resume && name != "resume":
			return usagef("--resume goes on as the lab was begun: leave out --%s", name)
		}
	}
	return checkProfile(cmd.Context(), f.profile)
}

// modelFlags refuses flags of the model beside --device.
func modelFlags(cmd *cobra.Command, names ...string) error {
	if !cmd.Flags().Changed("device") {
		return nil
	}
	if v, _ := cmd.Flags().GetString("device"); v == "" {
		return usagef("--device names no device: give one, such as rxe0; rdmaprep doctor lists them")
	}
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return usagef("--%s is of the model, and --device runs on a real device: leave one of them out", name)
		}
	}
	return nil
}

// deviceFlag is --device as it was given, with a blank before it.
func (a *app) deviceFlag() string {
	if a.device == "" {
		return ""
	}
	flags := " --device " + a.device
	if a.onto.asked() {
		flags += " --wire " + a.onto.wire
	}
	return flags
}

func (a *app) listLabs(asJSON bool) error {
	lib, err := a.loadContent()
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
	return usagef("there is no lab %q: the labs are %s", id, strings.Join(ids, ", "))
}

func (a *app) plainLab(ctx context.Context, id string, f labFlags) (err error) {
	svc, err := a.service(ctx)
	if err != nil {
		return err
	}
	var lab *lessons.Lab
	var run *study.LabRun
	if f.resume {
		lab, run, err = svc.ResumeLab(ctx, id)
		if errors.Is(err, study.ErrNotFound) {
			return fmt.Errorf("lab %s was not left half-way: start it with rdmaprep lab %s --plain%s", id, id, a.deviceFlag())
		}
	} else {
		lab, run, err = svc.NewLab(id, f.profile, f.seed)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	return plain.Lab(ctx, svc, lab, run, a.streams())
}
