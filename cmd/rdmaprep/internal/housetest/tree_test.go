package housetest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// maxFileBytes bounds what is read of one file of the tree; a larger one is a
// finding, since nobody reviews it.
const maxFileBytes = 4 << 20

// file is one parsed Go file of the tree.
type file struct {
	path   string // slash separated, relative to the root
	fset   *token.FileSet
	syntax *ast.File
}

// dir is the folder, which is the package's import path below the module.
func (f file) dir() string { return path.Dir(f.path) }

func (f file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// lines counts the lines between two positions, both included.
func (f file) lines(from, to token.Pos) int {
	return f.fset.Position(to).Line - f.fset.Position(from).Line + 1
}

func (f file) at(pos token.Pos, format string, args ...any) finding {
	line := 1
	if pos.IsValid() {
		line = f.fset.Position(pos).Line
	}
	return finding{path: f.path, line: line, text: fmt.Sprintf(format, args...)}
}

// finding is one breach of one rule.
type finding struct {
	path string
	line int
	text string
}

func (f finding) String() string { return fmt.Sprintf("%s:%d: %s", f.path, f.line, f.text) }

// root is the folder of go.mod: tests run in the folder of their package.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above this package")
		}
		dir = up
	}
}

// walk calls visit with every file of the tree that a person wrote: not the
// version control's own, and not what a build leaves behind.
func walk(tree fs.FS, visit func(name string) error) error {
	return fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "dist"):
			return fs.SkipDir
		case !entry.Type().IsRegular() || entry.Name() == ".git": // a file in a second work tree
			return nil
		}
		return visit(name)
	})
}

// goFiles parses every Go file outside testdata.
func goFiles(tree fs.FS) ([]file, error) {
	fset := token.NewFileSet()
	var files []file
	err := walk(tree, func(name string) error {
		if path.Ext(name) != ".go" || strings.Contains("/"+name, "/testdata/") {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		syntax, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if !ast.IsGenerated(syntax) {
			files = append(files, file{name, fset, syntax})
		}
		return nil
	})
	return files, err
}
