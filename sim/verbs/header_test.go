package verbs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rdmaprep/sim/verbs"
)

// constants is every named constant with its C name and our value.
func constants(t *testing.T) map[string]uint64 {
	out := map[string]uint64{}
	add := func(prefix string, names []string, parse func(string) (uint64, bool)) {
		for _, name := range names {
			v, ok := parse(name)
			if !ok {
				t.Errorf("%s%s does not parse", prefix, name)
			}
			out[prefix+name] = v
		}
	}
	add("IBV_WC_", verbs.WCStatusNames(), func(s string) (uint64, bool) { v, ok := verbs.ParseWCStatus(s); return uint64(v), ok })
	add("IBV_WC_", verbs.WCOpcodeNames(), func(s string) (uint64, bool) { v, ok := verbs.ParseWCOpcode(s); return uint64(v), ok })
	add("IBV_QPS_", verbs.QPStateNames(), func(s string) (uint64, bool) { v, ok := verbs.ParseQPState(s); return uint64(v), ok })
	add("IBV_WR_", verbs.WROpcodeNames(), func(s string) (uint64, bool) { v, ok := verbs.ParseWROpcode(s); return uint64(v), ok })
	add("IBV_EVENT_", verbs.EventTypeNames(), func(s string) (uint64, bool) { v, ok := verbs.ParseEventType(s); return uint64(v), ok })
	add("IBV_ACCESS_", verbs.AccessFlagNames(), func(s string) (uint64, bool) { v, ok := verbs.ParseAccessFlags(s); return uint64(v), ok })
	add("IBV_QP_", verbs.QPAttrMaskNames(), func(s string) (uint64, bool) { v, ok := verbs.ParseQPAttrMask(s); return uint64(v), ok })
	add("IBV_QPT_", []string{"RC", "UC", "UD"}, func(s string) (uint64, bool) { v, ok := verbs.ParseQPType(s); return uint64(v), ok })
	add("IBV_SEND_", []string{"FENCE", "SIGNALED", "SOLICITED", "INLINE"}, func(s string) (uint64, bool) { v, ok := verbs.ParseSendFlags(s); return uint64(v), ok })
	add("IBV_WC_", []string{"GRH", "WITH_IMM", "IP_CSUM_OK", "WITH_INV"}, func(s string) (uint64, bool) { v, ok := verbs.ParseWCFlags(s); return uint64(v), ok })
	add("IBV_MTU_", []string{"256", "512", "1024", "2048", "4096"}, func(s string) (uint64, bool) { v, ok := verbs.ParseMTU(s); return uint64(v), ok })
	return out
}

// TestHeader compiles a probe against infiniband/verbs.h and compares every
// constant with the C compiler's value.
func TestHeader(t *testing.T) {
	need := slices.Contains(strings.Split(os.Getenv("RDMAPREP_REQUIRE"), ","), "gcc")
	missing := func(what string) {
		if need {
			t.Fatalf("RDMAPREP_REQUIRE names gcc: %s is missing", what)
		}
		t.Skipf("%s is missing (Debian packages gcc and libibverbs-dev)", what)
	}
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		missing("gcc")
	}
	if _, err := os.Stat("/usr/include/infiniband/verbs.h"); err != nil {
		missing("infiniband/verbs.h")
	}
	want := constants(t)
	var src strings.Builder
	src.WriteString("#include <infiniband/verbs.h>\n#include <stdio.h>\nint main(void) {\n")
	for name := range want {
		fmt.Fprintf(&src, "printf(\"%s %%llu\\n\", (unsigned long long)%s);\n", name, name)
	}
	src.WriteString("return 0; }\n")
	dir := t.TempDir()
	file, bin := filepath.Join(dir, "probe.c"), filepath.Join(dir, "probe")
	if err := os.WriteFile(file, []byte(src.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gcc, "-o", bin, file).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	out, err := exec.Command(bin).Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		var name string
		var v uint64
		if _, err := fmt.Sscan(line, &name, &v); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		seen++
		if v != want[name] {
			t.Errorf("%s is %d in C, %d here", name, v, want[name])
		}
	}
	if seen != len(want) || seen == 0 {
		t.Errorf("the probe told %d constants of %d", seen, len(want))
	}
}
