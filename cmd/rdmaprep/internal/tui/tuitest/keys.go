package tuitest

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

var named = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "space": tea.KeySpace,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd,
	"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "f1": tea.KeyF1,
}

// Press is the message of a key, named as tea names it.
func Press(name string) tea.KeyPressMsg {
	var k tea.Key
	for {
		switch {
		case strings.HasPrefix(name, "ctrl+"):
			k.Mod |= tea.ModCtrl
			name = name[len("ctrl+"):]
			continue
		case strings.HasPrefix(name, "shift+") && len(name) > len("shift+"):
			k.Mod |= tea.ModShift
			name = name[len("shift+"):]
			continue
		case strings.HasPrefix(name, "alt+"):
			k.Mod |= tea.ModAlt
			name = name[len("alt+"):]
			continue
		}
		break
	}
	if code, ok := named[name]; ok {
		k.Code = code
		if name == "space" && k.Mod == 0 {
			k.Text = " "
		}
		return tea.KeyPressMsg(k)
	}
	r, _ := utf8.DecodeRuneInString(name)
	k.Code = r
	if k.Mod == 0 {
		k.Text = string(r)
	}
	return tea.KeyPressMsg(k)
}
