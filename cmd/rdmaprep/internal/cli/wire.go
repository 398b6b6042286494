package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rdmaprep/cmd/rdmaprep/internal/ladder"
	"rdmaprep/sim/wire"
)

func (a *app) wireCommand() *cobra.Command {
	var fields, asJSON bool
	cmd := &cobra.Command{
		Use:   "wire FILE",
		Short: "Show a RoCEv2 capture as a ladder; - reads standard input",
		Long: "Show a capture (pcap or pcapng, of run --pcap or of real hosts) as a ladder: frame, time, from,\n" +
			"to, and the packet in words. Times are since the first frame, or device time if the model wrote the\n" +
			"capture. The model's nodes are a, b ...; every other endpoint is its IP address. Frames that are\n" +
			"not RoCEv2 are counted. --fields adds every field with its offset, its bits and its bytes.",
		Args: oneArg("name the capture to show, or - for standard input"),
		RunE: func(_ *cobra.Command, args []string) error {
			frames, readErr := a.readCapture(args[0])
			if readErr != nil && len(frames) == 0 {
				return readErr
			}
			c := takeApart(frames)
			if !asJSON {
				return errors.Join(c.print(a.host.Out, fields), readErr)
			}
			if fields {
				if err := c.addFields(); err != nil {
					return err
				}
			}
			return errors.Join(a.json(c), readErr)
		},
	}
	cmd.Flags().BoolVar(&fields, "fields", false, "every field with offset, bits and bytes")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// readCapture gives the frames that could be read, and an error if there should
// be more.
func (a *app) readCapture(name string) ([]wire.TimedFrame, error) {
	in := a.host.In
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("cannot read the capture: %w", err)
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	} else {
		name = "standard input"
	}
	frames, err := wire.ReadPCAP(in)
	switch {
	case err == nil:
		return frames, nil
	case len(frames) == 0 && errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%s is too short to be a capture: it should be pcap or pcapng", name)
	case len(frames) > 0:
		return frames, fmt.Errorf("%s cannot be read after its frame %d: %w", name, len(frames), err)
	}
	return nil, fmt.Errorf("%s: %w", name, err)
}

// capture is a capture taken apart.
type capture struct {
	Frames int            `json:"frames"`
	RoCE   int            `json:"roce"`
	Others map[string]int `json:"others"`          // frames that are not RoCEv2, by name
	Nodes  []modelNode    `json:"nodes,omitempty"` // nodes of the model that were seen
	Rows   []wireRow      `json:"packets"`
	start  time.Duration
}

type modelNode struct {
	Name string `json:"name"`
	IP   string `json:"ip"`
}

// wireRow is one RoCEv2 frame.
type wireRow struct {
	Frame   int         `json:"frame"` // its number in the capture, from 1
	AtNS    int64       `json:"at_ns"` // since 1970, or device time
	From    string      `json:"from"`
	To      string      `json:"to"`
	SrcIP   string      `json:"src_ip"`
	DstIP   string      `json:"dst_ip"`
	Opcode  string      `json:"opcode,omitempty"`
	DestQP  uint32      `json:"dest_qp"`
	PSN     uint32      `json:"psn"`
	Summary string      `json:"summary"`
	Problem string      `json:"problem,omitempty"`
	Fields  []wireField `json:"fields,omitempty"`
	bytes   []byte
}

type wireField struct {
	Layer  string `json:"layer"`
	Name   string `json:"name"`
	Value  string `json:"value"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
	Bits   string `json:"bits,omitempty"`
	Bytes  string `json:"bytes"`
}

func takeApart(frames []wire.TimedFrame) *capture {
	c := &capture{Frames: len(frames), Others: map[string]int{}, Rows: []wireRow{}}
	// Device time starts at 0; a clock of a real host is long past the first day.
	if len(frames) > 0 && frames[0].At > 24*time.Hour {
		c.start = frames[0].At
	}
	nodes := map[string]string{}
	for i, f := range frames {
		var p wire.Packet
		err := decodeFrame(f, &p)
		if not, ok := errors.AsType[*wire.NotRoCEError](err); ok {
			c.Others[protocolName(not)]++
			continue
		}
		row := wireRow{
			Frame: i + 1, AtNS: int64(f.At), From: endpoint(p.Src, p.SrcMAC, nodes), To: endpoint(p.Dst, p.DstMAC, nodes),
			SrcIP: p.Src.IP().String(), DstIP: p.Dst.IP().String(), DestQP: p.BTH.DestQP, PSN: p.BTH.PSN, bytes: f.Frame,
		}
		if err != nil {
			row.Problem = err.Error()
		}
		if whole(err) {
			row.Opcode, row.Summary = p.BTH.Opcode.String(), wire.Summary(&p)
		}
		c.RoCE++
		c.Rows = append(c.Rows, row)
	}
	for _, ip := range slices.Sorted(maps.Keys(nodes)) {
		c.Nodes = append(c.Nodes, modelNode{Name: nodes[ip], IP: ip})
	}
	return c
}

// decodeFrame is wire.Decode, which also reads the headers of a frame that the
// capture cut short behind them; the error says then that it is cut.
func decodeFrame(f wire.TimedFrame, p *wire.Packet) error {
	if f.Len <= len(f.Frame) || f.Len > wire.MaxFrameBytes {
		return wire.Decode(f.Frame, p)
	}
	filled := make([]byte, f.Len)
	copy(filled, f.Frame)
	err := wire.Decode(filled, p)
	if _, not := errors.AsType[*wire.NotRoCEError](err); not {
		return err
	}
	headers := p.FrameLen() - len(p.Payload) - p.Pad() - icrcBytes
	if whole(err) && headers <= len(f.Frame) {
		return &cutError{have: len(f.Frame), want: f.Len, headers: true}
	}
	return &cutError{have: len(f.Frame), want: f.Len}
}

const icrcBytes = 4

// cutError is a frame of which the capture holds only the beginning.
type cutError struct {
	have, want int  // bytes
	headers    bool // all headers are there
}

func (e *cutError) Error() string {
	return fmt.Sprintf("the capture holds %d of its %d bytes: capture with a longer snap length", e.have, e.want)
}

// endpoint names a node of the model by its letter and notes it; every other
// endpoint is its IP address. The model's node n has the address 10.0.0.n and
// the locally administered MAC 02:00:00:00:00:n.
func endpoint(at wire.Addr, mac wire.MAC, nodes map[string]string) string {
	ip := at.IP()
	n := at[15]
	if ip.Is4() && ip.As4() == [4]byte{10, 0, 0, n} && mac == (wire.MAC{0x02, 0, 0, 0, 0, n}) && n >= 1 && n <= 26 {
		name := string(rune('a' + n - 1))
		nodes[ip.String()] = name
		return name
	}
	return ip.String()
}

// whole says that a frame was taken apart to its end in spite of the error.
func whole(err error) bool {
	if err == nil {
		return true
	}
	_, op := errors.AsType[*wire.OpcodeError](err)
	_, sum := errors.AsType[*wire.ChecksumError](err)
	_, crc := errors.AsType[*wire.ICRCError](err)
	cut, isCut := errors.AsType[*cutError](err)
	return op || sum || crc || isCut && cut.headers
}

// protocolName is what a person calls a frame that is not RoCEv2.
func protocolName(e *wire.NotRoCEError) string {
	names := map[string]map[uint32]string{
		"ethertype":        {0x0806: "ARP", 0x88cc: "LLDP", 0x8808: "Ethernet flow control (PFC, pause)", 0x8915: "RoCE v1"},
		"protocol":         {1: "ICMP", 2: "IGMP", 6: "TCP"},
		"next header":      {0: "IPv6 with hop-by-hop options", 6: "TCP", 58: "ICMPv6"},
		"destination port": {},
		"fragment field":   {e.Value: "IPv4 fragment"},
	}
	if name, ok := names[e.What][e.Value]; ok {
		return name
	}
	switch e.What {
	case "destination port":
		return fmt.Sprintf("UDP to port %d", e.Value)
	case "ethertype":
		if e.Value < 0x0600 {
			return "IEEE 802.3 with a length" // STP and the like: below 0x0600 it is no type
		}
		return fmt.Sprintf("ethertype 0x%04x", e.Value)
	}
	return fmt.Sprintf("%s %s %d", e.Layer, e.What, e.Value)
}

// maxFieldFrames bounds the frames whose fields are printed as JSON, which is
// built in memory.
const maxFieldFrames = 1 << 14

func (c *capture) addFields() error {
	if len(c.Rows) > maxFieldFrames {
		return &wire.LimitError{What: "frames with their fields as JSON", Limit: maxFieldFrames}
	}
	for i := range c.Rows {
		c.Rows[i].Fields = fieldsOf(c.Rows[i].bytes)
	}
	return nil
}

func fieldsOf(frame []byte) []wireField {
	list, _ := wire.Fields(frame) // the error is the row's problem already
	out := make([]wireField, len(list))
	for i, f := range list {
		out[i] = wireField{
			Layer: f.Layer, Name: f.Name, Value: f.Value, Offset: f.Offset, Length: f.Length, Bits: f.Bits(),
			Bytes: fmt.Sprintf("%x", frame[f.Offset:f.Offset+f.Length]),
		}
	}
	return out
}

// print writes the ladder, then what it leaves out.
func (c *capture) print(out io.Writer, fields bool) error {
	w := bufio.NewWriter(out)
	from, to := 1, 1
	for _, r := range c.Rows {
		from, to = max(from, len(r.From)), max(to, len(r.To))
	}
	for _, r := range c.Rows {
		text := r.Summary
		if r.Problem != "" {
			text = strings.TrimPrefix(text+"  (!) "+r.Problem, "  ")
		}
		at := ladder.Millis(time.Duration(r.AtNS) - c.start)
		fmt.Fprintf(w, "%5d %14s  %-*s -> %-*s  %s\n", r.Frame, at, from, r.From, to, r.To, text)
		if fields {
			printFields(w, r.bytes)
		}
	}
	if len(c.Rows) > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s, %d of RoCEv2", count(c.Frames, "frame"), c.RoCE)
	for i, name := range slices.Sorted(maps.Keys(c.Others)) {
		sep := ", "
		if i == 0 {
			sep = "; not shown: "
		}
		fmt.Fprintf(w, "%s%d %s", sep, c.Others[name], name)
	}
	fmt.Fprintln(w)
	for _, n := range c.Nodes {
		fmt.Fprintf(w, "%s is %s, a node of the model\n", n.Name, n.IP)
	}
	return w.Flush()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// bytesPerLine is how many bytes of a field stand on a line.
const bytesPerLine = 8

// printFields writes a line a field: offset, bytes, layer, name, value. The
// bytes that do not fit go on below.
func printFields(w io.Writer, frame []byte) {
	list, _ := wire.Fields(frame) // the error is the row's problem already
	for _, f := range list {
		b := frame[f.Offset : f.Offset+f.Length]
		name := f.Name
		if bits := f.Bits(); bits != "" {
			name += " [" + bits + "]"
		}
		n := min(len(b), bytesPerLine)
		value := f.Value
		if f.Layer == "Payload" || f.Layer == "Data" || f.Layer == "Trailer" {
			value = count(f.Length, "byte") // all of them stand to the left
		}
		fmt.Fprintf(w, "      %5d  %-*s  %-10s %-24s %s\n", f.Offset, 3*bytesPerLine-1, fmt.Sprintf("% x", b[:n]), f.Layer, name, value)
		for at := n; at < len(b); at += bytesPerLine {
			fmt.Fprintf(w, "      %5d  % x\n", f.Offset+at, b[at:min(at+bytesPerLine, len(b))])
		}
	}
}
