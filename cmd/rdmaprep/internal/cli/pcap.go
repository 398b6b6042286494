package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// pcapFlags say where the packets of a run are written, if anywhere.
type pcapFlags struct {
	file  string
	force bool
}

func (f *pcapFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "pcap", "", "write every packet, as its sender put it on the link or a fault line forged it, to this pcap file (lost ones too)")
	cmd.Flags().BoolVar(&f.force, "force", false, "overwrite the file of --pcap")
}

// check refuses a file that would be overwritten, before anything runs.
func (f *pcapFlags) check(cmd *cobra.Command) error {
	switch {
	case !cmd.Flags().Changed("pcap"):
		if f.force {
			return usagef("--force overwrites the file of --pcap, and there is no --pcap")
		}
		return nil
	case f.file == "":
		return usagef("--pcap needs the name of the file to write")
	case f.force:
		return nil
	}
	if _, err := os.Lstat(f.file); err == nil {
		return f.exists()
	}
	return nil
}

func (f *pcapFlags) exists() error {
	return fmt.Errorf("%s exists: --force overwrites it", f.file)
}

// write writes the packets of a trace; their times are device time.
func (f *pcapFlags) write(events []verbs.TraceEvent) (err error) {
	if f.file == "" {
		return nil
	}
	var frames []wire.TimedFrame
	for _, e := range events {
		if len(e.Frame) > 0 { // packets, and the copies that fault lines made
			frames = append(frames, wire.TimedFrame{At: e.At, Frame: e.Frame})
		}
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if f.force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	out, err := os.OpenFile(f.file, mode, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return f.exists()
	}
	if err != nil {
		return fmt.Errorf("cannot write the capture: %w", err)
	}
	err = errors.Join(wire.WritePCAP(out, frames), out.Close())
	if err != nil {
		return fmt.Errorf("writing the capture %s: %w", f.file, err)
	}
	return nil
}
