package doctor

import (
	"fmt"
	"slices"
)

// Severity says what a finding does to a live lab.
type Severity string

// From harmless to harmful.
const (
	OK      Severity = "ok"      // as it should be
	Note    Severity = "note"    // to know; nothing to do
	Warning Severity = "warning" // in the way of something, not of every live lab
	Failure Severity = "failure" // no live lab before this is mended
)

// Finding is one thing that was looked at.
type Finding struct {
	About    string   `json:"about"` // what was looked at: kernel, module, library, or a device's name
	Severity Severity `json:"severity"`
	Found    string   `json:"found"`          // what is there, one line
	Means    string   `json:"means"`          // what follows from it
	Mend     []string `json:"mend,omitempty"` // commands for a shell, in order; none if there is nothing to mend
}

// Device is an RDMA device and what a lab needs of it.
type Device struct {
	Name   string `json:"name"`
	Driver string `json:"driver"`           // rdma_rxe, mlx5_core, ...; "" if the system does not say
	Node   string `json:"node"`             // its device node, "" if it has none
	Netdev string `json:"netdev,omitempty"` // the interface under an rxe device
	Ports  []Port `json:"ports"`
	Usable bool   `json:"usable"` // a lab can be run on it
}

// RXE tells Soft-RoCE from an adapter.
func (d Device) RXE() bool { return d.Driver == RXEModule }

// Port is a port of a device, numbered from 1.
type Port struct {
	Num       int    `json:"num"`
	State     string `json:"state"`      // ACTIVE, DOWN, INIT, ARMED
	PhysState string `json:"phys_state"` // LinkUp, Disabled, ...
	LinkLayer string `json:"link_layer"` // Ethernet or InfiniBand
	// PathMTU is the largest that fits the interface, in bytes of payload; 0 if
	// that is not known.
	PathMTU int `json:"path_mtu,omitempty"`
	// GIDs are the entries in use of the port's table.
	GIDs []GID `json:"gids"`
}

// Chosen is the index in p.GIDs of the entry that labs take, -1 if there is none.
func (p Port) Chosen() int {
	return slices.IndexFunc(p.GIDs, func(g GID) bool { return g.Chosen })
}

// GID is one entry of a port's table.
type GID struct {
	Index  int    `json:"index"`
	GID    string `json:"gid"`    // as an IPv6 address, an IPv4 address as ::ffff:10.0.0.1
	Type   string `json:"type"`   // RoCE v2, IB/RoCE v1
	Netdev string `json:"netdev"` // the interface it belongs to
	Chosen bool   `json:"chosen"` // labs take this one: the first of RoCE v2 with an IPv4 address
}

// Lab is what works on this machine.
type Lab struct {
	Live     bool     `json:"live"`
	Device   string   `json:"device,omitempty"`
	Port     int      `json:"port,omitempty"`
	GIDIndex int      `json:"gid_index,omitempty"`
	GID      string   `json:"gid,omitempty"`
	Because  []string `json:"because,omitempty"` // of a lab on the model: what is in the way
	Mend     []string `json:"mend,omitempty"`    // of a lab on the model: every command, in order
	Mendable bool     `json:"mendable"`          // these commands mend all that is in the way
	Command  string   `json:"command"`           // a lab to begin with
}

// Report is all that was found.
type Report struct {
	Kernel   string    `json:"kernel"` // name, release and processor
	Findings []Finding `json:"findings"`
	Devices  []Device  `json:"devices"`
	Lab      Lab       `json:"lab"`

	noProvider map[string]bool // parts of libibverbs that are missing
}

func (r *Report) add(about string, s Severity, mend []string, means, found string, args ...any) {
	r.Findings = append(r.Findings, Finding{
		About: about, Severity: s, Found: fmt.Sprintf(found, args...), Means: means, Mend: mend,
	})
}

// firstLab is short, and shows packets that a learner knows from no other tool.
const firstLab = "first-write"

// conclude says which lab works.
func (r *Report) conclude(m Machine) {
	r.Lab = Lab{Command: "rdmaprep lab " + firstLab, Mendable: true}
	for _, f := range r.Findings {
		if f.Severity != Failure {
			continue
		}
		r.Lab.Because = append(r.Lab.Because, f.Found)
		r.Lab.Mendable = r.Lab.Mendable && len(f.Mend) > 0
		for _, command := range f.Mend {
			if !slices.Contains(r.Lab.Mend, command) {
				r.Lab.Mend = append(r.Lab.Mend, command)
			}
		}
	}
	if r.Lab.Because != nil {
		return
	}
	for _, d := range r.Devices {
		if !d.Usable {
			continue
		}
		for _, p := range d.Ports {
			if i := p.Chosen(); i >= 0 && p.State == portActive {
				r.Lab.Live = true
				r.Lab.Device, r.Lab.Port, r.Lab.GIDIndex, r.Lab.GID = d.Name, p.Num, p.GIDs[i].Index, p.GIDs[i].GID
				r.Lab.Command += " --device " + d.Name
				return
			}
		}
	}
}
