package script

import (
	"strings"

	"rdmaprep/sim/verbs"
)

// enum is a set of C constants that a value may name.
type enum struct {
	what  string
	names []string
	parse func(string) (uint64, bool)
	print func(uint64) string
	flags bool
}

func enumOf[T ~uint8 | ~uint32](what string, names []string, parse func(string) (T, bool)) *enum {
	return &enum{
		what: what, names: names,
		parse: func(s string) (uint64, bool) { v, ok := parse(s); return uint64(v), ok },
		print: func(n uint64) string {
			if s, ok := any(T(n)).(interface{ String() string }); ok {
				return s.String()
			}
			return ""
		},
	}
}

func flagsOf[T ~uint32](what string, names []string, parse func(string) (T, bool)) *enum {
	e := enumOf(what, names, parse)
	e.flags = true
	return e
}

var errnoEnum = &enum{
	what: "an errno such as EINVAL, or 0", names: append([]string{"0"}, verbs.ErrnoNames()...),
	parse: func(s string) (uint64, bool) {
		if s == "0" {
			return 0, true
		}
		for n := range uint64(200) {
			if verbs.ErrnoName(errno(n)) == strings.ToUpper(s) {
				return n, true
			}
		}
		return 0, false
	},
	print: func(n uint64) string { return errnoText(errno(n)) },
}

var mwTypeEnum = &enum{
	what: "the type of a memory window, 1 or 2", names: []string{"1", "2"},
	parse: func(s string) (uint64, bool) {
		switch strings.TrimPrefix(strings.ToUpper(s), "IBV_MW_TYPE_") {
		case "1":
			return 1, true
		case "2":
			return 2, true
		}
		return 0, false
	},
	print: func(n uint64) string { return string(rune('0' + n)) },
}

var mtuEnum = &enum{
	what: "an MTU: 256, 512, 1024, 2048 or 4096", names: []string{"256", "512", "1024", "2048", "4096"},
	parse: func(s string) (uint64, bool) { m, ok := verbs.ParseMTU(s); return uint64(m.Bytes()), ok },
	print: func(n uint64) string { return decimal(n) },
}

var boolEnum = &enum{
	what: "0 or 1", names: []string{"0", "1"},
	parse: func(s string) (uint64, bool) {
		if s == "0" || s == "1" {
			return uint64(s[0] - '0'), true
		}
		return 0, false
	},
	print: decimal,
}

var (
	qpTypeEnum   = enumOf("a QP type", []string{"RC", "UC", "UD"}, verbs.ParseQPType)
	qpStateEnum  = enumOf("a QP state", verbs.QPStateNames(), verbs.ParseQPState)
	wrOpcodeEnum = enumOf("an operation of a send queue", verbs.WROpcodeNames(), verbs.ParseWROpcode)
	wcOpcodeEnum = enumOf("the opcode of a completion", verbs.WCOpcodeNames(), verbs.ParseWCOpcode)
	wcStatusEnum = enumOf("a completion status", verbs.WCStatusNames(), verbs.ParseWCStatus)
	eventEnum    = enumOf("an asynchronous event", verbs.EventTypeNames(), verbs.ParseEventType)
	accessEnum   = flagsOf("access flags", verbs.AccessFlagNames(), verbs.ParseAccessFlags)
	sendEnum     = flagsOf("send flags", []string{"FENCE", "SIGNALED", "SOLICITED", "INLINE"}, verbs.ParseSendFlags)
	wcFlagsEnum  = flagsOf("completion flags", []string{"GRH", "WITH_IMM", "IP_CSUM_OK", "WITH_INV"}, verbs.ParseWCFlags)
)

// packetOpcodes are the BTH operations without their transport, as the wire
// counts and the fault lines name them (IBTA vol. 1, table 35).
var packetOpcodes = []string{
	"SEND_FIRST", "SEND_MIDDLE", "SEND_LAST", "SEND_LAST_WITH_IMMEDIATE",
	"SEND_ONLY", "SEND_ONLY_WITH_IMMEDIATE",
	"RDMA_WRITE_FIRST", "RDMA_WRITE_MIDDLE", "RDMA_WRITE_LAST", "RDMA_WRITE_LAST_WITH_IMMEDIATE",
	"RDMA_WRITE_ONLY", "RDMA_WRITE_ONLY_WITH_IMMEDIATE",
	"RDMA_READ_REQUEST", "RDMA_READ_RESPONSE_FIRST", "RDMA_READ_RESPONSE_MIDDLE",
	"RDMA_READ_RESPONSE_LAST", "RDMA_READ_RESPONSE_ONLY",
	"ACKNOWLEDGE", "ATOMIC_ACKNOWLEDGE", "COMPARE_SWAP", "FETCH_ADD",
	"SEND_LAST_WITH_INVALIDATE", "SEND_ONLY_WITH_INVALIDATE", "CNP",
}

// profileNames are what a line of one profile may name.
var profileNames = []string{"spec", "rxe-6.1", "live"}
