package interp_test

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/quernlab/quern/interp"
	"github.com/quernlab/quern/widgets/comm"
)

// page is a front end that sends no messages.
type page struct{ *interp.Callbacks }

func (page) Send(comm.Message) error { return nil }

func (page) Interactive() bool { return true }

// printed receives output as soon as it is printed.
type printed chan string

func (t printed) Write(p []byte) (int, error) { t <- string(p); return len(p), nil }

// TestCallbacks calls functions of cells that do not end or that fail.
func TestCallbacks(t *testing.T) {
	said := make(printed, 100)
	var cells sync.Map // the cells that have printed
	s, err := interp.New(interp.Output(func(cell int) (stdout, stderr io.Writer) { cells.Store(cell, true); return said, said }))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	callbacks := interp.NewCallbacks(s)
	defer comm.SetHost(comm.SetHost(page{callbacks}))
	run := func(cell int, src string) string {
		t.Helper()
		result, err := s.Execute(t.Context(), cell, src)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		text, _ := result.Data["text/plain"].(string)
		return text
	}
	run(1, `open := func(f func()) string {
	c, err := comm.Open("target", nil, nil)
	if err != nil { panic(err) }
	c.OnMessage(func(comm.Message) { fmt.Println("begun"); f() })
	return c.ID()
}`)
	for i, body := range []string{
		"n := 0; for { n++ }", "time.Sleep(time.Hour)", "var f func(); f = func() { f() }; for { func() {}() }",
		"defer func() { recover() }(); for { }", "var mu sync.Mutex; mu.Lock(); mu.Lock()",
	} {
		id := strings.Trim(run(7, "open(func() { "+body+" })"), `"`)
		delivered := make(chan struct{})
		go func() {
			defer close(delivered)
			comm.Deliver(comm.Message{Kind: comm.KindMessage, ID: id})
		}()
		if got := <-said; got != "begun\n" {
			t.Fatalf("%s: said %q", body, got)
		}
		if got := run(8, "1 + 1"); got != "2" { // it does not block cells
			t.Errorf("%s: a cell says %s", body, got)
		}
		callbacks.Interrupt()
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		select {
		case <-delivered:
		case <-ctx.Done():
			t.Fatalf("%d, %s: it goes on", i, body)
		}
		cancel()
	}
	if _, other := cells.Load(8); other {
		t.Error("what a handler prints went to the cell that ran")
	}
	// A panic ends the handler, and is reported in the cell that created it.
	id := strings.Trim(run(7, `open(func() { panic("on purpose") })`), `"`)
	comm.Deliver(comm.Message{Kind: comm.KindMessage, ID: id})
	<-said
	if got := <-said; !strings.Contains(got, "in a handler of cell[7]") || !strings.Contains(got, "on purpose") {
		t.Errorf("said %q", got)
	}
	if _, err := s.Execute(t.Context(), 9, "1 + 1"); err == nil || !strings.Contains(err.Error(), "on purpose") {
		t.Errorf("the next cell: %v", err)
	}
	if got := run(10, "1 + 1"); got != "2" {
		t.Errorf("got %s", got)
	}
}

// A handler that calls a function such as accel.Evaluate, which calls a function of the cell that does
// not return, ends, and has the error of the call.
func TestInterruptedCallOfHandler(t *testing.T) {
	said := make(printed, 100)
	s, err := interp.New(interp.Output(func(int) (stdout, stderr io.Writer) { return said, said }))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	callbacks := interp.NewCallbacks(s)
	defer comm.SetHost(comm.SetHost(page{callbacks}))
	result, err := s.Execute(t.Context(), 1, `c, err := comm.Open("target", nil, nil)
if err != nil { panic(err) }
train, _, err := data.Digits()
if err != nil { panic(err) }
model := nn.Lambda(func(x *nn.Tensor) *nn.Tensor { fmt.Println("begun"); for { x = x } })
var failed error
c.OnMessage(func(comm.Message) { defer fmt.Println("ended"); _, failed = accel.Evaluate(context.Background(), model, train); for { train = train } })
c.ID()`)
	if err != nil {
		t.Fatal(err)
	}
	id, _ := result.Data["text/plain"].(string)
	delivered := make(chan struct{})
	go func() {
		defer close(delivered)
		comm.Deliver(comm.Message{Kind: comm.KindMessage, ID: strings.Trim(id, `"`)})
	}()
	if got := <-said; got != "begun\n" {
		t.Fatalf("said %q", got)
	}
	callbacks.Interrupt()
	if got := <-said; got != "ended\n" { // Deliver may return before
		t.Fatalf("said %q", got)
	}
	<-delivered
	result, err = s.Execute(t.Context(), 2, "failed")
	if text := result.Data["text/plain"]; err != nil || text != "context canceled" {
		t.Errorf("got %v, %v", text, err)
	}
}
