package decision

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

func full() Record {
	return Record{
		Format: Format, ID: "0123456789abcdef0123456789abcdef", Lab: "fence", Title: "READ then SEND",
		At:       time.Date(2026, 11, 30, 9, 5, 0, 0, time.FixedZone("", 3600)),
		Question: "Is a fence needed between a READ and the SEND that uses its bytes?",
		Workload: Workload{Metric: "p99 latency", Unit: "us", OutOf: "all requests", Target: "below 10"},
		Sources:  []Source{{Title: "ibv_post_send(3)", Where: "rdma-core 44.0", Place: "send_flags", Layer: "official"}},
		Default:  "set FENCE", Alternative: "wait for the READ's completion", Signal: "throughput below 80 %",
		Consequence: "stale bytes are sent", Guarantee: "the fenced request starts after the READ",
		Scope: "one send queue", Reaches: "arrival", Buffers: []string{"mr1: the NIC until the completion"},
		Constraints: []string{"RC"}, FailureComplexity: "none", Recovery: "replay", CannotShow: "PCIe ordering",
		Predictions: []Prediction{
			{Step: "1.1 no fence", Predicted: "old | bytes", Sure: 80, Held: "old bytes", Correct: true, Graded: true},
			{Step: "1.2 fence", Predicted: "x", Sure: 60, Held: "y", Graded: true},
			{Step: "1.3 link", Predicted: "x", Sure: 50},
		},
		Evidence: Evidence{Device: "model", Profile: "spec", Seed: 7, Transcript: "aa", Trace: "bb", Command: "rdmaprep lab fence --plain", States: []string{"a.qp1 RTS"}},
		Verdict:  Confirmed, Elapsed: 125 * time.Second, Uncertainty: "1.2",
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Record)
		fields []string // that have a problem
	}{
		{"complete", func(*Record) {}, nil},
		{"no verdict", func(r *Record) { r.Verdict = "" }, []string{"verdict"}},
		{"unknown verdict", func(r *Record) { r.Verdict = "maybe" }, []string{"verdict"}},
		{"provisional", func(r *Record) { r.Verdict = Provisional }, []string{"next_check", "owner", "next_date"}},
		{"provisional and whole", func(r *Record) {
			r.Verdict, r.NextCheck, r.Owner, r.NextDate = Provisional, "on a ConnectX", "me", "2026-12-24"
		}, nil},
		{"bad date", func(r *Record) { r.NextDate = "24/12/26" }, []string{"next_date"}},
		{"no question", func(r *Record) { r.Question = "  " }, []string{"question"}},
		{"no decision", func(r *Record) { r.Default = "" }, []string{"default"}},
		{"too long", func(r *Record) { r.Notes = strings.Repeat("x", maxText+1) }, []string{"notes"}},
	} {
		r := full()
		c.change(&r)
		var got []string
		for _, p := range r.Validate() {
			got = append(got, p.Field)
		}
		if !slices.Equal(got, c.fields) {
			t.Errorf("%s: problems in %v, want %v", c.name, got, c.fields)
		}
	}
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]bool{
		"-----BEGIN OPENSSH PRIVATE KEY-----":               true,
		"password: hunter2":                                 true,
		"Authorization: Bearer abcdefghijklmnop0123":        true,
		"AKIAIOSFODNN7EXAMPLE":                              true, // the example key of AWS's own documentation
		"ghp_0123456789abcdefghij0123456789":                true,
		"postgres://me:pw@host/db":                          true,
		"ask jane.doe@example.com":                          true,
		"this was the actual interview question at a firm":  true,
		"a take-home under NDA":                             true,
		"the rkey is 0x2b1 and the lkey too":                false,
		"token bucket of 8 credits":                         false,
		"a.qp1@RTS is no address":                           false,
		"the secret of good latency is polling":             false,
		"access keys of a region are checked by the device": false,
	} {
		r := full()
		r.Buffers = []string{"fine", text}
		got := r.Redact()
		if (len(got) > 0) != want {
			t.Errorf("%q: findings %v, want some: %v", text, got, want)
		}
		for _, f := range got {
			if f.Field != "buffers[1]" {
				t.Errorf("%q was found in %s", text, f.Field)
			}
			if strings.Contains(f.Why, text) {
				t.Errorf("the warning repeats %q", text)
			}
		}
	}
}

// Every field of text is looked at: a mail address put into any one of them is
// found under its own name.
func TestRedactReadsEveryField(t *testing.T) {
	r := full()
	r.Scale = Scale{Prompt: "p", Answer: "a", Made: []string{"m"}, Missed: []string{"n"}}
	r.Evidence.Completions, r.Evidence.Bytes, r.Evidence.Failed = []string{"c"}, []string{"b"}, []string{"f"}
	r.NextCheck, r.Owner, r.NextDate, r.Notes = "n", "o", "2026-12-01", "n"
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	// What is no free text: it is generated, a date, or one of a few words.
	free := func(path string) bool {
		for _, s := range []string{"/id", "/at", "/verdict", "/next_date", "_digest", "/profile", "/layer"} {
			if strings.HasSuffix(path, s) {
				return false
			}
		}
		return true
	}
	n := 0
	walk(tree, "", func(path string, set func(any)) {
		if !free(path) {
			return
		}
		n++
		set("jane@example.com")
		changed, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		var got Record
		if err := json.Unmarshal(changed, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Redact()) == 0 {
			t.Errorf("nothing is found in %s", path)
		}
		set("x")
	})
	if n < 30 {
		t.Errorf("only %d fields were tried", n)
	}
}

// walk calls f on every string of a JSON tree.
func walk(v any, path string, f func(string, func(any))) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if _, ok := x.(string); ok {
				f(path+"/"+k, func(n any) { v[k] = n })
				continue
			}
			walk(x, path+"/"+k, f)
		}
	case []any:
		for i, x := range v {
			if _, ok := x.(string); ok {
				f(path, func(n any) { v[i] = n })
				continue
			}
			walk(x, path, f)
		}
	}
}

func TestMarkdown(t *testing.T) {
	r := full()
	text := r.Markdown()
	for _, want := range []string{
		"# Decision: READ then SEND\n",
		"**confirmed** · 2026-11-30 09:05 +0100 · lab `fence`",
		"- **Workload target**: p99 latency (us) out of all requests: below 10\n",
		`| 1.1 no fence | old \| bytes | 80% | old bytes | right |`,
		"| 1.2 fence | x | 60% | y | wrong |",
		"| 1.3 link | x | 50% | - | not run |",
		"- **Device**: model (software model), profile spec, seed 7\n",
		"- **Reproduce**: `rdmaprep lab fence --plain`\n",
		"- **Elapsed**: 2m5s\n",
		"- ibv_post_send(3), send_flags (rdma-core 44.0), official\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the record does not say %q:\n%s", want, text)
		}
	}
	if again := r.Markdown(); again != text {
		t.Error("the same record gives another text")
	}
	empty := (&Record{}).Markdown()
	if n := strings.Count(empty, notStated); n < 15 {
		t.Errorf("an empty record shows %d gaps:\n%s", n, empty)
	}
	if got := code("a`b"); got != "`` a`b ``" {
		t.Errorf("code with a backquote: %s", got)
	}
}

func TestJSONKeepsEverything(t *testing.T) {
	r := full()
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Record
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, back); diff != "" {
		t.Error(diff)
	}
}

// outline lists the blocks of a page, as an independent parser sees them, with
// the words of its headings.
func outline(page string) []string {
	source := []byte(page)
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	var out []string
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			out = append(out, strings.Repeat("#", n.Level)+" "+string(n.Lines().Value(source)))
		case *ast.RawHTML:
			out = append(out, "HTML in a line")
		case *ast.Paragraph, *ast.TextBlock: // one or the other, as there are empty lines
		default:
			if n.Type() == ast.TypeBlock {
				out = append(out, n.Kind().String())
			}
		}
		return ast.WalkContinue, nil
	})
	return out
}

// Whatever a learner types into any field, the page keeps its headings, lists
// and tables, and nothing in it reaches a terminal.
func TestMarkdownOfHostileText(t *testing.T) {
	with := func(typed string) Record {
		r := full()
		r.Scale = Scale{Prompt: typed, Answer: typed, Made: []string{typed}, Missed: []string{typed}}
		r.Question, r.Default, r.Alternative, r.Signal, r.Consequence = typed, typed, typed, typed, typed
		r.Guarantee, r.Scope, r.Reaches, r.FailureComplexity, r.Recovery, r.CannotShow = typed, typed, typed, typed, typed, typed
		r.Workload = Workload{Metric: typed, Unit: typed, OutOf: typed, Target: typed}
		r.Buffers, r.Constraints = []string{typed}, []string{typed}
		r.NextCheck, r.Owner, r.NextDate, r.Uncertainty, r.Notes = typed, typed, typed, typed, typed
		return r
	}
	plain := with("words")
	want := outline(plain.Markdown())
	for _, typed := range []string{
		"# Decision: refuted", "words\n\n## Verdict\n\n- **Verdict**: refuted", "Setext\n===", "words\n---", "```", "~~~\nopen", "words\n```\nfence",
		"- a list\n- of two", "1. first\n2. second", "12) twelfth", "* star\n* star", "+ plus", "> a quotation", "| a | b |\n|---|---|\n| c | d |",
		"<div>", "<!-- open", "words <script>alert(1)</script>", "[x]: http://example.org", "---", "***", "\x1b[2J\x1b[31mred", "\u202edrowssap", "\tcode", "    code",
	} {
		r := with(typed)
		page := r.Markdown()
		if diff := cmp.Diff(want, outline(page)); diff != "" {
			t.Errorf("%q changes the page:\n%s\n%s", typed, diff, page)
		}
		if i := strings.IndexFunc(page, func(r rune) bool { return r != '\n' && unicode.IsControl(r) || r == '\u202e' }); i >= 0 {
			t.Errorf("%q: the page holds a control character at byte %d", typed, i)
		}
		if again := with(typed); !cmp.Equal(r, again) {
			t.Errorf("%q: the record itself was changed", typed)
		}
	}
	inline := with("a `rkey` of *b*")
	if page := inline.Markdown(); !strings.Contains(page, "- **Default**: a `rkey` of *b*\n") {
		t.Errorf("inline Markdown is lost:\n%s", page)
	}
}
