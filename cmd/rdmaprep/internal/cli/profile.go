package cli

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"rdmaprep/sim/model"
)

func (a *app) profileCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "What the model's profiles do, and how they differ",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.profileList(), a.profileDiff())
	return cmd
}

// switchRow is a rule in which profiles differ, for a person.
type switchRow struct {
	Name   string            `json:"name"`
	Values map[string]string `json:"values"` // by profile
	Learn  string            `json:"learn"`
	Source string            `json:"source"`
}

type profileRow struct {
	Name     string      `json:"name"`
	About    string      `json:"about"`
	Switches []switchRow `json:"switches"` // where it differs from spec
	Choices  []choiceRow `json:"choices,omitempty"`
}

// choiceRow is a point that a profile could have decided otherwise.
type choiceRow struct {
	Rule   string `json:"rule"`
	Does   string `json:"does"`
	Source string `json:"source"`
}

func (a *app) profileList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the profiles, and where each differs from the specification",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			rows := []profileRow{}
			spec := model.ProfileInfo{Name: "spec"}
			for _, p := range model.Profiles() {
				row := profileRow{Name: p.Name, About: p.About, Switches: differences(spec, p)}
				for _, c := range p.Choices {
					row.Choices = append(row.Choices, choiceRow{c.Rule, c.Does, c.Source})
				}
				rows = append(rows, row)
			}
			if asJSON {
				return a.json(rows)
			}
			for i, p := range rows {
				if i > 0 {
					a.printf("\n")
				}
				a.printf("%s\n%s\n", p.Name, indented(p.About, "  "))
				if n := len(p.Choices); n > 0 {
					a.printf("  Where there was room it chose, in %s:\n", count(n, "point"))
				}
				for _, c := range p.Choices {
					a.printf("\n  %s\n%s\n%s\n", c.Rule, indented(c.Does, "      "), indented("Source: "+c.Source, "      "))
				}
				if n := len(p.Switches); n > 0 {
					a.printf("  It differs from spec in %s:\n", count(n, "rule"))
				}
				a.printSwitches(p.Switches, p.Name)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) profileDiff() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff FROM TO",
		Short: "Show every rule in which two profiles differ, with its source and what to know",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("name two profiles: the model has %s", strings.Join(model.ProfileNames(), " and "))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			var two [2]model.ProfileInfo
			for i, name := range args {
				p, err := profileNamed(name)
				if err != nil {
					return err
				}
				two[i] = p
			}
			rows := differences(two[0], two[1])
			if asJSON {
				return a.json(rows)
			}
			if len(rows) == 0 {
				a.printf("%s and %s are equal.\n", args[0], args[1])
				return nil
			}
			a.printf("%s and %s differ in %s:\n", args[0], args[1], count(len(rows), "rule"))
			a.printSwitches(rows, args...)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func profileNamed(name string) (model.ProfileInfo, error) {
	for _, p := range model.Profiles() {
		if p.Name == name {
			return p, nil
		}
	}
	return model.ProfileInfo{}, usagef("no profile %q: the model has %s", name, strings.Join(model.ProfileNames(), " and "))
}

// differences are the switches that have another value in y than in x. A
// profile lists the switches that are on; the others are off.
func differences(x, y model.ProfileInfo) []switchRow {
	out := []switchRow{}
	value := func(p model.ProfileInfo, name string) string {
		for _, s := range p.Switches {
			if s.Name == name {
				return s.Value
			}
		}
		return "off"
	}
	add := func(s model.Switch) {
		vx, vy := value(x, s.Name), value(y, s.Name)
		if vx != vy {
			out = append(out, switchRow{Name: s.Name, Values: map[string]string{x.Name: word(vx), y.Name: word(vy)}, Learn: s.Learn, Source: s.Source})
		}
	}
	for _, s := range x.Switches {
		add(s)
	}
	for _, s := range y.Switches {
		if value(x, s.Name) == "off" {
			add(s)
		}
	}
	return out
}

// word is the value of a switch: on, off, or a duration.
func word(v string) string {
	if v == "true" {
		return "on"
	}
	return v
}

// printSwitches prints switches with their values in the profiles named.
func (a *app) printSwitches(rows []switchRow, profiles ...string) {
	for _, s := range rows {
		var values []string
		for _, p := range profiles {
			values = append(values, p+" "+s.Values[p])
		}
		a.printf("\n  %s (%s)\n%s\n%s\n", s.Name, strings.Join(values, ", "), indented(s.Learn, "      "), indented("Source: "+s.Source, "      "))
	}
}

// indented folds a text at blanks to lines of 78 columns that begin with in.
func indented(text, in string) string {
	lines := ansi.Wordwrap(text, 78-len(in), "")
	return in + strings.ReplaceAll(lines, "\n", "\n"+in)
}
