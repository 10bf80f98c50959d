package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quernlab/quern/kernel/link"
)

// workerProcess is one worker process from its start to its end.
type workerProcess struct {
	runner   Runner
	pipes    Pipes
	notebook Notebook
	log      *slog.Logger

	conn       *link.Conn
	client     *link.Client
	rendezvous *rendezvous
	crash      *crashFilter
	startup    *startupOutput

	ready     chan struct{}             // closed when the worker is ready for requests
	ended     chan struct{}             // closed when the process has ended and all its output has been read
	busy      atomic.Bool               // a cell is running
	cell      atomic.Int64              // the one that is running, or ran last
	execution atomic.Pointer[execution] // of that cell; nil before the first one

	mu     sync.Mutex
	killed string // why we killed the process; empty if we did not
	reason string // why it ended; valid once ended is closed
	idle   bool   // no cell was running when it ended; valid once ended is closed
}

// StartError reports that a worker process could not be started.
type StartError struct {
	Err       error
	Diagnosis string
}

func (e *StartError) Error() string {
	return fmt.Sprintf("cannot start the worker: %v (%s)", e.Err, e.Diagnosis)
}

// Unwrap returns the error of the operating system.
func (e *StartError) Unwrap() error { return e.Err }

// startProcess starts a worker process. The error is a *StartError.
func startProcess(runner Runner, notebook Notebook, token string, log *slog.Logger) (*workerProcess, error) {
	pipes, err := runner.Start(token)
	if err != nil {
		return nil, &StartError{err, runner.Diagnose()}
	}
	p := &workerProcess{
		runner:   runner,
		pipes:    pipes,
		notebook: notebook,
		log:      log.With("worker", runner.ID()),
		conn:     link.NewConn(pipes.Link),
		ready:    make(chan struct{}),
		ended:    make(chan struct{}),
	}
	p.rendezvous = newRendezvous(func() bool { return p.sample().stopped })
	p.client = link.NewClient(p.conn)
	p.startup = &startupOutput{ready: p.ready}
	p.crash = newCrashFilter(func(cell int, text []byte) { notebook.Stream(cell, "stderr", text) })
	p.log.Debug("worker started")
	return p, nil
}

// exitTimeout is how long a worker may take to exit after its link has ended, and how
// long its pipes may stay open after it has exited.
const exitTimeout = 2 * time.Second

// run returns when the process has ended and all its output has been read. It calls last
// before a request can notice the end and start the next process.
func (p *workerProcess) run(token string, last func()) {
	var readers sync.WaitGroup
	read := func(index int, name string, pipe io.Reader, crash *crashFilter, early *startupOutput) {
		s := &stream{
			index: index, name: name, running: &p.cell, notebook: p.notebook, rendezvous: p.rendezvous, crash: crash, startup: early, log: p.log,
		}
		readers.Go(func() { s.run(pipe, token) })
	}
	read(stdout, "stdout", p.pipes.Stdout, nil, nil)
	read(stderr, "stderr", p.pipes.Stderr, p.crash, p.startup)
	readers.Go(func() {
		if err := link.ServeHost(context.Background(), p.conn, host{p}, func() { close(p.ready) }); err != nil {
			p.log.Warn("the link to the worker failed", "error", err)
		}
		p.rendezvous.close()
	})
	exited := make(chan struct{})
	go func() {
		// A worker without a link cannot receive requests any more.
		<-p.conn.Done()
		if !within(exitTimeout, exited) {
			p.runner.Kill()
		}
	}()

	how := p.runner.Wait()
	close(exited)
	drained := make(chan struct{})
	go func() { readers.Wait(); close(drained) }()
	if !within(exitTimeout, drained) {
		p.log.Warn("another process still holds the output pipes of the worker that ended")
	}
	p.conn.Close()
	p.pipes.Stdout.Close()
	p.pipes.Stderr.Close()
	<-drained
	p.crash.end()

	p.mu.Lock()
	switch report := p.crash.reason(how); {
	case p.killed != "":
		p.reason = p.killed
	case report != "":
		p.reason = report
	default:
		p.reason = how
	}
	p.idle = !p.busy.Load()
	p.mu.Unlock()
	last()
	close(p.ended)
}

// within reports whether done is closed within the duration d.
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

// begin records that a cell is about to run.
func (p *workerProcess) begin(cell int) {
	p.cell.Store(int64(cell))
	p.busy.Store(true)
}

// execution is a cell that the worker runs.
type execution struct {
	cell   int
	number uint64        // of its Execute
	ended  chan struct{} // closed when the worker has answered

	first    atomic.Pointer[usage] // of the process at the first interrupt
	insisted atomic.Bool           // a second interrupt was sent, and endStubborn runs

	mu    sync.Mutex // held while something is written to the notebook on behalf of the cell
	over  bool
	shown string // ID of the display that says that an interrupt is pending; "" if there is none
}

// execute runs a cell until the worker replies or its link ends.
func (p *workerProcess) execute(ctx context.Context, request link.Execute) (link.Result, error) {
	e := &execution{cell: request.Cell, number: p.client.Number(), ended: make(chan struct{})}
	p.execution.Store(e)
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.over = true
		if e.shown != "" {
			p.showPending(e, "update", "")
		}
		close(e.ended)
	}()
	return p.client.Execute(ctx, request, e.number)
}

// awaitOutput waits until all output before a mark has been read. Mark 0 means that there
// is none.
func (p *workerProcess) awaitOutput(ctx context.Context, mark uint64) {
	if mark > 0 && !p.rendezvous.awaitOutput(ctx, mark) {
		p.log.Warn("output may be incomplete: its end mark was not found", "cell", p.cell.Load())
	}
}

// hasEnded reports whether the process has ended.
func (p *workerProcess) hasEnded() bool { return closed(p.ended) }

// wasReady reports whether the worker was ever ready for requests.
func (p *workerProcess) wasReady() bool { return closed(p.ready) }

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// kill ends the process. The reason is what the cell shows.
func (p *workerProcess) kill(why string) {
	p.mu.Lock()
	p.killed = why
	p.mu.Unlock()
	p.runner.Kill()
}

// How long a worker may take to end once it was asked to.
const (
	shutdownAsk  = 500 * time.Millisecond // to reply
	shutdownWait = 500 * time.Millisecond // to exit after that
)

// shutdown asks the worker to end, waits, and then kills it.
func (p *workerProcess) shutdown(ctx context.Context) error {
	p.mu.Lock()
	p.killed = "the kernel shut it down"
	p.mu.Unlock()
	err := p.ask(ctx, shutdownAsk, p.client.Shutdown)
	p.conn.Close()
	if !within(shutdownWait, p.ended) {
		p.runner.Kill()
	}
	<-p.ended
	return err
}

// errUnresponsive reports a worker that did not reply in time. It may not even read what
// it is sent.
var errUnresponsive = errors.New("the worker does not answer")

// ask sends a request and waits for at most the duration wait, even if the worker reads
// nothing and the request cannot be sent. It is no error if the worker has ended.
func (p *workerProcess) ask(ctx context.Context, wait time.Duration, request func(context.Context) error) error {
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
		return errUnresponsive
	}
}

// failure waits for the end of the process and returns the error for a request that it
// has not answered.
func (p *workerProcess) failure(ctx context.Context) error {
	select {
	case <-p.ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	if p.wasReady() {
		return p.died()
	}
	return &StartError{fmt.Errorf("it ended before it was ready: %s%s", p.startup.prefix(), p.reason), p.runner.Diagnose()}
}

// Died is the error name of a cell whose worker has ended. The error value says why.
const Died = "worker died"

// died returns the error that the notebook shows when the process has ended.
func (p *workerProcess) died() *link.CellError {
	const lost = "The variables are lost. A new worker has started: run the cells again from the top."
	return &link.CellError{
		Name:      Died,
		Value:     p.reason,
		Traceback: []string{Died + ": " + p.reason, lost},
	}
}

// host is the notebook as the worker process uses it. A display is passed on only after
// the output that was written before it.
type host struct{ *workerProcess }

func (h host) Display(d link.Display) error {
	number := d.Mark
	d.Mark = 0
	if number > 0 {
		if !h.rendezvous.awaitOutput(context.Background(), number) {
			h.log.Warn("a display may be out of order", "cell", d.Cell)
		}
		defer h.rendezvous.handle(number)
	}
	if d.Kind == "" { // the event could not be encoded, so only its mark was sent
		return nil
	}
	err := h.notebook.Display(d)
	if err != nil {
		h.log.Warn("display dropped", "error", err)
	}
	return err
}

func (h host) Comm(comm link.Comm) error {
	err := h.notebook.Comm(comm)
	if err != nil {
		h.log.Warn("comm message dropped", "error", err)
	}
	return err
}

func (h host) Input(ctx context.Context, request link.InputRequest) (link.InputReply, error) {
	number := request.Mark
	request.Mark = 0
	if !h.rendezvous.awaitOutput(ctx, number) {
		h.log.Warn("a prompt may be out of order")
	}
	return h.notebook.Input(ctx, request)
}

func (h host) Ranks(ctx context.Context, request link.RanksRequest) (link.RanksReply, error) {
	return h.notebook.Ranks(ctx, request)
}

func (h host) Once(ctx context.Context, request link.OnceRequest) (link.OnceReply, error) {
	return h.notebook.Once(ctx, request)
}

// startupOutput keeps what a worker writes to its standard error before it is ready. If
// the worker exits before that, this text is shown as the reason.
type startupOutput struct {
	ready <-chan struct{} // closed when the worker is ready

	mu   sync.Mutex
	text bytes.Buffer
}

// maxStartupOutput bounds the text that is kept, in bytes.
const maxStartupOutput = 1 << 10

func (f *startupOutput) add(text []byte) {
	if closed(f.ready) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.text.Write(text[:min(len(text), maxStartupOutput-f.text.Len())])
}

// prefix returns the output followed by "; ", or "" if there was none.
func (f *startupOutput) prefix() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	said := strings.TrimSpace(f.text.String())
	if said == "" {
		return ""
	}
	return said + "; "
}
