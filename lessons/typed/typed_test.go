package typed

import "testing"

// The escapes are those of CommonMark 0.31, sections 2.4 and 4, and of GitHub's
// tables. That no text at all reaches out of its place is tried with random
// text and an independent parser where pages are made, in the export room.
func TestTyped(t *testing.T) {
	for _, c := range []struct{ typed, plain, literal, word, calm string }{
		{"", "", "", "", ""},
		{"an rkey", "an rkey", "an rkey", "an rkey", "an rkey"},
		{"# head", "# head", `\# head`, `\# head`, `\# head`},
		{"a\n# b", "a\n# b", "a\\\n\\# b", `a \# b`, "a\n\\# b"},
		{"12. a", "12. a", `12\. a`, `12\. a`, `12\. a`},
		{"```\nx", "```\nx", "\\`\\`\\`\\\nx", "\\`\\`\\` x", "\\```\nx"},
		{"a `b` *c*", "a `b` *c*", "a \\`b\\` \\*c\\*", "a \\`b\\` \\*c\\*", "a `b` *c*"},
		{"a <b>", "a <b>", `a \<b\>`, `a \<b\>`, `a \<b>`},
		{"RNR_RETRY", "RNR_RETRY", "RNR_RETRY", "RNR_RETRY", "RNR_RETRY"},
		{"\x1b[31mred\u009b\x7f", "[31mred", `\[31mred`, `\[31mred`, `\[31mred`},
		{"a\tb\r\nc\r", "a b\nc", "a b\\\nc", "a b c", "a b\nc"},
		{"\u202edrow\u2066", "drow", "drow", "drow", "drow"},
		{"\xff", "\ufffd", "\ufffd", "\ufffd", "\ufffd"},
	} {
		for _, got := range []struct{ what, got, want string }{
			{"Plain", Plain(c.typed), c.plain},
			{"Literal", Literal(c.typed), c.literal},
			{"Word", Word(c.typed), c.word},
			{"Calm", Calm(c.typed), c.calm},
		} {
			if got.got != got.want {
				t.Errorf("%s(%q) = %q, want %q", got.what, c.typed, got.got, got.want)
			}
		}
	}
}
