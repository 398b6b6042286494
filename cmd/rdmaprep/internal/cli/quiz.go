package cli

import (
	"errors"
	"fmt"
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
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(f.check(), modelFlags(cmd), a.onto.check(cmd)); err != nil {
				return err
			}
			if !f.plain {
				return a.screenQuiz(cmd, f)
			}
			return a.plainQuiz(cmd, f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.plain, "plain", false, "line by line, for pipes and screen readers")
	flags.BoolVar(&f.resume, "resume", false, "go on where the last quiz was left")
	flags.BoolVar(&f.all, "all", false, "everything, shuffled")
	flags.BoolVar(&f.interview, "interview", false, "open questions, against the clock")
	flags.StringVar(&a.device, "device", "", "show the evidence of proofs on this RDMA device, such as rxe0; answers are graded on the model")
	a.onto.add(cmd)
	flags.StringSliceVar(&f.topics, "topic", nil, "only these topics (see rdmaprep content stats)")
	flags.IntVar(&f.limit, "max", 10, "how many questions at most; 0 is no limit")
	flags.Uint64Var(&f.seed, "seed", 0, "draw order and variants from this seed; 0 takes a random one")
	return cmd
}

// check refuses flags that contradict each other.
func (f *quizFlags) check() error {
	if f.limit < 0 {
		return usagef("--max is %d: give a number of questions, or 0 for no limit", f.limit)
	}
	if f.resume && (f.all || f.interview || len(f.topics) > 0) {
		return usagef("--resume goes on with the quiz that was left: leave out --all, --interview and --topic")
	}
	if f.all && f.interview {
		return usagef("--all and --interview: choose one")
	}
	return nil
}

// screenQuiz opens the screen at the quiz that the flags name.
func (a *app) screenQuiz(cmd *cobra.Command, f quizFlags) error {
	for _, name := range []string{"max", "seed"} {
		if cmd.Flags().Changed(name) {
			return usagef("--%s needs --plain", name)
		}
	}
	if len(f.topics) > 1 {
		return usagef("several topics need --plain")
	}
	lib, err := a.loadContent()
	if err != nil {
		return err
	}
	if err := checkTopics(lib, f.topics); err != nil {
		return err
	}
	place := nav.Place{Kind: nav.Quiz, Resume: f.resume, Due: !f.all && !f.resume && len(f.topics) == 0}
	if f.interview {
		place = nav.Place{Kind: nav.Interview}
	}
	if len(f.topics) == 1 {
		place.ID = f.topics[0]
	}
	return a.trainerAt(cmd.Context(), place)
}

func (a *app) plainQuiz(cmd *cobra.Command, f quizFlags) error {
	ctx := cmd.Context()
	lib, err := a.loadContent()
	if err != nil {
		return err
	}
	if err := checkTopics(lib, f.topics); err != nil {
		return err // before the store is made: a wrong word leaves no trace
	}
	svc, err := a.service(ctx)
	if err != nil {
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
		return err
	}
	if err != nil {
		fmt.Fprintf(a.host.Err, "rdmaprep: some questions were left out: %v\n", err)
	}
	return plain.Quiz(ctx, svc, sess, a.streams())
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
			return usagef("there is no topic %q: the topics are %s", n, strings.Join(ids, ", "))
		}
	}
	return nil
}
