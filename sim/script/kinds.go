package script

import "strings"

// objKind is a set of kinds of object.
type objKind uint16

const (
	kBuf objKind = 1 << iota
	kPD
	kMR
	kMW
	kChannel
	kCQ
	kSRQ
	kAH
	kQP
	kNone objKind = 0
	kAny          = kBuf | kPD | kMR | kMW | kChannel | kCQ | kSRQ | kAH | kQP
)

var kindNames = []struct {
	kind        objKind
	name, plain string
}{
	{kPD, "PD", "a protection domain"},
	{kMR, "MR", "a region"},
	{kBuf, "buffer", "a buffer"},
	{kMW, "MW", "a window"},
	{kChannel, "channel", "a completion channel"},
	{kCQ, "CQ", "a CQ"},
	{kSRQ, "SRQ", "an SRQ"},
	{kAH, "AH", "an address handle"},
	{kQP, "QP", "a QP"},
}

// String is the name of a single kind, such as "QP".
func (k objKind) String() string {
	for _, n := range kindNames {
		if n.kind == k {
			return n.name
		}
	}
	return "object"
}

// plain says the kinds in words, "a CQ or a QP".
func (k objKind) plain() string {
	if k == kAny {
		return "an object"
	}
	var parts []string
	for _, n := range kindNames {
		if k&n.kind != 0 {
			parts = append(parts, n.plain)
		}
	}
	return strings.Join(parts, " or ")
}

// form says what follows the verb.
type form uint8

const (
	formNone  form = iota
	formDef        // a new object
	formRef        // an object that exists
	formPlace      // mr1+8
	formRange      // mr1[0:8]
)

// verbSpec is one verb of the language.
type verbSpec struct {
	name string
	form form
	obj  objKind
	keys []keySpec
	list bool // takes a list of requests separated by ";"
	oneOf
}

// oneOf names keys of which a line needs at least one.
type oneOf []string

func (v *verbSpec) key(name string) *keySpec { return findKey(v.keys, name) }

func findKey(keys []keySpec, name string) *keySpec {
	for i := range keys {
		if keys[i].name == name {
			return &keys[i]
		}
	}
	return nil
}

func keyNames(keys []keySpec) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return names
}

const (
	max8     = 1<<8 - 1
	max16    = 1<<16 - 1
	max24    = 1<<24 - 1
	max32    = 1<<32 - 1
	max64    = 1<<64 - 1
	maxCount = 1 << 24 // entries of a queue, bytes of inline data
	maxBytes = 1 << 30 // bytes of a buffer, a region or a window
)

func num(name string, limit uint64) keySpec { return keySpec{name: name, kind: vNum, max: limit} }
func named(name string, e *enum) keySpec    { return keySpec{name: name, kind: vEnum, enum: e} }
func objRef(name string, k objKind) keySpec { return keySpec{name: name, kind: vRef, kinds: k} }
func plain(name string, k valKind) keySpec  { return keySpec{name: name, kind: k} }

func must(k keySpec) keySpec {
	k.required = true
	return k
}

var (
	capKeys = []keySpec{
		num("max_send_wr", maxCount), num("max_recv_wr", maxCount),
		num("max_send_sge", maxCount), num("max_recv_sge", maxCount), num("max_inline", maxCount),
	}
	pathKeys = []keySpec{
		num("sgid_index", max8), num("hop_limit", max8), num("traffic_class", max8),
		num("flow_label", 1<<20-1), named("is_global", boolEnum),
	}
	sgeKey = plain("sge", vSGE)
)

func keys(lists ...[]keySpec) []keySpec {
	var all []keySpec
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// attrKeys are what modify_qp takes besides the path.
var attrKeys = keys([]keySpec{
	named("state", qpStateEnum), named("cur_state", qpStateEnum), named("en_sqd_async_notify", boolEnum),
	named("access", accessEnum), num("pkey_index", max16), num("port", max8), num("qkey", max32),
	named("path_mtu", mtuEnum),
	{name: "dest", kind: vAnyRef, kinds: kQP, max: max24},
	num("rq_psn", max24), num("sq_psn", max24), num("max_rd_atomic", max8), num("max_dest_rd_atomic", max8),
	num("min_rnr_timer", max8), num("timeout", max8), num("retry_cnt", max8), num("rnr_retry", max8),
}, capKeys)

var sendKeys = []keySpec{
	num("wr_id", max64), must(named("opcode", wrOpcodeEnum)), sgeKey, named("send_flags", sendEnum),
	num("imm", max32),
	{name: "remote", kind: vRemote, kinds: kMR | kMW | kBuf},
	{name: "remote_addr", kind: vPlace, kinds: kMR | kMW | kBuf, max: max64},
	{name: "rkey", kind: vKey, kinds: kMR | kMW, max: max32},
	num("add", max64), num("compare", max64), num("swap", max64),
	objRef("ah", kAH),
	{name: "dest", kind: vAnyRef, kinds: kQP, max: max24},
	num("qkey", max32),
	{name: "inv_rkey", kind: vKey, kinds: kMR | kMW, max: max32},
	objRef("mw", kMW),
	{name: "mr", kind: vRange, kinds: kMR},
	named("access", accessEnum), num("bind_rkey", max32),
}

// verbSpecs is the whole table of verbs, in the order of GRAMMAR.md.
var verbSpecs = []verbSpec{
	{name: "alloc", form: formDef, obj: kBuf, keys: []keySpec{must(num("length", maxBytes))}},
	{name: "free", form: formRef, obj: kBuf},
	{name: "alloc_pd", form: formDef, obj: kPD},
	{name: "dealloc_pd", form: formRef, obj: kPD},
	{name: "reg_mr", form: formDef, obj: kMR, oneOf: oneOf{"length", "buf"}, keys: []keySpec{
		must(objRef("pd", kPD)), num("length", maxBytes),
		{name: "buf", kind: vRange, kinds: kBuf | kMR},
		named("access", accessEnum),
	}},
	{name: "rereg_mr", form: formRef, obj: kMR, oneOf: oneOf{"pd", "buf", "access"}, keys: []keySpec{
		objRef("pd", kPD), {name: "buf", kind: vRange, kinds: kBuf | kMR}, named("access", accessEnum),
	}},
	{name: "dereg_mr", form: formRef, obj: kMR},
	{name: "alloc_mw", form: formDef, obj: kMW, keys: []keySpec{
		must(objRef("pd", kPD)), must(named("type", mwTypeEnum)),
	}},
	{name: "dealloc_mw", form: formRef, obj: kMW},
	{name: "bind_mw", form: formRef, obj: kQP, keys: []keySpec{
		must(objRef("mw", kMW)), must(keySpec{name: "mr", kind: vRange, kinds: kMR}),
		named("access", accessEnum), num("wr_id", max64), named("send_flags", sendEnum),
	}},
	{name: "create_comp_channel", form: formDef, obj: kChannel},
	{name: "destroy_comp_channel", form: formRef, obj: kChannel},
	{name: "create_cq", form: formDef, obj: kCQ, keys: []keySpec{
		must(num("cqe", maxCount)), objRef("channel", kChannel),
	}},
	{name: "resize_cq", form: formRef, obj: kCQ, keys: []keySpec{must(num("cqe", maxCount))}},
	{name: "destroy_cq", form: formRef, obj: kCQ},
	{name: "req_notify_cq", form: formRef, obj: kCQ, keys: []keySpec{named("solicited_only", boolEnum)}},
	{name: "get_cq_event", form: formRef, obj: kChannel, keys: []keySpec{plain("limit", vDur)}},
	{name: "ack_cq_events", form: formRef, obj: kCQ, keys: []keySpec{must(num("n", maxCount))}},
	{name: "create_srq", form: formDef, obj: kSRQ, keys: []keySpec{
		must(objRef("pd", kPD)), must(num("max_wr", maxCount)), num("max_sge", maxCount), num("limit", maxCount),
	}},
	{name: "modify_srq", form: formRef, obj: kSRQ, oneOf: oneOf{"limit", "max_wr"}, keys: []keySpec{
		num("limit", maxCount), num("max_wr", maxCount),
	}},
	{name: "query_srq", form: formRef, obj: kSRQ},
	{name: "destroy_srq", form: formRef, obj: kSRQ},
	{name: "create_ah", form: formDef, obj: kAH, keys: keys([]keySpec{
		must(objRef("pd", kPD)), must(plain("to", vNode)), num("port", max8),
	}, pathKeys)},
	{name: "destroy_ah", form: formRef, obj: kAH},
	{name: "create_qp", form: formDef, obj: kQP, keys: keys([]keySpec{
		must(objRef("pd", kPD)), must(named("type", qpTypeEnum)),
		must(objRef("send_cq", kCQ)), must(objRef("recv_cq", kCQ)), objRef("srq", kSRQ),
	}, capKeys, []keySpec{named("sq_sig_all", boolEnum)})},
	{name: "modify_qp", form: formRef, obj: kQP, keys: keys(attrKeys, []keySpec{plain("av", vNode)}, pathKeys)},
	{name: "query_qp", form: formRef, obj: kQP},
	{name: "destroy_qp", form: formRef, obj: kQP},
	{name: "query_device"},
	{name: "query_port", keys: []keySpec{num("port", max8)}},
	{name: "post_recv", form: formRef, obj: kQP, list: true, keys: []keySpec{num("wr_id", max64), must(sgeKey)}},
	{name: "post_srq_recv", form: formRef, obj: kSRQ, list: true, keys: []keySpec{num("wr_id", max64), must(sgeKey)}},
	{name: "post_send", form: formRef, obj: kQP, list: true, keys: sendKeys},
	{name: "poll_cq", form: formRef, obj: kCQ, keys: []keySpec{num("n", 4096)}},
	{name: "wait", form: formRef, obj: kCQ | kQP, keys: []keySpec{
		num("count", maxCount), named("state", qpStateEnum), plain("limit", vDur),
	}},
	{name: "store", form: formPlace, obj: kMR | kBuf, oneOf: oneOf{"u8", "u16", "u32", "u64", "text", "hex", "fill"}, keys: []keySpec{
		num("u8", max8), num("u16", max16), num("u32", max32), num("u64", max64),
		plain("text", vText), plain("hex", vHex), plain("fill", vFill),
	}},
	{name: "load", form: formRange, obj: kMR | kBuf},
}

func verbNames() []string {
	names := make([]string, len(verbSpecs))
	for i := range verbSpecs {
		names[i] = verbSpecs[i].name
	}
	return names
}

func findVerb(name string) *verbSpec {
	for i := range verbSpecs {
		if verbSpecs[i].name == name {
			return &verbSpecs[i]
		}
	}
	return nil
}

// sendRule says which keys an operation needs and which more it takes, besides
// wr_id, opcode, send_flags and those of UD (ah, dest, qkey). "remote" stands
// for remote= or both remote_addr= and rkey=.
type sendRule struct{ need, may []string }

var sendRules = map[string]sendRule{
	"SEND":                 {nil, []string{"sge"}},
	"SEND_WITH_IMM":        {[]string{"imm"}, []string{"sge"}},
	"SEND_WITH_INV":        {[]string{"inv_rkey"}, []string{"sge"}},
	"RDMA_WRITE":           {[]string{"remote"}, []string{"sge"}},
	"RDMA_WRITE_WITH_IMM":  {[]string{"remote", "imm"}, []string{"sge"}},
	"RDMA_READ":            {[]string{"remote"}, []string{"sge"}},
	"ATOMIC_CMP_AND_SWP":   {[]string{"remote", "compare", "swap"}, []string{"sge"}},
	"ATOMIC_FETCH_AND_ADD": {[]string{"remote", "add"}, []string{"sge"}},
	"LOCAL_INV":            {[]string{"rkey"}, nil},
	"BIND_MW":              {[]string{"mw", "mr"}, []string{"access", "bind_rkey"}},
}
