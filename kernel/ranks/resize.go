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

// mostRanks bounds what a slip of the finger may start.
const mostRanks = 256

// gone is what is said of what cells have defined.
const gone = "The variables are gone: run the cells again from the top."

// Ranks tells a cell which ranks there are, or notes that it wants others.
func (g *Group) Ranks(_ context.Context, request link.RanksRequest) (link.RanksReply, error) {
	g.mu.Lock()
	w, fresh := g.current, g.current.cells <= 1 // this one
	g.mu.Unlock()
	if request.Number == 0 {
		return link.RanksReply{Text: w.describe()}, nil
	}
	wanted, refused := g.size(request.Number)
	if refused == "" && wanted.ranks > 1 {
		refused = joined()
	}
	switch {
	case refused != "":
		return link.RanksReply{Refused: refused}, nil
	case wanted.ranks == w.ranks:
		return link.RanksReply{Text: w.describe()}, nil
	}
	g.mu.Lock()
	g.wanted = &wanted
	g.mu.Unlock()
	text := wanted.announce()
	if !fresh {
		text += " " + gone
	}
	return link.RanksReply{Text: text}, nil
}

// size is that of a world with a number of ranks; or why there is none.
func (g *Group) size(number int) (s size, refused string) {
	if number == 1 {
		return size{ranks: 1}, ""
	}
	gpus := g.devices()
	switch {
	case number == link.PerGPU && len(gpus) == 0:
		return size{}, "there is no GPU here: %ranks 4 starts four ranks on the processor"
	case number == link.PerGPU:
		number = len(gpus)
	case number < 1 || number > mostRanks:
		return size{}, fmt.Sprintf("there may be 1 to %d ranks, not %d", mostRanks, number)
	}
	if number == 1 {
		return size{ranks: 1}, ""
	}
	return size{number, gpus}, ""
}

// announce tells what will start.
func (s size) announce() string {
	if s.ranks == 1 {
		return "One rank starts, and cells run once."
	}
	return fmt.Sprintf("%d ranks start%s. From now on each runs every cell.", s.ranks, s.shareGPUs())
}

// shareGPUs tells which ranks have a GPU; nothing where there are none.
func (s size) shareGPUs() string {
	switch n := len(s.gpus); {
	case n == 0:
		return ""
	case n >= s.ranks:
		return ", with a GPU each"
	case n == 1:
		return ", of which rank 0 has the one GPU"
	default:
		return fmt.Sprintf(", of which %s have a GPU, as there are no more", names(first(n)))
	}
}

// describe tells what runs.
func (w *world) describe() string {
	if w.ranks == 1 {
		return "One rank runs each cell. %ranks 4 starts four, each of which runs every cell."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d ranks run each cell.", w.ranks)
	for rank, m := range w.members {
		fmt.Fprintf(&b, "\nrank %d: process %s", rank, m.ID())
		if rank < len(w.gpus) {
			fmt.Fprintf(&b, ", GPU %s", w.gpus[rank])
		}
	}
	return b.String()
}

// take returns what the running cell has asked for, and forgets it.
func (g *Group) take() *size {
	g.mu.Lock()
	defer g.mu.Unlock()
	wanted := g.wanted
	g.wanted = nil
	return wanted
}

// resize ends the ranks and starts others. If those do not start it goes back to
// as many as there were, and says why.
func (g *Group) resize(ctx context.Context, wanted size) *link.CellError {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return failed(errShutDown)
	}
	old := g.current
	w := g.newWorld(wanted, old.ended)
	w.next = old.size
	condemned := old.over // a rank has ended just now
	old.over, g.current, g.stop = true, w, cancel
	if !condemned {
		// Under the lock, so that Shutdown waits for it.
		g.ending.Go(func() {
			defer close(old.ended)
			if err := old.each(func(m *worker.Supervisor) error { return m.Shutdown(ctx) }); err != nil {
				g.log.Warn("ranks shut down", "error", err)
			}
		})
	}
	g.mu.Unlock()
	g.notebook.WorkerEnded()
	<-old.ended
	err := w.ready(ctx, cancel)
	g.mu.Lock()
	g.stop = nil
	if err == nil {
		w.next = w.size
	}
	g.mu.Unlock()
	if err == nil {
		return nil
	}
	g.condemn(w)
	g.Start()
	return failed(err)
}

// ready waits until all ranks serve. The first that cannot ends the wait.
func (w *world) ready(ctx context.Context, cancel context.CancelFunc) error {
	var mu sync.Mutex
	var causes []cause
	var waits sync.WaitGroup
	for rank, m := range w.members {
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
	return &link.CellError{Name: "ranks error", Value: err.Error(), Traceback: []string{text, gone}}
}
