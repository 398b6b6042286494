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
	"rdmaprep/cmd/rdmaprep/internal/frames"
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
	drivers, under := map[string]string{}, map[string]string{}
	for _, d := range m.Devices() {
		drivers[d.Name], under[d.Name] = d.Driver, d.Netdev
	}
	var out []study.Live
	for _, info := range infos {
		driver := drivers[info.Name]
		d := study.Live{
			Name: info.Name, Flags: "--device " + info.Name, Profile: behaves(driver, m.Release),
			About:   "a real device, driver " + cmp.Or(driver, "unknown") + ", Linux " + m.Release,
			Refused: func(err error) bool { return errors.Is(err, ibv.ErrHurtsKernel) },
		}
		d.Open = func(ctx context.Context) (verbs.Bench, error) { return a.openDevice(ctx, info.Name, nil) }
		out = append(out, d)
		if tap := under[info.Name]; frames.IsTap(tap) {
			out = append(out, a.peered(d, tap))
		}
	}
	return out, nil
}

// joinedName is what a device is called whose node b is the model's.
func joinedName(device, tap string) string { return device + ", peer MODEL on " + tap }

// peered is the device with the model at the other end of its interface, which
// follows the device's profile if the model has it.
func (a *app) peered(d study.Live, tap string) study.Live {
	onto := wireFlags{wire: tap}
	if a.onto.wire == tap {
		onto = a.onto
	}
	device := d.Name
	d.Name, d.Peer, d.Flags = joinedName(device, tap), true, d.Flags+" --wire "+tap
	d.About = "node a on the device, node b the model's: fault lines work, and the packets are the wire's own"
	d.Open = func(ctx context.Context) (verbs.Bench, error) {
		return a.openJoined(ctx, device, &onto, d.Profile, []string{"a", "b"})
	}
	return d
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
func (a *app) openDevice(ctx context.Context, device string, nodes []string) (profiled, error) {
	b, err := ibv.Open(ctx, ibv.Options{Device: device, Nodes: nodes, Clock: ibv.Clock{Now: a.host.Now, Pause: pause}})
	if err != nil {
		return profiled{}, a.explain(err)
	}
	m := a.machine()
	live := profiled{Bench: b}
	for _, d := range m.Devices() {
		if d.Name == device {
			live.profile = behaves(d.Driver, m.Release)
		}
	}
	return live, nil
}

// deviceError is a trouble with a live device and the way out of it.
type deviceError struct {
	error
	found []doctor.Finding // what is in the way, in the order to mend it
}

func (e *deviceError) Unwrap() error { return e.error }

func (e *deviceError) Error() string {
	var b strings.Builder
	b.WriteString(e.error.Error())
	for _, f := range e.found {
		b.WriteString("\n  doctor: " + f.Found)
		if len(f.Mend) == 0 {
			b.WriteString("\n    " + f.Means)
		}
		for _, command := range f.Mend {
			b.WriteString("\n    $ " + command)
		}
	}
	b.WriteString("\n  rdmaprep doctor tells more; without --device it runs on the model.")
	return b.String()
}

// explain adds to a trouble with a device what doctor finds: the commands of
// this distribution, for this user and for the interface that is there. Of a
// device that was named wrongly the list of those that are there is enough.
func (a *app) explain(err error) error {
	var open *ibv.OpenError
	if !errors.As(err, &open) {
		return err
	}
	out := &deviceError{error: err}
	if open.Trouble == ibv.NoSuchDevice || open.Trouble == ibv.Gone {
		return out
	}
	short := *open
	short.Fix = ""
	mend := false
	for _, f := range doctor.Examine(a.machine()).Findings {
		about := f.About == open.Device && f.Severity == doctor.Warning // another device works
		if f.Severity != doctor.Failure && !about || f.About == "namespace" {
			continue
		}
		out.found = append(out.found, f)
		mend = mend || len(f.Mend) > 0
	}
	if mend && open.Trouble != ibv.CannotOpen && open.Trouble != ibv.OldLibrary {
		out.error = &short // doctor's commands are closer
	}
	return out
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
	if cmd.Flags().Lookup("device").Value.String() == "" {
		return usagef("--device wants the name of a device, such as rxe0: rdmaprep doctor lists them; leave it out for the model")
	}
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
