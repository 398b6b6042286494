// Package wire is RoCEv2 on the wire: packets to bytes and bytes to packets.
//
// It promises that a frame built by [AppendFrame] is what a RoCEv2 NIC could
// have sent (Ethernet, optional 802.1Q tag, IPv4 or IPv6, UDP to port 4791,
// BTH, extension headers, payload, pad, ICRC); that [Decode] never panics,
// keeps every field the sender set, and says in a typed error what is wrong;
// and that a frame it accepts is rebuilt byte for byte by AppendFrame.
//
// [Packet] is a flat value whose only pointer is its payload, so a model may
// pass packets about and encode them only for those who want bytes.
//
// It does not judge a packet in its context: PSN order, MTU, keys and queue
// pair state belong to the receiver. It knows one IPv4 header (no options, no
// fragments), one VLAN tag and no IPv6 extension header: RoCEv2 senders use
// none of these, and the other forms are reported as [NotRoCEError].
package wire
