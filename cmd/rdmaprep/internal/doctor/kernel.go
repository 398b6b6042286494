package doctor

import (
	"fmt"
	"strings"
)

// RXEModule is the kernel module, and driver, of Soft-RoCE.
const RXEModule = "rdma_rxe"

// crc32Module gives the crypto layer the check sum that rxe asks it for.
const crc32Module = "crc32_generic"

// version is a kernel's major and minor number.
type version struct{ major, minor int }

// parseVersion reads the beginning of a release such as 6.1.0-57-amd64.
func parseVersion(release string) (version, bool) {
	var v version
	n, _ := fmt.Sscanf(release, "%d.%d", &v.major, &v.minor)
	return v, n == 2
}

func (v version) String() string { return fmt.Sprintf("%d.%d", v.major, v.minor) }

func (v version) before(major, minor int) bool {
	return v.major < major || v.major == major && v.minor < minor
}

// Versions that matter to rxe.
var (
	modelled = version{6, 1}  // the profile rxe-6.1
	compared = version{6, 12} // run side by side with 6.1
)

// quirk is something that a user of rxe meets on a kernel.
type quirk struct{ found, means string }

// quirks are the known ones that can cost a learner an evening; the rest is in
// the model's profile. Each is in the source of 6.1 and of 6.12, and was seen on
// 6.1.
var quirks = []quirk{
	{
		// rxe_comp.c, rxe_completer(): retry_cnt is counted down unless it is 7.
		found: "retry_cnt=7 retries for ever",
		means: "The specification counts seven. A peer that is gone is then never reported: give 6 at most, and bound every wait.",
	},
	{
		// rxe_mw.c, rxe_invalidate_mw(): mw->qp of a free window is NULL.
		found: "a second LOCAL_INV of a type 2 window crashes the kernel's task",
		means: "A free window is dereferenced, and the process ends with a lock held. Try it on the model, never on a machine that you need.",
	},
	{
		// uverbs_main.c, ib_uverbs_remove_one(): rxe has no disassociate_ucontext.
		found: "removing a device waits for every open context",
		means: "rdma link del does not return while a program has the device open, and cannot be interrupted. rdmaprep rxe remove looks first.",
	},
}

// examineKernel says which kernel this is and what rxe of it is known for.
func (m Machine) examineKernel(r *Report, devices []Device) {
	v, ok := parseVersion(m.Release)
	switch {
	case !ok:
		r.add("kernel", Note, nil, "What is known of kernels goes by their version.", "Linux with the release %q, which names no version", m.Release)
		return
	case v.before(5, 1):
		// The command RDMA_NLDEV_CMD_NEWLINK came with 5.1.
		r.add("kernel", Warning, nil, "A Soft-RoCE device cannot be made with rdma link add before 5.1. An adapter's device works.", "Linux %s", m.Release)
		return
	case v == modelled:
		r.add("kernel", OK, nil, "The model's profile rxe-6.1 is the Soft-RoCE of this series: expect what it shows.", "Linux %s", m.Release)
	case v == compared:
		r.add("kernel", Note, nil,
			"The model's profile rxe-6.1 describes another series. On 6.12 a request that fails locally completes with WR_FLUSH_ERR instead of its cause, "+
				"and a UD message too long for its buffer is dropped; most else is equal.", "Linux %s", m.Release)
	default:
		r.add("kernel", Note, nil,
			"The model's profile rxe-6.1 describes another series: where this one differs has not been compared.", "Linux %s", m.Release)
	}
	number := 0
	for _, d := range devices {
		if d.RXE() {
			number++
		}
	}
	if number == 0 && !m.ModuleLoaded(RXEModule) {
		return // nobody meets them
	}
	seen := ""
	if v != modelled && v != compared {
		seen = " (So on 6.1 and 6.12.)"
	}
	for _, q := range quirks {
		r.add("rxe", Note, nil, q.means+seen, "%s", q.found)
	}
	if number > 1 {
		r.add("rxe", Note, nil,
			"Traffic between two addresses of one machine goes through lo, where these devices do not listen. Use one of them for both ends, or two hosts.",
			"%d devices here, which cannot reach each other", number)
	}
}

// ModuleLoaded looks at what is loaded, and at what is built in.
func (m Machine) ModuleLoaded(name string) bool {
	for line := range strings.Lines(m.read("proc/modules")) {
		if first, _, _ := strings.Cut(line, " "); first == name {
			return true
		}
	}
	return m.listed(m.modulesDir()+"/modules.builtin", name)
}

// ModuleAvailable looks at what could be loaded.
func (m Machine) ModuleAvailable(name string) bool {
	return m.listed(m.modulesDir()+"/modules.dep", name)
}

// listed tells whether a list of the kernel's build names the module's file.
func (m Machine) listed(list, name string) bool {
	for line := range strings.Lines(m.read(list)) {
		file, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		if base := file[strings.LastIndex(file, "/")+1:]; strings.HasPrefix(base, name+".ko") {
			return true
		}
	}
	return false
}

// adapter tells whether a device is there that needs no rxe.
func adapter(devices []Device) bool {
	for _, d := range devices {
		if !d.RXE() {
			return true
		}
	}
	return false
}

// examineModule looks for Soft-RoCE in the kernel.
func (m Machine) examineModule(r *Report, devices []Device) {
	missing := Failure
	if adapter(devices) {
		missing = Note // labs can use the adapter
	}
	switch {
	case m.ModuleLoaded(RXEModule):
		r.add("module", OK, nil, "Soft-RoCE: RDMA over any Ethernet interface, in the kernel's software.", "rdma_rxe is loaded")
	case m.ModuleAvailable(RXEModule):
		r.add("module", Note, nil, "It is loaded when the first rxe device is made.", "rdma_rxe can be loaded, and is not")
	case !m.HasModules() && m.inContainer():
		r.add("module", missing, []string{"modprobe rdma_rxe   # on the host, as root"},
			"This is a container, whose kernel is its host's. The module is loaded there, and the device is handed in.",
			"rdma_rxe is not loaded, and /%s is not here", m.modulesDir())
		return
	default:
		r.add("module", missing, m.kernelPackage(),
			"This kernel was built without Soft-RoCE, or its package with more modules is not installed. Debian's cloud kernels leave it out.",
			"no module rdma_rxe for the kernel %s", m.Release)
		return
	}
	v, _ := parseVersion(m.Release)
	if !v.before(6, 15) || m.hasCRC32() {
		return
	}
	// rxe_icrc_init() asks the crypto layer for "crc32"; no dependency of the
	// module names it.
	r.add("module", missing, m.kernelPackage(),
		"rxe computes its check sum, the ICRC, with it; without it no device can be made (No such file or directory).",
		"no module crc32_generic for the kernel %s", m.Release)
}

// hasCRC32 tells whether the crypto layer has, or can load, crc32.
func (m Machine) hasCRC32() bool {
	for line := range strings.Lines(m.read("proc/crypto")) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "name" && strings.TrimSpace(value) == "crc32" {
			return true
		}
	}
	return m.ModuleLoaded(crc32Module) || m.ModuleAvailable(crc32Module)
}

// inContainer goes by the marks that Docker and Podman leave.
func (m Machine) inContainer() bool { return m.exists(".dockerenv") || m.exists("run/.containerenv") }

// pidInit is the number of the first pid namespace (include/linux/proc_ns.h,
// PROC_PID_INIT_INO).
const pidInit = "pid:[4026531836]"

// examineNamespace asks whether rxe's socket is in this network namespace:
// rxe_net.c opens it in init_net, whatever namespace the interface is in.
func (m Machine) examineNamespace(r *Report, devices []Device) {
	if adapter(devices) {
		return
	}
	own, first := m.link("proc/self/ns/net"), m.link("proc/1/ns/net")
	// Process 1 is the machine's own only in the first pid namespace.
	sure := m.link("proc/self/ns/pid") == pidInit && own != "" && first != ""
	means := "rxe receives and routes in the first network namespace only. In another one a device can be made, and no packet reaches it."
	switch {
	case sure && own == first:
		r.add("namespace", OK, nil, means, "this is the first network namespace")
	case sure:
		r.add("namespace", Failure, []string{m.AsRoot("nsenter --target 1 --net rdmaprep doctor")}, means, "this is not the first network namespace")
	case m.inContainer():
		r.add("namespace", Warning, nil, means+" Start the container with the host's network (--network=host).", "a container, and which network namespace it is in cannot be seen")
	default:
		r.add("namespace", Note, nil, means+" Outside containers this is nearly always the first one.", "which network namespace this is cannot be seen (root sees it)")
	}
}
