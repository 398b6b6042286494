package model

import (
	"context"
	"errors"
	"syscall"
	"testing"

	"rdmaprep/sim/verbs"
)

// TestDeviceLimits makes objects of each kind until the device refuses: it is
// at the limit that query_device names, with ENOMEM, and one that is destroyed
// makes room for one. In rdma-unit-test: DeviceLimitTest.MaxAh,
// DeviceLimitTest.MaxCqMixed, DeviceLimitTest.MaxMr, DeviceLimitTest.MaxMw,
// DeviceLimitTest.MaxPd, DeviceLimitTest.MaxQp and DeviceLimitTest.MaxSrq, which
// make as many as the device really has; here the limit is lowered to keep the
// test short.
func TestDeviceLimits(t *testing.T) {
	const limit = 5
	for _, profile := range ProfileNames() {
		b, err := Open(context.Background(), Options{Profile: profile})
		if err != nil {
			t.Fatal(err)
		}
		n := b.nodes[0]
		pd, _ := n.AllocPD()
		cq, _ := n.CreateCQ(16, 0)
		l := &n.limits
		l.MaxPD, l.MaxCQ = limit+1, limit+1 // one of each is there already
		l.MaxAH, l.MaxMR, l.MaxMW, l.MaxQP, l.MaxSRQ = limit, limit, limit, limit, limit
		addr, err := n.Alloc(4096)
		if err != nil {
			t.Fatal(err)
		}
		peer, _ := b.nodes[1].gid(1)
		way := verbs.AHAttr{DGID: peer, SGIDIndex: 1, HopLimit: 64, Port: 1}
		attr := verbs.QPInitAttr{Type: verbs.RC, SendCQ: cq.CQ, RecvCQ: cq.CQ}
		for _, kind := range []struct {
			name string
			make func(i int) (destroy func() error, err error)
		}{
			{"pd", func(int) (func() error, error) {
				x, err := n.AllocPD()
				return func() error { return n.DeallocPD(x) }, err
			}},
			{"cq", func(int) (func() error, error) {
				x, err := n.CreateCQ(16, 0)
				return func() error { return n.DestroyCQ(x.CQ) }, err
			}},
			{"mr", func(int) (func() error, error) {
				x, err := n.RegMR(pd, addr, 4096, verbs.AccessLocalWrite)
				return func() error { return n.DeregMR(x.MR) }, err
			}},
			{"mw", func(i int) (func() error, error) {
				x, err := n.AllocMW(pd, []verbs.MWType{verbs.MWType1, verbs.MWType2}[i%2])
				return func() error { return n.DeallocMW(x.MW) }, err
			}},
			{"qp", func(int) (func() error, error) {
				x, err := n.CreateQP(pd, attr)
				return func() error { return n.DestroyQP(x.QP) }, err
			}},
			{"srq", func(int) (func() error, error) {
				x, err := n.CreateSRQ(pd, verbs.SRQAttr{MaxWR: 16, MaxSGE: 1})
				return func() error { return n.DestroySRQ(x.SRQ) }, err
			}},
			{"ah", func(int) (func() error, error) {
				x, err := n.CreateAH(pd, way)
				return func() error { return n.DestroyAH(x) }, err
			}},
		} {
			var destroy func() error
			for i := range limit {
				if destroy, err = kind.make(i); err != nil {
					t.Fatalf("%s: %s %d of %d: %v", profile, kind.name, i+1, limit, err)
				}
			}
			if _, err := kind.make(0); !errors.Is(err, syscall.ENOMEM) {
				t.Errorf("%s: one %s more than the limit: %v, want ENOMEM", profile, kind.name, err)
			}
			if err := destroy(); err != nil {
				t.Errorf("%s: destroying a %s: %v", profile, kind.name, err)
			}
			if _, err := kind.make(0); err != nil {
				t.Errorf("%s: a %s after one was destroyed: %v", profile, kind.name, err)
			}
		}
		b.Close()
	}
}
