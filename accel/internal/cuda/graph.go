package cuda

import (
	"errors"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
)

// instance is a program as a CUDA graph for some addresses of its slots.
type graphInstance struct {
	at       []driver.Pointer
	arena    driver.Pointer
	graph    driver.Graph
	run      driver.Executable
	nodes    []driver.Node
	launches []launch

	kernelEvents
}

// instantiate makes a graph of the launches, one after the other, with an event after each
// if measured is set. checks is the number of fault records that it clears first.
func (q *queue) instantiate(launches []launch, faults driver.Pointer, checks int, measured bool) (x *graphInstance, err error) {
	x = &graphInstance{launches: launches}
	if x.graph, err = q.ctx.NewGraph(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = q.closeInstance(x) // the first error says what happened
		}
	}()
	var before []driver.Node
	if checks > 0 {
		n, err := q.ctx.AddFill(x.graph, nil, faults, kernels.NoFault&0xffffffff, 4, checks*faultBytes/4)
		if err != nil {
			return x, err
		}
		before = []driver.Node{n}
	}
	mark := func() error {
		if !measured {
			return nil
		}
		e, err := q.ctx.NewEvent(true)
		if err != nil {
			return err
		}
		x.events = append(x.events, e)
		n, err := q.ctx.AddEvent(x.graph, before, e)
		before = []driver.Node{n}
		return err
	}
	if err := mark(); err != nil {
		return x, err
	}
	for i, l := range launches {
		// Dependencies on and of library calls, events and fills are full ones.
		l.Early = q.code.waiting && !measured && i > 0 && launches[i-1].call == nil && l.call == nil
		n, err := q.add(x.graph, before, l)
		if err != nil {
			return x, err
		}
		x.nodes = append(x.nodes, n)
		before = []driver.Node{n}
		if err := mark(); err != nil {
			return x, err
		}
	}
	x.run, err = q.ctx.Instantiate(x.graph)
	return x, err
}

// update sets the parameters of a graph's kernels to those of other launches. ok is false
// if a kernel differs, as copies do for less aligned addresses; the graph is then to be
// closed.
func (q *queue) update(x *graphInstance, launches []launch) (ok bool, err error) {
	if len(launches) != len(x.launches) {
		return false, nil
	}
	for i, l := range launches {
		if !l.like(x.launches[i]) {
			return false, nil
		}
	}
	for i, l := range launches {
		if l.same(x.launches[i]) {
			continue
		}
		if ok, err := q.revise(x.run, x.nodes[i], l); err != nil || !ok {
			return false, err
		}
	}
	x.launches = launches
	return true, nil
}

// closeInstance closes a graph after it has run, or what has been made of one.
func (q *queue) closeInstance(x *graphInstance) error {
	if err := q.ctx.SyncStream(q.stream); err != nil {
		return err
	}
	failed := []error{q.profile.settle(&x.kernelEvents)}
	for _, e := range x.events {
		failed = append(failed, q.ctx.CloseEvent(e))
	}
	if x.run != 0 {
		failed = append(failed, q.ctx.CloseExecutable(x.run))
	}
	return errors.Join(append(failed, q.ctx.CloseGraph(x.graph))...)
}
