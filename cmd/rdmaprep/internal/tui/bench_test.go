package tui_test

import (
	"slices"
	"testing"
	"time"

	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/tuitest"
)

// BenchmarkFrame measures one key and the frame after it (Update and View) on
// each screen at 120 by 40, and reports the median. The house figure is under
// 2 ms; BENCH.md has the baseline and says how to compare.
func BenchmarkFrame(b *testing.B) {
	for _, c := range []struct {
		name  string
		place nav.Place
		get   []string // keys that lead to the state
		there string   // keys that are measured, in turn
		back  string
	}{
		{"home", nav.Place{}, nil, "j", "k"},
		{"quiz-asking", nav.Place{Kind: nav.Quiz, Questions: []string{"basics.write-completes"}}, nil, "j", "k"},
		{"quiz-verdict", nav.Place{Kind: nav.Quiz, Questions: []string{"basics.write-completes"}}, []string{"1", "8", "enter"}, "j", "k"},
		{"quiz-evidence", nav.Place{Kind: nav.Quiz, Questions: []string{"basics.write-completes"}}, []string{"1", "8", "enter", "x"}, "j", "k"},
		{"quiz-typing", nav.Place{Kind: nav.Quiz, Questions: []string{"failure.status"}}, nil, "a", "backspace"},
		{"lesson", nav.Place{Kind: nav.Lesson, ID: "basics"}, nil, "j", "k"},
		{"lab-list", nav.Place{Kind: nav.Labs}, nil, "j", "k"},
		{"lab-predict", nav.Place{Kind: nav.Lab, ID: "first-write"}, nil, "j", "k"},
		{"lab-observed", nav.Place{Kind: nav.Lab, ID: "first-write"}, []string{"1", "8", "enter"}, "j", "k"},
		{"records", nav.Place{Kind: nav.Records}, nil, "j", "k"},
		{"help", nav.Place{}, []string{"?"}, "j", "k"},
	} {
		b.Run(c.name, func(b *testing.B) { frames(b, c.place, c.get, c.there, c.back) })
	}
}

func frames(b *testing.B, place nav.Place, get []string, there, back string) {
	w := start(b, 120, 40, place)
	w.Keys(get...)
	keys := [2]string{there, back}
	took := make([]time.Duration, 0, b.N)
	b.ResetTimer()
	for i := range b.N {
		begin := time.Now()
		w.Model().Update(tuitest.Press(keys[i%2]))
		w.Model().Frame()
		took = append(took, time.Since(begin))
	}
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "median-µs")
}
