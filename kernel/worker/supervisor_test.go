package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quernlab/quern/kernel/link"
)

// timeout ends a test whose event never comes.
const timeout = 5 * time.Minute

// fakeNotebook is a notebook that keeps its output. Adjacent output of the same stream and cell
// is joined.
type fakeNotebook struct {
	link.RankGroup
	mu     sync.Mutex
	parts  []part
	change chan struct{} // closed at each change
}

type part struct {
	cell       int
	kind, text string
}

func (p *fakeNotebook) add(cell int, kind, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.parts); n > 0 && kind != "display" && p.parts[n-1].cell == cell && p.parts[n-1].kind == kind {
		p.parts[n-1].text += text
	} else {
		p.parts = append(p.parts, part{cell, kind, text})
	}
	close(p.change)
	p.change = make(chan struct{})
}

func (p *fakeNotebook) Stream(cell int, name string, text []byte) { p.add(cell, name, string(text)) }

func (p *fakeNotebook) Display(d link.Display) error {
	p.add(d.Cell, "display", fmt.Sprint(d.Data["text/plain"]))
	return nil
}

func (p *fakeNotebook) Comm(c link.Comm) error {
	p.add(c.Cell, "comm", c.Kind)
	return nil
}

func (p *fakeNotebook) WorkerEnded(End) {}

func (p *fakeNotebook) Input(_ context.Context, r link.InputRequest) (link.InputReply, error) {
	p.add(0, "prompt", r.Prompt)
	return link.InputReply{Line: "42"}, nil
}

// take returns the output since the last call.
func (p *fakeNotebook) take() []part {
	p.mu.Lock()
	defer p.mu.Unlock()
	parts := p.parts
	p.parts = nil
	return parts
}

// until waits until done returns true for the output since the last take.
func (p *fakeNotebook) until(t *testing.T, ctx context.Context, done func([]part) bool) {
	t.Helper()
	for {
		p.mu.Lock()
		ok, change, parts := done(p.parts), p.change, slices.Clone(p.parts)
		p.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-change:
		case <-ctx.Done():
			t.Fatalf("only %+v", parts)
		}
	}
}

// session is a supervisor over real processes.
type session struct {
	*Supervisor
	t        *testing.T
	ctx      context.Context
	notebook *fakeNotebook
	cell     int
}

func newSession(t *testing.T, log *slog.Logger) *session {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	s := &session{t: t, ctx: ctx, notebook: &fakeNotebook{change: make(chan struct{})}}
	s.Supervisor = New(func() Runner { return NewCommand(os.Args[0]) }, s.notebook, log)
	t.Cleanup(func() {
		_ = s.Shutdown(ctx)
		cancel()
	})
	return s
}

// execute runs a cell and returns its result and output.
func (s *session) execute(code string) (link.Result, []part, error) {
	s.t.Helper()
	s.notebook.take()
	s.cell++
	result, err := s.Execute(s.ctx, link.Execute{Cell: s.cell, Code: code})
	return result, s.notebook.take(), err
}

// must runs a cell that succeeds and returns its output.
func (s *session) must(code string) []part {
	s.t.Helper()
	result, parts, err := s.execute(code)
	if err != nil || result.Error != nil || result.Data["text/plain"] != "done" || result.Mark != 0 {
		s.t.Fatalf("%q: %+v, %v", code, result, err)
	}
	return parts
}

var quiet = slog.New(slog.DiscardHandler)

func TestOutputIsInOrder(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	parts := s.must("out a\nshow b\nerr c\nshow d\nout e\nshow-nothing\nout f\nask g\nshow h")
	var got []string
	for _, p := range parts {
		got = append(got, p.kind+" "+p.text)
	}
	// A display is exactly where it was shown, relative to both streams.
	want := []string{"stdout a\n", "display b", "stderr c\n", "display d", "stdout e\n", "stdout f\n", "prompt g", "stdout answer 42\n", "display h"}
	want[4] += "f\n" // neighbors are joined
	want = slices.Delete(want, 5, 6)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestStreamsAreInOrderThroughTheWriters(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	const n = 200
	var got, want strings.Builder
	for _, p := range s.must("mixed " + strconv.Itoa(n)) {
		got.WriteString(p.text)
	}
	for i := range n {
		fmt.Fprintf(&want, "out %d\nerr %d\n", i, i)
	}
	if got.String() != want.String() {
		t.Errorf("got %q", got.String())
	}
}

func TestOutputOfAnEarlierCell(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	s.must("out x")
	got := s.must("of 1")
	want := []part{{2, "stdout", "before\n"}, {1, "stdout", "of 1\n"}, {2, "stdout", "after\n"}}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestLongOutputOfAnEarlierCell(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	s.must("out x")
	got := s.must("out a\nlong 1\nout b")
	want := []part{{2, "stdout", "a\n"}, {1, "stdout", strings.Repeat("x", 10_000)}, {2, "stdout", "b\n"}}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestAllOutputComesBeforeTheEnd(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	const n = 100_000
	var want strings.Builder
	for i := range n {
		fmt.Fprintf(&want, "line %d\n", i)
	}
	for range 2 {
		parts := s.must("lines " + strconv.Itoa(n))
		if len(parts) != 1 || parts[0].text != want.String() {
			t.Fatalf("%d parts", len(parts))
		}
	}
}

func TestOutputOfUserExpressions(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	s.must("out a")
	if _, err := link.Ask(s.ctx, s, link.Evaluate{Expressions: map[string]string{"x": "text"}}); err != nil {
		t.Error(err)
	}
	if got, want := s.notebook.take(), []part{{1, "stdout", "text\n"}}; !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// If a cell closes its output, the output is lost, but the cell still ends.
func TestOutputClosed(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	if got, want := s.must("out a\nclose-output\nout b\nshow c"), []part{{1, "stdout", "a\n"}, {1, "display", "c"}}; !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	s.must("show d")
}

func TestWorkerDies(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, code string
		want       string // reason
		output     string // of the cell
	}{
		{"exit", "out a\nexit 3", "exit status 3: the program ended itself, for example by os.Exit or log.Fatal", "a\n"},
		{"exit without an error", "exit 0", "exit status 0: the program ended itself, for example by os.Exit or log.Fatal", ""},
		{"kill", "out a\nkill", "killed by signal SIGKILL, often because the system ran out of memory", "a\n"},
		{"panic in a goroutine", "err a\npanic boom", "panic: boom", "a\n"},
		{"concurrent map writes", "fatal", "fatal error: concurrent map writes", ""},
		{"stack overflow", "err a\noverflow", "fatal error: stack overflow", "a\n"},
		{"every descriptor closed", "out a\nclose-all\nstuck", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if row.code == "fatal" && raceEnabled {
				t.Skip("the race detector reports it otherwise")
			}
			if runtime.GOOS == "windows" && strings.Contains(row.want, "SIGKILL") {
				t.Skip("signals of Unix")
			}
			s := newSession(t, quiet)
			_, parts, err := s.execute(row.code)
			var died *link.CellError
			if !errors.As(err, &died) || died.Name != "worker died" {
				t.Fatalf("got %v", err)
			}
			if row.want == "" {
				return
			}
			if died.Value != row.want || !strings.Contains(strings.Join(died.Traceback, "\n"), "variables are lost") {
				t.Errorf("got  %q, %q\nwant %q", died.Value, died.Traceback, row.want)
			}
			var output strings.Builder
			for _, p := range parts {
				output.WriteString(p.text)
			}
			// The stacks of the crash are not shown.
			if output.String() != row.output {
				t.Errorf("output %q, want %q", output.String(), row.output)
			}
			s.must("out b") // runs on a new worker
		})
	}
}

func TestWorkerDiesBetweenCells(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	file := filepath.Join(t.TempDir(), "go")
	s.must("late " + file)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.notebook.until(t, s.ctx, func(parts []part) bool {
		return len(parts) == 1 && parts[0].cell == 1 && parts[0].kind == "stderr" &&
			strings.Contains(parts[0].text, "panic: boom") && strings.Contains(parts[0].text, "variables are lost")
	})
	s.must("out b")
}

func TestOutputThatResemblesACrash(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	want := []part{{1, "stderr", "panic: not really\n"}, {1, "stdout", "on\n"}}
	got := s.must("last-words\nout on")
	slices.SortFunc(got, func(a, b part) int { return strings.Compare(a.kind, b.kind) })
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	if err := s.Interrupt(s.ctx); err != nil { // no worker is running
		t.Error(err)
	}
	pid := s.must("pid")[0].text
	if err := s.Interrupt(s.ctx); err != nil && !errors.Is(err, errUnresponsive) {
		t.Error(err)
	}
	done := make(chan link.Result, 1)
	s.notebook.take()
	go func() {
		result, err := s.Execute(s.ctx, link.Execute{Cell: 2, Code: "out begun\nwait"})
		if err != nil {
			t.Error(err)
		}
		done <- result
	}()
	s.notebook.until(t, s.ctx, func(parts []part) bool { return len(parts) > 0 })
	// Other requests are answered at the same time.
	if c, err := link.Ask(s.ctx, s, link.Complete{Code: "x"}); err != nil || len(c.Matches) != 1 {
		t.Errorf("complete: %v, %v", c, err)
	}
	if err := s.Interrupt(s.ctx); err != nil {
		t.Error(err)
	}
	if result := <-done; result.Error == nil || result.Error.Value != "interrupted" {
		t.Errorf("got %+v", result)
	}
	s.cell = 2
	if again := s.must("pid")[0].text; again != pid {
		t.Errorf("worker %s, was %s", again, pid)
	}
}

func TestShutdownEndsAllThatWasStarted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	for name, end := range map[string]func(*session){
		"shutdown":           func(s *session) { _ = s.Shutdown(s.ctx) },
		"the worker's death": func(s *session) { _, _, _ = s.execute("exit 1") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t, quiet)
			pid := strings.TrimSpace(s.must("child")[0].text)
			if _, err := os.Stat("/proc/" + pid); err != nil {
				t.Fatal(err)
			}
			end(s)
			// A signal takes effect asynchronously, and there is no event for that.
			for alive(pid) {
				select {
				case <-time.After(time.Millisecond):
				case <-s.ctx.Done():
					t.Fatalf("process %s is still running", pid)
				}
			}
		})
	}
}

// alive reports whether a process is running. A zombie is not.
func alive(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

func TestAfterShutdown(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	s.must("out a")
	if err := s.Shutdown(s.ctx); err != nil && !errors.Is(err, errUnresponsive) {
		t.Error(err)
	}
	if err := s.Shutdown(s.ctx); err != nil {
		t.Error(err)
	}
	if _, err := link.Ask(s.ctx, s, link.Complete{}); !errors.Is(err, errShutDown) {
		t.Errorf("got %v", err)
	}
}

func TestShutdownOfAStuckWorker(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	done := make(chan error, 1)
	go func() {
		_, err := s.Execute(s.ctx, link.Execute{Cell: 1, Code: "out begun\nstuck"})
		done <- err
	}()
	s.notebook.until(t, s.ctx, func(parts []part) bool { return len(parts) > 0 })
	if err := s.Shutdown(s.ctx); err != nil && !errors.Is(err, errUnresponsive) {
		t.Error(err)
	}
	var died *link.CellError
	if err := <-done; !errors.As(err, &died) || died.Value != "the kernel shut it down" {
		t.Errorf("got %v", err)
	}
}

// Programs that a cell starts have the environment of the kernel, so that a Go program that panics shows its stacks.
func TestEnvironmentOfPrograms(t *testing.T) {
	for _, traceback := range []string{"", "single", "none"} {
		t.Run("GOTRACEBACK="+traceback, func(t *testing.T) {
			t.Setenv("GOTRACEBACK", traceback)
			if traceback == "" {
				os.Unsetenv("GOTRACEBACK") // Setenv restores it
			}
			want := slices.Sorted(slices.Values(os.Environ()))
			var got []string
			for line := range strings.Lines(newSession(t, quiet).must("environment")[0].text) {
				got = append(got, strings.TrimSuffix(line, "\n"))
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("got %q\nwant %q", got, want)
			}
		})
	}
}

func TestWorkerThatDoesNotStart(t *testing.T) {
	t.Parallel()
	text := t.TempDir() + "/text"
	if err := os.WriteFile(text, []byte("not a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct{ path, want string }{
		"missing":   {"/no/such/worker", "no such file"},
		"directory": {t.TempDir(), "is a directory"},
		"text":      {text, "exec format error"},
		"ends":      {"/bin/true", "before it was ready: exit status 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS != "linux" {
				t.Skip("the texts are those of Linux")
			}
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			starts := 0
			s := New(func() Runner { starts++; return NewCommand(row.path) }, &fakeNotebook{change: make(chan struct{})}, quiet)
			for range 2 {
				_, err := s.Execute(ctx, link.Execute{Cell: 1})
				var start *StartError
				if !errors.As(err, &start) || !strings.Contains(err.Error(), row.want) {
					t.Errorf("got %v, want %q", err, row.want)
				}
			}
			if err := s.Shutdown(ctx); err != nil {
				t.Error(err)
			}
			if starts > 2 { // it is only started again by a request
				t.Errorf("started %d times", starts)
			}
		})
	}
}

// The output of a worker that does not start is part of the error.
func TestStartErrorOfAWorker(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	c := NewCommand("sh", "-c", "echo no room for me >&2; exit 5")
	s := New(func() Runner { return c }, &fakeNotebook{change: make(chan struct{})}, log)
	_, err := s.Execute(t.Context(), link.Execute{Cell: 1})
	var start *StartError
	if !errors.As(err, &start) || !strings.Contains(err.Error(), "it ended before it was ready: no room for me; exit status 5") {
		t.Errorf("got %v", err)
	}
	_ = s.Shutdown(t.Context())
}
