// Package theme names what things mean on the screen and gives each meaning a
// style, for dark and for light backgrounds.
//
// It promises that no meaning is carried by colour alone: every style that
// means something also has a mark or a word beside it where it is used, so
// that NO_COLOR loses nothing. It knows no screen.
package theme

import (
	"image/color"

	"charm.land/lipgloss/v2"
)

// Theme is the set of styles in use. Screens hold a pointer to the one Theme
// of the program; Set changes it in place and Gen counts the changes, so that
// what was rendered under an older one can be told.
type Theme struct {
	Dark bool
	Gen  int

	Text     lipgloss.Style // what is read
	Muted    lipgloss.Style // what may be skipped
	Title    lipgloss.Style // headings
	Accent   lipgloss.Style // where one is
	Key      lipgloss.Style // a key in the footer
	Good     lipgloss.Style
	Bad      lipgloss.Style
	Warn     lipgloss.Style
	Code     lipgloss.Style
	Border   lipgloss.Style
	Selected lipgloss.Style // the line that the cursor is on
}

// New returns the theme for a dark or a light background.
func New(dark bool) *Theme {
	t := &Theme{}
	t.Set(dark)
	return t
}

// Set changes the theme to one for a dark or a light background.
func (t *Theme) Set(dark bool) {
	pick := func(light, darkColour string) color.Color {
		if dark {
			return lipgloss.Color(darkColour)
		}
		return lipgloss.Color(light)
	}
	base := lipgloss.NewStyle()
	*t = Theme{
		Dark:     dark,
		Gen:      t.Gen + 1,
		Text:     base,
		Muted:    base.Foreground(pick("243", "246")),
		Title:    base.Bold(true),
		Accent:   base.Foreground(pick("25", "117")).Bold(true),
		Key:      base.Foreground(pick("25", "117")),
		Good:     base.Foreground(pick("28", "114")).Bold(true),
		Bad:      base.Foreground(pick("124", "210")).Bold(true),
		Warn:     base.Foreground(pick("94", "221")).Bold(true),
		Code:     base.Foreground(pick("54", "183")),
		Border:   base.Foreground(pick("248", "240")),
		Selected: base.Bold(true),
	}
}
