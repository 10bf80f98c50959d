package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/quernlab/quern/kernel/link"
)

// Notebook receives the output of cells, in the order in which it was produced, and asks
// the user for input. Its methods are called from several goroutines, but never
// concurrently for the same stream.
type Notebook interface {
	link.Host
	// Stream receives output of a cell to "stdout" or "stderr". It must not keep text.
	Stream(cell int, name string, text []byte)
	// WorkerEnded is called when a worker has ended without being asked to: the objects
	// in it are gone.
	WorkerEnded(end End)
}

// An End describes how a worker ended without being asked to.
type End struct {
	Reason string // for the user
	Ready  bool   // it had become ready for requests
	Cell   int    // the cell that was running, or ran last
	Idle   bool   // no cell was running whose error could show the reason
}

// Supervisor keeps a worker process running. It implements link.Worker for the kernel
// process. Its Execute returns when all output of the cell has been passed to the
// notebook.
type Supervisor struct {
	newRunner      func() Runner
	withoutRestart bool // do not replace a worker that has ended
	notebook       Notebook
	log            *slog.Logger

	mu        sync.Mutex
	current   *workerProcess // nil before the first start and after Shutdown
	closed    bool
	processes sync.WaitGroup
}

var _ link.Worker = (*Supervisor)(nil)

// errShutDown is returned by all methods after Shutdown.
var errShutDown = errors.New("the kernel is shutting down")

// New returns a supervisor. The worker is started by Start or by the first request.
// newRunner is called for each new process.
func New(newRunner func() Runner, notebook Notebook, log *slog.Logger) *Supervisor {
	return &Supervisor{newRunner: newRunner, notebook: notebook, log: log}
}

// NewWithoutRestart returns a supervisor that starts runner once. After that process has ended, all
// requests fail.
func NewWithoutRestart(runner Runner, notebook Notebook, log *slog.Logger) *Supervisor {
	return &Supervisor{newRunner: func() Runner { return runner }, withoutRestart: true, notebook: notebook, log: log}
}

// Start starts the worker if none is running, without waiting for it. If it cannot be
// started, the requests return the reason.
func (s *Supervisor) Start() {
	_, _ = s.process()
}

// process returns the running worker process, and starts one if there is none.
func (s *Supervisor) process() (*workerProcess, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errShutDown
	}
	if s.current == nil || s.current.hasEnded() && !s.withoutRestart {
		token := rand.Text()
		p, err := startProcess(s.newRunner(), s.notebook, token, s.log)
		if err != nil {
			return nil, err
		}
		s.current = p
		s.processes.Go(func() {
			p.run(token, func() { s.announce(p) })
			s.replace(p)
		})
	}
	return s.current, nil
}

// isClosed reports whether the supervisor has been shut down.
func (s *Supervisor) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// announce reports to the notebook that a worker has ended. The next one has not started yet, so
// the notebook does not take its objects for those of the old one.
func (s *Supervisor) announce(p *workerProcess) {
	if s.isClosed() {
		return
	}
	p.log.Warn("worker ended", "reason", p.reason, "ready", p.wasReady())
	s.notebook.WorkerEnded(End{Reason: p.reason, Ready: p.wasReady(), Cell: int(p.cell.Load()), Idle: p.idle})
}

// replace starts a new worker in place of one that has ended. A worker that never became
// ready is not replaced at once, because the next one would fail too.
func (s *Supervisor) replace(p *workerProcess) {
	if s.isClosed() || !p.wasReady() || s.withoutRestart {
		return
	}
	if p.idle {
		// No cell was running whose error could show it.
		text := strings.Join(p.died().Traceback, "\n") + "\n"
		s.notebook.Stream(int(p.cell.Load()), "stderr", []byte(text))
	}
	s.Start()
}

// Ask sends one request to the worker. When it returns, all output of the handler has been
// passed to the notebook. If the worker dies before it replies, the error is a
// *link.CellError with the reason.
func (s *Supervisor) Ask(ctx context.Context, request link.Request) (any, error) {
	p, err := s.process()
	if err != nil {
		return nil, err
	}
	reply, err := p.client.Ask(ctx, request)
	if errors.Is(err, link.ErrClosed) {
		return nil, p.failure(ctx)
	}
	if mark := link.MarkOf(reply); mark != nil {
		p.awaitOutput(ctx, *mark)
		*mark = 0
	}
	return reply, err
}

// Execute runs one cell.
func (s *Supervisor) Execute(ctx context.Context, request link.Execute) (link.Result, error) {
	p, err := s.process()
	if err != nil {
		return link.Result{}, err
	}
	p.begin(request.Cell)
	defer p.busy.Store(false)
	result, err := p.execute(ctx, request)
	if errors.Is(err, link.ErrClosed) {
		return link.Result{}, p.failure(ctx)
	}
	p.awaitOutput(ctx, result.Mark)
	result.Mark = 0
	return result, err
}

// Interrupt stops the running cell and the handlers that run beside it. A cell in code
// that cannot be stopped continues; a second interrupt some seconds later ends the worker
// process, and its variables are lost.
func (s *Supervisor) Interrupt(ctx context.Context) error { return s.Interrupter()(ctx) }

// Interrupted reports whether the cell that is running, or ran last, has been interrupted.
func (s *Supervisor) Interrupted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return false
	}
	e := s.current.execution.Load()
	return e != nil && e.first.Load() != nil
}

// Interrupter returns a function that interrupts the cell that is running now. It may be
// called later: it does not interrupt a later cell.
func (s *Supervisor) Interrupter() func(context.Context) error {
	s.mu.Lock()
	p := s.current
	s.mu.Unlock()
	if p == nil || p.hasEnded() {
		return func(context.Context) error { return nil }
	}
	e := p.execution.Load()
	var number uint64 // 0 only interrupts handlers
	if e != nil {
		number = e.number
	}
	return func(ctx context.Context) error {
		runs := p.interrupted(e)
		err := p.ask(ctx, interruptWait, func(ctx context.Context) error { return p.client.Interrupt(ctx, number) })
		if runs && errors.Is(err, errUnresponsive) {
			return nil // reportPending tells the user
		}
		return err
	}
}

// interruptWait is how long Interrupt waits for the worker to reply.
const interruptWait = time.Second

// Ready waits until the worker is ready for requests, and starts it if none is running.
// The error says why it is not.
func (s *Supervisor) Ready(ctx context.Context) error {
	p, err := s.process()
	if err != nil {
		return err
	}
	select {
	case <-p.ready:
		return nil
	case <-p.ended:
		return p.failure(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ID returns the process id of the worker, or "" if none is running.
func (s *Supervisor) ID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil || s.current.hasEnded() {
		return ""
	}
	return s.current.runner.ID()
}

// Kill ends the worker at once and for good. Waiting requests fail with the reason why.
func (s *Supervisor) Kill(why string) {
	s.mu.Lock()
	p := s.current
	s.closed = true
	s.mu.Unlock()
	if p != nil {
		p.kill(why)
	}
	s.processes.Wait()
}

// Shutdown ends the worker for good: it asks it to end, waits, and then kills it.
func (s *Supervisor) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	p := s.current
	s.current, s.closed = nil, true
	s.mu.Unlock()
	var err error
	if p != nil && !p.hasEnded() {
		err = p.shutdown(ctx)
	}
	s.processes.Wait()
	return err
}
