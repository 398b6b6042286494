package content

import (
	"bytes"
	_ "embed"
	"encoding/gob"
	"fmt"
)

// snapshot is the shipped library as Load reads it. Reading 350 KB of TOML and
// holding it against every rule costs 40 ms of a cold start, which is longer
// than all the rest; the files were checked when the program was built.
//
//go:generate env RDMAPREP_REWRITE=1 go test -count=1 -run TestSnapshotIsFresh .
//go:embed shipped.gob
var snapshot []byte

// Shipped is the library of this program: what Load(Embedded()) gives, out of
// the snapshot. An error is a defect of the build.
func Shipped() (*Library, error) {
	lib := &Library{}
	if err := gob.NewDecoder(bytes.NewReader(snapshot)).Decode(lib); err != nil {
		return nil, fmt.Errorf("the shipped content of this build cannot be read: %w", err)
	}
	questions := map[string]*Question{}
	for _, q := range lib.Questions {
		questions[q.ID] = q
		relink(lib, q.Refs)
	}
	for _, l := range lib.Labs {
		relink(lib, l.Refs)
	}
	for _, l := range lib.Lessons {
		relink(lib, l.Refs)
		for i, b := range l.Blocks {
			if b.Check != nil {
				l.Blocks[i].Check = questions[b.Check.ID]
			}
		}
	}
	return lib, nil
}

// relink puts the library's own sources in the place of their ids.
func relink(lib *Library, refs []Ref) {
	for i, r := range refs {
		refs[i].Source = lib.Sources[r.Source.ID]
	}
}

// Snapshot is a library as bytes, with ids in the place of what it holds twice.
func Snapshot(lib *Library) ([]byte, error) {
	flat := *lib
	flat.Questions, flat.Labs, flat.Lessons = nil, nil, nil
	for _, q := range lib.Questions {
		c := *q
		c.Refs = stubs(q.Refs)
		flat.Questions = append(flat.Questions, &c)
	}
	for _, l := range lib.Labs {
		c := *l
		c.Refs = stubs(l.Refs)
		flat.Labs = append(flat.Labs, &c)
	}
	for _, l := range lib.Lessons {
		c := *l
		c.Refs = stubs(l.Refs)
		c.Blocks = nil
		for _, b := range l.Blocks {
			if b.Check != nil {
				b.Check = &Question{ID: b.Check.ID}
			}
			c.Blocks = append(c.Blocks, b)
		}
		flat.Lessons = append(flat.Lessons, &c)
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(&flat); err != nil {
		return nil, fmt.Errorf("the library cannot be written as a snapshot: %w", err)
	}
	return b.Bytes(), nil
}

// stubs keeps the ids and places of references.
func stubs(refs []Ref) []Ref {
	out := make([]Ref, len(refs))
	for i, r := range refs {
		out[i] = Ref{Source: &Source{ID: r.Source.ID}, Place: r.Place}
	}
	return out
}
