package cuda

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/trace"
)

// instance is a program as a CUDA graph for some addresses of its slots.
type graphInstance struct {
	at       []driver.Pointer
	arena    driver.Pointer
	graph    driver.Graph
	run      driver.Executable
	nodes    []driver.Node
	launches []launch

	events []driver.Event // before the first kernel and after each; nil without a profile
	works  *trace.Work    // the kernels of the last launch, until their times are read from the events
}

// maxInstances is how many graphs a program has, one for each set of buffers, before the
// least recently used one is updated to new addresses.
const maxInstances = 4

// launchGraph launches the program as a graph.
func (p *program) launchGraph() error {
	d, h := p.device, p.held
	i := slices.IndexFunc(h.instances, func(x *graphInstance) bool { return x.arena == d.arena && slices.Equal(x.at, p.at) })
	var x *graphInstance
	if i >= 0 {
		x = h.instances[i]
	} else {
		launches, err := p.allLaunches()
		if err != nil {
			return err
		}
		if len(h.instances) == maxInstances {
			i, x = 0, h.instances[0] // least recently used
			if ok, err := d.update(x, launches); err != nil {
				return d.failed("update the graph", err)
			} else if !ok {
				if err := d.closeInstance(x); err != nil {
					return d.failed("close a graph", err)
				}
				x = nil
			}
		}
		if x == nil {
			if x, err = d.instantiate(launches, p.held.faults, p.records(), false); err != nil {
				return d.failed("make a graph", err)
			}
		}
		x.at, x.arena = append(x.at[:0], p.at...), d.arena
	}
	if i >= 0 {
		h.instances = slices.Delete(h.instances, i, i+1)
	}
	h.instances = append(h.instances, x)
	if err := d.ctx.LaunchGraph(x.run, d.stream); err != nil {
		return d.failed("launch", err)
	}
	return nil
}

// all returns the launches of all steps.
func (p *program) allLaunches() ([]launch, error) {
	var out []launch
	for _, s := range p.steps {
		launches, err := s.launches(p)
		if err != nil {
			return nil, err
		}
		out = append(out, launches...)
	}
	return out, nil
}

// instantiate makes a graph of the launches, one after the other, with an event after each
// if measured is set. checks is the number of fault records that it clears first.
func (d *Device) instantiate(launches []launch, faults driver.Pointer, checks int, measured bool) (x *graphInstance, err error) {
	x = &graphInstance{launches: launches}
	if x.graph, err = d.ctx.NewGraph(); err != nil {
		return nil, err
	}
	var before []driver.Node
	if checks > 0 {
		n, err := d.ctx.AddFill(x.graph, nil, faults, kernels.NoFault&0xffffffff, 4, checks*faultBytes/4)
		if err != nil {
			return nil, err
		}
		before = []driver.Node{n}
	}
	mark := func() error {
		if !measured {
			return nil
		}
		e, err := d.ctx.NewEvent(true)
		if err != nil {
			return err
		}
		x.events = append(x.events, e)
		n, err := d.ctx.AddEvent(x.graph, before, e)
		before = []driver.Node{n}
		return err
	}
	if err := mark(); err != nil {
		return nil, err
	}
	for _, l := range launches {
		n, err := d.add(x.graph, before, l)
		if err != nil {
			return nil, err
		}
		x.nodes = append(x.nodes, n)
		before = []driver.Node{n}
		if err := mark(); err != nil {
			return nil, err
		}
	}
	x.run, err = d.ctx.Instantiate(x.graph)
	return x, err
}

// update sets the parameters of a graph's kernels to those of other launches. ok is false
// if a kernel differs, as copies do for less aligned addresses; the graph is then to be
// closed.
func (d *Device) update(x *graphInstance, launches []launch) (ok bool, err error) {
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
		if ok, err := d.revise(x.run, x.nodes[i], l); err != nil || !ok {
			return false, err
		}
	}
	x.launches = launches
	return true, nil
}

// closeInstance closes a graph after it has run.
func (d *Device) closeInstance(x *graphInstance) error {
	if err := d.ctx.SyncStream(d.stream); err != nil {
		return err
	}
	if d.profile != nil {
		if err := d.profile.settle(d.ctx, x); err != nil {
			return err
		}
	}
	for _, e := range x.events {
		if err := d.ctx.CloseEvent(e); err != nil {
			return err
		}
	}
	if err := d.ctx.CloseExecutable(x.run); err != nil {
		return err
	}
	return d.ctx.CloseGraph(x.graph)
}
