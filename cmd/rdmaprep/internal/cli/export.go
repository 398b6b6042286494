package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rdmaprep/cmd/rdmaprep/internal/export"
	"rdmaprep/cmd/rdmaprep/internal/study"
	"rdmaprep/content"
	"rdmaprep/quiz"
)

// exportFormats are the formats that exist.
var exportFormats = []string{"md"}

func (a *app) exportCommand() *cobra.Command {
	var dir, format string
	var private bool
	cmd := &cobra.Command{
		Use:   "export --format md -o DIR",
		Short: "Write study notes: what was studied, what was missed and why, the decision records",
		Long: "Write a folder of Markdown: what was studied by topic, every question missed with its right\n" +
			"answer and sources, and the decision records. The folder must be new, empty, or an earlier export.\n" +
			"What looks like a credential, an address or private assessment content is named and refused.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(exportFormats, format) {
				return usagef("there is no format %q: the formats are %s", format, strings.Join(exportFormats, ", "))
			}
			if dir == "" {
				return usagef("name the folder to write: -o DIR")
			}
			return a.exportNotes(cmd.Context(), dir, private)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&format, "format", "md", "the format: "+strings.Join(exportFormats, ", "))
	flags.StringVarP(&dir, "output", "o", "", "the folder to write (required)")
	flags.BoolVar(&private, "allow-private", false, "write what looks private too")
	return cmd
}

func (a *app) exportNotes(ctx context.Context, dir string, private bool) error {
	svc, err := a.service(ctx)
	if err != nil {
		return err
	}
	data := export.Data{Now: a.host.Now(), Library: svc.Library(), Right: a.rightAnswer(svc)}
	if data.Log, err = svc.Attempts(ctx); err != nil {
		return err
	}
	if data.Cards, err = svc.Cards(ctx); err != nil {
		return err
	}
	if data.Records, err = svc.Records(ctx); err != nil {
		return err
	}
	notes, err := export.Markdown(ctx, dir, data, private)
	if err != nil {
		return err
	}
	for _, w := range notes.Warnings {
		fmt.Fprintf(a.host.Err, "rdmaprep: written although it looks private: %s: %s\n", w.Where, w.Why)
	}
	a.printf("wrote %d pages to %s; begin with index.md\n", len(notes.Files), dir)
	return nil
}

// rightAnswer tells what is right of a question by running its proof.
func (a *app) rightAnswer(svc *study.Service) export.RightAnswer {
	return func(ctx context.Context, id string, variant uint64) (string, error) {
		in, err := instance(svc.Library(), id, variant)
		if err != nil {
			return "", err
		}
		res, err := svc.Proof(ctx, in, "", nil)
		if err != nil {
			return "", err
		}
		return quiz.Grade(in, res.Key, quiz.Answer{Order: res.Key.Order}).RightText, nil
	}
}

// instance draws a question, or a lab's prediction, by the id that the log has.
func instance(lib *content.Library, id string, variant uint64) (*quiz.Instance, error) {
	for _, q := range lib.Questions {
		if q.ID == id {
			return quiz.Draw(q, variant)
		}
	}
	for _, lab := range lib.Labs {
		for p, part := range lab.AllParts() {
			for s := range part.Steps {
				if quiz.LabQuestion(lab.ID, p, s) == id {
					return quiz.ForLab(lab, p, s, variant)
				}
			}
		}
	}
	return nil, fmt.Errorf("question %s is not in the library any more", id)
}
