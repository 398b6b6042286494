package model

import (
	"context"
	"testing"
	"time"

	"rdmaprep/sim/verbs"
)

// sender posts batches of signaled 64-byte SENDs and takes their completions.
type sender struct {
	b          *Bench
	a, z       *side
	sends      []verbs.SendWR
	recvs      []verbs.RecvWR
	wc         []verbs.WC
	ctx        context.Context
	completed  int
	unexpected int
}

func newSender(tb failer, batch int, trace bool) *sender {
	o := defaults()
	o.cqe, o.wr, o.trace = 4*batch, 2*batch, trace
	s := &sender{ctx: context.Background(), wc: make([]verbs.WC, batch)}
	s.b, s.a, s.z = pair(tb, o)
	for i := range batch {
		s.sends = append(s.sends, verbs.SendWR{ID: uint64(i), Opcode: verbs.WRSend, Flags: verbs.SendSignaled, SGL: s.a.sge(0, 64)})
		s.recvs = append(s.recvs, verbs.RecvWR{ID: uint64(i), SGL: s.z.sge(64*(i%64), 64)})
	}
	return s
}

func (s *sender) batch() error {
	if _, err := s.z.dev.PostRecv(s.z.qp.QP, s.recvs); err != nil {
		return err
	}
	if _, err := s.a.dev.PostSend(s.a.qp.QP, s.sends); err != nil {
		return err
	}
	if _, err := s.b.Wait(s.ctx, time.Second, nil); err != nil {
		return err
	}
	for _, x := range []*side{s.a, s.z} {
		n, err := x.dev.PollCQ(x.cq, s.wc)
		if err != nil {
			return err
		}
		s.completed += n
		for i := range s.wc[:n] {
			if s.wc[i].Status != verbs.WCSuccess {
				s.unexpected++
			}
		}
	}
	return nil
}

// benchmarkSend: a trace is begun anew when it has more than keep events.
func benchmarkSend(b *testing.B, trace bool, keep int) {
	const batch = 64
	s := newSender(b, batch, trace)
	b.ReportAllocs()
	n := 0
	cpu := processCPU()
	for b.Loop() {
		if err := s.batch(); err != nil {
			b.Fatal(err)
		}
		n += batch
		if s.b.trace.count > keep {
			s.b.trace = traceLog{}
		}
	}
	if s.completed != 2*n || s.unexpected > 0 {
		b.Fatalf("%d completions of %d, %d not SUCCESS", s.completed, 2*n, s.unexpected)
	}
	if used := processCPU() - cpu; used > 0 { // on a machine shared with others this tells more
		b.ReportMetric(float64(n)/used.Seconds(), "msg/cpu-s")
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "msg/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/msg")
}

// BenchmarkSend64 is signaled 64-byte RC SENDs, 64 in flight, trace off: post,
// wire, both completions, poll.
func BenchmarkSend64(b *testing.B) { benchmarkSend(b, false, 0) }

// BenchmarkSend64Traced is the same with the trace on, every frame encoded. Each
// batch of 64 begins a new trace, so this is what writing it costs.
func BenchmarkSend64Traced(b *testing.B) { benchmarkSend(b, true, 0) }

// BenchmarkSend64TraceKept keeps a trace of a million events, 130,000 messages,
// before it begins the next: most of its time goes into memory that is new.
func BenchmarkSend64TraceKept(b *testing.B) { benchmarkSend(b, true, 1<<20) }

// TestNoAllocations: in the steady state a message allocates nothing.
func TestNoAllocations(t *testing.T) {
	s := newSender(t, 64, false)
	for range 64 {
		check(t, s.batch())
	}
	allocs := testing.AllocsPerRun(100, func() {
		if err := s.batch(); err != nil {
			t.Error(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations for a batch of 64 messages, want none", allocs)
	}
	if s.unexpected > 0 {
		t.Errorf("%d completions are not SUCCESS", s.unexpected)
	}
}
