package decision

import "regexp"

// Finding is a place that looks like something that must not be in a record.
type Finding struct {
	Field string // as in JSON, with an index for lists: "buffers[1]"
	Why   string // such as "looks like a private key"
}

// patterns are the usual forms of what must stay out. An RDMA key (lkey, rkey,
// qkey, pkey) is none of them: it is a number that dies with its device. The
// token forms are those that their issuers publish.
var patterns = []struct {
	why string
	re  *regexp.Regexp
}{
	{"looks like a private key", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY`)},
	{"looks like a password", regexp.MustCompile(`(?i)\b(password|passwd|passphrase|pwd)\b\s*(is\b|[:=])\s*\S`)},
	{"looks like a secret", regexp.MustCompile(`(?i)\b(secret|client[_-]?secret|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token)\b\s*(is\b|[:=])\s*\S`)},
	{"looks like a bearer token", regexp.MustCompile(`(?i)\bbearer\s+[a-z0-9._~+/=-]{16,}`)},
	{"looks like an AWS access key", regexp.MustCompile(`\b(AKIA|ASIA)[0-9A-Z]{16}\b`)},
	{"looks like a GitHub token", regexp.MustCompile(`\b(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})`)},
	{"looks like a Slack token", regexp.MustCompile(`\bxox[abprs]-[A-Za-z0-9-]{10,}`)},
	{"looks like an API key", regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{20,}`)},
	{"looks like a JSON web token", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)},
	{"looks like an address with a password in it", regexp.MustCompile(`\b[a-z][a-z0-9+.-]*://[^/\s:@]+:[^/\s@]+@`)},
	{"looks like a mail address", regexp.MustCompile(`\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b`)},
	{"speaks of private assessment material", regexp.MustCompile(`(?i)\b(take-?home|under (an? )?nda|non-disclosure|confidential|do not (distribute|share (this|outside))|(actual|real|leaked) interview question|interviewer asked|assessment (question|answer|task)s?|candidate (id|name|number)|hackerrank|codility|codesignal)\b`)},
}

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
	for _, p := range patterns {
		if p.re.MatchString(text) {
			out = append(out, Finding{name, p.why})
		}
	}
	return out
}
