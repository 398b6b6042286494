package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rdmaprep/cmd/rdmaprep/internal/plain"
	"rdmaprep/cmd/rdmaprep/internal/study"
	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/content"
	"rdmaprep/quiz"
)

type quizFlags struct {
	plain, resume, all, interview bool
	topics                        []string
	limit                         int
	seed                          uint64
}

func (a *app) quizCommand() *cobra.Command {
	var f quizFlags
	cmd := &cobra.Command{
		Use:   "quiz",
		Short: "Take a quiz: due questions first, by topic, or everything",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.limit < 0 {
				return usagef("--max is %d: give a number of questions, or 0 for no limit", f.limit)
			}
			if f.seed > math.MaxInt64 {
				return usagef("--seed is too large")
			}
			if !f.plain {
				return a.trainerAt(cmd.Context(), nav.Place{Kind: nav.Quiz})
			}
			return a.plainQuiz(cmd, f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.plain, "plain", false, "line by line, for pipes and screen readers")
	flags.BoolVar(&f.resume, "resume", false, "go on where the last quiz was left")
	flags.BoolVar(&f.all, "all", false, "everything, shuffled")
	flags.BoolVar(&f.interview, "interview", false, "open questions, against the clock")
	flags.StringSliceVar(&f.topics, "topic", nil, "only these topics (see rdmaprep content stats)")
	flags.IntVar(&f.limit, "max", 10, "how many questions at most; 0 is no limit")
	flags.Uint64Var(&f.seed, "seed", 0, "draw order and variants from this seed; 0 takes a random one")
	return cmd
}

func (a *app) plainQuiz(cmd *cobra.Command, f quizFlags) error {
	ctx := cmd.Context()
	svc, err := a.service(ctx)
	if err != nil {
		return err
	}
	if err := checkTopics(svc.Library(), f.topics); err != nil {
		return err
	}
	var sess *quiz.Session
	if f.resume {
		sess, err = svc.ResumeQuiz(ctx, study.QuizKey)
		if errors.Is(err, study.ErrNotFound) {
			return fmt.Errorf("no quiz was left half-way: start one with rdmaprep quiz --plain")
		}
	} else {
		sess, err = svc.NewQuiz(ctx, filterOf(f), f.seed)
	}
	if sess == nil {
		if err == nil {
			err = fmt.Errorf("nothing is due: --all asks everything, --topic NAME one topic")
		}
		return err
	}
	if err != nil {
		fmt.Fprintf(a.host.Err, "rdmaprep: some questions were left out: %v\n", err)
	}
	return plain.Quiz(ctx, svc, sess, a.host.In, a.host.Out)
}

func filterOf(f quizFlags) quiz.Filter {
	out := quiz.Filter{Mode: quiz.DueFirst, Topics: f.topics, Max: f.limit}
	switch {
	case f.interview:
		out.Mode = quiz.Interview
	case f.all:
		out.Mode = quiz.Everything
	case len(f.topics) > 0:
		out.Mode = quiz.ByTopic
	}
	return out
}

func checkTopics(lib *content.Library, names []string) error {
	var ids []string
	for _, t := range lib.Topics {
		ids = append(ids, t.ID)
	}
	for _, n := range names {
		if !slices.Contains(ids, n) {
			return usagef("there is no topic %q: %s", n, strings.Join(ids, ", "))
		}
	}
	return nil
}
