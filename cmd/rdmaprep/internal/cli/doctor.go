package cli

import (
	"github.com/spf13/cobra"

	"rdmaprep/cmd/rdmaprep/internal/doctor"
	"rdmaprep/sim/ibv"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine can run, why not, and the command that mends it",
		Long: "Look at the kernel, its RDMA module, libibverbs, devices, ports, GIDs and limits, and say\n" +
			"whether labs can run on a real RDMA device here. Each finding says what it means and how to\n" +
			"mend it. Nothing is changed. The exit status is 0 whether labs run live or on the model:\n" +
			"--json has lab.live.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m := a.machine()
			if !ibv.Supported() {
				m.NoLive = ibv.ErrUnsupported.Error()
			}
			report := doctor.Examine(m)
			if asJSON {
				return a.json(report)
			}
			return report.WriteText(a.host.Out)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
