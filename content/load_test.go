package content

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestShippedPackLoads(t *testing.T) {
	lib, problems := Load(Embedded())
	for _, p := range problems {
		t.Error(p)
	}
	if len(lib.Topics) != 12 {
		t.Errorf("%d topics, want the 12 of the plan", len(lib.Topics))
	}
}

// A user's pack may use the topics, sources, questions and labs of the base,
// and may not take their ids.
func TestPackOnABase(t *testing.T) {
	base, problems := Load(goodPack(t))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	mine := fstest.MapFS{
		"lessons/mine.md": {Data: []byte("+++\nid = \"mine\"\ntopic = \"failure\"\ntitle = \"Mine\"\nminutes = 3\n" +
			"sources = [\"thread:x/y#1#a comment\"]\nlabs = [\"broken-link\"]\n+++\nText.\n```check\nfailure.multi\n```\n")},
		"topics.toml": {Data: []byte("format = 1\n[[topic]]\nid = \"failure\"\ntitle = \"x\"\nblurb = \"x\"\n")},
	}
	pack, problems := LoadPack(base, mine)
	if len(problems) != 1 || problems[0].File != "topics.toml" || problems[0].Line != 3 || problems[0].Key != "topic[failure].id" {
		t.Errorf("problems %v, want one: the topic is there already", problems)
	}
	if len(pack.Lessons) != 1 || len(pack.Questions) != 0 {
		t.Fatalf("the pack has %d lessons and %d questions, want its own alone", len(pack.Lessons), len(pack.Questions))
	}
	x := pack.Lessons[0]
	if len(x.Refs) != 1 || x.Refs[0].Source.ID != "thread:x/y#1" || x.Refs[0].Place != "a comment" {
		t.Errorf("refs %+v", x.Refs)
	}
	if len(x.Blocks) != 2 || x.Blocks[0].Markdown != "Text." || x.Blocks[1].Check == nil || x.Blocks[1].Check.ID != "failure.multi" {
		t.Errorf("blocks %+v", x.Blocks)
	}
	both := Merge(base, pack)
	if got := Count(both); got.Lessons != 2 || got.Questions != 11 || got.Sources != 4 || got.Topics != 2 {
		t.Errorf("merged: %+v", got)
	}
}

// The order of the problems does not depend on how many runs go on at a time.
func TestProblemsHaveOneOrder(t *testing.T) {
	pack := goodPack(t)
	for name, f := range pack {
		f.Data = []byte(strings.ReplaceAll(strings.ReplaceAll(string(f.Data), "\"man:a.3", "\"man:b.3"), "set ", "need "))
		pack[name] = f
	}
	var first []Problem
	for _, jobs := range []int{1, 2, 8, 8, 8} {
		opt := testOptions
		opt.Jobs = jobs
		var open atomic.Int64
		_, problems := check(t.Context(), pack, opt, fakeRunner(&open))
		if first == nil {
			first = problems
		}
		if diff := cmp.Diff(first, problems); diff != "" || len(problems) != 8 { // six proofs and the two parts of the lab
			t.Fatalf("%d problems with %d jobs: %s", len(problems), jobs, diff)
		}
	}
}

func TestCheckStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var open atomic.Int64
	_, problems := check(ctx, goodPack(t), testOptions, fakeRunner(&open))
	if len(problems) != 1 || problems[0].Warning {
		t.Errorf("problems %v, want one that says that the check was stopped", problems)
	}
}

func TestLedgerIsWritten(t *testing.T) {
	pack := goodPack(t)
	lib, _ := Load(pack)
	// From nothing: every id of the pack, and then it is complete.
	text, err := Ledger(lib, nil)
	if err != nil {
		t.Fatal(err)
	}
	pack[LedgerFile] = &fstest.MapFile{Data: text}
	if _, problems := check(t.Context(), pack, testOptions, nil); len(problems) > 0 {
		t.Errorf("with the ledger just written: %v", problems)
	}
	// Onto one that has more: what is gone stays, what is retired stays so.
	old := "format = 1\nids = [\"question/failure.gone\"]\nretired = [\"question/failure.choice\"]\n"
	text, err = Ledger(lib, []byte(old))
	if err != nil {
		t.Fatal(err)
	}
	for id, n := range map[string]int{"question/failure.gone": 1, "question/failure.choice": 1, "lab/broken-link": 1, "lesson/failure": 1} {
		if got := strings.Count(string(text), `"`+id+`"`); got != n {
			t.Errorf("%s is there %d times, want %d:\n%s", id, got, n, text)
		}
	}
	again, err := Ledger(lib, text)
	if err != nil || string(again) != string(text) {
		t.Errorf("writing it again changes it (%v):\n%s", err, again)
	}
	if _, err := Ledger(lib, []byte("ids = 3")); err == nil {
		t.Error("a broken ledger is written over")
	}
}

func TestLimits(t *testing.T) {
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	dots := "a" + strings.Repeat(".a", 600) + " = 1"
	for name, text := range map[string]string{"deep": "x = " + deep, "dots": dots, "long": strings.Repeat("#", MaxFileBytes+1)} {
		_, problems := Load(fstest.MapFS{"questions/q.toml": {Data: []byte("format = 1\n" + text)}})
		if len(problems) != 1 || problems[0].File != "questions/q.toml" {
			t.Errorf("%s: problems %v, want one about the file", name, problems)
		}
	}
	if _, problems := Load(fstest.MapFS{}); len(problems) != 1 {
		t.Errorf("an empty pack: problems %v, want one", problems)
	}
}

// FuzzLoad reads arbitrary text as every kind of file; nothing panics, every
// problem names a file, and what loads without a problem can be rendered.
func FuzzLoad(f *testing.F) {
	for _, file := range goodPack(f) {
		f.Add(string(file.Data))
	}
	f.Add("format = 1\n[[question]]\nvariants = { draw = [{ name = \"n\", from = [] }] }")
	f.Add("+++\n+++\n```check\n")
	names := []string{"questions/f.toml", "labs/f.toml", "lessons/f.md", "topics.toml", "sources.toml", "glossary.toml", LedgerFile}
	good := goodPack(f)
	base, _ := Load(good)
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range names {
			pack := fstest.MapFS{name: {Data: []byte(text)}}
			opt := testOptions
			opt.Base = base
			var open atomic.Int64
			rep, problems := check(t.Context(), pack, opt, fakeRunner(&open))
			for _, p := range problems {
				if p.File == "" || p.Text == "" {
					t.Fatalf("a problem without a place or text: %#v", p)
				}
			}
			if open.Load() != 0 {
				t.Fatal("a run was left open")
			}
			if rep.Errors > 0 {
				continue
			}
			for _, q := range rep.Library.Questions {
				if _, _, err := q.Render(1); err != nil {
					t.Fatalf("no problem, and yet: %v", err)
				}
			}
		}
	})
}

// What the first edition must have: every kind and every topic is used, and
// the five subjects of the labs have two each.
func TestShippedPackIsWhole(t *testing.T) {
	lib, _ := Load(Embedded())
	n := Count(lib)
	for what, c := range map[string][2]int{
		"topics": {n.Topics, 12}, "questions": {n.Questions, 72}, "lessons": {n.Lessons, 12},
		"labs": {n.Labs, 10}, "glossary": {n.Glossary, 40},
	} {
		if c[0] < c[1] {
			t.Errorf("%d %s, want at least %d", c[0], what, c[1])
		}
	}
	for _, k := range Kinds {
		if n.ByKind[string(k)] == 0 {
			t.Errorf("no question of the kind %s", k)
		}
	}
	lessons, labs := map[string]int{}, map[string]int{}
	for _, x := range lib.Lessons {
		lessons[x.Topic]++
	}
	for _, x := range lib.Labs {
		labs[x.Topic]++
	}
	for _, topic := range lib.Topics {
		if n.ByTopic[topic.ID] == 0 || lessons[topic.ID] == 0 {
			t.Errorf("topic %s has %d questions and %d lessons, want one of each at least", topic.ID, n.ByTopic[topic.ID], lessons[topic.ID])
		}
	}
	for _, topic := range []string{"queue-pairs", "registration", "work-requests", "ordering", "failure"} {
		if labs[topic] < 2 {
			t.Errorf("topic %s has %d labs, want two", topic, labs[topic])
		}
	}
}
