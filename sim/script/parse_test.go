package script

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"
)

// TestErrors runs testdata/errors.
func TestErrors(t *testing.T) {
	datadriven.RunTest(t, "testdata/errors", func(t *testing.T, d *datadriven.TestData) string {
		_, err := Parse("t", []byte(d.Input))
		if err == nil {
			return "no error"
		}
		return err.Error()
	})
}

func parseErr(t *testing.T, src string) ParseErrors {
	t.Helper()
	_, err := Parse("t", []byte(src))
	var list ParseErrors
	var one *ParseError
	switch {
	case errors.As(err, &list):
		return list
	case errors.As(err, &one):
		return ParseErrors{one}
	}
	t.Fatalf("no ParseError: %v", err)
	return nil
}

// TestLimits: a line has 4096 bytes, a script 10,000 lines; one more is an
// error at the first byte or line too many.
func TestLimits(t *testing.T) {
	line := "# " + strings.Repeat("x", 4096-2)
	if _, err := Parse("t", []byte("script 1\n"+line)); err != nil {
		t.Errorf("a line of 4096 bytes: %v", err)
	}
	e := parseErr(t, "script 1\n"+line+"x")[0]
	if e.Line != 2 || e.Col != 4097 || !strings.Contains(e.Expected, "4096") {
		t.Errorf("a line of 4097 bytes: %v", e)
	}
	full := "script 1" + strings.Repeat("\n# x", 9999)
	if _, err := Parse("t", []byte(full+"\n")); err != nil {
		t.Errorf("10,000 lines: %v", err)
	}
	e = parseErr(t, full+"\n# x")[0]
	if e.Line != 10001 || !strings.Contains(e.Expected, "10000") {
		t.Errorf("10,001 lines: %v", e)
	}
}

// TestExpand: what a pair stands for, written out by hand from the options of
// GRAMMAR.md and the state table (IBTA vol. 1, 10.3: INIT, RTR, RTS with the
// required attributes of ibv_modify_qp(3)).
func TestExpand(t *testing.T) {
	got := Expand("pair ud mr=64 mr_access=LOCAL_WRITE cqe=4 a.psn=0x10 max_inline=0")
	want := `a: alloc_pd pd1
a: create_cq cq1 cqe=4
a: reg_mr mr1 pd=pd1 length=64 access=LOCAL_WRITE
a: create_qp qp1 pd=pd1 type=UD send_cq=cq1 recv_cq=cq1 max_send_wr=16 max_recv_wr=16 max_send_sge=2 max_recv_sge=2 max_inline=0 sq_sig_all=0
a: create_ah ah1 pd=pd1 to=b
b: alloc_pd pd1
b: create_cq cq1 cqe=4
b: reg_mr mr1 pd=pd1 length=64 access=LOCAL_WRITE
b: create_qp qp1 pd=pd1 type=UD send_cq=cq1 recv_cq=cq1 max_send_wr=16 max_recv_wr=16 max_send_sge=2 max_recv_sge=2 max_inline=0 sq_sig_all=0
b: create_ah ah1 pd=pd1 to=a
a: modify_qp qp1 state=INIT pkey_index=0 port=1 qkey=0x11111111
b: modify_qp qp1 state=INIT pkey_index=0 port=1 qkey=0x11111111
a: modify_qp qp1 state=RTR
b: modify_qp qp1 state=RTR
a: modify_qp qp1 state=RTS sq_psn=0x10
b: modify_qp qp1 state=RTS sq_psn=0x100`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
	rc := Expand("pair rc state=RTR a.psn=7 pd=pd9 mr=mr9 cq=cq9")
	last := rc[len(rc)-1]
	if want := "b: modify_qp qp1 state=RTR av=a path_mtu=1024 dest=a.qp1 rq_psn=7 max_dest_rd_atomic=4 min_rnr_timer=12"; last != want {
		t.Errorf("got %s, want %s", last, want)
	}
	if s := strings.Join(rc, "\n"); strings.Contains(s, "alloc_pd") || strings.Contains(s, "reg_mr") || strings.Contains(s, "create_cq") {
		t.Errorf("the objects that are given are made anew:\n%s", s)
	}
	if Expand("a: alloc_pd pd1") != nil || Expand("pair") != nil || Expand("pair rc x=1") != nil {
		t.Error("what is no pair line was expanded")
	}
}

// TestPairEqualsItsLines: a pair and its lines written out need the same.
func TestPairEqualsItsLines(t *testing.T) {
	for _, pair := range []string{"pair rc", "pair uc split_cq=1", "pair ud"} {
		short, err := Parse("t", []byte("script 1\n"+pair))
		if err != nil {
			t.Fatal(err)
		}
		long, err := Parse("t", []byte("script 1\n"+strings.Join(short.Lines[1].Expand(), "\n")))
		if err != nil {
			t.Fatal(err)
		}
		if a, b := short.Needs().String(), long.Needs().String(); a != b {
			t.Errorf("%s needs %s, written out %s", pair, a, b)
		}
	}
}

// TestParseAfter: a second script knows the objects of the first, goes on
// counting pairs, and leaves the first as it was.
func TestParseAfter(t *testing.T) {
	first, err := Parse("one", []byte("script 1\npair rc"))
	if err != nil {
		t.Fatal(err)
	}
	next, err := ParseAfter(first, "two", []byte("a: post_recv qp1 sge=mr1\npair uc\nexpect a.qp2 state=RTS"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseAfter(next, "three", []byte("a: dereg_mr mr2")); err != nil {
		t.Error(err)
	}
	if _, err := ParseAfter(first, "three", []byte("a: dereg_mr mr2")); err == nil {
		t.Error("the first script knows what the second made")
	}
}

// TestParseExpect: a claim with and without the word expect, alone and against
// a script.
func TestParseExpect(t *testing.T) {
	sc, err := Parse("t", []byte("script 1\npair rc"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"a.cq1 wr_id=1 status={SUCCESS,WR_FLUSH_ERR}", "[spec] a.qp1 state=ERR", "a.mr1[0:8] u64>=1 u64<=3", "ret=EINVAL"} {
		line := "expect " + text
		if strings.HasPrefix(text, "[") {
			line = "expect" + text
		}
		e, err := ParseExpect("t", line)
		if err != nil {
			t.Error(err)
			continue
		}
		if e.String() != line {
			t.Errorf("%q prints as %q", line, e)
		}
		if _, err := sc.ParseExpect("t", e.Claim()); err != nil {
			t.Error(err)
		}
	}
	if _, err := ParseExpect("t", "a.anything status=SUCCESS"); err != nil {
		t.Errorf("alone, a name cannot be wrong: %v", err)
	}
	_, err = sc.ParseExpect("t", "a.cq2 status=SUCCESS")
	if err == nil || !strings.Contains(err.Error(), `t:1:3: got "cq2"`) || !strings.Contains(err.Error(), `did you mean "cq1"?`) {
		t.Errorf("got %v", err)
	}
}

func TestNeeds(t *testing.T) {
	for _, c := range []struct{ lines, want string }{
		{"pair rc", "2 nodes, RC"},
		{"pair ud\nmark t0", "2 nodes, UD, a clock of its own"},
		{"pair rc\na: post_send qp1 opcode=FETCH_AND_ADD sge=mr1[0:8] remote=b.mr1 add=1 send_flags=INLINE", "2 nodes, RC, ATOMIC_FETCH_AND_ADD, inline data"},
		{"pair rc\nfault drop a->b any\nexpect wire[a->b] packets=0", "2 nodes, RC, fault injection, counts of packets"},
		{"pair rc\nexpect a.counter out_of_sequence=0\nexpect[spec] a.event none", "2 nodes, RC, asynchronous events, the counters out_of_sequence, lines of the profiles spec"},
		{"a: alloc_pd pd1\na: alloc_mw mw1 pd=pd1 type=2\na: create_srq s pd=pd1 max_wr=4\na: create_comp_channel c", "2 nodes, memory windows of type 2, shared receive queues, completion channels"},
	} {
		sc, err := Parse("t", []byte("script 1\n"+c.lines))
		if err != nil {
			t.Error(err)
			continue
		}
		if got := sc.Needs().String(); got != c.want {
			t.Errorf("%q needs %q, want %q", c.lines, got, c.want)
		}
	}
	seeded, err := Parse("t", []byte("script 1\nseed 7\nnodes x"))
	if err != nil {
		t.Fatal(err)
	}
	if n := seeded.Needs(); !n.Reorder || !n.ModelOnly() || n.String() != "1 node, seeded reordering" {
		t.Errorf("got %s", n)
	}
}

// TestRoundTrip: random lines made from the tables of the language parse, and
// printed parse into equal ones.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := []string{"script 1", fmt.Sprintf("seed %d", rapid.Uint64().Draw(t, "seed")), "pair rc", "pair ud"}
		for i := range rapid.IntRange(1, 20).Draw(t, "lines") {
			node := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "node")
			if rapid.Bool().Draw(t, "expect") {
				lines = append(lines, drawExpect(t, node))
				continue
			}
			lines = append(lines, drawVerb(t, node, i))
		}
		sc, err := Parse("r", []byte(strings.Join(lines, "\n")))
		if err != nil {
			t.Fatalf("%v in\n%s", err, strings.Join(lines, "\n"))
		}
		if got := len(sc.Lines); got != len(lines) {
			t.Fatalf("%d lines became %d", len(lines), got)
		}
		text := sc.String()
		again, err := Parse("r", []byte(text))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		for i := range sc.Lines {
			if a, b := dump(sc.Lines[i].stmt), dump(again.Lines[i].stmt); a != b {
				t.Fatalf("%s became %s", a, b)
			}
		}
	})
}

// drawVerb makes a line of a verb with every key that it needs and some of
// those that it takes.
func drawVerb(t *rapid.T, node string, i int) string {
	var fit []*verbSpec
	for j := range verbSpecs {
		if v := &verbSpecs[j]; v.name != "post_send" && v.name != "bind_mw" && v.obj&(kBuf|kMW|kSRQ|kChannel) == 0 {
			fit = append(fit, v)
		}
	}
	v := rapid.SampledFrom(fit).Draw(t, "verb")
	parts := []string{node + ":", v.name}
	names := map[objKind]string{kPD: "pd1", kMR: "mr1", kCQ: "cq1", kAH: "ah2", kQP: "qp1", kCQ | kQP: "cq2"}
	switch v.form {
	case formDef:
		parts = append(parts, fmt.Sprintf("n%d", i))
	case formRef:
		parts = append(parts, names[v.obj])
	case formPlace:
		parts = append(parts, "mr1+8")
	case formRange:
		parts = append(parts, "mr2[0:0x10]")
	}
	one := ""
	if len(v.oneOf) > 0 {
		one = rapid.SampledFrom([]string(v.oneOf)).Draw(t, "one of")
	}
	for _, k := range v.keys {
		choice := strings.Contains(" "+strings.Join(v.oneOf, " ")+" ", " "+k.name+" ")
		path := findKey(pathKeys, k.name) != nil
		if k.required || k.name == one || (!choice && !path && rapid.Bool().Draw(t, k.name)) {
			if val := drawValue(t, k); val != "" {
				parts = append(parts, k.name+"="+val)
			}
		}
	}
	return strings.Join(parts, " ")
}

func drawExpect(t *rapid.T, node string) string {
	subject := rapid.SampledFrom([]string{"qp1", "cq1", "mr1", "mr2[8:16]"}).Draw(t, "subject")
	ks := map[string][]keySpec{"qp1": qpKeys, "cq1": wcKeys, "mr1": mrKeys, "mr2[8:16]": byteKeys}[subject]
	k := rapid.SampledFrom(ks).Draw(t, "key")
	val := drawValue(t, k)
	for val == "" {
		k, val = ks[0], drawValue(t, ks[0])
	}
	if k.kind != vRemote && k.kind != vText && rapid.Bool().Draw(t, "set") {
		val = "{" + val + ", " + drawValue(t, k) + "}"
	}
	return fmt.Sprintf("expect %s.%s %s=%s", node, subject, k.name, val)
}

// drawValue writes a legal value, in one of the ways that the page allows.
func drawValue(t *rapid.T, k keySpec) string {
	switch k.kind {
	case vNum:
		n := rapid.Uint64Range(0, k.max).Draw(t, "n")
		return rapid.SampledFrom([]string{fmt.Sprint(n), fmt.Sprintf("%#x", n), fmt.Sprintf("0X%X", n)}).Draw(t, "as")
	case vEnum:
		name := rapid.SampledFrom(k.enum.names).Draw(t, "name")
		if k.enum.flags && rapid.Bool().Draw(t, "two") {
			name += "|" + rapid.SampledFrom(k.enum.names).Draw(t, "name")
		}
		return rapid.SampledFrom([]string{name, strings.ToLower(name)}).Draw(t, "case")
	case vDur:
		return rapid.SampledFrom([]string{"10ms", "4.2us", "1s", "100ns"}).Draw(t, "dur")
	case vRef:
		return map[objKind]string{kPD: "pd2", kCQ: "cq2", kQP: "qp2", kAH: "ah2"}[k.kinds]
	case vAnyRef:
		return rapid.SampledFrom([]string{"b.qp1", "a.qp2", "qp1", "17"}).Draw(t, "ref")
	case vKey:
		return rapid.SampledFrom([]string{"b.mr1", "0xdead"}).Draw(t, "key")
	case vNode:
		return rapid.SampledFrom([]string{"a", "b"}).Draw(t, "node")
	case vRange, vRemote:
		return rapid.SampledFrom([]string{"mr1", "mr1[0:1k]", "mr2+8"}).Draw(t, "range")
	case vSGE:
		return rapid.SampledFrom([]string{"none", "mr1", "mr1[0:8],mr2+16", "mr1[0:8]/lkey=0xdead", "mr1/lkey=mr2"}).Draw(t, "sge")
	case vText:
		return rapid.SampledFrom([]string{`"a b"`, `"\x00\n\"#"`}).Draw(t, "text")
	case vHex:
		return rapid.SampledFrom([]string{"0a0b", "FF"}).Draw(t, "hex")
	case vFill:
		return rapid.SampledFrom([]string{"0xab:64", "0:1"}).Draw(t, "fill")
	case vByte:
		return rapid.SampledFrom([]string{"0xab", "255"}).Draw(t, "byte")
	}
	return ""
}

// TestNearest compares the edit distance with the recursion that defines it.
func TestNearest(t *testing.T) {
	var naive func(a, b string) int
	naive = func(a, b string) int {
		if a == "" || b == "" {
			return len(a) + len(b)
		}
		cost := 1
		if a[0] == b[0] {
			cost = 0
		}
		return min(naive(a[1:], b)+1, naive(a, b[1:])+1, naive(a[1:], b[1:])+cost)
	}
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 0, 6, -1).Draw(t, "a")
		b := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 0, 6, -1).Draw(t, "b")
		if got, want := distance(a, b), naive(a, b); got != want {
			t.Fatalf("distance(%q, %q) = %d, want %d", a, b, got, want)
		}
	})
	if got := nearest("sucess", []string{"LOC_LEN_ERR", "SUCCESS"}); got != "SUCCESS" {
		t.Errorf("got %q", got)
	}
	if got := nearest("banana", []string{"SUCCESS", "poll_cq"}); got != "" {
		t.Errorf("nothing is near banana, got %q", got)
	}
}
