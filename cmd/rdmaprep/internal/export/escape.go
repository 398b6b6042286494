package export

import (
	"strconv"
	"strings"
)

// within puts Markdown into a quotation, which ends whatever the text leaves
// open: a fence, a list, HTML.
func within(markdown string) string {
	lines := strings.Split(strings.TrimSpace(markdown), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight("> "+line, " ")
	}
	return strings.Join(lines, "\n")
}

// names gives every page its own safe name in a folder.
type names struct {
	folder string
	taken  map[string]bool
}

func newNames(folder string) *names { return &names{folder, map[string]bool{}} }

// maxName is the length of a file name without its ending, in bytes.
const maxName = 80

// take makes a name of lower-case letters, digits and single hyphens, which no
// file system gives a meaning, and numbers it if it is taken.
func (n *names) take(id string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(id) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	name := b.String()
	name = strings.Trim(name[:min(len(name), maxName)], "-")
	if name == "" || reserved[name] || len(name) == 4 && reserved[name[:3]+"1"] && name[3] >= '0' && name[3] <= '9' {
		name += "-note"
		name = strings.TrimPrefix(name, "-")
	}
	free := name
	for i := 2; n.taken[free]; i++ {
		free = name + "-" + strconv.Itoa(i)
	}
	n.taken[free] = true
	return n.folder + "/" + free + ".md"
}

// reserved are names that Windows keeps for devices, with any ending.
var reserved = map[string]bool{"con": true, "prn": true, "aux": true, "nul": true, "com1": true, "lpt1": true}
