package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quernlab/quern/kernel/link"
)

// life is one worker process from its start to its end.
type life struct {
	runner   Runner
	pipes    Pipes
	notebook Notebook
	log      *slog.Logger

	conn    *link.Conn
	client  *link.Client
	meeting *meeting
	crash   *crash
	first   *first

	ready     chan struct{}             // closed when the worker serves
	ended     chan struct{}             // closed when the process has ended and all its output has come
	busy      atomic.Bool               // a cell runs
	cell      atomic.Int64              // that runs, or ran last
	execution atomic.Pointer[execution] // of that cell; nil before the first

	mu     sync.Mutex
	killed string // why we killed the process; empty if we did not
	reason string // why it ended; valid once ended is closed
	alone  bool   // no cell ran when it ended; valid once ended is closed
}

// StartError reports a worker that could not be started.
type StartError struct {
	Err       error
	Diagnosis string
}

func (e *StartError) Error() string {
	return fmt.Sprintf("cannot start the worker: %v (%s)", e.Err, e.Diagnosis)
}

// Unwrap returns the error of the operating system.
func (e *StartError) Unwrap() error { return e.Err }

// startLife starts a process. The error is a *StartError.
func startLife(runner Runner, notebook Notebook, token string, log *slog.Logger) (*life, error) {
	pipes, err := runner.Start(token)
	if err != nil {
		return nil, &StartError{err, runner.Diagnose()}
	}
	l := &life{
		runner:   runner,
		pipes:    pipes,
		notebook: notebook,
		log:      log.With("worker", runner.ID()),
		conn:     link.NewConn(pipes.Link),
		ready:    make(chan struct{}),
		ended:    make(chan struct{}),
	}
	l.meeting = newMeeting(func() bool { return l.sample().stopped })
	l.client = link.NewClient(l.conn)
	l.first = &first{until: l.ready}
	l.crash = newCrash(func(cell int, text []byte) { notebook.Stream(cell, "stderr", text) })
	l.log.Debug("worker started")
	return l, nil
}

// grace is how long a worker whose link has ended may take to end by itself,
// and how long its pipes may outlive it.
const grace = 2 * time.Second

// run returns when the process has ended and all its output has come.
func (l *life) run(token string) {
	var readers sync.WaitGroup
	read := func(index int, name string, pipe io.Reader, crash *crash, early *first) {
		s := &stream{
			index: index, name: name, running: &l.cell, notebook: l.notebook, meeting: l.meeting, crash: crash, first: early, log: l.log,
		}
		readers.Go(func() { s.run(pipe, token) })
	}
	read(stdout, "stdout", l.pipes.Stdout, nil, nil)
	read(stderr, "stderr", l.pipes.Stderr, l.crash, l.first)
	readers.Go(func() {
		if err := link.ServeFront(context.Background(), l.conn, front{l}, func() { close(l.ready) }); err != nil {
			l.log.Warn("link to the worker", "error", err)
		}
		l.meeting.close()
	})
	exited := make(chan struct{})
	go func() {
		// A worker without a link can do nothing any more.
		<-l.conn.Done()
		if !within(grace, exited) {
			l.runner.Kill()
		}
	}()

	how := l.runner.Wait()
	close(exited)
	drained := make(chan struct{})
	go func() { readers.Wait(); close(drained) }()
	if !within(grace, drained) {
		l.log.Warn("something outside holds the pipes of the worker that ended")
	}
	l.conn.Close()
	l.pipes.Stdout.Close()
	l.pipes.Stderr.Close()
	<-drained
	l.crash.end()

	l.mu.Lock()
	defer l.mu.Unlock()
	switch report := l.crash.reason(); {
	case l.killed != "":
		l.reason = l.killed
	case report != "":
		l.reason = report
	default:
		l.reason = how
	}
	l.alone = !l.busy.Load()
	close(l.ended)
}

// within reports whether done is closed before a time has passed.
func within(d time.Duration, done <-chan struct{}) bool {
	timeout := time.NewTimer(d)
	defer timeout.Stop()
	select {
	case <-done:
		return true
	case <-timeout.C:
		return false
	}
}

// begin tells that a cell begins.
func (l *life) begin(cell int) {
	l.cell.Store(int64(cell))
	l.busy.Store(true)
}

// execution is a cell that the worker runs.
type execution struct {
	cell  int
	ended chan struct{} // closed when the worker has answered

	first    atomic.Pointer[usage] // of the process, at the first interrupt
	insisted atomic.Bool           // an interrupt came that ends a stubborn cell

	mu   sync.Mutex // held while the notebook is told something on behalf of the cell
	over bool
}

// execute runs a cell until the worker answers, or its link ends.
func (l *life) execute(ctx context.Context, request link.Execute) (link.Result, error) {
	e := &execution{cell: request.Cell, ended: make(chan struct{})}
	l.execution.Store(e)
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.over = true
		close(e.ended)
	}()
	return l.client.Execute(ctx, request)
}

// awaitOutput waits until all output before a mark has come; 0 is no mark.
func (l *life) awaitOutput(ctx context.Context, mark uint64) {
	if mark > 0 && !l.meeting.output(ctx, mark) {
		l.log.Warn("the end of the output was not found", "cell", l.cell.Load())
	}
}

// over reports whether the process has ended.
func (l *life) over() bool { return closed(l.ended) }

// served reports whether the worker has ever been ready.
func (l *life) served() bool { return closed(l.ready) }

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// kill ends the process.
func (l *life) kill(why string) {
	l.mu.Lock()
	l.killed = why
	l.mu.Unlock()
	l.runner.Kill()
}

// How long a worker may take to end once it was asked.
const (
	shutdownAsk  = 500 * time.Millisecond // to answer
	shutdownWait = 500 * time.Millisecond // to end then
)

// shutdown asks the worker to end, waits, and kills it.
func (l *life) shutdown(ctx context.Context) error {
	l.mu.Lock()
	l.killed = "the kernel shut it down"
	l.mu.Unlock()
	err := l.ask(ctx, shutdownAsk, l.client.Shutdown)
	l.conn.Close()
	if !within(shutdownWait, l.ended) {
		l.runner.Kill()
	}
	<-l.ended
	return err
}

// errFrozen reports a worker that does not even read what it is sent.
var errFrozen = errors.New("the worker does not answer")

// ask makes a request and waits for a time, also when the worker reads nothing
// and the request cannot be sent. That the worker has ended is no error.
func (l *life) ask(ctx context.Context, wait time.Duration, request func(context.Context) error) error {
	done := make(chan error, 1)
	go func() { done <- request(ctx) }() // ends with the link, if not before
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	select {
	case err := <-done:
		if errors.Is(err, link.ErrClosed) {
			return nil
		}
		return err
	case <-timeout.C:
		return errFrozen
	}
}

// failure waits for the end of the process and says what it means for a
// request that it has not answered.
func (l *life) failure(ctx context.Context) error {
	select {
	case <-l.ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.served() {
		return l.died()
	}
	return &StartError{fmt.Errorf("it ended before it was ready: %s%s", l.first.text(), l.reason), l.runner.Diagnose()}
}

// Died is the name of the error of a cell whose worker has ended. Its value tells how.
const Died = "worker died"

// died is what the notebook shows of the end of the process.
func (l *life) died() *link.CellError {
	const lost = "The variables are lost. A new worker has started: run the cells again from the top."
	return &link.CellError{
		Name:      Died,
		Value:     l.reason,
		Traceback: []string{Died + ": " + l.reason, lost},
	}
}

// front is the notebook as the worker reaches it, behind the output that was
// written before.
type front struct{ *life }

func (f front) Display(d link.Display) error {
	number := d.Mark
	d.Mark = 0
	if number > 0 {
		if !f.meeting.output(context.Background(), number) {
			f.log.Warn("a display may be out of order", "cell", d.Cell)
		}
		defer f.meeting.handle(number)
	}
	if d.Kind == "" { // the event could not be sent; only its mark came
		return nil
	}
	err := f.notebook.Display(d)
	if err != nil {
		f.log.Warn("display dropped", "error", err)
	}
	return err
}

func (f front) Comm(comm link.Comm) error {
	err := f.notebook.Comm(comm)
	if err != nil {
		f.log.Warn("comm message dropped", "error", err)
	}
	return err
}

func (f front) Input(ctx context.Context, request link.InputRequest) (link.InputReply, error) {
	number := request.Mark
	request.Mark = 0
	if !f.meeting.output(ctx, number) {
		f.log.Warn("a prompt may be out of order")
	}
	return f.notebook.Input(ctx, request)
}

func (f front) Ranks(ctx context.Context, request link.RanksRequest) (link.RanksReply, error) {
	return f.notebook.Ranks(ctx, request)
}

func (f front) Once(ctx context.Context, request link.OnceRequest) (link.OnceReply, error) {
	return f.notebook.Once(ctx, request)
}
