package doctor

import "fmt"

// Examine looks at a machine and reports what it can run.
func Examine(m Machine) Report {
	r := Report{
		Kernel:   fmt.Sprintf("%s %s on %s", m.OS, m.Release, m.Arch),
		Findings: []Finding{}, Devices: []Device{}, noProvider: map[string]bool{},
	}
	if m.OS != "linux" {
		r.add("system", Failure, nil,
			"Live labs need Linux, whose kernel has RDMA and Soft-RoCE. A Linux guest on this machine will do.",
			"this is %s", m.OS)
		r.conclude(m)
		return r
	}
	if m.NoLive != "" {
		r.add("program", Failure, nil,
			"The program can look at devices and not use them. Labs run on the model.",
			"%s", m.NoLive)
	}
	devices := m.Devices()
	m.examineKernel(&r, devices)
	m.examineModule(&r, devices)
	m.examineNamespace(&r, devices)
	m.examineLibrary(&r, devices)
	m.examineMemlock(&r, devices)
	m.examineDevices(&r, devices)
	r.conclude(m)
	return r
}
