//go:build linux && (amd64 || arm64) && !noibv

package ibv

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// compile builds a C source of testdata against the system's header. A missing
// compiler or header skips the test, or fails it if RDMAPREP_REQUIRE names gcc.
func compile(t testing.TB, dir, source string, args ...string) string {
	t.Helper()
	missing := ""
	if _, err := exec.LookPath("gcc"); err != nil {
		missing = "no gcc: apt install gcc libc6-dev"
	} else if err := exec.Command("gcc", "-E", "-include", "infiniband/verbs.h", "-x", "c", "-o", os.DevNull, os.DevNull).Run(); err != nil {
		missing = "no <infiniband/verbs.h>: apt install libibverbs-dev"
	}
	if missing != "" && slices.Contains(strings.Split(os.Getenv("RDMAPREP_REQUIRE"), ","), "gcc") {
		t.Fatal(missing)
	}
	if missing != "" {
		t.Skip(missing)
	}
	out := filepath.Join(dir, strings.TrimSuffix(source, ".c"))
	args = append([]string{"-O2", "-Wall", "-Werror", "-o", out, filepath.Join("testdata", source)}, args...)
	if msg, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %s: %v\n%s", strings.Join(args, " "), err, msg)
	}
	return out
}
