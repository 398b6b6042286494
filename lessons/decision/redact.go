package decision

import (
	"regexp"
	"sync"
)

// Finding is a place that looks like something that must not be in a record.
type Finding struct {
	Field string // as in JSON, with an index for lists: "buffers[1]"
	Why   string // such as "looks like a private key"
}

// patterns are the usual forms of what must stay out. An RDMA key (lkey, rkey,
// qkey, pkey) is none of them: it is a number that dies with its device. The
// token forms are those that their issuers publish.
var patterns = []struct{ why, form string }{
	{"looks like a private key", `-----BEGIN [A-Z ]*PRIVATE KEY`},
	{"looks like a password", `(?i)\b(password|passwd|passphrase|pwd)\b\s*(is\b|[:=])\s*\S`},
	{"looks like a secret", `(?i)\b(secret|client[_-]?secret|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token)\b\s*(is\b|[:=])\s*\S`},
	{"looks like a bearer token", `(?i)\bbearer\s+[a-z0-9._~+/=-]{16,}`},
	{"looks like an AWS access key", `\b(AKIA|ASIA)[0-9A-Z]{16}\b`},
	{"looks like a GitHub token", `\b(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})`},
	{"looks like a Slack token", `\bxox[abprs]-[A-Za-z0-9-]{10,}`},
	{"looks like an API key", `\bsk-[A-Za-z0-9_-]{20,}`},
	{"looks like a JSON web token", `\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`},
	{"looks like an address with a password in it", `\b[a-z][a-z0-9+.-]*://[^/\s:@]+:[^/\s@]+@`},
	{"looks like a mail address", `\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b`},
	{"speaks of private assessment material", `(?i)\b(take-?home|under (an? )?nda|non-disclosure|confidential|do not (distribute|share (this|outside))|(actual|real|leaked) interview question|interviewer asked|assessment (question|answer|task)s?|candidate (id|name|number)|hackerrank|codility|codesignal)\b`},
}

// compiled are the patterns' machines, made when the first record is looked at:
// a program that shows its version should not pay for them.
var compiled = sync.OnceValue(func() []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(patterns))
	for i, p := range patterns {
		out[i] = regexp.MustCompile(p.form)
	}
	return out
})

// Redact looks for credentials (keys, tokens, passwords), mail addresses and
// words that mark private assessment material, in every field of text. A
// finding names the field and not what is in it, so that the warning itself can
// be printed.
func (r *Record) Redact() []Finding {
	var out []Finding
	for _, f := range r.fields() {
		out = append(out, find(f.name, f.text)...)
	}
	return out
}

func find(name, text string) []Finding {
	if len(text) > maxText {
		text = text[:maxText]
	}
	var out []Finding
	for i, re := range compiled() {
		if re.MatchString(text) {
			out = append(out, Finding{name, patterns[i].why})
		}
	}
	return out
}
