package script

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// sideBySide is where the page puts a second line beside the first.
var sideBySide = regexp.MustCompile(` {2,}((?:[ab]: |fault )[^#]*)`)

// TestGrammarPage parses every indented line of GRAMMAR.md: the lines up to
// "## Verbs" as one script, the rest as another in which node b has the objects
// that the page names. So the page cannot promise what the parser refuses.
func TestGrammarPage(t *testing.T) {
	page, err := os.ReadFile("GRAMMAR.md")
	if err != nil {
		t.Fatal(err)
	}
	head, verbsOn, found := strings.Cut(string(page), "## Verbs\n")
	if !found {
		t.Fatal("GRAMMAR.md has no section Verbs")
	}
	script := codeLines(head)
	if _, err := Parse("GRAMMAR.md, head", []byte(strings.Join(script, "\n"))); err != nil {
		t.Error(err)
	}
	body := append([]string{
		"script 1",
		"b: alloc_pd pd1",
		"b: reg_mr mr1 pd=pd1 length=4k access=LOCAL_WRITE|REMOTE_WRITE",
		"b: alloc_mw mw1 pd=pd1 type=2",
		"b: create_cq cq1 cqe=16",
		"b: create_qp qp1 pd=pd1 type=RC send_cq=cq1 recv_cq=cq1",
	}, codeLines(verbsOn)...)
	if len(body) < 70 {
		t.Fatalf("only %d code lines found on the page", len(body))
	}
	sc, err := Parse("GRAMMAR.md, verbs", []byte(strings.Join(body, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, l := range sc.Lines {
		if st, ok := l.stmt.(*verbStmt); ok {
			used[st.spec.name] = true
		}
	}
	for _, name := range verbNames() {
		if !used[name] {
			t.Errorf("the page does not show the verb %s", name)
		}
	}
	roundTrip(t, sc)
}

// codeLines are the indented lines, one statement each, those of the table of
// pair options excepted.
func codeLines(page string) []string {
	var list []string
	for _, line := range strings.Split(page, "\n") {
		code, ok := strings.CutPrefix(line, "    ")
		if !ok {
			continue
		}
		before, comment, _ := strings.Cut(code, "#")
		before = sideBySide.ReplaceAllString(before, "\n$1")
		for _, one := range strings.Split(before, "\n") {
			one = strings.TrimSpace(sideBySide.ReplaceAllString(one, "\n$1"))
			if strings.HasPrefix(one, "expect ret=") {
				list = append(list, "a: query_device") // the line directly above
			}
			if one != "" {
				list = append(list, one+" # "+comment)
			}
		}
	}
	return list
}

// TestPathsOfThePage parses the paths between back quotes in the section on
// values by path.
func TestPathsOfThePage(t *testing.T) {
	page, err := os.ReadFile("GRAMMAR.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## Values by path\n")
	section, _, _ = strings.Cut(section, "\n## ")
	paths := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(section, -1)
	if len(paths) < 14 {
		t.Fatalf("only %d paths found on the page", len(paths))
	}
	for _, m := range paths {
		text := strings.ReplaceAll(m[1], "NAME", "out_of_sequence")
		p, err := ParsePath(text)
		if err != nil {
			t.Error(err)
			continue
		}
		if p.String() != text {
			t.Errorf("%s prints as %s", text, p)
		}
	}
}

func roundTrip(t testing.TB, sc *Script) {
	t.Helper()
	text := sc.String()
	again, err := Parse(sc.Name, []byte(text))
	if err != nil {
		t.Fatalf("the printed script does not parse:\n%s\n%v", text, err)
	}
	if got := again.String(); got != text {
		t.Fatalf("printed twice it differs:\n%s\n%s", text, got)
	}
	if a, b := sc.Needs().String(), again.Needs().String(); a != b {
		t.Fatalf("needs differ: %s; %s", a, b)
	}
	if len(sc.Lines) != len(again.Lines) || sc.Seed != again.Seed {
		t.Fatalf("%d lines and seed %d became %d lines and seed %d", len(sc.Lines), sc.Seed, len(again.Lines), again.Seed)
	}
	for i := range sc.Lines {
		if a, b := dump(sc.Lines[i].stmt), dump(again.Lines[i].stmt); a != b {
			t.Fatalf("line %d: %s became %s", i, a, b)
		}
	}
}
