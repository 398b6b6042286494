package content

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// bigPack has n questions of every kind in files of a hundred, each about as
// long as a shipped one.
func bigPack(n int) fstest.MapFS {
	fsys := fstest.MapFS{
		"topics.toml": {Data: []byte("format = 1\n[[topic]]\nid = \"failure\"\ntitle = \"Failure\"\nblurb = \"b\"\n")},
		"sources.toml": {Data: []byte("format = 1\n[[source]]\nid = \"man:ibv_poll_cq.3\"\ntitle = \"t\"\nkind = \"man\"\n" +
			"layer = \"official\"\nwhere = \"w\"\nchecked = 2026-11-30\n")},
	}
	prose := strings.Repeat("A sentence of prose about queue pairs. ", 6)
	forms := []string{
		"kind = \"multi\"\n[question.proof]\nscript = \"\"\"\nscript 1\npair rc rnr_retry=1\n\"\"\"\n" +
			strings.Repeat("[[question.choices]]\ntext = \"%[2]s%[1]d\"\nholds = [\"a.qp1 state=ERR\"]\nwhy = \"x\"\n", 1) +
			"[[question.choices]]\ntext = \"b\"\nholds = [\"a.qp1 state=RTS\"]\nwhy = \"x\"\n",
		"kind = \"number\"\nunit = \"us\"\nanswer = \"{{.m}}\"\nnot_run = \"hardware\"\n[question.variants]\n" +
			"draw = [{ name = \"n\", from = [1, 2, 3] }]\nlet = [{ name = \"m\", expr = \"n * 4.096\" }]\n",
		"kind = \"fill\"\nanswer = \"RTS\"\naccept = [\"rts\"]\nnot_run = \"hardware\"\n",
		"kind = \"open\"\nmodel = \"%[2]s\"\nfollow_ups = [\"and?\"]\nrubric = [{ text = \"a\", must = true }, { text = \"b\" }, { text = \"c\" }]\n",
	}
	for f := 0; f*100 < n; f++ {
		var b strings.Builder
		b.WriteString("format = 1\n")
		for i := range min(100, n-f*100) {
			id := f*100 + i
			fmt.Fprintf(&b, "\n[[question]]\nid = \"failure.q%d\"\ntopic = \"failure\"\nlevel = 1\nprompt = \"%s (us)\"\nexplain = \"%s\"\n"+
				"scope = \"one queue pair\"\nlayer = \"official\"\nsources = [\"man:ibv_poll_cq.3#DESCRIPTION\"]\nchecked = 2026-11-30\n"+
				"hints = [\"one\", \"two\"]\n", id, prose, prose)
			form := forms[id%len(forms)]
			form = strings.ReplaceAll(strings.ReplaceAll(form, "%[1]d", fmt.Sprint(id)), "%[2]s", prose)
			b.WriteString(form)
		}
		fsys[fmt.Sprintf("questions/q%03d.toml", f)] = &fstest.MapFile{Data: []byte(b.String())}
	}
	return fsys
}

// BenchmarkLoad10000 loads and validates ten thousand questions, proofs aside.
// The figure to reach is 1.5 s an operation; BENCH.md has the baseline.
func BenchmarkLoad10000(b *testing.B) {
	fsys := bigPack(10000)
	for b.Loop() {
		lib, problems := Load(fsys)
		if len(problems) > 0 || len(lib.Questions) != 10000 {
			b.Fatalf("%d questions, problems: %v", len(lib.Questions), problems[:min(3, len(problems))])
		}
	}
}

// BenchmarkLoadShipped is the part of the program's start that content takes.
func BenchmarkLoadShipped(b *testing.B) {
	for b.Loop() {
		Load(Embedded())
	}
}
