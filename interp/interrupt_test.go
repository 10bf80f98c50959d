package interp_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/interp"
)

// interruptAt executes a cell and interrupts it when it has printed "go". It returns the error. How long an interrupt takes depends
// on what else runs on the machine; it is in the log of the test.
func interruptAt(t *testing.T, n *notebook, src string) *interp.Error {
	t.Helper()
	type outcome struct {
		err error
		at  time.Time
	}
	done := make(chan outcome, 1)
	n.cell++
	go func() {
		_, err := n.Execute(context.Background(), n.cell, src)
		done <- outcome{err, time.Now()}
	}()
	deadline := time.Now().Add(limit)
	for !strings.Contains(n.out.peek(), "go") {
		if time.Now().After(deadline) {
			t.Fatalf("%q never started", src)
		}
		time.Sleep(time.Millisecond) // polls for the output of the cell
	}
	n.out.take()
	start := time.Now()
	n.Interrupt()
	select {
	case o := <-done:
		var e *interp.Error
		if !errors.As(o.err, &e) {
			t.Fatalf("%q ended with %v", src, o.err)
		}
		t.Logf("the interrupt took %v", o.at.Sub(start))
		return e
	case <-time.After(limit):
		t.Fatalf("%q was not interrupted", src)
		return nil
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, cell string }{
		{"loop", "println(\"go\")\nfor { }"},
		{"counting loop", "println(\"go\")\nfor i := 0; ; i++ { k = i }"},
		{"loop with recover", "println(\"go\")\nfor { func() { defer func() { recover() }(); k++ }() }"},
		{"loop below a loop with recover", "println(\"go\")\nfunc() { for { func() { defer func() { recover() }(); for { } }() } }()"},
		{"recursion", "func f(n int) int { if n > 100 { return 0 }; return f(n+1) + f(n+1) }\nprintln(\"go\")\nf(0)"},
		{"range over function", "println(\"go\")\nfor range func(yield func(int) bool) { for yield(1) { } } { k++ }"},
		{"goto", "println(\"go\")\nagain:\nk++\ngoto again"},
		{"receive", "ch := make(chan int)\nprintln(\"go\")\n<-ch"},
		{"send", "ch := make(chan int)\nprintln(\"go\")\nch <- 1"},
		{"range over channel", "ch := make(chan int)\nprintln(\"go\")\nfor range ch { }"},
		{"nil channel", "var ch chan int\nprintln(\"go\")\n<-ch"},
		{"select", "a, b := make(chan int), make(chan int)\nprintln(\"go\")\nselect {\ncase <-a:\ncase b <- 1:\n}"},
		{"empty select", "println(\"go\")\nselect { }"},
		{"receive in a function", "func wait(ch chan int) int { return <-ch }\nprintln(\"go\")\nprintln(wait(make(chan int)))"},
		{"mutex", "var mu sync.Mutex\nmu.Lock()\nprintln(\"go\")\nmu.Lock()"},
		{"mutex for reading", "var mu sync.RWMutex\nmu.Lock()\nprintln(\"go\")\nmu.RLock()"},
		{"wait group", "var wg sync.WaitGroup\nwg.Add(1)\nprintln(\"go\")\nwg.Wait()"},
		{"sleep", "println(\"go\")\ntime.Sleep(time.Hour)"},
		{"context", "println(\"go\")\n<-ctx.Done()\nfor { }"},
		{"compiled code that watches ctx", "println(\"go\")\nexec.CommandContext(ctx, \"sleep\", \"1000\").Run()\nfor { }"},
		{"wait for goroutines that loop", "var wg sync.WaitGroup\nwg.Go(func() { for { } })\nfmt.Println(\"go\")\nwg.Wait()\nfor { }"},
		{"child process", "println(\"go\")\nexec.Command(\"sleep\", \"1000\").Run()\nfor { }"},
		{"child of a shell, whatever its context", "println(\"go\")\ncmd := exec.CommandContext(context.Background(), \"sh\", \"-c\", \"sleep 1000; echo x\")\ncmd.Output()\nfor { }"},
		{"child with its output", "println(\"go\")\nexec.Command(\"sh\", \"-c\", \"sleep 1000; echo x\").Output()\nfor { }"},
		{"loop in a coroutine", "next, _ := iter.Pull(func(yield func(int) bool) { println(\"go\"); for { } })\nnext()"},
		{"lock in a deferred literal", "var mu sync.Mutex\nfunc f() { mu.Lock(); defer func() { println(\"go\"); mu.Lock() }() }\nf()"},
		{"deferred lock", "var mu sync.Mutex\nfunc f() { mu.Lock(); defer mu.Lock(); println(\"go\") }\nf()"},
		{"strings.Map", "s := strings.Repeat(\"a\", 1<<22)\nprintln(\"go\")\nstrings.Map(func(r rune) rune { return r }, s)\nfor { }"},
		{"ticker", "println(\"go\")\nfor range time.Tick(time.Millisecond) { }"},
		{"generic function", "func g[T any](f func() T) { for { f() } }\nprintln(\"go\")\ng(func() int { return k })"},
		{"compiled function that calls a closure", "println(\"go\")\nsort.Slice(make([]int, 1<<20), func(i, j int) bool { k++; return false })\nfor { }"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			n := newNotebook(t)
			n.must(t, "k := 0\nclo := func() int { return 42 }", "")
			e := interruptAt(t, n, strings.ReplaceAll(row.cell, "println(\"go\")", "fmt.Println(\"go\")"))
			if e.Name != "interrupted" || e.Stuck {
				t.Errorf("ended with %v", e)
			}
			n.out.take()
			n.must(t, "clo()", "= 42")
			n.must(t, "ch2 := make(chan int, 1)\nch2 <- 7\n<-ch2", "= 7")
			n.must(t, "k = 3\nk", "= 3")
		})
	}
}

// An interrupt does not end goroutines of earlier cells.
func TestInterruptSpares(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "in, out := make(chan int), make(chan int)\ngo func() { for v := range in { out <- v * 2 } }()", "")
	n.must(t, "var beats atomic.Int64\ngo func() { for { beats.Add(1); time.Sleep(time.Millisecond) } }()", "")
	for _, src := range []string{"fmt.Println(\"go\")\nfor { }", "fmt.Println(\"go\")\ntime.Sleep(time.Hour)"} {
		if e := interruptAt(t, n, src); e.Name != "interrupted" {
			t.Fatal(e)
		}
		n.must(t, "in <- 21\n<-out", "= 42")
		n.must(t, "before := beats.Load()\nfor beats.Load() < before+3 { time.Sleep(time.Millisecond) }", "")
	}
	if e := interruptAt(t, n, "fmt.Println(\"go\")\n<-make(chan int)"); e.Name != "interrupted" {
		t.Fatal(e)
	}
	n.must(t, "in <- 4\n<-out", "= 8")
}

// An interrupt does not end goroutines of earlier cells, even if they never wait, and functions
// of an interrupted cell still work.
func TestInterruptSparesWork(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "var locked, sent atomic.Int64\ngo func() { for { func() { defer func() { recover() }(); locked.Add(1) }() } }()\n"+
		"go func() { c := make(chan int, 1); for { c <- 1; <-c; sent.Add(1) } }()", "")
	for range 3 {
		e := interruptAt(t, n, "ch := make(chan string, 1)\nget := func() string { return <-ch }\nall := func() (list []string) { for v := range ch { list = append(list, v) }; return }\n"+
			"fmt.Println(\"go\")\nget()")
		if e.Name != "interrupted" || e.Stuck {
			t.Fatal(e)
		}
		n.must(t, "a, b := locked.Load(), sent.Load()\nfor locked.Load() == a || sent.Load() == b { time.Sleep(time.Millisecond) }", "")
		n.must(t, "go func() { time.Sleep(time.Millisecond); ch <- \"x\" }()\nget()", "= \"x\"")
		n.must(t, "go func() { ch <- \"y\"; time.Sleep(time.Millisecond); ch <- \"z\"; close(ch) }()\nall()", "= [y z]")
	}
}

// A cell with long deferred calls ends before them, and they end too.
func TestInterruptLeaves(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	interp.BePrompt(n.Session)
	n.must(t, "var steps atomic.Int64\nvar ended atomic.Bool", "")
	e := interruptAt(t, n, "func long() { defer func() { ended.Store(true) }(); defer func() { for { steps.Add(1); time.Sleep(time.Millisecond) } }(); fmt.Println(\"go\"); for { } }\nlong()")
	if e.Name != "interrupted" || e.Stuck {
		t.Errorf("ended with %v", e)
	}
	n.must(t, "for !ended.Load() { time.Sleep(time.Millisecond) }", "")
	n.must(t, "a := steps.Load()\ntime.Sleep(5 * time.Millisecond)\nsteps.Load() - a", "= 0")
}

// An interrupt ends all goroutines of its cell.
func TestInterruptEndsGoroutines(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "var begun, ended atomic.Int64", "")
	for i := range 3 {
		e := interruptAt(t, n, "var wg sync.WaitGroup\nfor range 10 { wg.Go(func() { begun.Add(1); defer ended.Add(1); for { } }) }\n"+
			fmt.Sprintf("for begun.Load() < %d { time.Sleep(time.Millisecond) }\nfmt.Println(\"go\")\nselect { }", 10*(i+1)))
		if e.Name != "interrupted" || e.Stuck {
			t.Fatal(e)
		}
		n.must(t, fmt.Sprintf("for ended.Load() < %d { time.Sleep(time.Millisecond) }\nwg.Wait()", 10*(i+1)), "")
	}
}

// Each goroutine that compiled code has started ends on its own.
func TestInterruptOfManyGoroutines(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	e := interruptAt(t, n, "server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, \"x\") }))\n"+
		"fmt.Println(\"go\")\nfor {\n\tif resp, err := http.Get(server.URL); err == nil {\n\t\tio.ReadAll(resp.Body)\n\t\tresp.Body.Close()\n\t}\n}")
	if e.Name != "interrupted" || e.Stuck {
		t.Errorf("ended with %v", e)
	}
}

// An interrupt also ends goroutines that compiled code has started, which get no time on one busy core before the cell has ended.
func TestInterruptEndsHandlers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	n := newNotebook(t)
	n.must(t, "var begun, steps atomic.Int64", "")
	e := interruptAt(t, n, "server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { begun.Add(1); for { steps.Add(1) } }))\n"+
		"for range 10 { conn, err := net.Dial(\"tcp\", server.Listener.Addr().String()); if err != nil { panic(err) }; fmt.Fprint(conn, \"GET / HTTP/1.0\\r\\n\\r\\n\") }\n"+
		"for begun.Load() < 10 { time.Sleep(time.Millisecond) }\nfmt.Println(\"go\")\nselect { }")
	if e.Name != "interrupted" || e.Stuck {
		t.Errorf("ended with %v", e)
	}
	n.must(t, "for seen := int64(-1); seen != steps.Load(); time.Sleep(20*time.Millisecond) { seen = steps.Load() }", "")
}

// If compiled code does not return, the cell ends and others can run. If the code returns later,
// its goroutine ends.
func TestStuck(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	interp.BePrompt(n.Session)
	n.must(t, "c := sync.NewCond(&sync.Mutex{})\nc.L.Lock()\nx := 5\nclo := func() int { x++; return x }", "")
	e := interruptAt(t, n, "fmt.Println(\"go\")\nc.Wait()\nx = 100\nfmt.Println(\"not reached\")")
	if e.Name != "interrupted" || !e.Stuck || !strings.Contains(e.Value, "sync.(*Cond).Wait cannot be stopped") || !strings.Contains(e.Value, "restart") {
		t.Fatalf("ended with %v", e)
	}
	if _, _, items := n.Complete("strings.ToU", 11); len(items) == 0 {
		t.Error("no completion while a cell is stuck")
	}
	n.cell = 9
	n.must(t, "clo()", "= 6")
	n.must(t, "sum := 0\nfor i := range 1000 { sum += i }\nsum", "= 499500")
	if e := interruptAt(t, n, "fmt.Println(\"go\")\nfor { }"); e.Stuck {
		t.Errorf("ended with %v", e)
	}
	n.must(t, "c.Broadcast()", "")
	for deadline := time.Now().Add(limit); interp.Abandoned(n.Session) > 0; time.Sleep(time.Millisecond) { // polls for the end of the goroutine
		if time.Now().After(deadline) {
			t.Fatal("the abandoned goroutine has not ended")
		}
	}
	n.must(t, "clo()", "= 7")
	if e := interruptAt(t, n, "fmt.Println(\"go\")\n<-make(chan int)"); e.Stuck {
		t.Errorf("ended with %v", e)
	}
	n.must(t, "clo()", "= 8")
}

// Several cells may be stuck at the same time.
func TestStuckTwice(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	interp.BePrompt(n.Session)
	n.must(t, "r, w := io.Pipe()\nx := 0", "")
	for range 3 {
		if e := interruptAt(t, n, "fmt.Println(\"go\")\nr.Read(make([]byte, 1))\nx++"); !e.Stuck {
			t.Fatalf("ended with %v", e)
		}
	}
	n.must(t, "w.Close()\nx", "= 0")
	n.must(t, "x++\nx", "= 1")
}

// Deferred calls run if a loop or a wait is interrupted.
func TestInterruptDefers(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"for { }", "<-make(chan int)", "time.Sleep(time.Hour)"} {
		n := newNotebook(t)
		n.must(t, "var mu sync.Mutex\ndepth := 0", "")
		cell := "func locked() {\n\tmu.Lock()\n\tdefer mu.Unlock()\n\tdefer func() { depth++; recover() }()\n\tfmt.Println(\"go\")\n\t" + src +
			"\n\tfmt.Println(\"not reached\")\n}\nfunc outer() { defer func() { depth += 10 }(); locked(); fmt.Println(\"nor this\") }\nouter()\nfmt.Println(\"nor that\")"
		if e := interruptAt(t, n, cell); e.Name != "interrupted" || e.Stuck {
			t.Errorf("%s ended with %v", src, e)
		}
		n.must(t, "mu.TryLock(), depth", "= true, 11")
	}
}

func TestContextOfExecute(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := n.Execute(ctx, 1, "for { }")
	var e *interp.Error
	if !errors.As(err, &e) || e.Name != "interrupted" {
		t.Fatalf("ended with %v", err)
	}
	if _, err := n.Execute(ctx, 2, "x := 1"); !errors.As(err, &e) || e.Value != "the cell was interrupted before it ran" {
		t.Errorf("ended with %v", err)
	}
	n.must(t, "ctx.Err() == nil", "= true")
	n.must(t, "ctx, cancel := context.WithCancel(ctx)\ncancel()\nctx.Err() == context.Canceled", "= true")
	n.must(t, "ctx.Err() == nil", "= true")
	n.must(t, "type key int\nctx = context.WithValue(ctx, key(1), \"a\")", "")
	n.must(t, "ctx.Value(key(1)), ctx.Err()", "= \"a\", <nil>")
	n.must(t, "ctx = context.Background()", "")
	n.must(t, "ctx == context.Background()", "= true")
}

// Completion and inspection do not wait for the running cell.
func TestToolsWhileRunning(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "type User struct{ Name string }\nu := User{}", "")
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.Execute(context.Background(), 2, "fmt.Println(\"go\")\nfor { }")
	}()
	deadline := time.Now().Add(limit)
	for !strings.Contains(n.out.peek(), "go") && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond) // polls for the output of the cell
	}
	if _, _, items := n.Complete("u.Na", 4); len(items) == 0 || items[0].Text != "Name" {
		t.Errorf("completion gives %v", items)
	}
	if data := n.Inspect("u", 1, 0); data["text/plain"] != "var u User" {
		t.Errorf("inspection gives %v", data)
	}
	if status, _ := n.IsComplete("for {"); status != "incomplete" {
		t.Errorf("IsComplete gives %s", status)
	}
	n.Interrupt()
	<-done
}

// An interrupt ends a training and its goroutines, whatever context the cell passes, and a model
// can be trained afterwards.
func TestInterruptTraining(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "kept := 41\ntrain, test, err := data.Digits()", "")
	n.must(t, "model := nn.Sequential(nn.Flatten(), nn.Dense(16), nn.ReLU(), nn.Dense(10))", "")
	n.must(t, "type keyed struct{}\nbg := context.Background()\nown, cancel := context.WithCancel(context.WithValue(bg, keyed{}, 1))", "")
	// If a row left something running, the next one would fail.
	for _, src := range []string{
		"accel.Fit(ctx, model, train, accel.Epochs(1_000_000), accel.Quiet())",
		"accel.Fit(bg, model, train, accel.Epochs(1_000_000), accel.Quiet())",
		"accel.Fit(own, model, train, accel.Epochs(1_000_000), accel.Quiet())",
		"func() error { _, err := accel.Fit(bg, model, train, accel.Epochs(1_000_000), accel.Quiet()); return err }()",
		"for { accel.Evaluate(bg, model, test) }",
		"for { accel.FindLR(bg, model, train) }",
		"for { accel.PredictDataset(bg, model, test) }",
		"opt := optim.AdamW(model, 1e-3)\nfor {\n\tit := train.Batches(64)\n\tfor it.Next() {\n\t\tb := it.Batch()\n\t\tloss := nn.CrossEntropy(model.Forward(b.X), b.Y)\n\t\topt.ZeroGrad()\n\t\tloss.Backward()\n\t\topt.Step()\n\t}\n}",
	} {
		e := interruptAt(t, n, "fmt.Println(\"go\")\n"+src)
		if e.Name != "interrupted" || e.Stuck {
			t.Errorf("%s: ended with %v", src, e)
		}
		n.out.take()
		n.must(t, "kept++\nkept > 41", "= true")
	}
	n.must(t, "own.Err() == nil", "= true")
	n.must(t, "_, err = accel.Fit(bg, model, train, accel.Epochs(1), accel.Quiet())\nerr == nil", "= true")
}

// A training that an interrupt ends returns its run, and the variables that the statement declares have it. It is not parallel: one model is trained at a time.
func TestInterruptDeclares(t *testing.T) {
	n := newNotebook(t)
	n.must(t, "train, _, err := data.Digits()\nconst epochs = 1_000_000", "")
	n.must(t, "model := nn.Sequential(nn.Flatten(), nn.Dense(16), nn.ReLU(), nn.Dense(10))", "")
	n.must(t, "type loud struct{ accel.NopObserver }\nfunc (loud) Begin(*accel.Training) error { fmt.Println(\"go\"); return nil }", "")
	const fit = "accel.Fit(ctx, model, train, accel.Epochs(epochs), accel.Quiet(), accel.Observe(loud{}))"
	for _, row := range []struct{ name, src, look string }{
		{"definition", "a1, e1 := " + fit, "a1 != nil"},
		{"a result follows", "a2, e2 := " + fit + "\ne2", "a2 != nil"},
		{"statements follow", "a3, e3 := " + fit + "\na3, e3 = nil, nil\nfmt.Println(a3, e3)", "a3 != nil && e3 == context.Canceled"},
		{"declaration of variables", "var a4, e4 = " + fit + "\ne4", "a4 != nil"},
		{"one result is dropped", "a5, _ := " + fit, "a5 != nil"},
		{"one variable is new", "a6, err := " + fit, "a6 != nil && err == context.Canceled"},
		{"label", "again: a7, e7 := " + fit + "\nif e7 == nil { goto again }", "a7 != nil"},
	} {
		if e := interruptAt(t, n, row.src); e.Name != "interrupted" || e.Stuck {
			t.Errorf("%s: ended with %v", row.name, e)
		}
		n.out.take()
		n.must(t, row.look, "= true")
	}
}
