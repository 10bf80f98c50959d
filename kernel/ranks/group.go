package ranks

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/worker"
)

// Notebook takes what cells put out, as a worker.Notebook does. It knows nothing of
// ranks.
type Notebook interface {
	link.Front
	// Stream takes output of a cell to "stdout" or "stderr". The text may not be
	// kept.
	Stream(cell int, name string, text []byte)
	// WorkerEnded tells that the workers' objects are gone.
	WorkerEnded()
}

// Group is the worker of the front: one process, or several that run each cell
// together. Its Execute returns when all output of the cell has come to the notebook.
type Group struct {
	newRunner func(environment []string) worker.Runner
	notebook  Notebook
	log       *slog.Logger
	devices   func() []string // what CUDA_VISIBLE_DEVICES calls the GPUs

	mu      sync.Mutex
	current *world
	closed  bool
	wanted  *size              // of the cell that runs
	stop    context.CancelFunc // ends a wait for ranks that start; nil without one
	ending  sync.WaitGroup     // what ends a world
}

var _ link.Worker = (*Group)(nil)

// errShutDown is returned by what comes after Shutdown.
var errShutDown = errors.New("the kernel shuts down")

// New returns a group of one rank that has not started yet: the first request does
// that, or Start. Each worker comes from newRunner, with what its environment is to
// have besides that of this process.
func New(newRunner func(environment []string) worker.Runner, notebook Notebook, log *slog.Logger) *Group {
	g := &Group{newRunner: newRunner, notebook: notebook, log: log, devices: visibleDevices}
	begun := make(chan struct{})
	close(begun)
	g.current = g.newWorld(size{ranks: 1}, begun)
	return g
}

// Start starts the ranks that do not run, and does not wait for them. When they
// cannot be started the requests say why.
func (g *Group) Start() {
	w, err := g.world(context.Background())
	if err != nil {
		return
	}
	for _, m := range w.members {
		m.Start()
	}
}

// world is the one that runs. It waits until the one before has ended.
func (g *Group) world(ctx context.Context) (*world, error) {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil, errShutDown
	}
	if g.current.over {
		g.current = g.newWorld(g.current.next, g.current.ended)
	}
	w := g.current
	g.mu.Unlock()
	select {
	case <-w.begun:
		return w, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask makes a request of rank 0.
func ask[In, Out any](ctx context.Context, g *Group, method func(*worker.Supervisor, context.Context, In) (Out, error), in In) (Out, error) {
	w, err := g.world(ctx)
	if err != nil {
		var none Out
		return none, err
	}
	return method(w.members[0], ctx, in)
}

// Execute runs one cell on all ranks, and starts others at its end where it has
// asked for that.
func (g *Group) Execute(ctx context.Context, request link.Execute) (link.Result, error) {
	w, err := g.begin(ctx)
	if err != nil {
		return link.Result{}, err
	}
	defer g.end(w)
	result, err := w.execute(ctx, request)
	if wanted := g.take(); wanted != nil && err == nil && result.Error == nil {
		result.Error = g.resize(ctx, *wanted)
	}
	return result, err
}

// begin is the world that runs, and tells it that a cell does.
func (g *Group) begin(ctx context.Context) (*world, error) {
	for {
		w, err := g.world(ctx)
		if err != nil {
			return nil, err
		}
		g.mu.Lock()
		ok := !w.over // a rank may have ended just now
		w.busy, g.wanted = ok, nil
		w.cells++
		g.mu.Unlock()
		if ok {
			return w, nil
		}
	}
}

func (g *Group) end(w *world) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w.busy = false
}

// Complete asks rank 0 for completions.
func (g *Group) Complete(ctx context.Context, request link.Complete) (link.Completion, error) {
	return ask(ctx, g, (*worker.Supervisor).Complete, request)
}

// Inspect asks rank 0 for documentation.
func (g *Group) Inspect(ctx context.Context, request link.Inspect) (link.Inspection, error) {
	return ask(ctx, g, (*worker.Supervisor).Inspect, request)
}

// Check asks whether a cell is complete.
func (g *Group) Check(ctx context.Context, request link.Check) (link.Completeness, error) {
	return ask(ctx, g, (*worker.Supervisor).Check, request)
}

// Evaluate computes user expressions on rank 0.
func (g *Group) Evaluate(ctx context.Context, request link.Evaluate) (link.Evaluations, error) {
	return ask(ctx, g, (*worker.Supervisor).Evaluate, request)
}

// Comm hands over a message of the front end, whose objects are those of rank 0.
func (g *Group) Comm(ctx context.Context, comm link.Comm) (link.CommReply, error) {
	return ask(ctx, g, (*worker.Supervisor).Comm, comm)
}

// Interrupt stops the running cell on all ranks, or the wait for ranks that start.
func (g *Group) Interrupt(ctx context.Context) error {
	g.mu.Lock()
	w, stop := g.current, g.stop
	g.mu.Unlock()
	if stop != nil {
		stop()
	}
	w.hurry()
	return w.each(func(m *worker.Supervisor) error { return m.Interrupt(ctx) })
}

// Shutdown ends the workers for good: it asks, waits, and kills.
func (g *Group) Shutdown(ctx context.Context) error {
	g.mu.Lock()
	g.closed = true
	w := g.current
	g.mu.Unlock()
	err := w.each(func(m *worker.Supervisor) error { return m.Shutdown(ctx) })
	g.ending.Wait()
	return err
}
