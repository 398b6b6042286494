package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rdmaprep/sim/model"
	"rdmaprep/sim/verbs"
)

// apart is a script whose nodes need no wire between them: each side of these
// tests has a model of its own.
const apart = `script 1
a: alloc_pd pd1
b: alloc_pd pd1
b: alloc_mw mw1 pd=pd1 type=1
b: dealloc_pd pd1
expect ret=EBUSY
a: dealloc_pd pd1
expect b.event none
`

// terminal is one user's terminal after the program has ended.
type terminal struct {
	out, err string
	failed   error
}

// stopAt is a terminal that calls stop when the note says so.
type stopAt struct {
	bytes.Buffer
	note string
	stop func()
}

func (s *stopAt) Write(b []byte) (int, error) {
	if s.note != "" && strings.Contains(string(b), s.note) {
		s.stop()
	}
	return s.Buffer.Write(b)
}

// user starts one side in a goroutine of its own.
func user(ctx context.Context, role, file, listen, to string, more ...string) <-chan terminal {
	return stopped(ctx, &stopAt{}, role, file, listen, to, more...)
}

func stopped(ctx context.Context, err *stopAt, role, file, listen, to string, more ...string) <-chan terminal {
	done := make(chan terminal, 1)
	var out bytes.Buffer
	a := &app{host: Host{In: strings.NewReader(""), Out: &out, Err: err, Now: time.Now, Entropy: rand.Reader}}
	a.local = func(ctx context.Context, node string) (verbs.Bench, error) {
		return model.Open(ctx, model.Options{})
	}
	root := a.root()
	root.SetArgs(append([]string{"run", "--role", role, "--listen", listen, "--peer", to, file}, more...))
	go func() {
		failed := root.ExecuteContext(ctx)
		done <- terminal{out.String(), err.String(), failed}
	}()
	return done
}

// ports are two UDP addresses that are free.
func ports(t *testing.T) (a, b string) {
	t.Helper()
	var at [2]string
	for i := range at {
		c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		at[i] = c.LocalAddr().String()
	}
	return at[0], at[1]
}

func written(t *testing.T, source string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.rdma")
	if err := os.WriteFile(name, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func bounded(t *testing.T) context.Context {
	ctx, stop := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(stop)
	return ctx
}

// TestTwoHosts: the driving side prints what a run on one host prints, the
// other side the lines of its own node and of the whole run, and both end alike.
func TestTwoHosts(t *testing.T) {
	ctx := bounded(t)
	file := written(t, apart)
	var want bytes.Buffer
	one := &app{host: Host{Out: &want, Err: &want, Now: time.Now, Entropy: rand.Reader}}
	root := one.root()
	root.SetArgs([]string{"run", file})
	if err := root.ExecuteContext(ctx); err != nil {
		t.Fatal(err)
	}
	pa, pb := ports(t)
	doneB := user(ctx, "b", file, pb, pa)
	a, b := <-user(ctx, "a", file, pa, pb), <-doneB
	if a.failed != nil || b.failed != nil || a.out != want.String() {
		t.Errorf("a %v\n%s\nb %v\nexpected\n%s", a.failed, a.out, b.failed, want.String())
	}
	var own []string
	for l := range strings.Lines(want.String()) {
		if !strings.HasPrefix(l, "a: ") {
			own = append(own, l)
		}
	}
	if b.out != strings.Join(own, "") || len(own) == 0 {
		t.Errorf("b printed\n%s\nexpected\n%s", b.out, strings.Join(own, ""))
	}
	for _, x := range []terminal{a, b} {
		if !strings.Contains(x.err, "every line of "+file+" holds") || !strings.Contains(x.err, "waiting for node") {
			t.Errorf("the notes are\n%s", x.err)
		}
	}
}

// TestTwoHostsFail: an expect that fails on one side fails the program on both.
func TestTwoHostsFail(t *testing.T) {
	ctx := bounded(t)
	file := written(t, strings.Replace(apart, "EBUSY", "EINVAL", 1))
	pa, pb := ports(t)
	doneB := user(ctx, "b", file, pb, pa, "--json")
	a, b := <-user(ctx, "a", file, pa, pb, "--json"), <-doneB
	for name, x := range map[string]terminal{"a": a, "b": b} {
		var got struct {
			Passed     bool
			Failed     string
			Transcript []string
		}
		if err := json.Unmarshal([]byte(x.out), &got); err != nil || got.Passed || got.Failed == "" || len(got.Transcript) == 0 {
			t.Errorf("%s printed %v %s", name, err, x.out)
		}
		if !errors.Is(x.failed, errSilent) || !strings.Contains(x.err, "the run failed: "+file+":6: expect ret=EINVAL") {
			t.Errorf("%s ended with %v and said\n%s", name, x.failed, x.err)
		}
	}
}

// TestTwoScripts: what differs is named on both sides.
func TestTwoScripts(t *testing.T) {
	ctx := bounded(t)
	pa, pb := ports(t)
	doneB := user(ctx, "b", written(t, apart+"# more\n"), pb, pa)
	a, b := <-user(ctx, "a", written(t, apart), pa, pb), <-doneB
	for name, x := range map[string]terminal{"a": a, "b": b} {
		if x.failed == nil || !strings.Contains(x.failed.Error(), "the scripts differ") || x.out != "" {
			t.Errorf("%s ended with %v and printed %q", name, x.failed, x.out)
		}
	}
}

// TestTwoHostsInterrupted: the user gives up, while nobody is there or in the
// middle; then the other side ends too.
func TestTwoHostsInterrupted(t *testing.T) {
	for _, role := range []string{"a", "b"} {
		ctx, stop := context.WithCancel(bounded(t))
		pa, pb := ports(t)
		x := <-stopped(ctx, &stopAt{note: "waiting", stop: stop}, role, written(t, apart), pa, pb)
		if x.failed == nil || !strings.Contains(x.failed.Error(), "interrupted") {
			t.Errorf("%s ended with %v", role, x.failed)
		}
	}
	ctx, stop := context.WithCancel(bounded(t))
	file := written(t, apart)
	pa, pb := ports(t)
	doneB := user(bounded(t), "b", file, pb, pa)
	a := <-stopped(ctx, &stopAt{note: "is model1 there", stop: stop}, "a", file, pa, pb)
	b := <-doneB
	if a.failed == nil || !strings.Contains(a.failed.Error(), "interrupted") ||
		!errors.Is(b.failed, errSilent) || !strings.Contains(b.err, "the run failed: node a was interrupted") {
		t.Errorf("a ended with %v, b with %v and\n%s", a.failed, b.failed, b.err)
	}
}

// TestTwoHostsFlags: a command line that cannot be carried out names the fix.
func TestTwoHostsFlags(t *testing.T) {
	file := written(t, apart)
	three := written(t, "script 1\nnodes a b c\na: alloc_pd pd1\n")
	for _, c := range []struct {
		args string
		want string
	}{
		{"--role a " + file, "go together"},
		{"--peer 192.0.2.7 " + file, "go together"},
		{"--listen :5 " + file, "give --role and --peer too"},
		{"--role a --peer 192.0.2.7 --trace " + file, "--trace is the model's"},
		{"--role a --peer 192.0.2.7 --seed 1 " + file, "--seed is the model's"},
		{"--role c --peer 192.0.2.7 " + file, "the nodes of " + file + " are a and b"},
		{"--role a --peer 192.0.2.7 " + three, "has 3 nodes"},
		{"--role a --peer 192.0.2.7:0 " + file, "a port of 1 to 65535"},
		{"--role a --peer 192.0.2.7 " + file, "the software model's wire is inside one process"},
	} {
		var out bytes.Buffer
		a := &app{host: Host{Out: &out, Err: &out, Now: time.Now, Entropy: rand.Reader}}
		root := a.root()
		root.SetArgs(append([]string{"run"}, strings.Fields(c.args)...))
		if err := root.ExecuteContext(bounded(t)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("run %s: %v", c.args, err)
		}
	}
}

// TestPeerAddresses: an address, with or without a port, of either family.
func TestPeerAddresses(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.7":            fmt.Sprintf("192.0.2.7:%d", peerPort),
		"192.0.2.7:5":          "192.0.2.7:5",
		"2001:db8::1":          fmt.Sprintf("[2001:db8::1]:%d", peerPort),
		"[2001:db8::1]":        fmt.Sprintf("[2001:db8::1]:%d", peerPort),
		"[2001:db8::1]:5":      "[2001:db8::1]:5",
		"::ffff:192.0.2.7":     fmt.Sprintf("192.0.2.7:%d", peerPort),
		"fe80::1%eth0":         fmt.Sprintf("[fe80::1%%eth0]:%d", peerPort),
		"[::ffff:192.0.2.7]:9": "192.0.2.7:9",
	} {
		if got, err := resolvePeer(bounded(t), in); err != nil || got.String() != want {
			t.Errorf("%s is %s, %v", in, got, err)
		}
	}
}

// TestOtherPort: datagrams of the peer's address from another port are dropped
// and named.
func TestOtherPort(t *testing.T) {
	pa, pb := ports(t)
	to, err := resolvePeer(bounded(t), pb)
	if err != nil {
		t.Fatal(err)
	}
	u, err := listenUDP(pa, to)
	if err != nil {
		t.Fatal(err)
	}
	defer u.c.Close()
	if _, err := listenUDP(pa, to); err == nil || !strings.Contains(err.Error(), "is in use") {
		t.Errorf("a second socket there: %v", err)
	}
	c, err := net.Dial("udp", pa)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 2 {
		if _, err := c.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := u.Recv(bounded(t), 10*time.Millisecond); b != nil || err != nil {
		t.Errorf("received %q, %v", b, err)
	}
	for i := 0; i < 100 && !u.beside.IsValid(); i++ { // the loopback interface may be slow
		_, _ = u.Recv(bounded(t), 10*time.Millisecond)
	}
	if got := u.beside.String(); !slices.Contains([]string{c.LocalAddr().String()}, got) {
		t.Errorf("beside the peer: %s, expected %s", got, c.LocalAddr())
	}
}
