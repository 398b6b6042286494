package cli

import "github.com/vishvananda/netlink"

// rdmaKernel asks the running kernel through a netlink socket (NETLINK_RDMA).
type rdmaKernel struct{}

func (rdmaKernel) AddLink(name, iface string) error { return netlink.RdmaLinkAdd(name, "rxe", iface) }

func (rdmaKernel) RemoveLink(name string) error { return netlink.RdmaLinkDel(name) }

func (rdmaKernel) Contexts(name string) (int, error) {
	list, err := netlink.RdmaResourceList()
	if err != nil {
		return 0, err
	}
	for _, r := range list {
		if r.Name == name {
			return int(r.RdmaResourceSummaryEntries["ctx"]), nil
		}
	}
	return 0, nil
}
