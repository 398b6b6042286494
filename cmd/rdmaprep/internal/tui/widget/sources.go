package widget

import (
	"rdmaprep/cmd/rdmaprep/internal/tui/theme"
	"rdmaprep/content"
)

// Sources lists sources with the place in each, for w columns.
func Sources(t *theme.Theme, refs []content.Ref, w int) []string {
	var out []string
	for _, r := range refs {
		text := r.Source.Title
		if r.Source.Where != "" {
			text += ", " + r.Source.Where
		}
		if r.Place != "" {
			text += ", at " + r.Place
		}
		text += t.Muted.Render(" [" + string(r.Source.Layer) + "]")
		if r.Source.Role != "" {
			text += t.Muted.Render(" " + r.Source.Role + ", " + r.Source.Dated)
		}
		out = append(out, Hang("  · ", text, w)...)
	}
	return out
}
