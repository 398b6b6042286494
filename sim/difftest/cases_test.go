package difftest_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"rdmaprep/content"
	"rdmaprep/sim/script"
)

// chunk is a script, or how the one before it goes on, and what is asked then.
type chunk struct {
	text   string
	claims [][]string // lines that hold or do not
	asks   string     // a value path, "" for none
}

// testCase is one run on a fresh Bench.
type testCase struct {
	from   string // "sim/model/testdata/states.txt", "labs", "questions"
	name   string // unique
	seed   uint64
	chunks []chunk
	left   int    // lines and claims that ask for packets or time, left out
	model  string // why only the model can run it, or a part of it; "" if a device can
	cut    bool   // the part before that is compared
}

// modelLine is a line that a device cannot check and whose absence changes
// nothing.
var modelLine = regexp.MustCompile(`^\s*(expect(\[[^\]]*\])?\s+(wire\[|since\s)|mark\s)`)

// modelClaim is such a claim or path.
var modelClaim = regexp.MustCompile(`^(wire\[|since[.\s])`)

// blind turns what a device cannot check into comments, so that lines keep
// their numbers.
func (c *testCase) blind(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if modelLine.MatchString(l) {
			lines[i] = "#"
			c.left++
		}
	}
	return strings.Join(lines, "\n")
}

// add appends a chunk without what a device cannot check.
func (c *testCase) add(text string, claims [][]string, asks string) {
	one := chunk{text: c.blind(text)}
	for _, lines := range claims {
		var keep []string
		for _, l := range lines {
			if modelClaim.MatchString(l) {
				c.left++
			} else {
				keep = append(keep, l)
			}
		}
		if len(keep) > 0 {
			one.claims = append(one.claims, keep)
		}
	}
	if modelClaim.MatchString(asks) {
		c.left++
	} else {
		one.asks = asks
	}
	c.chunks = append(c.chunks, one)
}

// judge finds what only the model has, and cuts the case before it.
func (c *testCase) judge(t *testing.T) {
	t.Helper()
	var last *script.Script
	for i, one := range c.chunks {
		sc, err := c.parse(last, one.text)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		last = sc
		need := sc.Needs()
		if c.seed != 0 {
			need.Reorder = true
		}
		long := waits(one.text) > longest
		var why []string
		for _, one := range []struct {
			need bool
			what string
		}{{need.Faults, "faults"}, {long, "more than 3 s of waiting"}, {need.Wire, "counts of packets"}, {need.Reorder, "a seed"}} {
			if one.need {
				why = append(why, one.what)
			}
		}
		if len(why) > 0 {
			c.model, c.cut = strings.Join(why, ", "), i > 0
			c.chunks = c.chunks[:i]
			return
		}
	}
}

// longest is what the advance lines of a script may add up to, which are slept
// on a device.
const longest = 3 * time.Second

var advanceLine = regexp.MustCompile(`(?m)^\s*advance\s+(\S+)`)

func waits(text string) time.Duration {
	var sum time.Duration
	for _, m := range advanceLine.FindAllStringSubmatch(text, -1) {
		d, err := time.ParseDuration(m[1])
		if err != nil {
			return longest + 1
		}
		sum += d
	}
	return sum
}

func (c *testCase) parse(last *script.Script, text string) (*script.Script, error) {
	if last == nil {
		return script.Parse(c.name, []byte(text))
	}
	return script.ParseAfter(last, c.name, []byte(text))
}

// testdata is where the model's transcripts are: RDMAPREP_TRANSCRIPTS, where the
// sources are not at hand.
func testdata() string {
	if dir := os.Getenv("RDMAPREP_TRANSCRIPTS"); dir != "" {
		return dir
	}
	return "../model/testdata"
}

// transcripts are the scripts of the model's transcripts, those of profile spec
// as well: under rxe-6.1 they may stop early, at the same line on both.
func transcripts(t *testing.T) []*testCase {
	t.Helper()
	var list []*testCase
	taken := map[string]int{}
	for _, dir := range []string{"", "conformance", "pyverbs"} {
		paths, err := filepath.Glob(filepath.Join(testdata(), dir, "*.txt"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no transcripts in %s: %v", filepath.Join(testdata(), dir), err)
		}
		for _, path := range paths {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.Split(src, []byte("\n"))
			datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string {
				c := &testCase{from: filepath.ToSlash(filepath.Join("sim/model/testdata", dir)), name: title(d, lines)}
				c.name = filepath.ToSlash(filepath.Join(dir, filepath.Base(path))) + ": " + c.name
				if taken[c.name]++; taken[c.name] > 1 {
					c.name += fmt.Sprintf(" (%d)", taken[c.name])
				}
				c.add("script 1\n"+d.Input, nil, "")
				list = append(list, c)
				return d.Expected
			})
		}
	}
	return list
}

// title is the name of the case, or the first line of the comment above it.
func title(d *datadriven.TestData, lines [][]byte) string {
	for _, arg := range d.CmdArgs {
		if arg.Key == "case" && len(arg.Vals) > 0 {
			return arg.Vals[0]
		}
	}
	var at int
	if _, err := fmt.Sscanf(d.Pos[strings.LastIndexByte(d.Pos, ':')+1:], "%d", &at); err != nil || at > len(lines) {
		return "?"
	}
	first := ""
	for i := at - 2; i >= 0 && bytes.HasPrefix(lines[i], []byte("#")); i-- {
		first = strings.TrimSpace(strings.TrimLeft(string(lines[i]), "#"))
		if i < at-2 {
			first += " ..."
		}
	}
	return first
}

// contents are the labs' own solutions and the questions' proofs, with every
// combination of numbers that they draw.
func contents(t *testing.T) []*testCase {
	t.Helper()
	lib, err := content.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	var list []*testCase
	for _, lab := range lib.Labs {
		for i, part := range lab.AllParts() {
			if len(part.Steps) == 0 {
				continue
			}
			c := &testCase{from: "labs", name: fmt.Sprintf("lab %s, part %d", lab.ID, i+1), seed: lab.Seed}
			c.add(part.Setup, nil, "")
			for _, step := range part.Steps {
				c.add(step.Script, predictions(step.Predict), "")
			}
			list = append(list, c)
		}
	}
	for _, q := range lib.Questions {
		if q.Proof == nil {
			continue
		}
		drawn, err := q.Drawings()
		if err != nil {
			t.Fatalf("%s: %v", q.ID, err)
		}
		for i, one := range drawn {
			name := "question " + q.ID
			if len(drawn) > 1 {
				name += fmt.Sprintf(", numbers %d", i+1)
			}
			list = append(list, proofs(name, one)...)
		}
	}
	return list
}

func predictions(p *content.Prediction) [][]string {
	if p == nil {
		return nil
	}
	var claims [][]string
	for _, o := range p.Options {
		claims = append(claims, o.Holds)
	}
	return claims
}

// proofs is the proof of a question; of an order question the right order and
// each with two neighbours swapped.
func proofs(name string, q *content.Question) []*testCase {
	if q.Kind != content.Order {
		c := &testCase{from: "questions", name: name}
		var claims [][]string
		for _, o := range q.Choices {
			claims = append(claims, o.Holds)
		}
		c.add(q.Proof.Script, claims, q.Proof.Asks)
		return []*testCase{c}
	}
	var list []*testCase
	for swap := -1; swap < len(q.Steps)-1; swap++ {
		steps := append([]content.OrderStep(nil), q.Steps...)
		c := &testCase{from: "questions", name: name}
		if swap >= 0 {
			steps[swap], steps[swap+1] = steps[swap+1], steps[swap]
			c.name += fmt.Sprintf(", steps %d and %d swapped", swap+1, swap+2)
		}
		text := strings.TrimRight(q.Proof.Script, "\n")
		for _, s := range steps {
			text += "\n" + strings.TrimRight(s.Do, "\n")
		}
		if _, err := script.Parse(name, []byte(text)); swap >= 0 && err != nil {
			continue // the swap makes no script: there is nothing to run
		}
		c.add(text+"\n", nil, "")
		list = append(list, c)
	}
	return list
}

// cases are all of them.
func cases(t *testing.T) []*testCase {
	t.Helper()
	list := append(transcripts(t), contents(t)...)
	seen := map[string]bool{}
	for _, c := range list {
		if seen[c.name] {
			t.Errorf("two cases are called %q", c.name)
		}
		seen[c.name] = true
		c.judge(t)
	}
	return list
}
