package script

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// TranscriptLine is one line of what happened, equal on every device that
// behaves alike: no times, keys, numbers of queue pairs or packets. A racy line
// shows the permitted set, not the outcome.
type TranscriptLine struct {
	Node string // "" for a line of the whole Bench
	Text string
	Racy bool
}

// String is the line as TranscriptText prints it.
func (l TranscriptLine) String() string {
	text := l.Text
	if l.Node != "" {
		text = l.Node + ": " + text
	}
	if l.Racy {
		text += " (racy)"
	}
	return text
}

func (s *Session) say(node, text string, racy bool) {
	l := TranscriptLine{node, text, racy}
	s.script = append(s.script, l)
	if s.heard != nil {
		s.heard(l)
	}
}

// Listen has f told of every line of the transcript as soon as it is there.
func (s *Session) Listen(f func(TranscriptLine)) { s.heard = f }

// Transcript is what happened so far, in the order of the script.
func (s *Session) Transcript() []TranscriptLine {
	return append([]TranscriptLine(nil), s.script...)
}

// TranscriptText is the transcript as text, a line each.
func (s *Session) TranscriptText() string {
	var b strings.Builder
	for _, l := range s.script {
		b.WriteString(l.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// Digest is the SHA-256 of TranscriptText in hexadecimal.
func (s *Session) Digest() string {
	d := digest([]byte(s.TranscriptText()))
	return hex.EncodeToString(d[:])
}

func digest(b []byte) [sha256.Size]byte { return sha256.Sum256(b) }

// Field is one thing to show of an object.
type Field struct{ Key, Value string }

// Object is a snapshot of an object, for a screen or a record. Its keys and
// numbers differ from device to device; transcripts do not hold them.
type Object struct {
	Node, Name, Kind string
	Fields           []Field
}

// Objects lists every object in the order of its making, also the destroyed.
func (s *Session) Objects() []Object {
	list := make([]Object, 0, len(s.order))
	for _, o := range s.order {
		out := Object{Node: o.node, Name: o.name, Kind: o.kind.String()}
		add := func(key, format string, args ...any) {
			out.Fields = append(out.Fields, Field{key, fmt.Sprintf(format, args...)})
		}
		s.describe(o, add)
		if o.gone {
			word := "destroyed"
			if o.kind == kMR {
				word = "deregistered"
			}
			add("gone", "%s", word)
		}
		list = append(list, out)
	}
	return list
}

func (s *Session) describe(o *object, add func(key, format string, args ...any)) {
	switch o.kind {
	case kBuf:
		add("addr", "%#x", o.cpu)
		add("length", "%d", o.length)
	case kMR:
		add("addr", "%#x", o.mr.Addr)
		add("length", "%d", o.length)
		add("lkey", "%#x", o.mr.LKey)
		add("rkey", "%#x", o.mr.RKey)
		add("access", "%s", o.access)
	case kMW:
		add("type", "%d", o.mw.Type)
		add("rkey", "%#x", o.mw.RKey)
		if o.boundTo != "" {
			add("bound", "%s", o.boundTo)
		}
	case kChannel:
		add("unread", "%d", len(o.evs)-s.cur.read[o])
	case kCQ:
		add("capacity", "%d", o.cq.CQE)
		add("unread", "%d", len(o.wcs)-s.cur.read[o])
	case kSRQ:
		s.describeSRQ(o, add)
	case kAH:
		add("to", "%s", o.peer)
	case kQP:
		s.describeQP(o, add)
	}
}

func (s *Session) describeSRQ(o *object, add func(key, format string, args ...any)) {
	add("posted", "%d/%d", o.rq, o.srq.Attr.MaxWR)
	if o.gone {
		return
	}
	if a, err := s.bench.Node(o.node).QuerySRQ(o.srq.SRQ); err == nil {
		add("limit", "%d", a.Limit)
	}
}

func (s *Session) describeQP(o *object, add func(key, format string, args ...any)) {
	add("type", "%s", o.init.Type)
	state := "destroyed"
	if !o.gone {
		if a, err := s.bench.Node(o.node).QueryQP(o.qp.QP); err == nil {
			state = a.State.String()
		}
	}
	add("state", "%s", state)
	add("num", "%#06x", o.qp.Num)
	if o.destName != "" {
		add("peer", "%s", o.destName)
	}
	add("sq", "%d/%d", len(o.sq), o.qp.Cap.MaxSendWR)
	if o.srqObj != nil {
		add("srq", "%s", o.srqObj.name)
	} else {
		add("rq", "%d/%d", o.rq, o.qp.Cap.MaxRecvWR)
	}
	add("send_cq", "%s", o.sendCQ.name)
	add("recv_cq", "%s", o.recvCQ.name)
}
