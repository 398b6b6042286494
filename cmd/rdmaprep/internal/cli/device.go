package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"rdmaprep/sim/ibv"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
)

// deviceUsage is the flag that every command with a live device has.
const deviceUsage = "run on this RDMA device, such as rxe0, not on the model; rdmaprep doctor lists them"

// openDevice opens a live device, all nodes on it.
func (a *app) openDevice(ctx context.Context, device string, nodes []string) (verbs.Bench, error) {
	b, err := ibv.Open(ctx, ibv.Options{Device: device, Nodes: nodes, Clock: ibv.Clock{Now: a.host.Now, Pause: pause}})
	if err != nil {
		return nil, fmt.Errorf("%w; rdmaprep doctor tells more, and without --device it runs on the model", err)
	}
	return b, nil
}

// pause waits for d or until ctx is done.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// onDevice refuses what a live device cannot do: the flags of the model, and
// scripts that need the model.
func onDevice(cmd *cobra.Command, sc *script.Script, modelFlags ...string) error {
	for _, name := range modelFlags {
		if cmd.Flags().Changed(name) {
			return usagef("--%s is of the model, and --device runs on a real device: leave one of them out", name)
		}
	}
	if n := sc.Needs(); n.ModelOnly() {
		return fmt.Errorf("%s needs the model (%s): leave --device out", sc.Name, n.OnlyModel())
	}
	return nil
}
