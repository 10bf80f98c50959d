package ranks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/worker"
)

// maxRanks bounds what a typing error may start.
const maxRanks = 256

// variablesLost is what the user reads when ranks were replaced.
const variablesLost = "The variables are lost: run the cells again from the top."

// Ranks returns which ranks there are, or records that the running cell wants a different
// number.
func (g *Group) Ranks(_ context.Context, request link.RanksRequest) (link.RanksReply, error) {
	g.mu.Lock()
	gen, fresh := g.current, g.current.cells <= 1 // the cell that asks
	g.mu.Unlock()
	if request.Restart {
		return g.restart(gen, request.Program, fresh), nil
	}
	if request.Number == 0 {
		return link.RanksReply{Text: gen.describe()}, nil
	}
	wanted, refused := g.size(request.Number)
	if refused == "" && wanted.ranks > 1 {
		refused = rankAlready()
	}
	switch {
	case refused != "":
		return link.RanksReply{Refused: refused}, nil
	case wanted.ranks == gen.ranks:
		return link.RanksReply{Text: gen.describe()}, nil
	}
	wanted.program = gen.program
	g.mu.Lock()
	g.wanted = &wanted
	g.mu.Unlock()
	text := wanted.announce()
	if !fresh {
		text += " " + variablesLost
	}
	return link.RanksReply{Text: text}, nil
}

// restart records that the running cell wants new workers, which run a program unless it
// is "".
func (g *Group) restart(gen *generation, program string, fresh bool) link.RanksReply {
	wanted := gen.size
	if program != "" {
		wanted.program = program
	}
	g.mu.Lock()
	g.wanted = &wanted
	g.mu.Unlock()
	text := "A new worker starts."
	if wanted.ranks > 1 {
		text = fmt.Sprintf("%d new workers start.", wanted.ranks)
	}
	if !fresh {
		text += " " + variablesLost
	}
	return link.RanksReply{Text: text}
}

// size returns the size of a generation with a number of ranks, or the reason why there
// cannot be one.
func (g *Group) size(number int) (s size, refused string) {
	if number == 1 {
		return size{ranks: 1}, ""
	}
	gpus := g.devices()
	switch {
	case number == link.PerGPU && len(gpus) == 0:
		return size{}, "this machine has no GPU: %ranks 4 starts four ranks on the CPU"
	case number == link.PerGPU:
		number = len(gpus)
	case number < 1 || number > maxRanks:
		return size{}, fmt.Sprintf("the number of ranks must be between 1 and %d, not %d", maxRanks, number)
	}
	if number == 1 {
		return size{ranks: 1}, ""
	}
	return size{ranks: number, gpus: gpus}, ""
}

// announce describes what will start.
func (s size) announce() string {
	if s.ranks == 1 {
		return "One rank starts, and cells run once."
	}
	return fmt.Sprintf("%d ranks start%s. From now on each runs every cell.", s.ranks, s.shareGPUs())
}

// shareGPUs says which ranks have a GPU; it is empty if there are no GPUs.
func (s size) shareGPUs() string {
	switch n := len(s.gpus); {
	case n == 0:
		return ""
	case n >= s.ranks:
		return ", with a GPU each"
	case n == 1:
		return ", of which rank 0 has the only GPU"
	default:
		return fmt.Sprintf(", of which %s have a GPU, as there are no more", names(first(n)))
	}
}

// describe describes the running ranks.
func (gen *generation) describe() string {
	if gen.ranks == 1 {
		return "One rank runs each cell. %ranks 4 starts four, each of which runs every cell."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d ranks run each cell.", gen.ranks)
	for rank, m := range gen.members {
		fmt.Fprintf(&b, "\nrank %d: process %s", rank, m.ID())
		if rank < len(gen.gpus) {
			fmt.Fprintf(&b, ", GPU %s", gen.gpus[rank])
		}
	}
	return b.String()
}

// take returns and clears what the running cell has requested.
func (g *Group) take() *size {
	g.mu.Lock()
	defer g.mu.Unlock()
	wanted := g.wanted
	g.wanted = nil
	return wanted
}

// resize ends the ranks and starts the wanted ones. If those do not start, it goes back
// to the previous number and returns why.
func (g *Group) resize(ctx context.Context, wanted size) *link.CellError {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return failed(errShutDown)
	}
	old := g.current
	gen := g.newGeneration(wanted, old.ended)
	gen.next = old.size
	terminated := old.over // a rank has ended meanwhile
	old.over, g.current, g.stop = true, gen, cancel
	if !terminated {
		// Under the lock, so that Shutdown waits for it.
		g.ending.Go(func() {
			defer close(old.ended)
			if err := old.each(func(m *worker.Supervisor) error { return m.Shutdown(ctx) }); err != nil {
				g.log.Warn("ranks shut down", "error", err)
			}
		})
	}
	g.mu.Unlock()
	g.notebook.WorkerEnded(nil)
	<-old.ended
	err := gen.ready(ctx, cancel)
	g.mu.Lock()
	g.stop = nil
	if err == nil {
		gen.next = gen.size
	}
	g.mu.Unlock()
	if err == nil {
		return nil
	}
	g.terminate(gen)
	g.Start()
	return failed(err)
}

// ready waits until all ranks are ready for requests. The first one that fails ends the
// wait.
func (gen *generation) ready(ctx context.Context, cancel context.CancelFunc) error {
	var mu sync.Mutex
	var causes []cause
	var waits sync.WaitGroup
	for rank, m := range gen.members {
		waits.Go(func() {
			err := m.Ready(ctx)
			if err == nil || errors.Is(err, context.Canceled) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			causes = add(causes, rank, &link.CellError{Value: err.Error()})
			cancel()
		})
	}
	waits.Wait()
	switch {
	case len(causes) > 0:
		return fmt.Errorf("%s: %s", names(causes[0].ranks), causes[0].Value)
	case ctx.Err() != nil:
		return errors.New("interrupted before all ranks had started")
	}
	return nil
}

func failed(err error) *link.CellError {
	text := "ranks error: " + err.Error()
	return &link.CellError{Name: "ranks error", Value: err.Error(), Traceback: []string{text, variablesLost}}
}
