package content

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// LedgerFile holds every id that a pack ever shipped. An id stands for what a
// learner has answered: it is never given to something else, and one that is
// gone is named under retired. A pack without a ledger makes no such promise.
const LedgerFile = "ids.toml"

type ledgerForm struct {
	Format  int      `toml:"format"`
	IDs     []string `toml:"ids"`
	Retired []string `toml:"retired"`
}

// entries are the ledger entries of a library, sorted: "question/failure.rnr",
// "lesson/ordering", "lab/fence".
func (lib *Library) entries() map[string]any {
	all := map[string]any{}
	for _, q := range lib.Questions {
		all["question/"+q.ID] = q
	}
	for _, x := range lib.Lessons {
		all["lesson/"+x.ID] = x
	}
	for _, x := range lib.Labs {
		all["lab/"+x.ID] = x
	}
	return all
}

// ledger holds the ids of the pack against its ledger, if it has one.
func (l *loader) ledger(fsys fs.FS) {
	data, err := fs.ReadFile(fsys, LedgerFile)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	file := &sourceFile{name: LedgerFile, data: string(data)}
	root := spot{file: file}
	if err != nil {
		l.bad(root, "cannot be read: %v", err)
		return
	}
	d := &decoded{file: file, form: &ledgerForm{}}
	if !d.decode() {
		l.problems = append(l.problems, d.problems...)
		return
	}
	f := d.form.(*ledgerForm)
	l.format(root, f.Format, true)
	now := l.lib.entries()
	listed, retired := map[string]bool{}, map[string]bool{}
	for _, id := range f.Retired {
		retired[id] = true
	}
	for _, id := range f.IDs {
		listed[id] = true
		if now[id] == nil && !retired[id] {
			l.bad(ledgerLine(file, id), "%s was shipped and is gone: bring it back, or move it to retired in %s; an id is never used again", id, LedgerFile)
		}
	}
	for id, x := range now {
		switch s := l.spots[x].at("id"); {
		case retired[id]:
			l.bad(s, "%s is retired: take another id, for learners have answers under this one", id)
		case !listed[id]:
			l.bad(s, "%s is not in %s: add it with rdmaprep content ids --write DIR", id, LedgerFile)
		}
	}
}

// ledgerLine is the line of one entry in a ledger.
func ledgerLine(f *sourceFile, id string) spot {
	before, _, ok := strings.Cut(f.data, `"`+id+`"`)
	if !ok {
		return spot{file: f, shown: "ids"}
	}
	return spot{file: &sourceFile{name: f.name, offset: strings.Count(before, "\n")}, shown: "ids"}
}

// Ledger returns the text of the ledger that lists everything in lib, besides
// what old, the ledger so far or nil, lists already. It takes nothing out.
func Ledger(lib *Library, old []byte) ([]byte, error) {
	var f ledgerForm
	if len(old) > 0 {
		if _, err := toml.Decode(string(old), &f); err != nil {
			return nil, fmt.Errorf("%s: %w; mend it by hand first", LedgerFile, err)
		}
		if f.Format != FormatVersion {
			return nil, fmt.Errorf("%s: format %d; this program writes format %d", LedgerFile, f.Format, FormatVersion)
		}
	}
	ids := f.IDs
	for id := range lib.entries() {
		if !slices.Contains(f.Retired, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	slices.Sort(f.Retired)
	var b bytes.Buffer
	b.WriteString("# Every id that was ever shipped. Written by rdmaprep content ids --write;\n" +
		"# an id that is given up is moved to retired by hand, and never used again.\n")
	fmt.Fprintf(&b, "format = %d\n", FormatVersion)
	for _, list := range []struct {
		name string
		ids  []string
	}{{"ids", slices.Compact(ids)}, {"retired", slices.Compact(f.Retired)}} {
		fmt.Fprintf(&b, "%s = [\n", list.name)
		for _, id := range list.ids {
			fmt.Fprintf(&b, "  %q,\n", id)
		}
		b.WriteString("]\n")
	}
	return b.Bytes(), nil
}
