package content

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// The forms of the files.
type (
	topicFile struct {
		Format int      `toml:"format"`
		Topic  []*Topic `toml:"topic"`
	}
	sourcesFile struct {
		Format int       `toml:"format"`
		Source []*Source `toml:"source"`
	}
	glossaryFile struct {
		Format int     `toml:"format"`
		Term   []*Term `toml:"term"`
	}
	questionFile struct {
		Format   int         `toml:"format"`
		Question []*Question `toml:"question"`
	}
	labFile struct {
		Format int `toml:"format"`
		Lab
	}
	lessonHead struct {
		Format int `toml:"format"`
		Lesson
	}
)

// decoded is a file with what was read from it.
type decoded struct {
	file     *sourceFile
	form     any
	body     string // lesson: after the front matter
	bodyLine int    // of the first line of body
	problems []Problem
}

func decodeFile(fsys fs.FS, name string) *decoded {
	d := &decoded{file: &sourceFile{name: name}}
	data, err := fs.ReadFile(fsys, name)
	switch {
	case err != nil:
		d.fail(0, "", "cannot be read: "+err.Error())
		return d
	case len(data) > MaxFileBytes:
		d.fail(0, "", fmt.Sprintf("has %d bytes; the limit is %d: split it", len(data), MaxFileBytes))
		return d
	}
	d.file.data = strings.ReplaceAll(string(data), "\r\n", "\n")
	switch {
	case path.Ext(name) == ".md":
		d.form = &lessonHead{}
		if !d.frontMatter() {
			return d
		}
	case strings.HasPrefix(name, "questions/"):
		d.form = &questionFile{}
	case strings.HasPrefix(name, "labs/"):
		d.form = &labFile{}
	case name == "topics.toml":
		d.form = &topicFile{}
	case name == "sources.toml":
		d.form = &sourcesFile{}
	default:
		d.form = &glossaryFile{}
	}
	if !d.decode() {
		d.form = nil
	}
	return d
}

func (d *decoded) fail(line int, key, text string) {
	d.problems = append(d.problems, Problem{File: d.file.name, Line: line, Key: key, Text: text})
}

// frontMatter parts a lesson into the TOML between two lines of +++ and the
// Markdown after it.
func (d *decoded) frontMatter() bool {
	rest, ok := strings.CutPrefix(d.file.data, "+++\n")
	head, body, closed := strings.Cut(rest, "\n+++\n")
	if !ok || !closed {
		d.fail(1, "", "a lesson begins with a line +++, its TOML, and a second line +++")
		d.form = nil
		return false
	}
	d.file.data, d.file.offset = head, 1
	d.body, d.bodyLine = body, strings.Count(head, "\n")+4
	return true
}

// decode reads the TOML strictly. The decoder is given only text that a quick
// walk has found to be of sane depth, since it recurses.
func (d *decoded) decode() (ok bool) {
	var w walker
	top := func(line string) bool { return strings.HasPrefix(line, "[[") && !strings.Contains(line, ".") }
	w.walk(d.file.data, top, func(p place) { d.file.tops = append(d.file.tops, p.line+d.file.offset) })
	if w.deep > maxNesting || w.dots > maxDots {
		d.fail(0, "", fmt.Sprintf("nested deeper than %d, or more than %d dots on a line: a pack needs neither", maxNesting, maxDots))
		return false
	}
	defer func() {
		if r := recover(); r != nil { // the decoder's own bug; the pack is still to blame for the text
			d.fail(0, "", fmt.Sprintf("is not TOML: %v", r))
			ok = false
		}
	}()
	md, err := toml.Decode(d.file.data, d.form)
	if err != nil {
		d.fail(d.parseError(err))
		return false
	}
	for _, k := range d.unknown(md.Undecoded()) {
		d.fail(k.line, d.shown(k.path), "unknown key; see FORMAT.md for the keys of this file"+nearestKey(d.form, k.path))
	}
	return true
}

// shown puts an entry's id in the place of its number: "question[3].x" is
// "question[failure.rnr].x" for a reader.
func (d *decoded) shown(p string) string {
	kind, rest, ok := strings.Cut(p, "[")
	number, rest, closed := strings.Cut(rest, "]")
	n, err := strconv.Atoi(number)
	if !ok || !closed || err != nil {
		return p
	}
	id := ""
	switch f := d.form.(type) {
	case *topicFile:
		id = idAt(f.Topic, n, func(x *Topic) string { return x.ID })
	case *sourcesFile:
		id = idAt(f.Source, n, func(x *Source) string { return x.ID })
	case *glossaryFile:
		id = idAt(f.Term, n, func(x *Term) string { return x.Term })
	case *questionFile:
		id = idAt(f.Question, n, func(x *Question) string { return x.ID })
	}
	if id == "" {
		return p
	}
	return kind + "[" + id + "]" + rest
}

func idAt[T any](list []T, n int, id func(T) string) string {
	if n < 0 || n >= len(list) {
		return ""
	}
	return id(list[n])
}

var decoderError = regexp.MustCompile(`^toml: (?:line (\d+) ?)?(?:\(last key "([^"]*)"\))?:? ?(.*)`)

// parseError gives line, key and text of a decoder's error. The decoder names
// the last key of a name, not the one at fault; so the file is read again up
// to each of its headers in turn (by halves), and the first that fails has the
// fault in its last table.
func (d *decoded) parseError(err error) (int, string, string) {
	var w walker
	ends := []int{}
	header := func(line string) bool { return line[0] == '[' }
	w.walk(d.file.data, header, func(p place) { ends = append(ends, p.line-1) })
	lines := strings.SplitAfter(d.file.data, "\n")
	try := func(i int) error {
		_, err := toml.Decode(strings.Join(lines[:ends[i]], ""), reflect.New(reflect.TypeOf(d.form).Elem()).Interface())
		return err
	}
	if i := sort.Search(len(ends), func(i int) bool { return try(i) != nil }); i < len(ends) {
		err = try(i)
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	m := decoderError.FindStringSubmatch(text)
	if m == nil {
		return 0, "", "is not TOML: " + text
	}
	line, _ := strconv.Atoi(m[1])
	if line > 0 {
		line += d.file.offset
	}
	return line, m[2], "is not valid here: " + m[3]
}

// unknown finds the places of keys that no field took.
func (d *decoded) unknown(keys []toml.Key) []place {
	if len(keys) == 0 {
		return nil
	}
	want := map[string]bool{}
	for _, k := range keys {
		want[strings.Join(k, ".")] = true
	}
	var found []place
	hit := map[string]bool{}
	for p, line := range d.file.places() {
		bare := withoutIndices(p)
		if want[bare] {
			hit[bare] = true
			found = append(found, place{p, line + d.file.offset})
		}
	}
	for k := range want {
		if !hit[k] { // in an inline table
			found = append(found, place{k, d.inlineLine(k)})
		}
	}
	slices.SortFunc(found, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.path, b.path))
	})
	return found
}

// inlineLine finds the first line on which a key of an inline table stands.
func (d *decoded) inlineLine(key string) int {
	i := strings.LastIndexByte(key, '.')
	above, last := key[:max(i, 0)], regexp.MustCompile(`[{,]\s*`+regexp.QuoteMeta(key[i+1:])+`\s*=`)
	best := 0
	for p, n := range d.file.places() {
		if withoutIndices(p) == above && (best == 0 || n < best) {
			best = n
		}
	}
	for n, line := range strings.Split(d.file.data, "\n") {
		if n+1 >= best && last.MatchString(line) {
			return n + 1 + d.file.offset
		}
	}
	return best + d.file.offset
}
