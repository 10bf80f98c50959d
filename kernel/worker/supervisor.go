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

// Notebook takes what cells put out, in the order in which they did, and asks
// its user for input. It is called from several goroutines, never two at once
// for the same stream.
type Notebook interface {
	link.Host
	// Stream takes output of a cell to "stdout" or "stderr". The text may not be
	// kept.
	Stream(cell int, name string, text []byte)
	// WorkerEnded tells that a worker has ended by itself: its objects are gone.
	WorkerEnded(end End)
}

// An End is how a worker has ended by itself.
type End struct {
	Reason string // for a user to read
	Served bool   // it had begun to serve
	Cell   int    // the one that ran, or ran last
	Alone  bool   // no cell ran, whose error would tell
}

// Supervisor keeps a worker process running. It is the Worker of the front; its
// Execute returns when all output of the cell has come to the notebook.
type Supervisor struct {
	newRunner func() Runner
	once      bool // a worker that has ended has no successor
	notebook  Notebook
	log       *slog.Logger

	mu      sync.Mutex
	current *life // nil before the first start and after Shutdown
	closed  bool
	lives   sync.WaitGroup
}

var _ link.Worker = (*Supervisor)(nil)

// errShutDown is returned by what comes after Shutdown.
var errShutDown = errors.New("the kernel shuts down")

// New returns a supervisor that has not started a worker yet: the first request
// does, or Start. Each worker comes from newRunner.
func New(newRunner func() Runner, notebook Notebook, log *slog.Logger) *Supervisor {
	return &Supervisor{newRunner: newRunner, notebook: notebook, log: log}
}

// NewOnce returns a supervisor as New does, of one worker alone: when that has
// ended, all that is asked of it fails.
func NewOnce(runner Runner, notebook Notebook, log *slog.Logger) *Supervisor {
	return &Supervisor{newRunner: func() Runner { return runner }, once: true, notebook: notebook, log: log}
}

// Start starts the worker, if none runs, and does not wait for it. When it
// cannot be started the requests say why.
func (s *Supervisor) Start() {
	_, _ = s.life()
}

// life returns the running worker process, or a new one.
func (s *Supervisor) life() (*life, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errShutDown
	}
	if s.current == nil || s.current.over() && !s.once {
		token := rand.Text()
		l, err := startLife(s.newRunner(), s.notebook, token, s.log)
		if err != nil {
			return nil, err
		}
		s.current = l
		s.lives.Go(func() {
			l.run(token)
			s.replace(l)
		})
	}
	return s.current, nil
}

// replace starts another worker in place of one that ended. One that never
// served is not replaced at once: the next would not either.
func (s *Supervisor) replace(l *life) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return
	}
	l.log.Warn("worker ended", "reason", l.reason, "served", l.served())
	s.notebook.WorkerEnded(End{Reason: l.reason, Served: l.served(), Cell: int(l.cell.Load()), Alone: l.alone})
	if !l.served() || s.once {
		return
	}
	if l.alone {
		// Nobody waits for an answer that could tell.
		text := strings.Join(l.died().Traceback, "\n") + "\n"
		s.notebook.Stream(int(l.cell.Load()), "stderr", []byte(text))
	}
	s.Start()
}

// ask makes one request of the worker. If that dies meanwhile the error is a
// *link.CellError that says why.
func ask[In, Out any](ctx context.Context, s *Supervisor, method func(*link.Client, context.Context, In) (Out, error), in In) (Out, *life, error) {
	var none Out
	l, err := s.life()
	if err != nil {
		return none, nil, err
	}
	out, err := method(l.client, ctx, in)
	if errors.Is(err, link.ErrClosed) {
		return none, l, l.failure(ctx)
	}
	return out, l, err
}

// Execute runs one cell.
func (s *Supervisor) Execute(ctx context.Context, request link.Execute) (link.Result, error) {
	l, err := s.life()
	if err != nil {
		return link.Result{}, err
	}
	l.begin(request.Cell)
	defer l.busy.Store(false)
	result, err := l.execute(ctx, request)
	if errors.Is(err, link.ErrClosed) {
		return link.Result{}, l.failure(ctx)
	}
	l.awaitOutput(ctx, result.Mark)
	result.Mark = 0
	return result, err
}

// Complete asks for completions.
func (s *Supervisor) Complete(ctx context.Context, request link.Complete) (link.Completion, error) {
	out, _, err := ask(ctx, s, (*link.Client).Complete, request)
	return out, err
}

// Inspect asks for documentation.
func (s *Supervisor) Inspect(ctx context.Context, request link.Inspect) (link.Inspection, error) {
	out, _, err := ask(ctx, s, (*link.Client).Inspect, request)
	return out, err
}

// Check asks whether a cell is complete.
func (s *Supervisor) Check(ctx context.Context, request link.Check) (link.Completeness, error) {
	out, _, err := ask(ctx, s, (*link.Client).Check, request)
	return out, err
}

// Evaluate computes user expressions. Their output has come when it returns.
func (s *Supervisor) Evaluate(ctx context.Context, request link.Evaluate) (link.Evaluations, error) {
	out, l, err := ask(ctx, s, (*link.Client).Evaluate, request)
	if l != nil {
		l.awaitOutput(ctx, out.Mark)
	}
	out.Mark = 0
	return out, err
}

// Comm hands over a message of the front end. What its handler puts out has come
// when it returns.
func (s *Supervisor) Comm(ctx context.Context, comm link.Comm) (link.CommReply, error) {
	out, l, err := ask(ctx, s, (*link.Client).Comm, comm)
	if l != nil {
		l.awaitOutput(ctx, out.Mark)
	}
	out.Mark = 0
	return out, err
}

// Interrupt stops the running cell and what runs beside it. A cell that is in code which cannot be
// stopped goes on; interrupting it again after a while ends the worker, and
// with it the variables.
func (s *Supervisor) Interrupt(ctx context.Context) error {
	s.mu.Lock()
	l := s.current
	s.mu.Unlock()
	if l == nil || l.over() {
		return nil
	}
	runs := l.interrupted()
	err := l.ask(ctx, interruptWait, l.client.Interrupt)
	if runs && errors.Is(err, errFrozen) {
		return nil // it is reported as pending
	}
	return err
}

// interruptWait is how long an interrupt waits for the worker to take note.
const interruptWait = time.Second

// Ready waits until the worker serves, and starts it if none runs. The error says
// why it does not.
func (s *Supervisor) Ready(ctx context.Context) error {
	l, err := s.life()
	if err != nil {
		return err
	}
	select {
	case <-l.ready:
		return nil
	case <-l.ended:
		return l.failure(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ID names the process of the worker; it is empty where none runs.
func (s *Supervisor) ID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil || s.current.over() {
		return ""
	}
	return s.current.runner.ID()
}

// Kill ends the worker for good, at once. What waits for it fails with the reason.
func (s *Supervisor) Kill(why string) {
	s.mu.Lock()
	l := s.current
	s.closed = true
	s.mu.Unlock()
	if l != nil {
		l.kill(why)
	}
	s.lives.Wait()
}

// Shutdown ends the worker for good: it asks, waits, and kills.
func (s *Supervisor) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	l := s.current
	s.current, s.closed = nil, true
	s.mu.Unlock()
	var err error
	if l != nil && !l.over() {
		err = l.shutdown(ctx)
	}
	s.lives.Wait()
	return err
}
