package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"rdmaprep/cmd/rdmaprep/internal/ladder"
	"rdmaprep/sim/ibv"
	"rdmaprep/sim/model"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
)

// maxScriptBytes bounds the scripts that are read.
const maxScriptBytes = 4 << 20

func (a *app) runCommand() *cobra.Command {
	var trace, asJSON bool
	var seed uint64
	var profile, device string
	var pcap pcapFlags
	var two twoHosts
	var onto wireFlags
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Run a script and print its transcript; - reads standard input",
		Long: "Run a script on the software model, or with --device on a real RDMA device, and print its\n" +
			"transcript. The exit status is 1 if an expect fails. --trace adds every packet, state change\n" +
			"and timer of the model with its time.\n\n" +
			"With --role and --peer the script runs on two hosts with a device each: give the same file to\n" +
			"both, to one with the script's first node as its role (it drives the run), to the other with its\n" +
			"second.\n\n" +
			"With --wire a node of the model is a host on a real wire. With --device it is the script's second\n" +
			"node, at the other end of the TAP interface that the device is on, and fault lines work: the model\n" +
			"drops, delays, repeats. With --role and --peer the model is that node, for a device on another host.",
		Args: oneArg("name the script to run, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkProfile(cmd.Context(), profile); err != nil {
				return err
			}
			for _, check := range []func(*cobra.Command) error{pcap.check, onto.check, two.check} {
				if err := check(cmd); err != nil {
					return err
				}
			}
			src, err := a.readScript(args[0])
			if err != nil {
				return err
			}
			name := args[0]
			if name == "-" {
				name = "standard input"
			}
			sc, err := script.Parse(name, src)
			if err != nil {
				return err
			}
			host := &hostFlags{device, &onto, profile, trace, asJSON, &pcap}
			if two.asked() {
				return a.runTwoHosts(cmd.Context(), sc, &two, host)
			}
			if onto.asked() {
				return a.runJoined(cmd.Context(), sc, host)
			}
			if cmd.Flags().Changed("device") {
				if err := onDevice(cmd, sc, "profile", "seed", "trace", "pcap"); err != nil {
					return err
				}
				return a.runLive(cmd.Context(), sc, device, asJSON)
			}
			if cmd.Flags().Changed("seed") {
				sc.Seed = seed
			}
			return a.runScript(cmd.Context(), sc, profile, trace, asJSON, &pcap)
		},
	}
	pcap.add(cmd)
	two.add(cmd)
	onto.add(cmd)
	cmd.Flags().BoolVar(&trace, "trace", false, "print the trace too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&device, "device", "", deviceUsage)
	cmd.Flags().StringVar(&profile, "profile", "spec", "the model's profile: spec or rxe-6.1")
	cmd.Flags().Uint64Var(&seed, "seed", 0, "take permitted reorderings from this seed; 0 is program order (default: the script's own)")
	return cmd
}

func (a *app) readScript(name string) ([]byte, error) {
	in := a.host.In
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("cannot read the script: %w", err)
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	src, err := io.ReadAll(io.LimitReader(in, maxScriptBytes+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the script: %w", err)
	}
	if len(src) > maxScriptBytes {
		return nil, fmt.Errorf("the script %s is larger than %d bytes, the limit: split it", name, maxScriptBytes)
	}
	return src, nil
}

func (a *app) runScript(ctx context.Context, sc *script.Script, profile string, trace, asJSON bool, pcap *pcapFlags) error {
	b, err := model.Open(ctx, model.Options{Profile: profile, Seed: sc.Seed, Nodes: sc.Nodes, Trace: true})
	if err != nil {
		return err
	}
	defer func() { _ = b.Close() }() // a model's Close gives memory back and cannot lose anything
	sess, res, err := script.RunAll(ctx, b, sc)
	if err != nil {
		return err
	}
	if err := pcap.write(b.Trace()); err != nil {
		return err
	}
	if asJSON {
		if err := a.json(runJSON(b, sess, res, profile, sc.Seed, trace)); err != nil {
			return err
		}
	} else {
		a.printf("%s", sess.TranscriptText())
		if trace {
			a.printf("\ntrace, profile %s, seed %d\n", profile, sc.Seed)
			printTrace(a.host.Out, b.Trace())
		}
	}
	return a.verdict(sc, res)
}

// runLive runs a script on a real device.
func (a *app) runLive(ctx context.Context, sc *script.Script, device string, asJSON bool) (err error) {
	b, err := a.openDevice(ctx, device, sc.Nodes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	sess, res, err := script.RunAll(ctx, b, sc)
	err = a.broken(ctx, b.Bench, sc, res, err)
	if asJSON {
		out := runJSON(b, sess, res, b.Profile(), 0, false)
		if err != nil {
			out.Passed, out.Error = false, err.Error()
		}
		if werr := a.json(out); err == nil {
			err = werr
		}
	} else {
		a.printf("%s", sess.TranscriptText()) // as far as it went
	}
	if err != nil {
		return err
	}
	err = a.verdict(sc, res)
	if endless := b.Endless(); err != nil && endless != "" {
		fmt.Fprintf(a.host.Err, "  %s\n", strings.ReplaceAll(endless, "\n", "\n  "))
	}
	return err
}

// broken is why a run on a device ended before its script did; nil if it did not.
func (a *app) broken(ctx context.Context, b *ibv.Bench, sc *script.Script, res *script.Result, err error) error {
	var open *ibv.OpenError
	switch gone := b.Present(); {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("%w\n  Interrupted: the device is closed, and nothing of the run is left on it", err)
	case gone == nil || errors.As(err, &open):
		return a.explain(err)
	case res.Failed != nil: // what a call says of a device that is gone is a consequence
		return a.explain(fmt.Errorf("%s:%d: %s: %w", sc.Name, res.Failed.Line, res.Failed.Text, gone))
	default:
		return a.explain(gone)
	}
}

// verdict says which line failed, if one did.
func (a *app) verdict(sc *script.Script, res *script.Result) error {
	if res.Failed == nil {
		return nil
	}
	fmt.Fprintf(a.host.Err, "%s:%d: %s\n  %s\n", sc.Name, res.Failed.Line, res.Failed.Text, res.Failed.Got)
	return errSilent
}

// traceLine is one trace event as JSON.
type traceLine struct {
	Seq   int    `json:"seq"`
	Cause int    `json:"cause"`
	AtNS  int64  `json:"at_ns"`
	Node  string `json:"node"`
	Peer  string `json:"peer,omitempty"`
	QPNum uint32 `json:"qp_num,omitempty"`
	Text  string `json:"text"`
	Lost  string `json:"lost,omitempty"`
}

func printTrace(w io.Writer, events []verbs.TraceEvent) {
	for _, l := range ladder.Lines(events) {
		fmt.Fprintf(w, "%4d %12s  %-5s %s\n", l.Event.Seq, ladder.Millis(l.Event.At), l.Arrow(), l)
	}
}

// runResult is a run as JSON.
type runResult struct {
	Profile    string      `json:"profile"`
	Seed       uint64      `json:"seed"`
	Passed     bool        `json:"passed"`
	Failed     string      `json:"failed,omitempty"`
	Got        string      `json:"got,omitempty"`
	Line       int         `json:"line,omitempty"`
	Error      string      `json:"error,omitempty"` // of a live device: what ended the run early
	Transcript []string    `json:"transcript"`
	Digest     string      `json:"digest"`
	Trace      []traceLine `json:"trace,omitempty"`
}

func runJSON(b verbs.Bench, sess *script.Session, res *script.Result, profile string, seed uint64, trace bool) runResult {
	out := runResult{Profile: profile, Seed: seed, Passed: res.Failed == nil, Digest: sess.Digest(), Transcript: []string{}}
	if f := res.Failed; f != nil {
		out.Failed, out.Got, out.Line = f.Text, f.Got, f.Line
	}
	for _, l := range sess.Transcript() {
		out.Transcript = append(out.Transcript, l.Text)
	}
	if t, ok := b.(verbs.Tracer); ok && trace {
		out.Trace = traceJSON(t.Trace())
	}
	return out
}

func traceJSON(events []verbs.TraceEvent) (out []traceLine) {
	for _, l := range ladder.Lines(events) {
		e := l.Event
		out = append(out, traceLine{
			Seq: e.Seq, Cause: e.Cause, AtNS: int64(e.At), Node: e.Node, Peer: e.Peer, QPNum: e.QPNum, Text: l.Text, Lost: l.Lost,
		})
	}
	return out
}
