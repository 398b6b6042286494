package store

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"rdmaprep/quiz"
	"rdmaprep/quiz/fsrs"
)

// The test binary started again with writerEnv set to a folder is a writer: it
// saves attempts there, and prints each id only after its save has returned.
const (
	writerEnv = "STORE_TEST_WRITER"       // the folder
	countEnv  = "STORE_TEST_WRITER_COUNT" // how many attempts; 0 is without end
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerEnv); dir != "" {
		if err := writer(dir, os.Getenv(countEnv)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writer opens the store and saves. Every third attempt is taken back by a void
// of its own, so that the caches move in both directions.
func writer(dir, count string) error {
	limit, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := Open(ctx, dir, Options{Wait: time.Minute})
	if err != nil {
		return err
	}
	for n := 0; limit == 0 || n < limit; n++ {
		id, err := quiz.NewID(rand.Reader)
		if err != nil {
			return err
		}
		a := answered(n, fmt.Sprintf("q%d", n%5), 20_000+n%7, fsrs.Rating(1+n%4)) //nolint:gosec // 1 to 4
		a.ID = id
		if err := s.SaveAttempt(ctx, a); err != nil {
			return err
		}
		fmt.Println(id)
		if n%3 != 0 {
			continue
		}
		undo := quiz.Attempt{Kind: quiz.Voided, Voids: id, At: a.At, Day: a.Day}
		if undo.ID, err = quiz.NewID(rand.Reader); err != nil {
			return err
		}
		if err := s.SaveAttempt(ctx, undo); err != nil {
			return err
		}
		fmt.Println(undo.ID)
	}
	return s.Close()
}

// startWriter starts the writer and returns what it prints.
func startWriter(t *testing.T, dir string, count int) (*exec.Cmd, io.Reader, *strings.Builder) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, exe, "-test.run=^$")
	cmd.Env = append(os.Environ(), writerEnv+"="+dir, countEnv+"="+strconv.Itoa(count))
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out, &complaint
}

// kept checks that every printed id is in the log, none twice, and that the
// file is whole and its caches equal the replay. It returns the length of the
// log.
func kept(t *testing.T, s *Store, printed map[quiz.ID]bool) int {
	t.Helper()
	if err := s.Check(context.Background()); err != nil {
		t.Fatal(err)
	}
	all := log(t, s)
	there := map[quiz.ID]bool{}
	for _, a := range all {
		if there[a.ID] {
			t.Errorf("%s is there twice", a.ID)
		}
		there[a.ID] = true
	}
	for id := range printed {
		if !there[id] {
			t.Errorf("%s was shown as saved and is not there", id)
		}
	}
	cachesEqualReplay(t, s)
	return len(all)
}

// Two instances that make the same store and write 200 answers each at the same
// time: none is lost and none is doubled.
func TestTwoInstancesAtOnce(t *testing.T) {
	const each = 200
	dir := t.TempDir()
	type run struct {
		cmd       *exec.Cmd
		out       io.Reader
		complaint *strings.Builder
	}
	var runs []run
	for range 2 {
		cmd, out, complaint := startWriter(t, dir, each)
		runs = append(runs, run{cmd, out, complaint})
	}
	printed := map[quiz.ID]bool{}
	for _, r := range runs {
		lines := bufio.NewScanner(r.out)
		n := 0
		for ; lines.Scan(); n++ {
			printed[quiz.ID(lines.Text())] = true
		}
		if err := r.cmd.Wait(); err != nil {
			t.Fatalf("%v: %s", err, r.complaint)
		}
		if want := each + (each+2)/3; n != want {
			t.Errorf("a writer printed %d ids, want %d", n, want)
		}
	}
	if n := kept(t, openAt(t, dir), printed); n != len(printed) {
		t.Errorf("%d attempts in the log, %d were printed", n, len(printed))
	}
}

// kill -9 at any moment, the making of the file included: what was shown as
// saved is there, at most one save in flight is there besides, and the file is
// whole. The writer is killed after a random number of ids and a random moment
// more, in microseconds to some milliseconds, to hit every phase of a save.
func TestKillAtAnyMoment(t *testing.T) {
	rounds := 30
	if testing.Short() {
		rounds = 6
	}
	random := mathrand.New(mathrand.NewPCG(1, 2))
	dir, printed, before, total := t.TempDir(), map[quiz.ID]bool{}, 0, 0
	for round := range rounds {
		if round%5 == 4 { // a new store: killed while it is being made
			dir, printed, before = t.TempDir(), map[quiz.ID]bool{}, 0
		}
		after, moment := random.IntN(20), time.Duration(random.IntN(6000))*time.Microsecond
		if round%5 == 4 {
			after, moment = 0, time.Duration(random.IntN(40))*time.Millisecond
		}
		cmd, out, complaint := startWriter(t, dir, 0)
		lines := bufio.NewScanner(out)
		fresh := len(printed)
		for len(printed) < fresh+after && lines.Scan() {
			printed[quiz.ID(lines.Text())] = true
		}
		<-time.After(moment)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatalf("the writer ended by itself: %v: %s", err, complaint)
		}
		for lines.Scan() { // what it printed before it died
			if id := lines.Text(); len(id) == 32 {
				printed[quiz.ID(id)] = true
			}
		}
		if err := cmd.Wait(); err == nil || complaint.Len() > 0 {
			t.Fatalf("round %d: the writer was to be killed: %v: %s", round, err, complaint)
		}
		s := openAt(t, dir)
		n := kept(t, s, printed)
		if extra := n - before - (len(printed) - fresh); extra < 0 || extra > 1 {
			t.Errorf("round %d: %d attempts more than were printed, want 0 or 1", round, extra)
		}
		total += n - before
		before = n
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if total < rounds {
		t.Error("hardly anything was saved before the writers were killed: the test shows nothing")
	}
}
