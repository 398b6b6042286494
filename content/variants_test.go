package content

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The first three outputs of SplitMix64 from the seed 1234567, as published
// with the generator on Rosetta Code ("Pseudo-random numbers/Splitmix64").
func TestSplitMix(t *testing.T) {
	const gamma = 0x9e3779b97f4a7c15
	state := uint64(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423} {
		if got := splitMix(state); got != want {
			t.Errorf("output %d is %d, want %d", i, got, want)
		}
		state += gamma
	}
}

func drawn() *Question {
	return &Question{
		ID: "performance.timeout", Kind: Number, Prompt: "timeout={{.t}}: how many us?", Answer: "{{.us}}",
		Choices: []Option{{Text: "{{.t}}", Holds: []string{"a.qp1 timeout={{.t}}"}}},
		Proof:   &Proof{Script: "pair rc timeout={{.t}}", Asks: "a.qp1.timeout"},
		Variants: &Variants{
			Draw: []Draw{{Name: "t", From: []any{int64(8), int64(14), int64(18)}}},
			Let:  []Let{{Name: "us", Expr: "4.096 * 2 ** t"}},
		},
	}
}

// The nominal timeouts are 4.096 us times 2 to the timeout: for 8, 14 and 18
// that is 1048.576, 67108.864 and 1073741.824 us, by hand.
func TestRenderFillsEveryText(t *testing.T) {
	want := map[any]string{8: "1048.576", 14: "67108.864", 18: "1073741.824"}
	seen := map[any]bool{}
	q := drawn()
	for seed := range uint64(40) {
		got, env, err := q.Render(seed)
		if err != nil {
			t.Fatal(err)
		}
		n := env["t"]
		seen[n] = true
		text := fmt.Sprint(n)
		if got.Answer != want[n] || got.Prompt != "timeout="+text+": how many us?" || got.Choices[0].Text != text ||
			got.Choices[0].Holds[0] != "a.qp1 timeout="+text || got.Proof.Script != "pair rc timeout="+text {
			t.Errorf("seed %d: t=%v: %+v %+v", seed, n, got, got.Proof)
		}
		again, _, _ := q.Render(seed)
		if again.Answer != got.Answer {
			t.Errorf("seed %d gives %s and then %s", seed, got.Answer, again.Answer)
		}
	}
	if len(seen) != 3 {
		t.Errorf("40 seeds drew only %v", seen)
	}
	if q.Answer != "{{.us}}" || q.Proof.Script != "pair rc timeout={{.t}}" || q.Choices[0].Text != "{{.t}}" {
		t.Error("rendering changed the question itself")
	}
}

func TestRenderWithoutVariants(t *testing.T) {
	q := &Question{ID: "a.b", Prompt: "{{ stays"}
	got, env, err := q.Render(7)
	if got != q || env != nil || err != nil {
		t.Errorf("got %v %v %v, want the question itself", got, env, err)
	}
}

// What a formula may not do, each with the key that the error names.
func TestRenderErrors(t *testing.T) {
	cases := []struct {
		name   string
		change func(*Question)
		key    string
	}{
		{"unknown name", func(q *Question) { q.Variants.Let[0].Expr = "x + 1" }, "variants.let[us]"},
		{"loop", func(q *Question) { q.Variants.Let[0].Expr = "sum(map(1..9, # * t))" }, "variants.let[us]"},
		{"range", func(q *Question) { q.Variants.Let[0].Expr = "len(1..1000000000)" }, "variants.let[us]"},
		{"repeat", func(q *Question) { q.Variants.Let[0].Expr = `repeat("x", 1000000000)` }, "variants.let[us]"},
		{"long", func(q *Question) { q.Variants.Let[0].Expr = "t" + strings.Repeat("+t", 200) }, "variants.let[us]"},
		{"many nodes", func(q *Question) { q.Variants.Let[0].Expr = "t" + strings.Repeat("+t", 100) }, "variants.let[us]"},
		{"infinite", func(q *Question) { q.Variants.Let[0].Expr = "t / 0" }, "variants.let[us]"},
		{"list", func(q *Question) { q.Variants.Let[0].Expr = "[t]" }, "variants.let[us]"},
		{"missing in a text", func(q *Question) { q.Explain = "{{.nothing}}" }, "explain"},
		{"function in a text", func(q *Question) { q.Explain = `{{printf "%1000000000d" .t}}` }, "explain"},
		{"range in a text", func(q *Question) { q.Explain = "{{range .t}}x{{end}}" }, "explain"},
		{"broken text", func(q *Question) { q.Choices[0].Why = "{{.t" }, "choices[0].why"},
		{"empty draw", func(q *Question) { q.Variants.Draw[0].From = nil }, "variants.draw[t]"},
		{"too many draws", func(q *Question) { q.Variants.Draw = make([]Draw, MaxDraws+1) }, "variants"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			q := drawn()
			c.change(q)
			_, _, err := q.Render(1)
			var v *VariantError
			if !errors.As(err, &v) {
				t.Fatalf("error %v, want a VariantError", err)
			}
			if v.Question != q.ID || v.Key != c.key {
				t.Errorf("error names %s %s, want %s %s: %v", v.Question, v.Key, q.ID, c.key, err)
			}
		})
	}
}

// Combinations are all there if they are few; never more than the limit, each
// in range, no two the same.
func TestCombinations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 12), 1, 5).Draw(t, "sizes")
		v := &Variants{}
		total := 1
		for _, n := range sizes {
			v.Draw = append(v.Draw, Draw{From: make([]any, n)})
			total *= n
		}
		got := combinations(v)
		if len(got) != min(total, maxCombinations) {
			t.Fatalf("%d combinations of %v", len(got), sizes)
		}
		seen := map[string]bool{}
		for _, picks := range got {
			for k, p := range picks {
				if p < 0 || p >= sizes[k] {
					t.Fatalf("pick %d of %v", p, sizes)
				}
			}
			if key := fmt.Sprint(picks); seen[key] {
				t.Fatalf("%s twice", key)
			} else {
				seen[key] = true
			}
		}
	})
}
