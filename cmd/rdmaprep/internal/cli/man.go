package cli

import (
	"strings"
	"time"

	mango "github.com/muesli/mango-cobra"
	"github.com/muesli/roff"
	"github.com/spf13/cobra"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man",
		Short:  "Print the man page",
		Args:   noArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			page, err := mango.NewManPage(1, cmd.Root())
			if err != nil {
				return err
			}
			// A line end in it would begin a paragraph.
			page = page.WithLongDescription(strings.Join(strings.Fields(cmd.Root().Long), " "))
			a.printf("%s", page.Build(manual{roff.NewDocument()}))
			return nil
		},
	}
}

// manual is a man page whose header, one line of 80 columns, names the manual
// (man-pages(7), "TH") and not what the command does.
type manual struct{ *roff.Document }

func (m manual) Heading(section uint, title, _ string, at time.Time) {
	m.Document.Heading(section, title, "User Commands", at)
}
