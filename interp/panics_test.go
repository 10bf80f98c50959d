package interp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
	"github.com/quernlab/quern/widgets/comm"
)

// outcome runs a cell and returns what it printed, and its value or error, without the notes.
func (n *notebook) outcome(src string) string {
	text := n.run(src)
	before, after, noted := strings.Cut(text, "stderr: ")
	if !noted {
		return text
	}
	_, after, _ = strings.Cut(after, "! ")
	return before + "! " + after
}

// TestGoroutinePanic checks that a panic in a goroutine fails the cell that runs.
func TestGoroutinePanic(t *testing.T) {
	t.Parallel()
	const bad, ofThis = "! panic: bad\nin a goroutine of this cell", "\nin a goroutine of this cell"
	n := newNotebook(t)
	n.must(t, `var wg sync.WaitGroup
done := make(chan bool)
func bad() { panic("bad") }
type E struct{ n int }
func (e E) Error() string { return fmt.Sprint("E", e.n) }
type Worse struct{}
func (Worse) Error() string { panic("worse") }
func each(f func(int)) { for i := range 3 { f(i) } }
func seq(yield func(int) bool) { defer wg.Done(); _ = yield(1) && yield(2) }`, "")
	for _, row := range []struct{ src, want string }{
		// The hole must not become a result.
		{"results := make([]int, 4)\nfor i := range 4 {\n\twg.Go(func() { results[i] = 10 / (i - 2) })\n}\nwg.Wait()\nresults", "! runtime error: integer divide by zero" + ofThis},
		{"results", "= [-5 -10 0 10]"}, // variables stay
		{"fmt.Println(1)\ngo func() { defer close(done); panic(\"bad\") }()\n<-done\nfmt.Println(2)\n3", "1\n2\n" + bad},
		{"wg.Add(1); go func() { defer wg.Done(); bad() }(); wg.Wait()", bad},
		{"wg.Add(1); go func(s string) { defer wg.Done(); panic(s) }(\"bad\"); wg.Wait()", bad},
		{"wg.Add(1); f := func() { defer wg.Done(); bad() }; go f(); wg.Wait()", bad},
		{"wg.Go(bad); wg.Wait()", bad},
		{"func() { wg.Go(bad); wg.Wait() }()", bad},
		{"wg.Go(func() { wg.Go(bad) }); wg.Wait()", bad},
		{"wg.Go(func() { panic(E{3}) }); wg.Wait()", "! panic: E3 (main.E)" + ofThis},
		{"wg.Go(func() { panic(nil) }); wg.Wait()", "! runtime error: panic called with nil argument" + ofThis},
		{"wg.Go(func() { panic(Worse{}) }); wg.Wait()", "! panic: %!v(PANIC=Error method: worse) (main.Worse)" + ofThis},
		{"wg.Go(func() { var m map[string]int; m[\"a\"] = 1 }); wg.Wait()", "! runtime error: assignment to entry in nil map" + ofThis},
		{"for range 5 { wg.Go(bad) }; wg.Wait()", bad + "; 4 more have panicked"},
		{"wg.Go(func() { each(func(i int) { if i == 2 { bad() } }) }); wg.Wait()", bad},
		{"wg.Go(func() { sort.Slice([]int{2, 1}, func(i, j int) bool { panic(\"bad\") }) }); wg.Wait()", bad},
		{"wg.Go(func() { slices.SortFunc([]int{2, 1}, func(i, j int) int { panic(\"bad\") }) }); wg.Wait()", bad},
		{"wg.Add(1); go func() { for range seq { bad() } }(); wg.Wait()", bad},
		{"wg.Add(1); go func() { next, _ := iter.Pull(func(yield func(int) bool) { defer wg.Done(); bad() }); next() }(); wg.Wait()", bad},
		{"wg.Add(1); time.AfterFunc(0, func() { defer wg.Done(); bad() }); wg.Wait()", bad},
		{"wg.Add(1); c, cancel := context.WithCancel(ctx); context.AfterFunc(c, func() { defer wg.Done(); bad() }); cancel(); wg.Wait()", bad},
		{"var once sync.Once; ready := make(chan bool); go once.Do(func() { close(ready); bad() }); <-ready; once.Do(func() {})", bad},
		// The cell's own error comes first.
		{"wg.Go(bad); wg.Wait(); panic(\"own\")", "! panic: own"},
		{"wg.Go(bad); wg.Wait(); errors.New(\"e\"); func() error { return io.EOF }()", "! error: EOF"},
		// These are no failures.
		{"wg.Go(func() { defer func() { recover() }(); bad() }); wg.Wait(); 1", "= 1"},
		{"wg.Go(runtime.Goexit); wg.Wait(); 1", "= 1"},
		{"wg.Add(1); go func() { defer wg.Done(); defer func() { recover(); runtime.Goexit() }(); bad() }(); wg.Wait(); 1", "= 1"},
		{"func() { defer func() { fmt.Println(recover()) }(); bad() }()", "bad\n"},
		{"1 + 1", "= 2"},
	} {
		if got := n.outcome(row.src); got != row.want {
			t.Errorf("%q\n got %q\nwant %q", row.src, got, row.want)
		}
	}
}

// TestPanicWhileCellEnds repeats cells that go on as soon as a deferred call of the goroutine that panics lets them. The
// panic is recorded only after that call.
func TestPanicWhileCellEnds(t *testing.T) {
	t.Parallel()
	times := 40
	if testing.Short() {
		times = 5
	}
	n := newNotebook(t)
	n.must(t, `var wg sync.WaitGroup
var mu sync.Mutex
var free atomic.Bool
func busy() (s int) { for i := range 20_000 { s += i }; return s }
func seq(yield func(int) bool) { defer wg.Done(); yield(1) }`, "")
	for i := range times {
		for _, src := range []string{
			"wg.Add(1)\ngo func() { defer wg.Done(); panic(\"bad\") }()\nwg.Wait()",
			"wg.Add(1)\ngo func() { defer busy(); defer wg.Done(); panic(\"bad\") }()\nwg.Wait()",
			"wg.Add(1)\ngo func() { defer func() { defer busy(); wg.Done() }(); func() { defer busy(); panic(\"bad\") }() }()\nwg.Wait()",
			"wg.Add(1)\ngo func() { defer busy(); defer wg.Done(); defer func() { panic(\"bad\") }() }()\nwg.Wait()",
			"wg.Add(1)\ngo func() { defer busy(); defer wg.Done(); defer panic(\"bad\") }()\nwg.Wait()",
			"done := make(chan int, 1)\ngo func() { defer func() { done <- 1 }(); panic(\"bad\") }()\n<-done",
			"free.Store(false)\ngo func() { defer free.Store(true); panic(\"bad\") }()\nfor !free.Load() { runtime.Gosched() }",
			"mu.Lock()\ngo func() { defer mu.Unlock(); panic(\"bad\") }()\nmu.Lock()\nmu.Unlock()",
			"wg.Add(1)\ngo func() { defer wg.Done(); defer func() { panic(recover()) }(); panic(\"bad\") }()\nwg.Wait()",
			"wg.Add(1)\ngo func() { for range seq { panic(\"bad\") } }()\nwg.Wait()",
			"ready := make(chan bool)\nvar once sync.Once\ngo once.Do(func() { close(ready); panic(\"bad\") })\n<-ready\nonce.Do(func() {})",
		} {
			if got := n.outcome(src); !strings.HasPrefix(got, "! panic: bad") {
				t.Fatalf("%q, the %dth time: %q", src, i, got)
			}
		}
	}
}

// TestLatePanic checks that a panic while no cell runs fails the next cell, which does not run.
func TestLatePanic(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "ran := false\nvar release chan bool\nfunc free() int { close(release); return 1 }", "")
	late := func(cell string) {
		t.Helper()
		n.must(t, "release = make(chan bool)\n"+cell, "")
		if _, err := n.Evaluate(context.Background(), "free()"); err != nil {
			t.Fatal(err)
		}
	}
	for _, cell := range []string{
		"go func() { <-release; panic(\"late\") }()",
		"go func() { go func() { <-release; panic(\"late\") }() }()",
		"t := time.AfterFunc(time.Hour, func() { <-release; panic(\"late\") }); t.Reset(0);",
		"func() { c, cancel := context.WithCancel(context.Background()); context.AfterFunc(c, func() { panic(\"late\") }); go func() { <-release; cancel() }() }()",
	} {
		late(cell)
		got := n.await(t, "panic: late")
		number := n.cell
		if want := fmt.Sprintf("in a goroutine of cell[%d]:\n", number); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q first", cell, got, want)
		}
		n.must(t, "ran = true", fmt.Sprintf("! panic: late\nin a goroutine of cell[%d], after the end of that cell; this cell has not been run", number))
		n.must(t, "ran", "= false")
	}
	late("for range 3 { go func() { <-release; panic(\"late\") }() }")
	for seen := ""; strings.Count(seen, "panic: late") < 3; {
		seen += n.await(t, "panic: late")
	}
	err := n.Panic(context.Background(), false)
	var e *interp.Error
	if want := fmt.Sprintf("panic: late\nin a goroutine of cell[%d], after the end of that cell; 2 more have panicked", n.cell); !errors.As(err, &e) || e.Error() != want || e.Earlier != n.cell {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := n.Panic(context.Background(), false); err != nil {
		t.Errorf("a second time: %v", err)
	}
	// While another cell runs, that one fails; an own error of it leaves the panic for the next.
	n.must(t, "release = make(chan bool); done := make(chan bool)\ngo func() { defer close(done); <-release; panic(\"late\") }()", "")
	number := n.cell
	if got, want := n.outcome("close(release); <-done; 1"), fmt.Sprintf("! panic: late\nin a goroutine of cell[%d]", number); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	n.must(t, "release = make(chan bool); done = make(chan bool)\ngo func() { defer close(done); <-release; panic(\"late\") }()", "")
	number = n.cell
	if got, want := n.outcome("close(release); <-done; panic(\"own\")"), "! panic: own"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := n.outcome("1"), fmt.Sprintf("! panic: late\nin a goroutine of cell[%d], after the end of that cell; this cell has not been run", number); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	n.must(t, "1", "= 1")
}

// TestOverflowOfGoroutine checks that infinite recursion in a goroutine fails the cell. Like TestRecursion it is not parallel: a
// recursion is ended when the stacks of the process have 256 MB, and the runtime copies a stack of 128 MB into that one.
func TestOverflowOfGoroutine(t *testing.T) {
	n := newNotebook(t)
	want := "! runtime error: stack overflow: calls are nested too deeply, probably by infinite recursion\nin a goroutine of this cell"
	if got := n.outcome("var wg sync.WaitGroup\nwg.Go(func() { var f func(int); f = func(n int) { f(n + 1) }; f(0) })\nwg.Wait()"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPanicWhileStopped checks that goroutines of an interrupted cell that panic fail no other cell.
func TestPanicWhileStopped(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	ended := make(chan error)
	go func() {
		_, err := n.Execute(context.Background(), 1, "var wg sync.WaitGroup\nwg.Go(func() { defer func() { panic(\"stopped\") }(); println(\"began\"); for { } })\nwg.Wait()")
		ended <- err
	}()
	n.await(t, "began")
	n.Interrupt()
	var e *interp.Error
	if err := <-ended; !errors.As(err, &e) || e.Name != "interrupted" {
		t.Errorf("got %v", err)
	}
	if _, err := n.Execute(context.Background(), 2, "1"); err != nil {
		t.Error(err)
	}
	if err := n.Panic(context.Background(), false); err != nil {
		t.Error(err)
	}
}

// TestBlockedPanic checks that a goroutine whose deferred call blocks does not stop a cell from ending.
func TestBlockedPanic(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "release := make(chan bool)\ndone := make(chan bool)\ngo func() { defer func() { <-release }(); defer close(done); panic(\"blocked\") }()\n<-done\n1", "= 1")
	n.must(t, "2", "= 2")
	got := n.outcome("close(release)")
	if got == "" { // the goroutine panics after the cell
		n.await(t, "panic: blocked")
		got = n.outcome("3")
	}
	if want := "! panic: blocked\nin a goroutine of cell[1]"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestWidgetHandlerPanic checks that a panic in a function that a widget calls fails the next cell.
func TestWidgetHandlerPanic(t *testing.T) {
	said := make(printed, 100)
	s, err := interp.New(interp.Output(func(int) (stdout, stderr io.Writer) { return said, said }))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	defer comm.SetHost(comm.SetHost(page{interp.NewCallbacks(s)}))
	result, err := s.Execute(t.Context(), 1, "c, _ := comm.Open(\"target\", nil, nil)\nc.OnMessage(func(comm.Message) { panic(\"moved\") })\nc.ID()")
	if err != nil {
		t.Fatal(err)
	}
	id, _ := result.Data["text/plain"].(string)
	for range 2 {
		comm.Deliver(comm.Message{Kind: comm.KindMessage, ID: strings.Trim(id, `"`)})
	}
	_, err = s.Execute(t.Context(), 2, "1")
	if want := "panic: moved\nin a handler of cell[1], after the end of that cell; 1 more has panicked; this cell has not been run"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := s.Execute(t.Context(), 3, "1"); err != nil {
		t.Error(err)
	}
}
