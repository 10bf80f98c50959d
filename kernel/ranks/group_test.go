package ranks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/worker"
)

// timeout ends a test whose event never comes.
const timeout = 5 * time.Minute

// fakeNotebook is a notebook that keeps its output.
type fakeNotebook struct {
	mu     sync.Mutex
	text   strings.Builder // output of both streams and displays
	ended  int             // number of calls of WorkerEnded
	change chan struct{}   // closed at each change
}

func (p *fakeNotebook) add(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text.WriteString(text)
	close(p.change)
	p.change = make(chan struct{})
}

func (p *fakeNotebook) Stream(_ int, name string, text []byte) {
	if name == "stderr" {
		text = []byte("err: " + string(text))
	}
	p.add(string(text))
}

func (p *fakeNotebook) Display(d link.Display) error {
	p.add(fmt.Sprint("shown: ", d.Data["text/plain"], "\n"))
	return nil
}

func (p *fakeNotebook) Comm(link.Comm) error { return nil }

func (p *fakeNotebook) WorkerEnded(*link.CellError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended++
}

func (p *fakeNotebook) Input(context.Context, link.InputRequest) (link.InputReply, error) {
	return link.InputReply{Line: "42"}, nil
}

// endings returns how often WorkerEnded was called.
func (p *fakeNotebook) endings() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// take returns the output since the last call.
func (p *fakeNotebook) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.text.Reset()
	return p.text.String()
}

// session is a group over real processes.
type session struct {
	*Group
	t        *testing.T
	ctx      context.Context
	notebook *fakeNotebook
	cell     int
}

// newSession starts a session with a number of ranks.
func newSession(t *testing.T, ranks int) *session {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	s := &session{t: t, ctx: ctx, notebook: &fakeNotebook{change: make(chan struct{})}}
	s.Group = New(worker.Program(os.Args[:1], ""), s.notebook, slog.New(slog.DiscardHandler))
	s.devices = func() []string { return nil }
	s.holdTime = timeout // a rank that runs seconds after another prints the same lines
	t.Cleanup(func() {
		_ = s.Shutdown(ctx)
		cancel()
	})
	if ranks > 1 {
		if got := s.must(fmt.Sprintf("ranks %d", ranks)); !strings.HasPrefix(got, fmt.Sprintf("%d ranks start", ranks)) {
			t.Fatal(got)
		}
	}
	return s
}

// execute runs a cell and returns its output and why it failed.
func (s *session) execute(code string) (output string, why *link.CellError) {
	s.t.Helper()
	s.cell++
	result, err := s.Execute(s.ctx, link.Execute{Cell: s.cell, Code: code})
	if err != nil && !errors.As(err, &result.Error) {
		s.t.Fatalf("%q: %v", code, err)
	}
	if result.Error == nil && !strings.HasPrefix(fmt.Sprint(result.Data["text/plain"]), "rank 0 ") {
		s.t.Errorf("%q has the result %v", code, result.Data)
	}
	return s.notebook.take(), result.Error
}

// must runs a cell that succeeds and returns its output.
func (s *session) must(code string) string {
	s.t.Helper()
	output, why := s.execute(code)
	if why != nil {
		s.t.Fatalf("%q: %v", code, why)
	}
	return output
}

// fails runs a cell that fails and returns the name and traceback of its error.
func (s *session) fails(code string) string {
	s.t.Helper()
	_, why := s.execute(code)
	if why == nil {
		s.t.Fatalf("%q succeeded", code)
	}
	return why.Name + "|" + strings.Join(why.Traceback, "\n")
}

// pids returns the process ids of the ranks.
func (s *session) pids() (pids []int) {
	s.t.Helper()
	for _, word := range strings.Fields(s.must("pid")) {
		if pid, err := strconv.Atoi(word); err == nil && pid > 1 {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids) // lines that differ are in the order in which ranks print
	return pids
}

func TestOneRank(t *testing.T) {
	t.Setenv(rankVariable, "5") // set by the launcher of the kernel process
	t.Setenv(localWorldSizeVariable, "")
	s := newSession(t, 1)
	if got, want := s.must("env RANK\nenv LOCAL_RANK\nshow x"), "RANK 5 true\nLOCAL_RANK  false\nshown: x\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := s.must("ranks 0"); !strings.HasPrefix(got, "One rank runs each cell.") {
		t.Error(got)
	}
	first := s.pids()
	if got := s.must("ranks 1"); !strings.HasPrefix(got, "One rank runs each cell.") {
		t.Error(got)
	}
	if got := s.fails("exit 3"); !strings.HasPrefix(got, "worker died|worker died: exit status 3: ") {
		t.Error(got)
	}
	if second := s.pids(); len(first) != 1 || len(second) != 1 || first[0] == second[0] {
		t.Errorf("processes %v, then %v", first, second)
	}
}

func TestRankEnvironment(t *testing.T) {
	t.Parallel()
	s := newSession(t, 3)
	if n := s.notebook.endings(); n != 1 {
		t.Errorf("WorkerEnded was called %d times", n)
	}
	got := s.must("env RANK\nenv LOCAL_RANK\nenv WORLD_SIZE\nenv LOCAL_WORLD_SIZE\nenv MASTER_ADDR\nenv CUDA_VISIBLE_DEVICES\nenv QUERN_WORKER_RANK")
	for _, line := range []string{
		"RANK 0 true\nLOCAL_RANK 0 true\nWORLD_SIZE 3 true\nLOCAL_WORLD_SIZE 3 true\nMASTER_ADDR 127.0.0.1 true\n",
		"[rank 1] RANK 1 true\n", "[rank 2] RANK 2 true\n", "[rank 1] LOCAL_RANK 1 true\n", "[rank 2] LOCAL_RANK 2 true\n", "QUERN_WORKER_RANK  false\n",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is missing in\n%s", line, got)
		}
	}
	if strings.Contains(got, "WORLD_SIZE 3 true\n[") || strings.Contains(got, "] WORLD") {
		t.Errorf("what is the same on all ranks is there more than once:\n%s", got)
	}
	place := func() string {
		got := s.must("env MASTER_PORT\nenv QUERN_PARALLEL_SECRET") // equal on all ranks, so printed once
		if n := strings.Count(got, "\n"); n != 2 || strings.Contains(got, "false") {
			t.Errorf("got %q", got)
		}
		return got
	}
	before := place()
	s.must("ranks 2")
	if after := place(); after == before {
		t.Errorf("the ranks of two starts meet at the same place: %q", after)
	}
	completion, err := link.Ask(s.ctx, s, link.Complete{})
	if err != nil || len(completion.Matches) != 1 || completion.Matches[0].Text != "0" {
		t.Errorf("completion of %+v, %v", completion, err)
	}
	if got := s.must("ranks 0"); strings.Count(got, "rank ") != 2 {
		t.Error(got)
	}
	pids := s.pids()
	s.must("ranks 2") // no change
	if again := s.pids(); !slices.Equal(pids, again) {
		t.Errorf("processes %v, then %v", pids, again)
	}
	if got := s.must("ranks 1"); got != "One rank starts, and cells run once. The variables are lost: run the cells again from the top.\n" {
		t.Error(got)
	}
	if got := s.must("ranks 2"); got != "2 ranks start. From now on each runs every cell.\n" {
		t.Errorf("before any other cell: %s", got)
	}
	s.must("ranks 1")
	if got := s.must("env RANK\nenv WORLD_SIZE"); strings.Contains(got, "true") {
		t.Error(got)
	}
}

func TestShownOfRankZero(t *testing.T) {
	t.Parallel()
	s := newSession(t, 3)
	if got, want := s.must("show x"), "shown: x\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := s.must("1,2: show x"); !strings.HasPrefix(got, "err: [ranks 1 and 2] this rank's displays are not shown") {
		t.Errorf("got %q", got)
	}
	s.must("0: ask")
	s.agreementTime = timeout // no rank is interrupted before it has failed itself
	if got := s.fails("ask"); !strings.Contains(got, "rank 1 has no input") {
		t.Error(got)
	}
}

func TestErrorOnOneRank(t *testing.T) {
	t.Parallel()
	s := newSession(t, 3)
	pids := s.pids()
	s.agreementTime = timeout // no rank is interrupted before it has failed too
	if got, want := s.fails("fail x"), "failed|failed: x"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.agreementTime = agreementTime
	// The other ranks wait for the one that fails.
	want := "failed|failed: x\nThis happened on rank 1 of 3.\nThe cell was then interrupted on ranks 0 and 2."
	if got := s.fails("1: fail x\nwait"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if again := s.pids(); !slices.Equal(pids, again) {
		t.Errorf("processes %v, then %v", pids, again)
	}
}

// TestPanicOnOneRank checks that no rank runs a cell that fails before it starts on one of them.
func TestPanicOnOneRank(t *testing.T) {
	t.Parallel()
	s := newSession(t, 3)
	s.must("1: late x")
	output, why := s.execute("out ran")
	want := []string{"panic: x", "not run", "This happened on rank 1 of 3."}
	if output != "" || why == nil || !slices.Equal(why.Traceback, want) || why.Earlier != s.cell-1 {
		t.Errorf("got %q, %+v, want %q", output, why, want)
	}
	if got, want := s.must("out ran"), "ran\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.must("0,2: late y")
	reply, err := link.Ask(s.ctx, s, link.Panic{})
	want = []string{"panic: y", "This happened on ranks 0 and 2 of 3."}
	if err != nil || reply.Error == nil || !slices.Equal(reply.Error.Traceback, want) {
		t.Errorf("got %+v, %v, want %q", reply.Error, err, want)
	}
	if reply, err := link.Ask(s.ctx, s, link.Panic{}); err != nil || reply.Error != nil {
		t.Errorf("a second time: %+v, %v", reply.Error, err)
	}
}

func TestOnce(t *testing.T) {
	t.Parallel()
	s := newSession(t, 3)
	for _, outcome := range []string{"", "no"} {
		if got, want := s.must("once "+outcome), fmt.Sprintf("once \"output\" %q\n", outcome); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := s.fails("1: once\n2: wait"); !strings.Contains(got, errNotDone.Error()) {
		t.Error(got)
	}
	if got := s.fails("1: once\n0: wait\n2: fail x"); !strings.HasPrefix(got, "failed|failed: x\nThis happened on rank 2 of 3.\n") {
		t.Error(got)
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	s := newSession(t, 3)
	pids := s.pids()
	go func() {
		if s.notebook.until(s.ctx, "began") {
			_ = s.Interrupt(s.ctx)
		}
	}()
	if got, want := s.fails("out began\nwait"), "interrupted|interrupted: in "; !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
	if again := s.pids(); !slices.Equal(pids, again) {
		t.Errorf("processes %v, then %v", pids, again)
	}
}

// until waits for output that contains a text.
func (p *fakeNotebook) until(ctx context.Context, text string) bool {
	for {
		p.mu.Lock()
		has, change := strings.Contains(p.text.String(), text), p.change
		p.mu.Unlock()
		if has {
			return true
		}
		select {
		case <-change:
		case <-ctx.Done():
			return false
		}
	}
}

func TestRankDies(t *testing.T) {
	t.Parallel()
	s := newSession(t, 3)
	before := s.pids()
	started := time.Now()
	const why = "exit status 7: the program ended itself, for example by os.Exit or log.Fatal"
	const lost = "\nAll 3 ranks start again, and their variables are lost: run the cells again from the top."
	if got, want := s.fails("1: exit 7\nwait"), "worker died|worker died: rank 1: "+why+lost; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	t.Logf("after %v", time.Since(started))
	after := s.pids()
	if len(before) != 3 || len(after) != 3 || slices.ContainsFunc(before, func(pid int) bool { return slices.Contains(after, pid) }) {
		t.Errorf("processes %v, then %v", before, after)
	}
	if n := s.notebook.endings(); n != 2 { // including the one when three ranks started
		t.Errorf("WorkerEnded was called %d times", n)
	}

	// Between two cells.
	p, err := os.FindProcess(after[0])
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	if !s.notebook.until(s.ctx, strings.TrimPrefix(lost, "\n")) {
		t.Fatal("the deaths were not reported")
	}
	if got := s.notebook.take(); !strings.HasPrefix(got, "err: worker died: rank ") {
		t.Errorf("got %q", got)
	}
	last := s.pids()
	if len(last) != 3 || slices.ContainsFunc(last, func(pid int) bool { return slices.Contains(after, pid) }) {
		t.Errorf("processes %v, then %v", after, last)
	}
}

// If ranks cannot be started, the previous number of ranks is kept.
func TestRanksDoNotStart(t *testing.T) {
	t.Parallel()
	s := newSession(t, 2)
	program := s.newRunner
	s.newRunner = func(path string, environment []string) worker.Runner {
		if environment == nil || slices.Contains(environment, "RANK=2") {
			return worker.NewCommand(filepath.Join(t.TempDir(), "missing"))
		}
		return program(path, environment)
	}
	if got := s.fails("ranks 3"); !strings.HasPrefix(got, "ranks error|ranks error: rank 2: cannot start the worker: ") || strings.Contains(got, "canceled") {
		t.Error(got)
	}
	if got := s.must("env WORLD_SIZE"); got != "WORLD_SIZE 2 true\n" {
		t.Error(got)
	}
	if got := s.fails("ranks 1"); !strings.HasPrefix(got, "ranks error|ranks error: rank 0: cannot start the worker: ") {
		t.Error(got)
	}
	if got := s.must("env WORLD_SIZE"); got != "WORLD_SIZE 2 true\n" {
		t.Error(got)
	}
}

// A restart starts as many ranks with another program, which later ranks run too. If it does not start, the
// previous one is kept.
func TestRestart(t *testing.T) {
	t.Parallel()
	for _, number := range []int{1, 2} {
		s := newSession(t, number)
		program := s.newRunner
		var mu sync.Mutex
		var paths []string
		s.newRunner = func(path string, environment []string) worker.Runner {
			mu.Lock()
			defer mu.Unlock()
			paths = append(paths, path)
			if path == "missing" {
				return worker.NewCommand(filepath.Join(t.TempDir(), "missing"))
			}
			return program("", environment)
		}
		s.must("restart other")
		s.must("ranks 3")
		s.must("restart")
		if got := s.fails("restart missing"); !strings.HasPrefix(got, "ranks error|ranks error: ") {
			t.Error(got)
		}
		s.must("env WORLD_SIZE")
		mu.Lock()
		kept := slices.DeleteFunc(paths, func(path string) bool { return path == "missing" })
		if number == 1 && len(kept) > 0 && kept[0] == "" { // the first one starts with the first cell
			kept = kept[1:]
		}
		if len(kept) != number+3+3+3 || slices.ContainsFunc(kept, func(path string) bool { return path != "other" }) {
			t.Errorf("%d ranks: started %q", number, kept)
		}
		mu.Unlock()
	}
}

func TestRanksRefused(t *testing.T) {
	s := newSession(t, 1)
	for _, row := range []struct{ in, want string }{
		{"ranks -1", "this machine has no GPU"},
		{"ranks -2", "the number of ranks must be between 1 and 256, not -2"},
		{"ranks 257", "the number of ranks must be between 1 and 256, not 257"},
	} {
		if got := s.fails(row.in); !strings.HasPrefix(got, "refused|refused: "+row.want) {
			t.Errorf("%s: %s", row.in, got)
		}
	}
	t.Setenv(worldSizeVariable, "8")
	t.Setenv(rankVariable, "3")
	if got := s.fails("ranks 2"); !strings.Contains(got, "this session is already rank 3 of 8") {
		t.Error(got)
	}
}

func TestRanksHaveAGPUEach(t *testing.T) {
	t.Parallel()
	s := newSession(t, 1)
	s.devices = func() []string { return []string{"4", "GPU-6"} }
	if got := s.must("ranks 3"); !strings.HasPrefix(got, "3 ranks start, of which ranks 0 and 1 have a GPU, as there are no more.") {
		t.Error(got)
	}
	want := "[rank 1] CUDA_VISIBLE_DEVICES GPU-6 true\n[rank 2] CUDA_VISIBLE_DEVICES  true\n"
	if got := s.must("env CUDA_VISIBLE_DEVICES"); !strings.HasPrefix(got, "CUDA_VISIBLE_DEVICES 4 true\n") || len(got) != len("CUDA_VISIBLE_DEVICES 4 true\n")+len(want) {
		t.Error(got)
	}
	if got := s.must("ranks -1"); !strings.HasPrefix(got, "2 ranks start, with a GPU each.") {
		t.Error(got)
	}
	if got := s.must("ranks 0"); !strings.Contains(got, ", GPU 4\n") || !strings.HasSuffix(got, ", GPU GPU-6\n") {
		t.Error(got)
	}
}

func TestVisibleDevices(t *testing.T) {
	for _, row := range []struct {
		in   string
		want []string
	}{
		{"2,5", []string{"2", "5"}},
		{" GPU-1 , GPU-2 ", []string{"GPU-1", "GPU-2"}},
		{"1,-1,2", []string{"1"}},
		{"", nil},
	} {
		t.Setenv(visibleVariable, row.in)
		if got := visibleDevices(); !slices.Equal(got, row.want) {
			t.Errorf("%q: %q", row.in, got)
		}
	}
}

// After Shutdown no process is left, whatever was running.
func TestShutdown(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"", "out began\nwait", "1: exit 3\nwait", "ranks 4"} {
		s := newSession(t, 3)
		pids := s.pids()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = s.Execute(s.ctx, link.Execute{Cell: 9, Code: code})
		}()
		if strings.Contains(code, "began") && !s.notebook.until(s.ctx, "began") {
			t.Fatal("the cell did not begin")
		}
		if err := s.Shutdown(s.ctx); err != nil && !strings.Contains(err.Error(), "does not answer") {
			t.Errorf("%q: %v", code, err)
		}
		<-done
		for _, pid := range pids {
			if running(pid) {
				t.Errorf("%q: process %d is left", code, pid)
			}
		}
		if _, err := s.Execute(s.ctx, link.Execute{}); !errors.Is(err, errShutDown) {
			t.Errorf("%q: after the end: %v", code, err)
		}
	}
}

// running reports whether a process is running, on systems with /proc.
func running(pid int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	return !errors.Is(err, fs.ErrNotExist) && err == nil
}
