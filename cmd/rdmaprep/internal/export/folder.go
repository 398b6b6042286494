package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// marker is the file that says a folder of notes is ours; it lists every page
// with its SHA-256, so that a page that somebody changed is seen.
const marker = ".rdmaprep-notes"

const markerHead = "rdmaprep study notes 1\n"

// The kinds of failure, for errors.Is.
var (
	ErrForeign = errors.New("the folder holds something that rdmaprep did not write")
	ErrPrivate = errors.New("something looks private")
)

// PrivateError is returned when something looks private; nothing was written.
type PrivateError struct{ Warnings []Warning }

// Error lists every place, never what is in it.
func (e *PrivateError) Error() string {
	var b strings.Builder
	b.WriteString("nothing was written, because this looks like what should stay on this machine:")
	for _, w := range e.Warnings {
		fmt.Fprintf(&b, "\n  %s: %s", w.Where, w.Why)
	}
	b.WriteString("\nedit it, or write it all the same with --allow-private")
	return b.String()
}

// Is makes errors.Is(err, ErrPrivate) true.
func (e *PrivateError) Is(target error) bool { return target == ErrPrivate }

// Markdown makes the notes and writes them to dir, as Write does. Without
// allowPrivate, anything that looks private is a *PrivateError and nothing is
// written.
func Markdown(ctx context.Context, dir string, d Data, allowPrivate bool) (Notes, error) {
	notes, err := Render(ctx, d)
	if err != nil {
		return notes, err
	}
	if len(notes.Warnings) > 0 && !allowPrivate {
		return notes, &PrivateError{notes.Warnings}
	}
	return notes, Write(dir, notes)
}

// Write puts the notes into dir. They are written to a new folder beside it,
// which then takes its place; a folder that is there must be empty, or hold
// what an earlier Write made and nothing else (ErrForeign). Its pages are then
// replaced. Folders are made with mode 0700, pages with 0600: they hold the
// learner's own answers.
func Write(dir string, notes Notes) error {
	target, err := resolve(dir)
	if err != nil {
		return err
	}
	there, err := replaceable(target)
	if err != nil {
		return err
	}
	parent := filepath.Dir(target)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return fmt.Errorf("cannot make the folder for the notes: %w. Choose another with -o DIR", err)
	}
	fresh, err := os.MkdirTemp(parent, ".rdmaprep-notes-new-*")
	if err != nil {
		return fmt.Errorf("cannot write beside %s: %w. Make %s writable, or choose another folder with -o DIR", target, err, parent)
	}
	defer func() { _ = os.RemoveAll(fresh) }() // gone already if all went well
	if err := fill(fresh, notes); err != nil {
		return fmt.Errorf("cannot write the notes: %w. %s is as it was; see that its disk has room", err, target)
	}
	return swap(fresh, target, there)
}

// resolve makes dir absolute, follows a link to a folder, and refuses a folder
// that cannot be replaced because this process stands in it.
func resolve(dir string) (string, error) {
	target, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("folder %q: %w. Give another with -o DIR", dir, err)
	}
	if path, err := filepath.EvalSymlinks(target); err == nil {
		target = path
	}
	here, err := os.Getwd()
	if err != nil {
		return target, nil //nolint:nilerr // then it does not stand in dir
	}
	if path, err := filepath.EvalSymlinks(here); err == nil {
		here = path
	}
	if rel, err := filepath.Rel(target, here); err == nil && filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s is the current folder or above it, and the notes replace their folder as a whole. Give a folder below it, such as -o notes", target)
	}
	return target, nil
}

// replaceable says whether target is there, and fails if it must not go.
func replaceable(target string) (there bool, err error) {
	info, err := os.Stat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("folder for the notes: %w. Choose another with -o DIR", err)
	case !info.IsDir():
		return false, foreign(target, "is a file, not a folder")
	}
	entries, err := os.ReadDir(target)
	if err != nil {
		return true, fmt.Errorf("folder for the notes: %w. Choose another with -o DIR", err)
	}
	if len(entries) == 0 {
		return true, nil
	}
	ours, err := readMarker(target)
	if err != nil {
		return true, err
	}
	return true, onlyOurs(target, ours)
}

func foreign(what, why string) error {
	return fmt.Errorf("%w: %s %s. Nothing was changed. Move it away, or choose another folder with -o DIR", ErrForeign, what, why)
}

// onlyOurs fails on the first file that is not in the list, or not as written.
func onlyOurs(target string, ours map[string]string) error {
	return filepath.WalkDir(target, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("folder for the notes: %w. Choose another with -o DIR", err)
		}
		rel, err := filepath.Rel(target, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if rel == marker || d.IsDir() && (rel == "." || rel == "topics" || rel == "records") {
			return nil
		}
		want, ok := ours[rel]
		if !ok || !d.Type().IsRegular() {
			return foreign(path, "is not one of its notes")
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("folder for the notes: %w. Choose another with -o DIR", err)
		}
		if digest(body) != want {
			return foreign(path, "was edited since it was written")
		}
		return nil
	})
}

// swap puts the fresh folder in the target's place, and the old one back if
// that fails.
func swap(fresh, target string, there bool) error {
	if !there {
		if err := os.Rename(fresh, target); err != nil {
			return fmt.Errorf("cannot put the notes in place: %w. Choose another folder with -o DIR", err)
		}
		return nil
	}
	old := fresh + "-old"
	if err := os.Rename(target, old); err != nil {
		return fmt.Errorf("cannot move the earlier notes aside: %w. %s is as it was; choose another folder with -o DIR", err, target)
	}
	if err := os.Rename(fresh, target); err != nil {
		return fmt.Errorf("cannot put the notes in place: %w. Choose another folder with -o DIR", errors.Join(err, os.Rename(old, target)))
	}
	if err := os.RemoveAll(old); err != nil {
		return fmt.Errorf("the new notes are in %s, but the earlier ones are left beside it: %w. Remove %s", target, err, old)
	}
	return nil
}

// fill writes the pages and the marker into a new folder, and nowhere else.
func fill(dir string, notes Notes) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	var list strings.Builder
	list.WriteString(markerHead)
	for _, f := range notes.Files {
		name := filepath.FromSlash(f.Name)
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := writeSynced(root, name, f.Body); err != nil {
			return err
		}
		list.WriteString(digest([]byte(f.Body)) + "  " + f.Name + "\n")
	}
	return writeSynced(root, marker, list.String())
}

func writeSynced(root *os.Root, name, body string) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(body)
	return errors.Join(err, f.Sync(), f.Close())
}

// readMarker reads the list of an earlier Write.
func readMarker(dir string) (map[string]string, error) {
	data, err := os.ReadFile(filepath.Join(dir, marker))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("folder for the notes: %w. Choose another with -o DIR", err)
	}
	rest, ok := strings.CutPrefix(string(data), markerHead)
	if err != nil || !ok {
		return nil, foreign(dir, "is not empty and was not made by rdmaprep")
	}
	ours := map[string]string{}
	for line := range strings.Lines(rest) {
		if sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  "); ok {
			ours[name] = sum
		}
	}
	return ours, nil
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
