package interp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/interp"
)

// watched is a notebook whose cells are examined for deadlocks as often as a test says.
type watched struct {
	*notebook
	ticks chan time.Time
}

func newWatched(t *testing.T) *watched {
	w := &watched{newNotebook(t), make(chan time.Time)}
	interp.BePrompt(w.Session) // sync.Cond.Wait cannot be stopped
	interp.LookAt(w.Session, w.ticks)
	return w
}

// run runs a cell and lets it be examined until it ends, but at most a number of times.
func (w *watched) run(src string, most int, options ...interp.CellOption) (outcome string, ended bool) {
	done := make(chan string)
	go func() {
		w.cell++
		result, err := w.Execute(context.Background(), w.cell, src, options...)
		if err != nil {
			done <- "! " + err.Error()
			return
		}
		done <- fmt.Sprint(result.Data["text/plain"])
	}()
	for range most {
		select {
		case outcome := <-done:
			return outcome, true
		case w.ticks <- time.Time{}:
		}
	}
	select {
	case outcome := <-done:
		return outcome, true
	default:
	}
	for {
		w.Interrupt()
		select {
		case outcome := <-done:
			return outcome, false
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// TestDeadlock runs cells that nothing can wake. It is not parallel: goroutines of other tests could.
func TestDeadlock(t *testing.T) {
	if raceEnabled {
		t.Skip("the report reads the activations of goroutines that wait, without a lock")
	}
	w := newWatched(t)
	w.must(t, "type T struct{ n int; s string }\nfunc gen() <-chan int { c := make(chan int); go func() { c <- 1 }(); return c }", "")
	for _, row := range []struct{ src, waits string }{
		{"ch := make(chan int)\nch <- 1\nfmt.Println(<-ch)", "to send on a channel"},
		{"ch := make(chan T)\nch <- T{}", "to send on a channel"},
		{"ch := make(chan func())\nch <- nil", "to send on a channel"},
		{"ch := make(chan error, 1)\nfunc() { ch <- nil; ch <- nil }()", "to send on a channel"},
		{"var ch chan<- int\nch <- 1", "to send on a channel"},
		{"var ch chan int\n<-ch", "to receive from a channel"},
		{"ch := make(chan string)\nv, ok := <-ch", "to receive from a channel"},
		{"done := make(chan struct{})\n<-done", "to receive from a channel"},
		{"done := make(chan bool)\ngo func() { return }()\n<-done", "to receive from a channel"},
		{"for range gen() { }", "to receive from a channel"},
		{"func() { for v := range gen() { _ = v } }()", "to receive from a channel"},
		{"var wg sync.WaitGroup\nwg.Add(1)\nwg.Wait()", "for a sync.WaitGroup"},
		{"select {}", "in a select statement"},
		{"a, b := make(chan int), make(chan T)\nselect { case <-a: case b <- T{}: }", "in a select statement"},
		{"var mu sync.Mutex\nmu.Lock()\nmu.Lock()", "to lock a sync.Mutex"},
		{"var rw sync.RWMutex\nrw.RLock()\nrw.Lock()", "to lock a sync.RWMutex"},
		{"var rw sync.RWMutex\nrw.Lock()\nrw.RLock()", "to lock a sync.RWMutex"},
		{"c := sync.NewCond(&sync.Mutex{})\nc.L.Lock()\nc.Wait()", "for a sync.Cond"},
		{"var once sync.Once\nonce.Do(func() { once.Do(func() {}) })", "for a sync.Once"},
		{"a, b := make(chan int), make(chan int)\ngo func() { a <- <-b }()\nb <- <-a", "to receive from a channel"},
		{"var wg sync.WaitGroup\njobs := make(chan int)\nfor range 3 { wg.Go(func() { for range jobs { } }) }\nwg.Wait()", "for a sync.WaitGroup"},
		{"c, cancel := context.WithCancel(ctx)\ndefer cancel()\n_ = c\nselect {}", "in a select statement"},
		{"func main() { select {} }", "in a select statement"},
	} {
		got, _ := w.run(row.src, 1_000_000)
		if want := "! fatal error: all goroutines are asleep - deadlock!\nthe cell waits " + row.waits; !strings.HasPrefix(got, want) {
			t.Errorf("%q\n got %q\nwant %q", row.src, got, want)
		}
		w.must(t, "1 + 1", "= 2")
	}
	got, _ := w.run("x, y := make(chan int), make(chan int)\ngo func() {\n\t<-x\n\ty <- 1\n}()\n<-y", 1_000_000)
	if want := fmt.Sprintf("\na goroutine at cell[%d]:3:2 waits to receive from a channel", w.cell); !strings.Contains(got, want) {
		t.Errorf("got %q, want %q in it", got, want)
	}
	// A goroutine that has panicked is the cause.
	got, _ = w.run("done := make(chan struct{})\ngo func() { panic(\"cause\"); close(done) }()\n<-done", 1_000_000, interp.Attended())
	if want := "! panic: cause\nin a goroutine of this cell"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// A person can interrupt the cell.
	got, ended := w.run("select {}", 20, interp.Attended())
	if want := "! interrupted: the cell was interrupted"; got != want || ended {
		t.Errorf("got %q, want %q", got, want)
	}
	if note := w.err.take(); strings.Count(note, "all goroutines are asleep - deadlock!") != 1 {
		t.Errorf("noted %q", note)
	}
	// A wait for a pipe cannot be stopped: its goroutine would be one of those that the cells above name.
	for _, src := range []string{
		"r, _ := io.Pipe()\nio.ReadAll(r)",
		"r, w := io.Pipe()\ngo func() { io.ReadFull(r, make([]byte, 3)) }()\nfmt.Fprint(w, \"more\")",
	} {
		got, _ := w.run(src, 1_000_000)
		if want := "! fatal error: all goroutines are asleep - deadlock!\nthe cell waits for the other end of an io.Pipe"; !strings.HasPrefix(got, want) {
			t.Errorf("%q\n got %q\nwant %q", src, got, want)
		}
	}
}

// TestNoDeadlock runs cells that wait for an event.
func TestNoDeadlock(t *testing.T) {
	for _, src := range []string{
		"time.Sleep(time.Hour)",
		"<-time.After(time.Hour)",
		"func() { <-time.After(time.Hour) }()",
		"t := time.NewTicker(time.Hour)\nfor range t.C { }",
		"for now := range time.Tick(time.Hour) { fmt.Println(now) }",
		"select { case <-time.After(time.Hour): case <-make(chan int): }",
		"done := make(chan int)\ntime.AfterFunc(time.Hour, func() { close(done) })\n<-done",
		"done := make(chan int)\nt := time.AfterFunc(0, func() { done <- 1 })\n<-done\nt.Reset(time.Hour)\n<-done",
		"done := make(chan int)\ngo func() { time.Sleep(time.Hour); close(done) }()\n<-done",
		"var wg sync.WaitGroup\nwg.Go(func() { time.Sleep(time.Hour) })\nwg.Wait()",
		"c, cancel := context.WithTimeout(ctx, time.Hour)\ndefer cancel()\n<-c.Done()",
		"c, cancel := context.WithTimeout(context.Background(), time.Hour)\ndefer cancel()\nwait := func(done <-chan struct{}) { for range done { } }\nwait(c.Done())",
		"c, cancel := context.WithTimeout(context.Background(), time.Hour)\ndefer cancel()\nselect { case <-c.Done(): case <-make(chan int): }",
		"c, cancel := context.WithTimeout(context.Background(), time.Hour)\ndefer cancel()\ndone := make(chan int)\ncontext.AfterFunc(c, func() { close(done) })\n<-done",
		"<-ctx.Done()",
		"sig := make(chan os.Signal, 1)\nsignal.Notify(sig, os.Interrupt)\n<-sig",
		"l, err := net.Listen(\"tcp\", \"127.0.0.1:0\")\nfmt.Println(err)\ndone := make(chan int)\ngo func() { http.Serve(l, nil); close(done) }()\n<-done",
		"r, w, err := os.Pipe() // w stays open\n_ = w\nfmt.Println(err)\ndone := make(chan int)\ngo func() { r.Read(make([]byte, 1)); close(done) }()\n<-done",
		"var mu sync.Mutex\nmu.Lock()\ntime.AfterFunc(time.Hour, mu.Unlock)\nmu.Lock()",
		"done := make(chan int)\ngo func() { for { } ; close(done) }()\n<-done",
		"done := make(chan int)\ngo func() { for range time.Tick(time.Hour) { done <- 1 } }()\n<-done",
	} {
		w := newWatched(t)
		if got, ended := w.run(src, 200); ended || !strings.HasPrefix(got, "! interrupted") {
			t.Errorf("%q: %q", src, got)
		}
		w.Close()
	}
}
