package peer

import (
	"bytes"
	"math"

	"rdmaprep/sim/verbs"
)

// Line is a line of the transcript on its way to the serving side.
type Line struct {
	Node string // "" for one of the whole run
	Text string // as it is printed
}

// Verdict is what the run came to, as the driving side tells it.
type Verdict struct {
	Passed bool
	Text   string // what did not hold and where, empty if it passed
}

// Server carries out the calls of the driving side. It is a state machine:
// Handle takes a datagram and gives the answer, and nothing else moves it. It is
// for one run and for one goroutine.
type Server struct {
	dev     verbs.Device
	hello   Hello
	say     func(Line)
	faulter verbs.Faulter // nil: this side cannot be made to fail

	started bool
	session uint64
	driver  Hello
	seq     uint32 // of the last call
	asked   []byte // the last request
	reply   []byte // and the reply to it

	verdict Verdict
	over    bool
	left    bool   // the driving side knows that this one knows
	err     error  // a mismatch
	bye     string // why this side ended, "" if it did not
}

// NewServer serves dev as the node of h.Role. say is given the transcript's
// lines in order; nil is nobody.
func NewServer(dev verbs.Device, h Hello, say func(Line)) *Server {
	if say == nil {
		say = func(Line) {}
	}
	return &Server{dev: dev, hello: h.filled(), say: say}
}

// Faults lets the driving side's fault lines reach f. It is called before the
// first Handle.
func (s *Server) Faults(f verbs.Faulter) { s.faulter, s.hello.Faults = f, f != nil }

// Handle takes one datagram and returns the one to send back, nil for none. A
// request that came before gets the same answer again and is not carried out
// again. What is not understood, is damaged, or belongs to another run changes
// nothing.
func (s *Server) Handle(datagram []byte) []byte {
	m, ok := open(datagram)
	if !ok {
		return nil
	}
	switch m.kind {
	case kindHello:
		return s.greeted(m)
	case kindAnnounce:
		return s.announced(m)
	case kindCall:
		if m.version == Version && s.started && m.session == s.session {
			return s.called(m, datagram)
		}
	case kindRefuse, kindBye:
		s.told(m)
	}
	return nil
}

// greeted answers a hello.
func (s *Server) greeted(m message) []byte {
	refuse := func(err error) []byte {
		return seal(kindRefuse, m.session, m.seq, []byte(line(err.Error(), maxText)))
	}
	if s.started {
		switch {
		case m.session != s.session:
			return refuse(&MismatchError{What: "node " + s.hello.Role + " is in the middle of another run: end it there and start both sides again"})
		case s.seq == 0:
			return s.reply
		}
		return nil // late
	}
	if s.bye != "" {
		return seal(kindBye, m.session, m.seq, []byte(s.bye))
	}
	err := otherVersion(m.version)
	if m.version == Version {
		h, bad := unpack[Hello](m.body)
		if bad != nil {
			return nil
		}
		if err = fits(h, s.hello); err == nil {
			s.started, s.session, s.driver = true, m.session, h.filled()
			s.reply = seal(kindReply, m.session, m.seq, pack(nil, s.hello))
			return s.reply
		}
	}
	s.err = err
	return refuse(err)
}

// announced answers another server: both wait for a hello.
func (s *Server) announced(m message) []byte {
	h, bad := unpack[Hello](m.body)
	if bad != nil || m.version != Version || s.started {
		return nil
	}
	err := fits(h, s.hello)
	if err == nil {
		return nil
	}
	s.err = err
	return seal(kindRefuse, m.session, m.seq, []byte(line(err.Error(), maxText)))
}

// told takes note that the other side refuses or is gone.
func (s *Server) told(m message) {
	switch {
	case m.kind == kindRefuse && !s.started && s.err == nil:
		s.err = &MismatchError{What: refusal(m.body)}
	case m.kind == kindBye && !s.started && s.err != nil, m.kind == kindBye && s.over && m.session == s.session:
		s.left = true
	case m.kind == kindBye && s.started && m.session == s.session:
		s.over, s.left = true, true
		s.verdict = Verdict{Text: line(string(m.body), maxText)}
	}
}

// called carries a call out, once.
func (s *Server) called(m message, datagram []byte) []byte {
	switch {
	case m.seq == s.seq && s.seq > 0 && bytes.Equal(datagram, s.asked):
		return s.reply
	case s.bye != "":
		return seal(kindBye, s.session, m.seq, []byte(s.bye))
	case s.seq == math.MaxUint32 || m.seq != s.seq+1 || s.over || len(m.body) == 0:
		return nil
	}
	body, err := s.carryOut(op(m.body[0]), m.body[1:])
	if err != nil {
		return nil
	}
	s.seq, s.asked = m.seq, bytes.Clone(datagram)
	s.reply = seal(kindReply, s.session, m.seq, body)
	return s.reply
}

func (s *Server) carryOut(o op, body []byte) ([]byte, error) {
	switch o {
	case opSay:
		l, err := unpack[Line](body)
		if err != nil {
			return nil, err
		}
		s.say(Line{Node: line(l.Node, 64), Text: line(l.Text, MaxDatagram)})
		return pack(nil, answer[none]{}), nil
	case opEnd:
		v, err := unpack[Verdict](body)
		if err != nil {
			return nil, err
		}
		s.over, s.verdict = true, Verdict{v.Passed, line(v.Text, MaxDatagram)}
		return pack(nil, answer[none]{}), nil
	}
	if o == opInject {
		f, err := unpack[verbs.Fault](body)
		if err != nil || s.faulter == nil {
			return nil, errBody // the hello had said so
		}
		return pack(nil, answer[none]{Failure: failureOf(s.faulter.Inject(f))}), nil
	}
	h, ok := calls[o]
	if !ok {
		return nil, errBody
	}
	return h.do(s.dev, body)
}

// Started says whether the driving side has come, and what it told of itself.
func (s *Server) Started() (Hello, bool) { return s.driver, s.started }

// Over says whether the run is over: with the driving side's verdict, or with
// a *MismatchError. Until the answers have arrived Handle must go on being
// called.
func (s *Server) Over() (Verdict, bool, error) { return s.verdict, s.over || s.err != nil, s.err }

// Stop ends the run from this side: every later call is answered with why. It
// returns the datagram that tells the driving side, nil if there is none.
func (s *Server) Stop(why string) []byte {
	s.bye = line(why, maxText)
	if !s.started || s.over {
		return nil
	}
	return seal(kindBye, s.session, 0, []byte(s.bye))
}

// Announce is the datagram that tells the peer that this side waits.
func (s *Server) Announce() []byte { return seal(kindAnnounce, 0, 0, pack(nil, s.hello)) }
