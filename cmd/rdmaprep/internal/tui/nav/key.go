package nav

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Key is one binding. It is declared once and feeds the footer, the help
// overlay and the table in the README.
type Key struct {
	Keys  []string // as tea spells them, such as "enter", "ctrl+r", "space"
	Label string   // as shown, such as "j/k"; "" shows Keys[0]
	Does  string   // one or two words, for the footer; "" keeps it out of the footer
	Help  string   // one line, for the help overlay and the README
}

// Is says whether a key press is this key.
func (k Key) Is(msg tea.KeyPressMsg) bool {
	s := msg.String()
	for _, name := range k.Keys {
		if name == s {
			return true
		}
	}
	return false
}

// Name is what the key is called on the screen.
func (k Key) Name() string {
	if k.Label != "" {
		return k.Label
	}
	if len(k.Keys) == 0 {
		return ""
	}
	return k.Keys[0]
}

// With returns the key with another footer text.
func (k Key) With(does string) Key {
	k.Does = does
	return k
}

// The keys that work on every screen.
var (
	HelpKey    = Key{Keys: []string{"?", "f1"}, Label: "?", Does: "help", Help: "what every key does here (F1 while typing)"}
	BackKey    = Key{Keys: []string{"esc", "q"}, Label: "esc", Does: "back", Help: "back (q too, unless you are typing)"}
	EscKey     = Key{Keys: []string{"esc"}, Label: "esc", Does: "back", Help: "back"}
	QuitKey    = Key{Keys: []string{"ctrl+c"}, Label: "ctrl+c", Help: "quit; what is being saved is saved first"}
	SuspendKey = Key{Keys: []string{"ctrl+z"}, Label: "ctrl+z", Help: "suspend; fg in the shell comes back"}
	DeviceKey  = Key{Keys: []string{"D"}, Does: "device", Help: "choose what labs and evidence run on: the model, or a live device"}
	RetryKey   = Key{Keys: []string{"ctrl+r"}, Label: "ctrl+r", Help: "try again what could not be saved"}
	UpKey      = Key{Keys: []string{"up", "k"}, Label: "↑/k", Help: "up"}
	DownKey    = Key{Keys: []string{"down", "j"}, Label: "↓/j", Help: "down"}
	PageUp     = Key{Keys: []string{"pgup", "ctrl+b", "b"}, Label: "pgup/b", Help: "a page up"}
	PageDown   = Key{Keys: []string{"pgdown", "ctrl+f", "space"}, Label: "space", Does: "page", Help: "a page down"}
	EnterKey   = Key{Keys: []string{"enter"}, Label: "enter", Does: "open", Help: "open, answer or go on"}
	FilterKey  = Key{Keys: []string{"/"}, Label: "/", Does: "search", Help: "search"}
)

// Global are the keys of every screen, for the help overlay and the table.
func Global() []Key { return []Key{HelpKey, BackKey, DeviceKey, RetryKey, SuspendKey, QuitKey} }

// Table prints keys as rows of a Markdown table.
func Table(title string, keys []Key) string {
	var b strings.Builder
	b.WriteString("**" + title + "**\n\n| key | does |\n|---|---|\n")
	for _, k := range keys {
		b.WriteString("| `" + strings.ReplaceAll(k.Name(), "|", "\\|") + "` | " + k.Help + " |\n")
	}
	return b.String()
}

// Mover is what the arrow and page keys move: a list or a text.
type Mover interface {
	Move(lines int)
	Page(pages int)
}

// Moves moves m if k is one of the four keys that move, and says whether it is.
func Moves(k tea.KeyPressMsg, m Mover) bool {
	switch {
	case DownKey.Is(k):
		m.Move(1)
	case UpKey.Is(k):
		m.Move(-1)
	case PageDown.Is(k):
		m.Page(1)
	case PageUp.Is(k):
		m.Page(-1)
	default:
		return false
	}
	return true
}

// ReadsOn is Moves for a page that was not read to its end, where enter goes on
// too.
func ReadsOn(k tea.KeyPressMsg, m Mover) bool {
	if EnterKey.Is(k) {
		m.Page(1)
		return true
	}
	return Moves(k, m)
}
