package export

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rdmaprep/quiz"
)

// tree is every file below a folder with its text.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func two(body string) Notes {
	return Notes{Files: []File{{"index.md", body}, {"topics/a.md", "a"}}}
}

func mustWrite(t *testing.T, dir string, notes Notes) {
	t.Helper()
	if err := Write(dir, notes); err != nil {
		t.Fatal(err)
	}
}

func TestWriteMakesAndReplacesTheFolder(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "deep", "notes")
	mustWrite(t, dir, two("one"))
	mustWrite(t, dir, Notes{Files: []File{{"index.md", "two"}, {"records/r.md", "r"}}})
	got := tree(t, dir)
	delete(got, marker)
	if diff := cmp.Diff(map[string]string{"index.md": "two", "records/r.md": "r"}, got); diff != "" {
		t.Errorf("want-, folder+:\n%s", diff)
	}
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the notes: %v, error %v", entries, err)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "index.md"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, error %v, want %o", path, info.Mode(), err, want)
		}
	}
}

func TestEmptyFolderIsTaken(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, dir, two("one"))
	if tree(t, dir)["index.md"] != "one" {
		t.Error("the notes are not there")
	}
}

// Nothing that somebody else wrote is lost, in our folder neither.
func TestForeignFolderIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"not ours":        func(dir string) error { return os.Remove(filepath.Join(dir, marker)) },
		"marker of other": func(dir string) error { return os.WriteFile(filepath.Join(dir, marker), []byte("x"), 0o600) },
		"a file added":    func(dir string) error { return os.WriteFile(filepath.Join(dir, "mine.md"), []byte("x"), 0o600) },
		"a deeper file": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "topics", "mine.md"), []byte("x"), 0o600)
		},
		"a folder added": func(dir string) error { return os.Mkdir(filepath.Join(dir, ".obsidian"), 0o700) },
		"a page edited":  func(dir string) error { return os.WriteFile(filepath.Join(dir, "topics", "a.md"), []byte("x"), 0o600) },
		"a page linked": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "topics", "a.md")), os.Symlink("/etc/hostname", filepath.Join(dir, "topics", "a.md")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			dir := filepath.Join(base, "notes")
			mustWrite(t, dir, two("one"))
			if err := spoil(dir); err != nil {
				t.Fatal(err)
			}
			before := tree(t, base)
			err := Write(dir, two("two"))
			if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "-o DIR") {
				t.Errorf("got %v, want ErrForeign with the path and the way out", err)
			}
			if diff := cmp.Diff(before, tree(t, base)); diff != "" {
				t.Errorf("before-, after+:\n%s", diff)
			}
		})
	}
}

func TestFolderThatIsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "notes")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(file, two("x")); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "is a file") {
		t.Errorf("got %v, want ErrForeign", err)
	}
	if err := Write(filepath.Join(file, "below"), two("x")); err == nil {
		t.Error("a folder below a file was written")
	}
	if body, err := os.ReadFile(file); string(body) != "mine" || err != nil {
		t.Errorf("the file now holds %q, error %v", body, err)
	}
}

// The current folder, and those above it, are not replaced under one's feet.
func TestCurrentFolderIsRefused(t *testing.T) {
	base := t.TempDir()
	below := filepath.Join(base, "below")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(below)
	for _, dir := range []string{".", "..", base} {
		if err := Write(dir, two("x")); err == nil || !strings.Contains(err.Error(), "-o notes") {
			t.Errorf("%s: got %v, want a refusal that names -o notes", dir, err)
		}
	}
	mustWrite(t, "notes", two("x"))
}

// A link to a folder of notes stays a link, and what it leads to is replaced.
func TestLinkedFolder(t *testing.T) {
	base := t.TempDir()
	folder, link := filepath.Join(base, "real"), filepath.Join(base, "link")
	mustWrite(t, folder, two("one"))
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, link, two("two"))
	if target, err := os.Readlink(link); target != folder || err != nil {
		t.Errorf("the link leads to %q, error %v", target, err)
	}
	if tree(t, folder)["index.md"] != "two" {
		t.Error("the folder was not replaced")
	}
}

// A page that would leave the folder fails the whole export, and the earlier
// notes stay.
func TestNoPageLeavesTheFolder(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "notes")
	mustWrite(t, dir, two("one"))
	before := tree(t, base)
	for _, name := range []string{"../out.md", "topics/../../out.md", "/out.md", ""} {
		if err := Write(dir, Notes{Files: []File{{name, "x"}}}); err == nil {
			t.Errorf("%q was written", name)
		}
		if diff := cmp.Diff(before, tree(t, base)); diff != "" {
			t.Errorf("%q: before-, after+:\n%s", name, diff)
		}
	}
}

// What looks private is named by its place and not repeated, nothing is
// written, and with the learner's word it is.
func TestPrivateIsNotWritten(t *testing.T) {
	const secret = "hunter2-hunter2"
	d := data()
	d.Records[0].Notes = "password: " + secret
	typed := attempt("ordering.open", today, false, 0)
	typed.Answer = quiz.Answer{Text: "mail me at somebody@example.org"}
	d.Log = append(d.Log, typed)
	dir := filepath.Join(t.TempDir(), "notes")
	_, err := Markdown(context.Background(), dir, d, false)
	if !errors.Is(err, ErrPrivate) {
		t.Fatalf("got %v, want ErrPrivate", err)
	}
	for _, want := range []string{"record bb11 (Second), field notes", "the answer to ordering.open of 2026-03-10", "--allow-private"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the message does not say %q: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), secret) {
		t.Error("the warning repeats the secret")
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
	notes, err := Markdown(context.Background(), dir, d, true)
	if err != nil || len(notes.Warnings) != 2 || tree(t, dir)["index.md"] == "" {
		t.Errorf("with the learner's word: %d warnings, error %v", len(notes.Warnings), err)
	}
}
