package widget

import (
	"strings"

	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/theme"
)

// Footer draws the keys that have a word for it in one line of w columns,
// separated by dots. Help and the way back stay; what does not fit before them
// is left out.
func Footer(t *theme.Theme, keys []nav.Key, typing bool, w int) string {
	help := nav.HelpKey
	if typing {
		help.Label = "F1"
	}
	tail := []string{hint(t, help)}
	seen := map[string]bool{}
	for _, k := range keys {
		if k.Does != "" && nav.EscKey.Name() == k.Name() && Width(hint(t, k))+3+Width(tail[0]) <= w {
			tail = []string{hint(t, k), hint(t, help)}
			seen[k.Name()] = true
			break
		}
	}
	room := w - Width(strings.Join(tail, " · "))
	var parts []string
	for _, k := range keys {
		if k.Does == "" || seen[k.Name()] {
			continue
		}
		seen[k.Name()] = true
		s := hint(t, k)
		need := Width(s) + 3
		if need > room {
			break
		}
		room -= need
		parts = append(parts, s)
	}
	parts = append(parts, tail...)
	return Fit(strings.Join(parts, t.Muted.Render(" · ")), w)
}

func hint(t *theme.Theme, k nav.Key) string { return t.Key.Render(k.Name()) + " " + k.Does }

// Help draws the help overlay: every key with its line.
func Help(t *theme.Theme, title string, keys []nav.Key, w int) *Page {
	p := NewPage(w)
	col := 0
	for _, k := range append(append([]nav.Key(nil), keys...), nav.Global()...) {
		col = max(col, Width(k.Name()))
	}
	col = min(col, 14)
	group := func(name string, keys []nav.Key) {
		p.Gap()
		p.Add(t.Title.Render(name))
		seen := map[string]bool{}
		for _, k := range keys {
			if seen[k.Name()+k.Help] || k.Help == "" {
				continue
			}
			seen[k.Name()+k.Help] = true
			p.Hang("  "+t.Key.Render(Fit(k.Name(), col))+"  ", k.Help)
		}
	}
	group(title, keys)
	group("Everywhere", nav.Global())
	return p
}
