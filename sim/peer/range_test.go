package peer_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"rdmaprep/sim/model"
	"rdmaprep/sim/peer"
	"rdmaprep/sim/verbs"
)

// TestMuch moves more than a datagram holds with every call that can, and
// compares with the device beside it.
func TestMuch(t *testing.T) {
	b, err := model.Open(context.Background(), model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	local := b.Node("b")
	r, _ := dial(t, b, "", peer.MinDatagram, 3, storm, nil)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const size = 100_001
	addr, err := r.Alloc(size)
	must(err)
	data := make([]byte, size)
	dice := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = byte(dice.Uint32())
	}
	must(r.Store(addr, data))
	got := make([]byte, size)
	must(local.Load(addr, got))
	if !bytes.Equal(got, data) {
		t.Error("what was stored is not there")
	}
	clear(got)
	must(r.Load(addr, got))
	if !bytes.Equal(got, data) {
		t.Error("what was loaded is not what is there")
	}
	must(r.Load(addr, nil))
	must(r.Store(addr, nil))

	// A range that is not all mapped is refused whole, in the device's words.
	for name, f := range map[string]func(verbs.Device, []byte) error{
		"load":  func(d verbs.Device, b []byte) error { return d.Load(addr+8, b) },
		"store": func(d verbs.Device, b []byte) error { return d.Store(addr+8, b) },
	} {
		zero := make([]byte, size)
		want, err := f(local, zero), f(r, zero)
		if want == nil || err == nil || err.Error() != want.Error() {
			t.Errorf("%s: %v, on the device %v", name, err, want)
		}
	}
	must(local.Load(addr, got))
	if !bytes.Equal(got, data) {
		t.Error("a refused store stored a part")
	}

	// A list of 300 receives, of which the queue takes 256, then as many
	// completions.
	pd, err := r.AllocPD()
	must(err)
	cq, err := r.CreateCQ(1000, 0)
	must(err)
	qp, err := r.CreateQP(pd, verbs.QPInitAttr{
		Type: verbs.RC, SendCQ: cq.CQ, RecvCQ: cq.CQ,
		Cap: verbs.QPCap{MaxRecvWR: 256, MaxSendWR: 1, MaxRecvSGE: 2, MaxSendSGE: 1},
	})
	must(err)
	must(r.ModifyQP(qp.QP, verbs.QPAttr{State: verbs.INIT, Port: 1}, verbs.MaskState|verbs.MaskPKeyIndex|verbs.MaskPort|verbs.MaskAccessFlags))
	wrs := make([]verbs.RecvWR, 300)
	for i := range wrs {
		wrs[i].ID = uint64(i)
	}
	n, err := r.PostRecv(qp.QP, wrs)
	var refused *verbs.Error
	if n != qp.Cap.MaxRecvWR || !errors.As(err, &refused) || refused.Op != "post_recv" {
		t.Fatalf("posted %d of a queue of %d: %v", n, qp.Cap.MaxRecvWR, err)
	}
	must(r.ModifyQP(qp.QP, verbs.QPAttr{State: verbs.ERR}, verbs.MaskState))
	wc := make([]verbs.WC, 400)
	if n, err = r.PollCQ(cq.CQ, wc); n != qp.Cap.MaxRecvWR || err != nil {
		t.Fatalf("%d completions, %v", n, err)
	}
	for i, c := range wc[:n] {
		if c.ID != uint64(i) || c.Status != verbs.WCWRFlushErr {
			t.Fatalf("completion %d is %+v", i, c)
		}
	}
	// One request that no datagram takes.
	_, err = r.PostRecv(qp.QP, []verbs.RecvWR{{SGL: make([]verbs.SGE, 1024)}})
	var large *peer.TooLargeError
	if !errors.As(err, &large) {
		t.Errorf("a request of 1024 elements in datagrams of %d bytes: %v", peer.MinDatagram, err)
	}
	if _, err := r.QueryDevice(); err != nil {
		t.Errorf("after that: %v", err)
	}
}
