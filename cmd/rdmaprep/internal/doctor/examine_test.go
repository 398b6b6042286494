package doctor

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cockroachdb/datadriven"
)

// TestReports holds what is printed of a machine against testdata. Each case
// begins from the healthy machine and changes it: "report" prints everything,
// "wrong" what is a warning or a failure, and the lab.
func TestReports(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range paths {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			b := healthy()
			for line := range strings.Lines(d.Input) {
				b.change(t, strings.TrimSuffix(line, "\n"))
			}
			r := Examine(b.Machine)
			switch d.Cmd {
			case "report":
			case "wrong":
				r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return f.Severity == OK || f.Severity == Note })
				r.Devices = nil
			case "notes":
				r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return f.Severity != Note })
				r.Devices = nil
			default:
				d.Fatalf(t, "unknown command %q: report, wrong, notes", d.Cmd)
			}
			var out strings.Builder
			if err := r.WriteText(&out); err != nil {
				t.Fatal(err)
			}
			return blankLines.ReplaceAllString(out.String(), "\n")
		})
	}
}

// blankLines would end a case of the test data.
var blankLines = regexp.MustCompile(`\n\n+`)

// defects are the ways in which the healthy machine is broken, one by one and
// in pairs, by TestEveryReportEndsInALab.
var defects = map[string]string{
	"no module":        "write proc/modules x 1 0\nremove lib/modules/6.1.0-57-amd64/modules.dep",
	"module not yet":   "write proc/modules x 1 0\nremove sys/class",
	"no device":        "remove sys/class/infiniband\nremove sys/class/infiniband_verbs",
	"no IPv4 GID":      "write sys/class/infiniband/rxe0/ports/1/gids/1 0000:0000:0000:0000:0000:0000:0000:0000\niface dummy0 up 1500",
	"RoCE v1":          "write sys/class/infiniband/rxe0/ports/1/gid_attrs/types/1 IB/RoCE v1",
	"port down":        "write sys/class/infiniband/rxe0/ports/1/state 1: DOWN\niface dummy0 down 1500 10.9.0.1/24",
	"InfiniBand":       "write sys/class/infiniband/rxe0/ports/1/link_layer InfiniBand",
	"no port":          "remove sys/class/infiniband/rxe0/ports",
	"no permission":    "deny dev/infiniband/uverbs0",
	"no node":          "remove dev/infiniband/uverbs0",
	"no ib_uverbs":     "remove sys/class/infiniband_verbs",
	"memlock":          "memlock 16384 16384",
	"no library":       "remove usr/lib/x86_64-linux-gnu/libibverbs.so.1",
	"no provider":      "remove usr/lib/x86_64-linux-gnu/libibverbs",
	"no driver file":   "remove etc/libibverbs.d/rxe.driver",
	"other namespace":  "link proc/self/ns/net net:[4026532000]",
	"no live build":    "nolive no live devices in this build",
	"adapter":          "write sys/class/infiniband/mlx5_0/ports/1/state 1: DOWN\nlink sys/class/infiniband/mlx5_0/device/driver ../mlx5_core",
	"unknown adapter":  "write sys/class/infiniband/new0/device/vendor 1",
	"not linux":        "os darwin",
	"no crc32":         "remove proc/crypto\nremove lib/modules/6.1.0-57-amd64/modules.dep",
	"another release":  "release 6.12.9-amd64",
	"a release of old": "release 4.19.0",
	"empty":            "remove proc\nremove sys\nremove dev\nremove etc\nremove lib\nremove usr",
}

// TestEveryReportEndsInALab: whatever is broken, the report ends in a lab, live
// with a device, a port and a GID, or on the model with a reason; a live lab and
// a failure exclude each other; each finding says what it means; and the list
// of commands is that of the failures.
func TestEveryReportEndsInALab(t *testing.T) {
	for name, first := range defects {
		for other, second := range defects {
			b := healthy()
			for _, line := range strings.Split(first+"\n"+second, "\n") {
				if path, ok := strings.CutPrefix(line, "remove "); ok && !b.has(path) {
					continue // the other defect took it away already
				}
				b.change(t, line)
			}
			r := Examine(b.Machine)
			fail := func(format string, args ...any) {
				t.Helper()
				t.Errorf(name+" and "+other+": "+format, args...)
			}
			if r.Lab.Command == "" || r.Lab.Live == (len(r.Lab.Because) > 0) {
				fail("no lab: %+v", r.Lab)
			}
			if r.Lab.Live && (r.Lab.Device == "" || r.Lab.Port == 0 || r.Lab.GID == "") {
				fail("a live lab without a place: %+v", r.Lab)
			}
			var failed, commands []string
			for _, f := range r.Findings {
				if f.Found == "" || f.Means == "" || f.About == "" {
					fail("a finding says too little: %+v", f)
				}
				if f.Severity == Failure {
					failed = append(failed, f.Found)
					commands = append(commands, f.Mend...)
				}
			}
			if !slices.Equal(failed, r.Lab.Because) {
				fail("the reasons are %q, the failures %q", r.Lab.Because, failed)
			}
			for _, c := range commands {
				if !slices.Contains(r.Lab.Mend, c) {
					fail("the command %q is not in the list", c)
				}
			}
		}
	}
}

func (b *bench) has(path string) bool {
	for name := range b.tree {
		if name == path || strings.HasPrefix(name, path+"/") {
			return true
		}
	}
	return false
}

// TestJSON: the field names that a script reads.
func TestJSON(t *testing.T) {
	text, err := json.Marshal(Examine(healthy().Machine))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Lab struct {
			Live     bool
			Device   string
			Port     int
			GIDIndex int `json:"gid_index"`
			GID      string
		}
		Devices []struct {
			Name, Driver, Node string
			Usable             bool
			Ports              []struct {
				PathMTU int `json:"path_mtu"`
				GIDs    []struct{ Chosen bool }
			}
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if l := got.Lab; !l.Live || l.Device != "rxe0" || l.Port != 1 || l.GIDIndex != 1 || l.GID != "::ffff:192.168.77.1" {
		t.Errorf("lab: %+v", l)
	}
	// ibv_devinfo says active_mtu 4096 of this device.
	if d := got.Devices; len(d) != 1 || !d[0].Usable || d[0].Node != "/dev/infiniband/uverbs0" || d[0].Ports[0].PathMTU != 4096 || !d[0].Ports[0].GIDs[1].Chosen {
		t.Errorf("devices: %+v", d)
	}
}

// TestPathMTU: the MTUs of an interface at which rxe's active_mtu changes
// (rxe_param.h, eth_mtu_int_to_enum(): the MTU less 80).
func TestPathMTU(t *testing.T) {
	for mtu, want := range map[int]int{4176: 4096, 4175: 2048, 1500: 1024, 1103: 512, 336: 256, 335: 0} {
		if got := pathMTU(mtu); got != want {
			t.Errorf("an MTU of %d: %d, expected %d", mtu, got, want)
		}
	}
}

// TestLooksAtWhatItMay: Examine opens no device node, and nothing outside the
// folders that Machine names.
func TestLooksAtWhatItMay(t *testing.T) {
	b := healthy()
	b.FS = recorder{b.tree, func(name string) {
		top, _, _ := strings.Cut(name, "/")
		if !slices.Contains([]string{"proc", "sys", "etc", "lib", "usr", "lib64", "run", ".dockerenv"}, top) {
			t.Errorf("%s was opened", name)
		}
	}}
	Examine(b.Machine)
}

// recorder tells of every file that is opened.
type recorder struct {
	fstest.MapFS
	opened func(name string)
}

func (r recorder) Open(name string) (fs.File, error) {
	r.opened(name)
	return r.MapFS.Open(name)
}
