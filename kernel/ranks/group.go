package ranks

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/worker"
)

// Notebook receives the output of cells, as a worker.Notebook does. It knows nothing
// about ranks.
type Notebook interface {
	link.Notebook
	// Stream receives output of a cell to "stdout" or "stderr". It must not keep text.
	Stream(cell int, name string, text []byte)
	// WorkerEnded is called when the workers have ended: the objects in them are gone. why is
	// set if a worker has ended on its own while no cell was running, whose error would say why.
	WorkerEnded(why *link.CellError)
}

// Group implements link.Worker for the kernel process with one worker process, or with
// several that run each cell together. Its Execute returns when all output of the cell
// has been passed to the notebook.
type Group struct {
	newRunner func(program string, environment []string) worker.Runner
	notebook  Notebook
	log       *slog.Logger
	devices   func() []string // the GPUs, as named in CUDA_VISIBLE_DEVICES
	// Tests change these times, so that ranks which run late do not count as different.
	holdTime, agreementTime time.Duration

	mu      sync.Mutex
	current *generation
	closed  bool
	wanted  *size              // requested by the running cell
	stop    context.CancelFunc // cancels a wait for starting ranks; nil if there is none
	ending  sync.WaitGroup     // goroutines that end a generation
}

var _ link.Worker = (*Group)(nil)

// errShutDown is returned by all methods after Shutdown.
var errShutDown = errors.New("the kernel is shutting down")

// New returns a group of one rank. It is started by Start or by the first request.
// newRunner makes a worker process, given the path of its program, or "" for that of the
// kernel, and the variables that its environment has in addition to those of this process.
func New(newRunner func(program string, environment []string) worker.Runner, notebook Notebook, log *slog.Logger) *Group {
	g := &Group{newRunner: newRunner, notebook: notebook, log: log, devices: visibleDevices, holdTime: holdTime, agreementTime: agreementTime}
	begun := make(chan struct{})
	close(begun)
	g.current = g.newGeneration(size{ranks: 1}, begun)
	return g
}

// Start starts the ranks that are not running, without waiting for them. If they cannot
// be started, the requests return the reason.
func (g *Group) Start() {
	gen, err := g.generation(context.Background())
	if err != nil {
		return
	}
	for _, m := range gen.members {
		m.Start()
	}
}

// generation returns the current generation of ranks. It waits until the one before has
// ended.
func (g *Group) generation(ctx context.Context) (*generation, error) {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil, errShutDown
	}
	if g.current.over {
		g.current = g.newGeneration(g.current.next, g.current.ended)
	}
	gen := g.current
	g.mu.Unlock()
	select {
	case <-gen.begun:
		return gen, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Ask sends a request to rank 0, which also has the objects of the front end. All ranks answer
// whether a goroutine has panicked.
func (g *Group) Ask(ctx context.Context, request link.Request) (any, error) {
	gen, err := g.generation(ctx)
	if err != nil {
		return nil, err
	}
	if p, ok := request.(link.Panic); ok {
		reply, err := gen.panicked(ctx, p)
		return &reply, err
	}
	return gen.members[0].Ask(ctx, request)
}

// Execute runs one cell on all ranks. If the cell has requested another number of ranks,
// they are started at its end.
func (g *Group) Execute(ctx context.Context, request link.Execute) (link.Result, error) {
	gen, err := g.begin(ctx)
	if err != nil {
		return link.Result{}, err
	}
	defer g.end(gen)
	result, err := gen.execute(ctx, request)
	if wanted := g.take(); wanted != nil && err == nil && result.Error == nil {
		result.Error = g.resize(ctx, *wanted)
	}
	return result, err
}

// begin returns the current generation and records that a cell is running on it.
func (g *Group) begin(ctx context.Context) (*generation, error) {
	for {
		gen, err := g.generation(ctx)
		if err != nil {
			return nil, err
		}
		g.mu.Lock()
		ok := !gen.over // a rank may have ended meanwhile
		gen.busy, g.wanted = ok, nil
		gen.cells++
		g.mu.Unlock()
		if ok {
			return gen, nil
		}
	}
}

func (g *Group) end(gen *generation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	gen.busy = false
}

// Interrupt stops the running cell on all ranks, or the wait for starting ranks.
func (g *Group) Interrupt(ctx context.Context) error {
	g.mu.Lock()
	gen, stop := g.current, g.stop
	g.mu.Unlock()
	if stop != nil {
		stop()
	}
	// Before the interrupt of one rank can end the cell.
	interrupts := make(map[*worker.Supervisor]func(context.Context) error, len(gen.members))
	for _, m := range gen.members {
		interrupts[m] = m.Interrupter()
	}
	gen.flush()
	return gen.each(func(m *worker.Supervisor) error { return interrupts[m](ctx) })
}

// Shutdown ends the workers for good: it asks them to end, waits, and then kills them.
func (g *Group) Shutdown(ctx context.Context) error {
	g.mu.Lock()
	g.closed = true
	gen := g.current
	g.mu.Unlock()
	err := gen.each(func(m *worker.Supervisor) error { return m.Shutdown(ctx) })
	g.ending.Wait()
	return err
}
