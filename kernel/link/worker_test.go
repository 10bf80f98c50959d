package link

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// echoWorker returns its requests.
type echoWorker struct {
	Handlers
	host Host
}

func newEchoWorker() *echoWorker {
	w := &echoWorker{Handlers: Handlers{}}
	On(w.Handlers, w.complete)
	On(w.Handlers, w.inspect)
	On(w.Handlers, w.check)
	On(w.Handlers, w.evaluate)
	On(w.Handlers, w.comm)
	return w
}

func (w *echoWorker) Execute(ctx context.Context, r Execute) (Result, error) {
	if err := w.host.Display(Display{Cell: r.Cell, Kind: "display", Data: map[string]any{"application/json": json.Number("12345678901234567890")}}); err != nil {
		return Result{}, err
	}
	reply, err := w.host.Input(ctx, InputRequest{Prompt: "? ", Password: true})
	if err != nil {
		return Result{}, err
	}
	ranks, err := w.host.Ranks(ctx, RanksRequest{Number: 4})
	if err != nil {
		return Result{}, err
	}
	once, err := w.host.Once(ctx, OnceRequest{Cell: r.Cell, Step: 1})
	if err != nil {
		return Result{}, err
	}
	return Result{Data: map[string]any{"text/plain": reply.Line, "image/png": []byte{1, 2}, "ranks": ranks.Text, "once": once.Error}}, nil
}

func (w *echoWorker) complete(_ context.Context, r Complete) (Completion, error) {
	return Completion{Start: 1, End: r.Offset, Matches: []Match{{Text: r.Code, Kind: "function", Type: "func()"}}}, nil
}

func (w *echoWorker) inspect(_ context.Context, r Inspect) (Inspection, error) {
	return Inspection{Data: map[string]any{"text/plain": r.Code}}, nil
}

func (w *echoWorker) check(context.Context, Check) (Completeness, error) {
	return Completeness{Status: "incomplete", Indent: "\t"}, nil
}

func (w *echoWorker) evaluate(_ context.Context, r Evaluate) (Evaluations, error) {
	values := map[string]Result{}
	for name, expression := range r.Expressions {
		values[name] = Result{Error: &CellError{Name: "compile error", Value: expression}}
	}
	return Evaluations{Values: values}, nil
}

func (w *echoWorker) comm(_ context.Context, c Comm) (CommReply, error) {
	return CommReply{Unknown: c.Target != "known" || string(c.Buffers[0]) != "buffer"}, nil
}

func (w *echoWorker) Interrupt(context.Context) error { return nil }
func (w *echoWorker) Shutdown(context.Context) error  { return nil }

// recordingHost keeps displays.
type recordingHost struct {
	displays []Display
	comms    []Comm
}

func (f *recordingHost) Comm(c Comm) error {
	f.comms = append(f.comms, c)
	return nil
}

func (f *recordingHost) Display(d Display) error {
	f.displays = append(f.displays, d)
	return nil
}

func (f *recordingHost) Ranks(_ context.Context, r RanksRequest) (RanksReply, error) {
	return RanksReply{Text: fmt.Sprintf("%d ranks", r.Number)}, nil
}

func (f *recordingHost) Once(_ context.Context, r OnceRequest) (OnceReply, error) {
	return OnceReply{Error: fmt.Sprintf("step %d of cell %d", r.Step, r.Cell)}, nil
}

func (f *recordingHost) Input(_ context.Context, r InputRequest) (InputReply, error) {
	return InputReply{Line: r.Prompt + "answer"}, nil
}

func TestWorkerOverTheLink(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	ready := 0
	host, worker := &recordingHost{}, newEchoWorker()
	ours, theirs := net.Pipe()
	a, b := NewConn(ours), NewConn(theirs)
	worker.host = NewHost(b)
	var served sync.WaitGroup
	served.Go(func() { _ = ServeHost(ctx, a, host, func() { ready++ }) })
	served.Go(func() { _ = ServeWorker(ctx, b, worker) })
	defer served.Wait()
	defer a.Close()
	client := NewClient(a)

	result, err := client.Execute(ctx, Execute{Cell: 7, Code: "x"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Result{Data: map[string]any{"text/plain": "? answer", "image/png": "AQI=", "ranks": "4 ranks", "once": "step 1 of cell 7"}}); !reflect.DeepEqual(result, want) {
		t.Errorf("execute: got %v, want %v", result, want)
	}
	// A number in an any keeps its digits.
	if want := []Display{{Cell: 7, Kind: "display", Data: map[string]any{"application/json": json.Number("12345678901234567890")}}}; !reflect.DeepEqual(host.displays, want) {
		t.Errorf("display: got %v, want %v", host.displays, want)
	}

	if ready != 1 {
		t.Errorf("the worker was ready %d times", ready)
	}

	completion, err := Ask(ctx, client, Complete{Code: "fm", Offset: 2})
	if want := (Completion{Start: 1, End: 2, Matches: []Match{{Text: "fm", Kind: "function", Type: "func()"}}}); err != nil || !reflect.DeepEqual(completion, want) {
		t.Errorf("complete: got %v, %v, want %v", completion, err, want)
	}
	inspection, err := Ask(ctx, client, Inspect{Code: "fmt"})
	if want := (Inspection{Data: map[string]any{"text/plain": "fmt"}}); err != nil || !reflect.DeepEqual(inspection, want) {
		t.Errorf("inspect: got %v, %v, want %v", inspection, err, want)
	}
	completeness, err := Ask(ctx, client, Check{})
	if want := (Completeness{Status: "incomplete", Indent: "\t"}); err != nil || completeness != want {
		t.Errorf("check: got %v, %v, want %v", completeness, err, want)
	}
	evaluations, err := Ask(ctx, client, Evaluate{Expressions: map[string]string{"a": "b"}})
	if want := (Evaluations{Values: map[string]Result{"a": {Error: &CellError{Name: "compile error", Value: "b"}}}}); err != nil || !reflect.DeepEqual(evaluations, want) {
		t.Errorf("evaluate: got %v, %v, want %v", evaluations, err, want)
	}
	if err := client.Interrupt(ctx, 1); err != nil {
		t.Errorf("interrupt: %v", err)
	}
	if err := client.Shutdown(ctx); err != nil {
		t.Errorf("shutdown: %v", err)
	}
}

// blockingWorker runs a cell until it is interrupted.
type blockingWorker struct {
	echoWorker
	began chan int
}

func (w *blockingWorker) Execute(ctx context.Context, r Execute) (Result, error) {
	w.began <- r.Cell
	<-ctx.Done()
	return Result{Error: &CellError{Name: "interrupted"}}, nil
}

func TestInterruptIsForOneCell(t *testing.T) {
	t.Parallel()
	w := &blockingWorker{began: make(chan int, 1)}
	c := &executions{worker: w}
	execute := func(number uint64) <-chan Result {
		done := make(chan Result, 1)
		go func() {
			result, err := c.execute(t.Context(), executeMessage{Execute{Cell: int(number)}, number})
			if err != nil {
				t.Error(err)
			}
			done <- result
		}()
		return done
	}
	interrupt := func(number uint64) {
		if _, err := c.interrupt(t.Context(), number); err != nil {
			t.Error(err)
		}
	}

	interrupt(1) // overtakes its Execute
	if r := <-execute(1); r.Error == nil || len(w.began) > 0 {
		t.Errorf("a cell that was interrupted before it began: %v, %d began", r.Error, len(w.began))
	}
	second := execute(2)
	<-w.began
	interrupt(1) // late
	select {
	case r := <-second:
		t.Fatalf("a late interrupt stopped the next cell: %v", r.Error)
	default:
	}
	interrupt(2)
	if r := <-second; r.Error == nil {
		t.Error("the cell was not interrupted")
	}
}

// slowWorker has cells that end when their context is canceled, and handles interrupts slowly.
type slowWorker struct {
	echoWorker
	ended   chan struct{} // the first cell has
	running atomic.Int64  // the cell; 0 between cells
	reached int64         // the cell that was running when Interrupt returned
}

func (w *slowWorker) Execute(ctx context.Context, r Execute) (Result, error) {
	w.running.Store(int64(r.Cell))
	<-ctx.Done()
	if r.Cell == 1 {
		w.running.Store(0)
		close(w.ended)
	}
	return Result{}, nil
}

func (w *slowWorker) Interrupt(context.Context) error {
	<-w.ended // since its context is canceled
	for range 10_000 {
		runtime.Gosched() // in which the next cell could begin
	}
	w.reached = w.running.Load()
	return nil
}

// An interrupted cell may end before the worker handles the interrupt, and the next one is
// often waiting already.
func TestInterruptIsDeliveredBeforeTheNextCell(t *testing.T) {
	t.Parallel()
	w := &slowWorker{ended: make(chan struct{})}
	c := &executions{worker: w}
	ctx, cancel := context.WithCancel(t.Context())
	var cells sync.WaitGroup
	cells.Go(func() {
		for number := range 2 {
			if _, err := c.execute(ctx, executeMessage{Execute{Cell: number + 1}, uint64(number + 1)}); err != nil {
				t.Error(err)
			}
		}
	})
	for w.running.Load() != 1 {
		runtime.Gosched()
	}
	if _, err := c.interrupt(ctx, 1); err != nil {
		t.Error(err)
	}
	cancel()
	cells.Wait()
	if w.reached != 0 {
		t.Errorf("the interrupt of the first cell reached cell %d", w.reached)
	}
}

// A cell that is interrupted before it was sent is not sent.
func TestInterruptedBeforeItWasSent(t *testing.T) {
	t.Parallel()
	var interrupted atomic.Bool
	interrupted.Store(true)
	c := NewClient(nil)
	result, err := c.Execute(t.Context(), Execute{Cell: 1, Interrupted: &interrupted}, c.Number())
	if err != nil || result.Error == nil || result.Error.Value != NotBegun {
		t.Errorf("got %v, %v", result.Error, err)
	}
}

// TestEveryRequestIsListed finds a request type that is missing in the list of requests.
func TestEveryRequestIsListed(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("messages.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`type (\w+) struct \{\n\tAnsweredBy\[`).FindAllSubmatch(source, -1)
	for _, d := range declared {
		if requests[string(d[1])] == nil {
			t.Errorf("%s is not in the list of requests", d[1])
		}
	}
	if len(declared) != len(requests) {
		t.Errorf("%d request types are declared, %d are in the list", len(declared), len(requests))
	}
}

func TestUnknownRequest(t *testing.T) {
	t.Parallel()
	_, err := Ask(t.Context(), &echoWorker{}, Inspect{})
	if err == nil || err.Error() != "link: no handler for Inspect" {
		t.Errorf("got %v", err)
	}
}
