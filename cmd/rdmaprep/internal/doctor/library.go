package doctor

import (
	"path"
	"strings"
)

const library = "libibverbs.so.1"

// family is how a family of distributions names and installs things.
type family struct {
	ids        []string // ID or ID_LIKE of os-release
	libibverbs string
	provider   string // rxe's part of the library
}

var families = []family{
	{[]string{"debian", "ubuntu"}, "apt install libibverbs1 ibverbs-providers", "apt install ibverbs-providers"},
	{[]string{"fedora", "rhel", "centos"}, "dnf install libibverbs", "dnf install libibverbs"},
	{[]string{"suse", "opensuse"}, "zypper install libibverbs1 libibverbs", "zypper install libibverbs"},
	{[]string{"arch"}, "pacman -S rdma-core", "pacman -S rdma-core"},
	{[]string{"alpine"}, "apk add libibverbs rdma-core", "apk add libibverbs rdma-core"},
}

// distribution is the ids that os-release gives, the narrowest first.
func (m Machine) distribution() []string {
	var id, like string
	for _, name := range []string{"etc/os-release", "usr/lib/os-release"} {
		for line := range strings.Lines(m.read(name)) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			value = strings.Trim(value, `"'`)
			switch {
			case key == "ID" && id == "":
				id = value
			case key == "ID_LIKE" && like == "":
				like = value
			}
		}
	}
	return strings.Fields(id + " " + like)
}

func (m Machine) family() (family, bool) {
	for _, id := range m.distribution() {
		for _, f := range families {
			for _, known := range f.ids {
				if known == id || strings.HasPrefix(id, known+"-") {
					return f, true
				}
			}
		}
	}
	return family{}, false
}

// kernelPackage is how to come by a kernel, or modules, with rxe.
func (m Machine) kernelPackage() []string {
	ids := m.distribution()
	switch {
	case len(ids) == 0:
		return nil
	case ids[0] == "ubuntu":
		return []string{m.AsRoot("apt install linux-modules-extra-" + m.Release)}
	case ids[0] == "debian" && m.Arch != "":
		return []string{m.AsRoot("apt install linux-image-" + m.Arch), m.AsRoot("reboot")}
	case strings.Contains(strings.Join(ids, " "), "fedora"):
		return []string{"dnf provides '*/rdma_rxe.ko*'   # the package to install"}
	}
	return nil
}

// linkerDirs is where the dynamic linker looks, as far as text files say it:
// ld.so(8) looks at LD_LIBRARY_PATH, then the cache made of ld.so.conf, then
// the standard folders.
func (m Machine) linkerDirs() []string {
	var dirs []string
	add := func(dir string) {
		if dir = strings.TrimPrefix(path.Clean(dir), "/"); dir != "." && dir != "" {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range strings.Split(m.LibraryPath, ":") {
		add(dir)
	}
	for _, name := range m.list("etc/ld.so.conf.d", maxDevices) {
		for line := range strings.Lines(m.read("etc/ld.so.conf.d/" + name)) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "/") {
				add(line)
			}
		}
	}
	triplet := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[m.Arch]
	if triplet != "" {
		add("/lib/" + triplet)
		add("/usr/lib/" + triplet)
	}
	for _, dir := range []string{"/lib64", "/usr/lib64", "/lib", "/usr/lib"} {
		add(dir)
	}
	return dirs
}

// examineLibrary looks for libibverbs and for its part for each device.
func (m Machine) examineLibrary(r *Report, devices []Device) {
	known, ok := m.family()
	install := func(command string) []string {
		if !ok {
			return nil
		}
		return []string{m.AsRoot(command)}
	}
	packages := ""
	if !ok {
		packages = " Its package is ibverbs-providers with libibverbs1 in Debian's words, libibverbs in Fedora's, rdma-core in Arch's."
	}
	where := ""
	dirs := m.linkerDirs()
	for _, dir := range dirs {
		if m.exists(dir + "/" + library) {
			where = dir
			break
		}
	}
	if where == "" {
		r.add("library", Failure, install(known.libibverbs), "Programs reach RDMA devices through it; without it none is seen."+packages, "no %s in the dynamic linker's folders", library)
		return
	}
	r.add("library", OK, nil, "Programs reach RDMA devices through it.", "%s in /%s", library, where)
	wanted := wantedProviders(devices)
	for _, name := range wanted {
		if object, driver := m.provider(name, dirs); object == "" || driver != "" {
			r.noProvider[name] = true
		}
	}
	severity := Failure
	for _, d := range devices {
		if !r.noProvider[providers[d.Driver]] {
			severity = Warning // another device is there
		}
	}
	for _, name := range wanted {
		m.examineProvider(r, name, dirs, severity, packages, install(known.provider))
	}
}

// providers are libibverbs' names for its parts, by kernel driver (the folder
// providers/ of rdma-core).
var providers = map[string]string{
	RXEModule: "rxe", "siw": "siw", "mlx4_core": "mlx4", "mlx5_core": "mlx5", "irdma": "irdma", "i40iw": "irdma",
	"bnxt_en": "bnxt_re", "bnxt_re": "bnxt_re", "cxgb4": "cxgb4", "efa": "efa", "erdma": "erdma", "hns3": "hns", "hfi1": "hfi1verbs",
	"qede": "qedr", "qedr": "qedr", "vmw_pvrdma": "vmw_pvrdma",
}

// wantedProviders names the parts that the devices need; rxe's if there is no
// device yet. Of an unknown driver nothing is asked.
func wantedProviders(devices []Device) []string {
	var names []string
	seen := map[string]bool{"": true}
	for _, d := range devices {
		if p := providers[d.Driver]; !seen[p] {
			seen[p] = true
			names = append(names, p)
		}
	}
	if len(devices) == 0 {
		names = []string{"rxe"}
	}
	return names
}

// provider looks for what libibverbs' init.c looks for: the part's shared object
// beside the library, and a .driver file that names it. object is "" if there is
// none; driver is the file that is missing.
func (m Machine) provider(name string, dirs []string) (object, driver string) {
	for _, dir := range dirs {
		for _, file := range m.list(dir+"/libibverbs", 1024) {
			if object == "" && strings.HasPrefix(file, "lib"+name+"-rdmav") && strings.HasSuffix(file, ".so") {
				object = dir + "/libibverbs/" + file
			}
		}
	}
	driver = "etc/libibverbs.d/" + name + ".driver"
	// Without the folder the library was built to look elsewhere.
	if !m.missing(driver) || !m.exists("etc/libibverbs.d") {
		driver = ""
	}
	return object, driver
}

func (m Machine) examineProvider(r *Report, name string, dirs []string, severity Severity, packages string, mend []string) {
	const means = "libibverbs loads a part of its own for each kind of device; without it a device is not listed."
	switch object, driver := m.provider(name, dirs); {
	case object == "":
		r.add("provider", severity, mend, means+packages, "libibverbs has no provider for %s", name)
	case driver != "":
		r.add("provider", severity, []string{"echo 'driver " + name + "' | " + m.AsRoot("tee /"+driver)},
			"libibverbs loads the providers that the files in /etc/libibverbs.d name.", "/%s is missing", driver)
	default:
		r.add("provider", OK, nil, means, "libibverbs' provider for %s is /%s", name, object)
	}
}
