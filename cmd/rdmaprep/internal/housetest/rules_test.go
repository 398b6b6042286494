package housetest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	maxFileLines = 500 // a longer file holds more than one idea
	maxFuncLines = 70  // a longer function does not fit a screen
)

// missingComments reports packages of which no file says what they promise.
// A folder that holds only tests needs none.
func missingComments(files []file) []finding {
	first := map[string]file{}
	said := map[string]bool{}
	for _, f := range files {
		if f.isTest() {
			continue
		}
		dir := f.dir()
		if _, ok := first[dir]; !ok {
			first[dir] = f
		}
		want := "Package " + f.syntax.Name.Name + " "
		if f.syntax.Name.Name == "main" {
			want = "Command " + path.Base(dir) + " "
		}
		said[dir] = said[dir] || strings.HasPrefix(f.syntax.Doc.Text(), want)
	}
	var found []finding
	for dir, f := range first {
		if !said[dir] {
			found = append(found, f.at(f.syntax.Name.Pos(), "package %s has no package comment", dir))
		}
	}
	return found
}

// vagueNames are package names that say nothing of what is inside.
var vagueNames = []string{"base", "common", "core", "helper", "helpers", "lib", "misc", "shared", "types", "util", "utils"}

func vaguePackages(files []file) []finding {
	var found []finding
	for _, f := range files {
		if name := f.syntax.Name.Name; slices.Contains(vagueNames, name) {
			found = append(found, f.at(f.syntax.Name.Pos(), "package name %s names no idea: call it after what it holds", name))
		}
	}
	return found
}

// tooLong reports files and functions over the limits; tests are free.
func tooLong(files []file) []finding {
	var found []finding
	for _, f := range files {
		if f.isTest() {
			continue
		}
		if n := f.lines(f.syntax.FileStart, f.syntax.FileEnd); n > maxFileLines {
			found = append(found, f.at(token.NoPos, "%d lines, at most %d: split it by idea", n, maxFileLines))
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			name, body := "function literal", (*ast.BlockStmt)(nil)
			switch fn := n.(type) {
			case *ast.FuncDecl:
				name, body = fn.Name.Name, fn.Body
			case *ast.FuncLit:
				body = fn.Body
			}
			if body == nil {
				return true
			}
			if lines := f.lines(n.Pos(), n.End()); lines > maxFuncLines {
				found = append(found, f.at(n.Pos(), "%s has %d lines, at most %d", name, lines, maxFuncLines))
			}
			return true
		})
	}
	return found
}

// A ban is something that no file of the tree may say, and why. The patterns
// are put together from pieces so that this file does not match itself.
type ban struct {
	pattern *regexp.Regexp
	why     string
}

func forbid(why string, pieces ...string) ban {
	return ban{regexp.MustCompile(strings.Join(pieces, "")), why}
}

var bans = []ban{
	forbid("a path of one machine", `(^|[^\w.~-])/wo`, `rk/`),
	forbid("a path of one machine", `(^|[^\w.~-])/ro`, `ot/`),
	forbid("a path of one machine", `(^|[^\w.~-])/far`, `m/`),
	forbid("a scratch path of one machine", `/tm`, `p/(brief|issues|linux-)`),
	forbid("a folder outside the repository", `\.\./sha`, `red\b`),
	forbid("a folder outside the repository", `\bsha`, `red/(facts|source|captures|rxe-vm)`),
	forbid("a note outside the repository: cite the primary source", `facts/`, `(verbs|go|litmus|questions)`),
	forbid("a page outside the repository: cite ARCHITECTURE.md", `\bDESI`, `GN(\.md| ?§)`),
	forbid("a ticket's number says nothing to a reader", `(?i)\b(this|by|see|from|in|for) issue `, `#?[0-9]`),
	forbid("a registry's host: the client knows it", `(proxy|sum)\.gol`, `ang\.org`),
	forbid("a registry's host: the client knows it", `(deb\.deb`, `ian\.org|registry\.npm`, `js\.org)`),
}

// forbiddenText reports every line that says what no file may say.
func forbiddenText(tree fs.FS) ([]finding, error) {
	var found []finding
	err := walk(tree, func(name string) error {
		info, err := fs.Stat(tree, name)
		if err != nil {
			return err
		}
		if info.Size() > maxFileBytes {
			found = append(found, finding{name, 1, fmt.Sprintf("%d bytes, at most %d", info.Size(), maxFileBytes)})
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		if bytes.IndexByte(text, 0) >= 0 {
			return nil // not text: a capture, say
		}
		line := 0
		for l := range strings.Lines(string(text)) {
			line++
			found = append(found, judge(name, line, l)...)
		}
		return nil
	})
	return found, err
}

// judge reports what one line says that it may not.
func judge(name string, line int, text string) []finding {
	var found []finding
	for _, b := range bans {
		if m := b.pattern.FindString(text); m != "" {
			found = append(found, finding{name, line, fmt.Sprintf("%q: %s", m, b.why)})
		}
	}
	if strings.ContainsFunc(text, emoji) {
		found = append(found, finding{name, line, "an emoji: terminals disagree about its width"})
	}
	return found
}

// emoji tells whether a rune is of the pictograph blocks of Unicode (Emoji
// charts: 1F300 to 1FAFF, and the variation selector 16 that asks for colour).
func emoji(r rune) bool { return r >= 0x1F300 && r <= 0x1FAFF || r == 0xFE0F }
