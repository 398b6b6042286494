package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rdmaprep/cmd/rdmaprep/internal/doctor"
	"rdmaprep/cmd/rdmaprep/internal/softroce"
)

func (a *app) rxeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rxe",
		Short: "Make and remove Soft-RoCE devices, as root",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.rxeAdd(), a.rxeRemove())
	return cmd
}

func (a *app) softroce() softroce.Host {
	return softroce.Host{Kernel: rdmaKernel{}, Look: a.machine, After: time.After}
}

func (a *app) rxeAdd() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "add IFACE",
		Short: "Make a Soft-RoCE device on a network interface",
		Long: "Make a Soft-RoCE device on a network interface, as rdma link add NAME type rxe netdev IFACE\n" +
			"does. Needs root. The device is gone after a reboot, or with rdmaprep rxe remove NAME.",
		Args: oneArg("name the interface, such as eth0; ip -br link lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := a.softroce().Add(cmd.Context(), name, args[0])
			if err != nil {
				return err
			}
			a.printf("Made %s on %s. The same by hand: %s\n", name, args[0], softroce.AddCommand(name, args[0]))
			a.printf("To remove it: rdmaprep rxe remove %s\n", name)
			a.describeLink(d)
			switch {
			case d.Netdev == "lo":
				a.printf("On lo most messages wait for a timer: an interface of type dummy is quick (ip link add dummy0 type dummy).\n")
			case !strings.HasPrefix(d.Netdev, "dummy"):
				a.printf("Hosts that reach %s now reach the device too: RoCEv2 is UDP port 4791.\n", d.Netdev)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "name", "rxe0", "what the device is called")
	return cmd
}

// describeLink says whether a new device can be used.
func (a *app) describeLink(d doctor.Device) {
	for _, p := range d.Ports {
		state := fmt.Sprintf("Port %d is %s", p.Num, p.State)
		if i := p.Chosen(); i >= 0 {
			a.printf("%s; labs take GID index %d, %s.\n", state, p.GIDs[i].Index, p.GIDs[i].GID)
			continue
		}
		a.printf("%s, and no GID has an IPv4 address yet: rdmaprep doctor says how to mend it.\n", state)
	}
}

func (a *app) rxeRemove() *cobra.Command {
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a Soft-RoCE device that no program has open",
		Long: "Remove a Soft-RoCE device, as rdma link delete NAME does. Needs root. While a program has\n" +
			"the device open the kernel would wait for it without an end, so the device is looked at\n" +
			"first: if it is still in use after --wait, nothing is changed and the programs are named.",
		Args: oneArg("name the device, such as rxe0; rdmaprep doctor lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if wait < 0 || wait > time.Hour {
				return usagef("--wait %v: give 0s to 1h", wait)
			}
			if err := a.softroce().Remove(cmd.Context(), args[0], wait); err != nil {
				return err
			}
			a.printf("Removed %s. The same by hand: %s\n", args[0], softroce.RemoveCommand(args[0]))
			return nil
		},
	}
	cmd.Flags().DurationVar(&wait, "wait", 5*time.Second, "how long to wait for programs that have it open")
	return cmd
}
