package wire

import "fmt"

// ShortError is a frame that ends inside a layer.
type ShortError struct {
	Layer      string
	Need, Have int // bytes of that layer
}

// Error names the layer and both lengths.
func (e *ShortError) Error() string {
	return fmt.Sprintf("frame ends inside %s: %d bytes needed, %d there", e.Layer, e.Need, e.Have)
}

// NotRoCEError is a frame of another protocol, or of a form that RoCEv2
// senders do not use.
type NotRoCEError struct {
	Layer string // where it left the path: Ethernet, IPv4, IPv6, UDP
	What  string // "ethertype", "protocol", "destination port" ...
	Value uint32
}

// Error names the field and its value.
func (e *NotRoCEError) Error() string {
	return fmt.Sprintf("not RoCEv2: %s %s is %d (0x%x)", e.Layer, e.What, e.Value, e.Value)
}

// LengthError is a length field that contradicts the packet, or a payload
// that the opcode does not allow.
type LengthError struct {
	What       string // "IPv4 total length", "payload of RC_ACKNOWLEDGE" ...
	Want, Have int    // bytes
}

// Error names the length and both values.
func (e *LengthError) Error() string {
	return fmt.Sprintf("%s is %d bytes, should be %d", e.What, e.Have, e.Want)
}

// OpcodeError is a BTH opcode without a meaning. The packet is filled: all
// that follows the BTH is its payload.
type OpcodeError struct{ Opcode Opcode }

// Error gives the opcode.
func (e *OpcodeError) Error() string {
	return fmt.Sprintf("BTH opcode 0x%02x is reserved or unknown", uint8(e.Opcode))
}

// ChecksumError is a wrong IPv4 header checksum. The packet is filled.
type ChecksumError struct{ Want, Have uint16 }

// Error gives both values.
func (e *ChecksumError) Error() string {
	return fmt.Sprintf("IPv4 header checksum is 0x%04x, should be 0x%04x", e.Have, e.Want)
}

// ICRCError is a wrong invariant CRC: the packet was damaged or forged after
// its sender made it. The packet is filled. Values are as tshark shows them,
// the four bytes read big endian.
type ICRCError struct{ Want, Have uint32 }

// Error gives both values.
func (e *ICRCError) Error() string {
	return fmt.Sprintf("ICRC is 0x%08x, should be 0x%08x", e.Have, e.Want)
}

// LimitError is a capture larger than this package reads or writes.
type LimitError struct {
	What  string
	Limit int
}

// Error names the thing and its limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: limit is %d; cut the capture first (editcap -c or -r)", e.What, e.Limit)
}
