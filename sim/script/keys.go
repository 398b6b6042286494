package script

// The keys that an expect line, and the fields that a path, may name.

var (
	wcKeys = []keySpec{
		num("wr_id", max64), named("status", wcStatusEnum), named("opcode", wcOpcodeEnum),
		num("byte_len", max32), num("imm", max32), named("flags", wcFlagsEnum), objRef("qp", kQP),
		{name: "src_qp", kind: vAnyRef, kinds: kQP, max: max24},
		{name: "inv_rkey", kind: vKey, kinds: kMR | kMW, max: max32},
		num("vendor_err", max32),
	}
	noneKey   = plain("none", vText)
	countKey  = num("count", maxCount)
	cqKeys    = keys(wcKeys, []keySpec{noneKey, countKey, num("cqe", maxCount)})
	eventKeys = []keySpec{named("type", eventEnum), plain("on", vOn), noneKey, countKey}
	chKeys    = []keySpec{objRef("event", kCQ), noneKey, countKey}
	byteKeys  = []keySpec{
		num("u8", max8), num("u16", max16), num("u32", max32), num("u64", max64),
		plain("text", vText), plain("hex", vHex), plain("fill", vByte),
		{name: "equals", kind: vRemote, kinds: kMR | kBuf},
	}
	mrKeys = keys([]keySpec{
		{name: "lkey", kind: vNum, max: max32},
		{name: "rkey", kind: vNum, max: max32},
		num("length", max64), num("addr", max64), named("access", accessEnum),
	}, byteKeys)
	bufKeys = keys([]keySpec{num("length", max64), num("addr", max64)}, byteKeys)
	mwKeys  = []keySpec{num("rkey", max32), named("type", mwTypeEnum)}
	srqKeys = []keySpec{num("max_wr", maxCount), num("max_sge", maxCount), num("limit", maxCount)}
	qpKeys  = keys(attrKeys, []keySpec{
		named("type", qpTypeEnum), objRef("send_cq", kCQ), objRef("recv_cq", kCQ), objRef("srq", kSRQ),
		named("sq_sig_all", boolEnum), named("sq_draining", boolEnum), num("qp_num", max24),
	})
	retKeys  = []keySpec{named("ret", errnoEnum), num("posted", maxListLen)}
	wireKeys = []keySpec{num("packets", max32)}
)

var kindKeys = map[objKind][]keySpec{
	kBuf: bufKeys, kMR: mrKeys, kMW: mwKeys, kChannel: chKeys, kCQ: cqKeys, kSRQ: srqKeys, kQP: qpKeys,
}

// subjectKeys lists what may be asked of a subject. Of an object whose kind is
// not known yet it is everything.
func (p *parser) subjectKeys(s *subject) []keySpec {
	switch s.kind {
	case onRet:
		return retKeys
	case onWire:
		return wireKeys
	case onEvent:
		if s.hasIndex {
			return eventKeys[:2]
		}
		return eventKeys
	case onObject:
	default:
		return nil
	}
	if s.rng.span != spanAll {
		return byteKeys
	}
	kind, known := kNone, false
	if d, ok := p.sc.objs[ref{s.node, s.name}]; ok && !p.loose {
		kind, known = d.kind, true
	}
	switch {
	case s.hasIndex && kind == kChannel:
		return chKeys[:1]
	case s.hasIndex:
		return wcKeys
	case known:
		return kindKeys[kind]
	}
	return keys(cqKeys, qpKeys, mrKeys, mwKeys, srqKeys, chKeys)
}
