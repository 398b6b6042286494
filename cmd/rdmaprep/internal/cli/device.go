package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rdmaprep/cmd/rdmaprep/internal/doctor"
	"rdmaprep/cmd/rdmaprep/internal/study"
	"rdmaprep/sim/ibv"
	"rdmaprep/sim/model"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
)

// deviceUsage is the flag that every command with a live device has.
const deviceUsage = "run on this RDMA device, such as rxe0, not on the model; rdmaprep doctor lists them"

// devices is what the learner can choose from.
func (a *app) devices() study.Devices {
	models := []study.Option{{About: "the specification; a lab or a question that names another profile keeps it"}}
	for _, p := range model.Profiles() {
		if p.Name != "spec" {
			models = append(models, study.Option{Choice: study.Choice{Profile: p.Name}, About: p.About})
		}
	}
	return study.Devices{Models: models, Find: a.findDevices}
}

// findDevices lists the live devices.
func (a *app) findDevices(context.Context) ([]study.Live, error) {
	infos, err := ibv.Devices(ibv.Options{})
	if err != nil {
		return nil, err
	}
	m := a.machine()
	drivers := map[string]string{}
	for _, d := range m.Devices() {
		drivers[d.Name] = d.Driver
	}
	var out []study.Live
	for _, info := range infos {
		driver := drivers[info.Name]
		d := study.Live{
			Name: info.Name, Profile: behaves(driver, m.Release),
			About:   "a real device, driver " + cmp.Or(driver, "unknown") + ", Linux " + m.Release,
			Refused: func(err error) bool { return errors.Is(err, ibv.ErrHurtsKernel) },
		}
		d.Open = func(ctx context.Context) (verbs.Bench, error) { return a.openDevice(ctx, info.Name, nil) }
		out = append(out, d)
	}
	return out, nil
}

// rxeProfile is the model's profile of Soft-RoCE in the kernel of that series.
const rxeProfile, rxeSeries = "rxe-6.1", "6.1."

// behaves is the model's profile that a device behaves as, "" for none.
func behaves(driver, release string) string {
	if driver == doctor.RXEModule && strings.HasPrefix(release, rxeSeries) {
		return rxeProfile
	}
	return ""
}

// profiled is a live Bench on which the lines of a profile of the model count.
type profiled struct {
	*ibv.Bench
	profile string
}

// BehavesAs is that profile.
func (b profiled) BehavesAs() string { return b.profile }

// openDevice opens a live device, all nodes on it.
func (a *app) openDevice(ctx context.Context, device string, nodes []string) (verbs.Bench, error) {
	b, err := ibv.Open(ctx, ibv.Options{Device: device, Nodes: nodes, Clock: ibv.Clock{Now: a.host.Now, Pause: pause}})
	if err != nil {
		return nil, fmt.Errorf("%w; rdmaprep doctor tells more, and without --device it runs on the model", err)
	}
	m := a.machine()
	for _, d := range m.Devices() {
		if d.Name == device {
			return profiled{b, behaves(d.Driver, m.Release)}, nil
		}
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
