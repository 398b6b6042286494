package doctor

import (
	"net/netip"
	"path"
	"strconv"
	"strings"
)

const portActive = "ACTIVE"

// sysDevices is where the kernel lists RDMA devices
// (Documentation/ABI/stable/sysfs-class-infiniband).
const sysDevices = "sys/class/infiniband"

// Devices are the RDMA devices that the system knows, in the order of their
// names. Usable is left for Examine to say.
func (m Machine) Devices() []Device {
	nodes := m.nodes()
	var devices []Device
	for _, name := range m.list(sysDevices, maxDevices) {
		dir := path.Join(sysDevices, name)
		d := Device{Name: name, Driver: m.driver(dir, name), Node: nodes[name], Netdev: m.read(dir + "/parent"), Ports: []Port{}}
		for _, num := range m.list(dir+"/ports", maxPorts) {
			if n, err := strconv.Atoi(num); err == nil {
				p := m.port(path.Join(dir, "ports", num), n)
				if dev, ok := m.Interface(d.Netdev); ok && d.RXE() {
					p.PathMTU = pathMTU(dev.MTU)
				}
				d.Ports = append(d.Ports, p)
			}
		}
		devices = append(devices, d)
	}
	return devices
}

// nodes gives each device's node in /dev by the device's name.
func (m Machine) nodes() map[string]string {
	nodes := map[string]string{}
	for _, uverbs := range m.list("sys/class/infiniband_verbs", maxDevices) {
		if device := m.read("sys/class/infiniband_verbs/" + uverbs + "/ibdev"); device != "" {
			nodes[device] = "/dev/infiniband/" + uverbs
		}
	}
	return nodes
}

// driver is the kernel driver of a device. Software devices have no hardware
// behind them that names it; of these rxe alone has a file parent
// (rxe_verbs.c, parent_show).
func (m Machine) driver(dir, name string) string {
	if to := m.link(dir + "/device/driver"); to != "" {
		return path.Base(to)
	}
	switch {
	case m.exists(dir + "/parent"):
		return RXEModule
	case !m.exists(dir+"/device") && strings.HasPrefix(name, "siw"):
		return "siw"
	}
	return ""
}

// port reads one port. The states are files such as "4: ACTIVE".
func (m Machine) port(dir string, num int) Port {
	word := func(file string) string {
		text := m.read(dir + "/" + file)
		if _, name, ok := strings.Cut(text, ": "); ok {
			return name
		}
		return text
	}
	p := Port{Num: num, State: word("state"), PhysState: word("phys_state"), LinkLayer: m.read(dir + "/link_layer"), GIDs: []GID{}}
	chosen := false
	for i := range maxGIDs {
		index := strconv.Itoa(i)
		addr, err := netip.ParseAddr(m.read(dir + "/gids/" + index))
		if err != nil {
			break // the end of the table
		}
		if addr.IsUnspecified() {
			continue
		}
		g := GID{Index: i, GID: addr.String(), Type: m.read(dir + "/gid_attrs/types/" + index), Netdev: m.read(dir + "/gid_attrs/ndevs/" + index)}
		if !chosen && g.Type == "RoCE v2" && addr.Is4In6() {
			chosen, g.Chosen = true, true
		}
		p.GIDs = append(p.GIDs, g)
	}
	return p
}

// maxHeader is RXE_MAX_HDR_LENGTH of rxe_hdr.h, what rxe leaves for its headers.
const maxHeader = 80

// pathMTU is the largest of the five path MTUs that fits an interface's MTU
// beside rxe's headers (rxe_net.c, rxe_set_mtu()); 0 if none does.
func pathMTU(mtu int) int {
	for n := 4096; n >= 256; n /= 2 {
		if n <= mtu-maxHeader {
			return n
		}
	}
	return 0
}

// problem is what keeps a lab from a device.
type problem struct {
	found, means string
	mend         []string
}

// examineDevices judges each device. What is wrong with one is a failure only
// if no other can be used.
func (m Machine) examineDevices(r *Report, devices []Device) {
	if len(devices) == 0 {
		m.examineNoDevice(r)
		return
	}
	problems := make([][]problem, len(devices))
	severity := Failure
	for i := range devices {
		problems[i] = m.problems(devices[i])
		if devices[i].Usable = len(problems[i]) == 0 && !r.noProvider[providers[devices[i].Driver]]; devices[i].Usable {
			severity = Warning
		}
	}
	for i, d := range devices {
		for _, p := range problems[i] {
			r.add(d.Name, severity, p.mend, p.means, "%s", p.found)
		}
		if d.Usable {
			r.add(d.Name, OK, nil, "A lab can be run on it, both ends on this device.", "%s is ready", d.Name)
		}
		if d.RXE() && d.Netdev == "lo" {
			r.add(d.Name, Note, nil, "It works, with IPv4 and IPv6 GIDs of the machine itself, and slowly: most messages wait for a timer. An interface of type dummy is quick.", "%s is on the loopback interface", d.Name)
		}
	}
	r.Devices = devices
}

// problems are those of one device, the one to be mended first in front.
func (m Machine) problems(d Device) []problem {
	var found []problem
	if p, ok := m.nodeProblem(d); ok {
		found = append(found, p)
	}
	// One good port is enough.
	var ports []problem
	for _, p := range d.Ports {
		bad, ok := m.portProblem(d, p)
		if !ok {
			return found
		}
		ports = append(ports, bad)
	}
	if len(d.Ports) == 0 {
		ports = append(ports, problem{d.Name + " has no port", "A device without a port reaches nothing.", nil})
	}
	return append(found, ports...)
}

// nodeProblem looks at the character device through which programs reach d.
func (m Machine) nodeProblem(d Device) (problem, bool) {
	node := strings.TrimPrefix(d.Node, "/")
	switch {
	case d.Node == "":
		return problem{
			d.Name + " has no node in /dev/infiniband",
			"Programs reach a device through the module ib_uverbs, which is not loaded.",
			[]string{m.AsRoot("modprobe ib_uverbs")},
		}, true
	case m.missing(node):
		uverbs := path.Base(d.Node)
		numbers := strings.ReplaceAll(m.read("sys/class/infiniband_verbs/"+uverbs+"/dev"), ":", " ")
		mend := []string{m.AsRoot("mkdir -p /dev/infiniband"), m.AsRoot("mknod -m 0666 " + d.Node + " c " + numbers)}
		means := "The kernel has the device, and /dev does not. devtmpfs or udev makes the node."
		if m.inContainer() {
			means = "The kernel has the device, and this container was not given it."
			mend = []string{containerRun}
		}
		return problem{"no node " + d.Node + " for " + d.Name, means, mend}, true
	}
	if err := m.access(node); err != nil {
		return problem{
			"this user may not read and write " + d.Node,
			"Verbs are sent through this node. rdma-core's rules and the kernel's own default are mode 0666: each process is kept apart by its context. The command holds until the next boot.",
			[]string{m.AsRoot("chmod 0666 " + d.Node)},
		}, true
	}
	return problem{}, false
}

// portProblem looks at one port of d.
func (m Machine) portProblem(d Device, p Port) (problem, bool) {
	name := d.Name + " port " + strconv.Itoa(p.Num)
	netdev := d.Netdev
	if netdev == "" && len(p.GIDs) > 0 {
		netdev = p.GIDs[0].Netdev
	}
	if p.LinkLayer == "InfiniBand" {
		return problem{
			name + " is InfiniBand", "Live labs address their peer by a RoCE v2 GID, which an InfiniBand port does not have.", nil,
		}, true
	}
	if p.State != portActive {
		return m.downPort(name, netdev, p), true
	}
	if p.Chosen() >= 0 {
		return problem{}, false
	}
	means := "A GID of type RoCE v2 is made from each address of the interface under the port; labs take the IPv4 one, the same on every kernel."
	dev, here := m.Interface(netdev)
	switch {
	case netdev == "" || !here:
		return problem{name + " has no GID with an IPv4 address", means + " The interface is not in this network namespace.", nil}, true
	case dev.IPv4():
		return problem{
			name + " has no GID of type RoCE v2 with an IPv4 address, although " + netdev + " has one",
			means + " Taking the interface down and up makes the table anew; an adapter may be set to RoCE v1 only.",
			[]string{m.AsRoot("ip link set dev " + netdev + " down"), m.AsRoot("ip link set dev " + netdev + " up")},
		}, true
	}
	return problem{
		name + " has no GID with an IPv4 address", means,
		[]string{m.AsRoot("ip addr add " + labAddr + " dev " + netdev)},
	}, true
}

// downPort explains a port that is not ACTIVE. The state of a RoCE port is that
// of the interface under it.
func (m Machine) downPort(name, netdev string, p Port) problem {
	found := name + " is " + p.State
	dev, here := m.Interface(netdev)
	switch {
	case here && !dev.Up:
		return problem{found, "The port follows its interface, and " + netdev + " is down.", []string{m.AsRoot("ip link set dev " + netdev + " up")}}
	case here:
		return problem{
			found, "The port follows its interface: " + netdev + " is up and has no carrier. No command mends that: see to the cable, and to the other end.",
			nil,
		}
	}
	return problem{found, "The port follows its interface, which is not in this network namespace.", nil}
}

// containerRun hands a host's devices to a container; Podman takes the same.
const containerRun = "docker run --device /dev/infiniband --ulimit memlock=-1 --network host ...   # the container, anew"

// labAddr is an address for an interface that has none; RFC 1918 leaves it to
// anyone.
const labAddr = "192.168.77.1/24"

// examineNoDevice says how to make a Soft-RoCE device.
func (m Machine) examineNoDevice(r *Report) {
	means := "Soft-RoCE makes an RDMA device of any Ethernet interface. One of type dummy leads nowhere, so that nothing is opened to the network, and a device's traffic to itself needs no more."
	if outward := m.outward(); outward != "" {
		means += " For labs between two hosts take the interface that reaches the other, here perhaps " + outward + ": rdmaprep rxe add " + outward + "."
	}
	if m.inContainer() {
		r.add("device", Failure, []string{containerRun},
			"A device is made on the host (rdmaprep doctor there says how) and handed to the container.", "no RDMA device in this container")
		return
	}
	name, ready := m.dummy()
	var mend []string
	if !ready {
		mend = []string{
			m.AsRoot("ip link add " + name + " mtu 4200 type dummy"),
			m.AsRoot("ip addr add " + labAddr + " dev " + name),
			m.AsRoot("ip link set dev " + name + " up"),
		}
	}
	mend = append(mend, m.AsRoot("rdma link add rxe0 type rxe netdev "+name+"   # or: rdmaprep rxe add "+name))
	r.add("device", Failure, mend, means, "no RDMA device")
}

// dummy is an interface of type dummy: one that is ready, or a free name.
func (m Machine) dummy() (name string, ready bool) {
	for i := 0; ; i++ {
		name = "dummy" + strconv.Itoa(i)
		dev, ok := m.Interface(name)
		if !ok {
			return name, false
		}
		if dev.Up && dev.IPv4() {
			return name, true
		}
	}
}

// outward is an Ethernet interface with an IPv4 address and hardware behind it.
func (m Machine) outward() string {
	for _, dev := range m.Interfaces {
		if dev.Up && !dev.Loopback && dev.IPv4() && m.exists("sys/class/net/"+dev.Name+"/device") && m.read("sys/class/net/"+dev.Name+"/type") == arphrdEther {
			return dev.Name
		}
	}
	return ""
}

// arphrdEther is ARPHRD_ETHER of include/uapi/linux/if_arp.h.
const arphrdEther = "1"
