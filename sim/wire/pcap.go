package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/pcapgo"
)

// Limits of a capture that is read or written.
const (
	MaxCaptureFrames = 1 << 20
	MaxCaptureBytes  = 1 << 28 // of frames
	MaxFrameBytes    = 1 << 17 // one frame; the longest IP packet is half of it
)

// linkEthernet is LINKTYPE_ETHERNET of the pcap format.
const linkEthernet = 1

// pcapngMagic opens the other format that Wireshark writes.
var pcapngMagic = [4]byte{0x0a, 0x0d, 0x0d, 0x0a}

// TimedFrame is an Ethernet frame and when it was seen.
type TimedFrame struct {
	At    time.Duration // since the clock's zero; 1970 in a capture of real hosts
	Frame []byte
	// Len is the frame's length on the wire when the capture cut it short;
	// 0 means that Frame is whole.
	Len int
}

// WritePCAP writes frames as a pcap file with nanoseconds and link type
// Ethernet. Times before zero and frames beyond the limits are errors, the
// latter *[LimitError]; nothing is promised about what w has received then.
func WritePCAP(w io.Writer, frames []TimedFrame) error {
	if len(frames) > MaxCaptureFrames {
		return &LimitError{What: "frames in a capture", Limit: MaxCaptureFrames}
	}
	bw := bufio.NewWriter(w)
	pw := pcapgo.NewWriterNanos(bw)
	if err := pw.WriteFileHeader(MaxFrameBytes, linkEthernet); err != nil {
		return err
	}
	for i, f := range frames {
		if f.At < 0 || f.At/time.Second > 1<<32-1 {
			return fmt.Errorf("frame %d: time %v does not fit a pcap file (0 to 2106)", i+1, f.At)
		}
		if len(f.Frame) > MaxFrameBytes {
			return &LimitError{What: "bytes of a frame", Limit: MaxFrameBytes}
		}
		ci := gopacket.CaptureInfo{
			Timestamp: time.Unix(0, int64(f.At)), CaptureLength: len(f.Frame), Length: max(f.Len, len(f.Frame)),
		}
		if err := pw.WritePacket(ci, f.Frame); err != nil {
			return fmt.Errorf("frame %d: %w", i+1, err)
		}
	}
	return bw.Flush()
}

// frameReader is what both readers of pcapgo have.
type frameReader interface {
	ReadPacketData() ([]byte, gopacket.CaptureInfo, error)
}

// ReadPCAP reads a capture in pcap (micro- or nanoseconds, either byte order,
// gzip too) or pcapng format. The link type must be Ethernet. A capture beyond
// the limits is a *[LimitError]; a file that ends inside a frame gives the
// frames before it and an error.
func ReadPCAP(r io.Reader) ([]TimedFrame, error) {
	br := bufio.NewReader(r)
	magic, err := br.Peek(len(pcapngMagic))
	if err != nil {
		return nil, fmt.Errorf("not a capture: %w", err)
	}
	var fr frameReader
	var link int
	if [4]byte(magic) == pcapngMagic {
		ng, err := pcapgo.NewNgReader(io.LimitReader(br, 2*MaxCaptureBytes), pcapgo.DefaultNgReaderOptions)
		if err != nil {
			return nil, fmt.Errorf("pcapng header: %w", err)
		}
		fr, link = ng, int(ng.LinkType())
	} else {
		pr, err := pcapgo.NewReader(br)
		if err != nil {
			return nil, fmt.Errorf("pcap header: %w (want a pcap or pcapng file)", err)
		}
		// The header's snap length is the sender's word; ours is the limit.
		pr.SetSnaplen(MaxFrameBytes)
		fr, link = pr, int(pr.LinkType())
	}
	if link != linkEthernet {
		return nil, fmt.Errorf("capture has link type %d, want Ethernet (%d): capture on the netdev, not on any", link, linkEthernet)
	}
	return readFrames(fr)
}

func readFrames(fr frameReader) ([]TimedFrame, error) {
	var out []TimedFrame
	total := 0
	for {
		data, ci, err := fr.ReadPacketData()
		if errors.Is(err, io.EOF) && len(data) == 0 && ci.CaptureLength == 0 {
			return out, nil
		}
		if err != nil {
			return out, fmt.Errorf("frame %d: %w", len(out)+1, err)
		}
		if len(out) >= MaxCaptureFrames {
			return out, &LimitError{What: "frames in a capture", Limit: MaxCaptureFrames}
		}
		if len(data) > MaxFrameBytes {
			return out, &LimitError{What: "bytes of a frame", Limit: MaxFrameBytes}
		}
		if total += len(data); total > MaxCaptureBytes {
			return out, &LimitError{What: "bytes in a capture", Limit: MaxCaptureBytes}
		}
		f := TimedFrame{At: time.Duration(ci.Timestamp.UnixNano()), Frame: data}
		if ci.Length > len(data) {
			f.Len = ci.Length
		}
		out = append(out, f)
	}
}
