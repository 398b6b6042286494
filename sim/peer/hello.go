package peer

import (
	"fmt"
)

// Hello is what a side tells of itself before anything is run.
type Hello struct {
	Role     string   // its node
	Digest   [32]byte // SHA-256 of the script's text
	Script   string   // the script's name, for messages
	Device   string   // such as "rxe0"
	Profile  string   // of its Bench
	Live     bool
	Faults   bool // its Bench can be made to fail: fault lines are for this side
	Wire     bool // a model whose node is a host on a real network
	GIDIndex int  // the GID of port 1 that its node uses
	Datagram int  // the largest datagram that it takes, MinDatagram to MaxDatagram; 0 is MaxDatagram

	// Layout is filled in by this package: what the bodies look like.
	Layout uint32
}

// filled is the hello as it is sent.
func (h Hello) filled() Hello {
	h.Layout = layouts()
	if h.Datagram <= 0 || h.Datagram > MaxDatagram {
		h.Datagram = MaxDatagram
	}
	h.Datagram = max(h.Datagram, MinDatagram)
	h.Role, h.Script, h.Device, h.Profile = line(h.Role, 64), line(h.Script, 256), line(h.Device, 64), line(h.Profile, 64)
	return h
}

// fits compares the driving side's hello with the serving side's, nil if they
// are for the same run. The text is the same whoever asks.
func fits(driver, server Hello) error {
	d, s := driver.filled(), server
	d.Layout = driver.Layout
	at := func(h Hello) string { return fmt.Sprintf("node %s (device %s)", h.Role, h.Device) }
	what := ""
	switch {
	case d.Layout != s.Layout:
		what = "they are different builds of rdmaprep: install the same one on both hosts"
	case d.Role == s.Role:
		what = fmt.Sprintf("both have --role %s: give one of them the other node", s.Role)
	case d.Digest != s.Digest:
		what = fmt.Sprintf("the scripts differ: %s has %s with SHA-256 %.8x, %s has %s with SHA-256 %.8x: copy one file to both hosts",
			d.Role, d.Script, d.Digest, s.Role, s.Script, s.Digest)
	case d.Live != s.Live && (d.Wire || s.Wire):
		return nil // a device and a model that reaches it; their profiles differ
	case d.Live != s.Live:
		word := map[bool]string{true: "a real device", false: "the model"}
		what = fmt.Sprintf("%s is %s and %s is %s: use the same kind on both, or put the model on a wire with --wire", at(d), word[d.Live], at(s), word[s.Live])
	case d.Profile != s.Profile:
		what = fmt.Sprintf("%s has profile %s and %s has profile %s: use one profile", at(d), d.Profile, at(s), s.Profile)
	default:
		return nil
	}
	return &MismatchError{What: what}
}

// otherVersion is the mismatch of a datagram of another version.
func otherVersion(theirs uint8) error {
	return &MismatchError{What: fmt.Sprintf("version %d of the datagrams here, version %d there: install the same rdmaprep on both hosts", Version, theirs)}
}
