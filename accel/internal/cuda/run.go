package cuda

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/trace"
)

// Run launches the steps and does not wait for them.
func (p *program) Run(bind []ir.Storage, words []uint64) (int, error) {
	return p.execute(bind, words, func() error {
		p.runs++
		if p.runs == 1 || p.device.libraries.Variants.NoGraphs {
			return p.launchAll(nil)
		}
		return p.launchGraph()
	})
}

// RunStepped is Run without a graph: kernels are launched one by one, and before is
// called before each step, so that a tool can attribute them to NVTX ranges.
func (p *program) RunStepped(bind []ir.Storage, words []uint64, before func(step int)) (int, error) {
	return p.execute(bind, words, func() error { return p.launchAll(before) })
}

// RunProfiled is Run with a graph that records an event after each kernel. Each takes the
// device a microsecond or two, which w reports.
func (p *program) RunProfiled(c *trace.Collector, bind []ir.Storage, words []uint64) (w *trace.Work, done int, err error) {
	w = &trace.Work{}
	done, err = p.execute(bind, words, func() error {
		p.runs++
		return p.launchProfiled(c, w)
	})
	return w, done, err
}

// execute prepares a run, launches it, and starts the copy of its faults to the host.
func (p *program) execute(bind []ir.Storage, words []uint64, launch func() error) (int, error) {
	if err := p.begin(bind, words); err != nil {
		return 0, err
	}
	if err := launch(); err != nil {
		return 0, err
	}
	return len(p.steps), p.end(bind)
}

// begin resolves the addresses of the slots and uploads the words.
func (p *program) begin(bind []ir.Storage, words []uint64) error {
	d := p.device
	if err := d.faults.poll(); err != nil {
		return err
	}
	if err := d.reserve(p.arena + p.workspace); err != nil {
		return err
	}
	for i, s := range p.slots {
		if s.Kind == ir.Arena {
			p.at[i] = d.arena + driver.Pointer(s.Offset)
		} else {
			p.at[i] = bind[i].(*storage).at
		}
	}
	return p.upload(words)
}

// upload copies the words to the device unless they are there already.
func (p *program) upload(words []uint64) error {
	if len(words) == 0 || p.held.words != 0 && slices.Equal(words, p.uploaded) {
		return nil
	}
	d := p.device
	if p.held.words == 0 {
		at, err := d.memory.raw(8 * len(words))
		if err != nil {
			return err
		}
		p.held.words = at
	}
	p.raw = p.raw[:0]
	for _, w := range words {
		p.raw = binary.LittleEndian.AppendUint64(p.raw, w)
	}
	p.uploaded = p.uploaded[:0] // a failed copy may have written a part
	if err := d.staging.write(p.held.words, p.raw); err != nil {
		return d.failed("write", err)
	}
	p.uploaded = append(p.uploaded, words...)
	return nil
}

// launchAll launches the kernels one by one. It calls before, unless it is nil, before
// each step.
func (p *program) launchAll(before func(step int)) error {
	d := p.device
	if n := p.records(); n > 0 {
		if err := d.ctx.Fill(p.held.faults, kernels.NoFault&0xffffffff, 4, n*faultBytes/4, d.stream); err != nil {
			return d.failed("fill", err)
		}
	}
	for i, s := range p.steps {
		if before != nil {
			before(i)
		}
		launches, err := s.launches(p)
		if err != nil {
			return err
		}
		for _, l := range launches {
			if err := d.launch(l); err != nil {
				return d.failed("launch", err)
			}
		}
	}
	return nil
}

// end starts the copy of the faults to the host, and records which memory was written.
func (p *program) end(bind []ir.Storage) error {
	d := p.device
	var found []byte
	if n := len(p.explains) * faultBytes; n > 0 {
		var err error
		if found, err = d.faults.buffer(n); err != nil {
			return d.failed("read", err)
		}
		if err := d.ctx.CopyToHost(found, p.held.faults, d.stream); err != nil {
			return d.failed("read", err)
		}
	}
	mark, err := d.timeline.record(d.stream)
	if err != nil {
		return d.failed("record", err)
	}
	for i, s := range p.slots {
		if s.Kind == ir.Output {
			bind[i].(*storage).written = mark
		}
	}
	if found != nil {
		d.faults.add(report{mark, found, p.explains})
	}
	return nil
}

// maxInstances is how many graphs a program has, one for each set of buffers, before the
// least recently used one is updated to new addresses.
const maxInstances = 4

// launchGraph launches the program as a graph.
func (p *program) launchGraph() error {
	d := p.device
	x, err := p.instance()
	if err != nil {
		return err
	}
	p.held.instances = append(p.held.instances, x)
	if err := d.ctx.LaunchGraph(x.run, d.stream); err != nil {
		return d.failed("launch", err)
	}
	return nil
}

// instance returns the graph for the current addresses, which is no longer among those of
// held.
func (p *program) instance() (*graphInstance, error) {
	d, h := p.device, p.held
	take := func(i int) *graphInstance {
		x := h.instances[i]
		h.instances = slices.Delete(h.instances, i, i+1)
		return x
	}
	if i := slices.IndexFunc(h.instances, p.fits); i >= 0 {
		return take(i), nil
	}
	launches, err := p.allLaunches()
	if err != nil {
		return nil, err
	}
	if len(h.instances) == maxInstances {
		x := take(0) // least recently used
		ok, err := d.update(x, launches)
		if ok {
			x.at, x.arena = append(x.at[:0], p.at...), d.arena
			return x, nil
		}
		if err := errors.Join(err, d.closeInstance(x)); err != nil {
			return nil, d.failed("update the graph", err)
		}
	}
	return p.newInstance(launches, false)
}

// fits reports whether a graph is for the current addresses.
func (p *program) fits(x *graphInstance) bool {
	return x.arena == p.device.arena && slices.Equal(x.at, p.at)
}

// newInstance makes a graph for the current addresses.
func (p *program) newInstance(launches []launch, measured bool) (*graphInstance, error) {
	d := p.device
	x, err := d.instantiate(launches, p.held.faults, p.records(), measured)
	if err != nil {
		return nil, d.failed("make a graph", err)
	}
	x.at, x.arena = slices.Clone(p.at), d.arena
	return x, nil
}

// allLaunches returns the launches of all steps.
func (p *program) allLaunches() ([]launch, error) {
	var out []launch
	for i, s := range p.steps {
		launches, err := s.launches(p)
		if err != nil {
			return nil, err
		}
		for _, l := range launches {
			l.step = i
			out = append(out, l)
		}
	}
	return out, nil
}

// ahead is how many graphs a program has for the same addresses, so that the host can
// launch again before it reads the events of the last launch.
const ahead = 2

// maxProfiled is the maximum number of graphs with events of a program.
const maxProfiled = ahead * maxInstances

// launchProfiled launches the program as a graph with events, from which w gets the times
// of the kernels.
func (p *program) launchProfiled(c *trace.Collector, w *trace.Work) error {
	d, h := p.device, p.held
	if err := d.profile.begin(c); err != nil {
		return d.failed("profile", err)
	}
	x, err := p.profiledGraph(c)
	if err != nil {
		return err
	}
	h.measured = append(slices.DeleteFunc(h.measured, func(y *graphInstance) bool { return x == y }), x)
	if err := d.profile.settle(&x.kernelEvents); err != nil { // of the launch before
		return d.failed("profile", err)
	}
	w.Kernels = make([]trace.Kernel, 0, len(x.launches))
	for _, l := range x.launches {
		k := trace.Kernel{Name: d.nameOf(l), Step: l.step, Blocks: l.Grid.Count(), Threads: l.Block.Count()}
		if l.call == nil {
			if err := d.code.describe(&k, l.Launch); err != nil {
				return d.failed("profile", err)
			}
		}
		w.Kernels = append(w.Kernels, k)
	}
	w.EventCost = d.profile.eventCost
	w.Launched = c.Now()
	if err := d.ctx.LaunchGraph(x.run, d.stream); err != nil {
		return d.failed("launch", err)
	}
	c.Event(trace.Launching, fmt.Sprintf("graph of %d kernels", len(x.launches)), w.Launched, 0)
	x.works = w
	d.profile.pending = append(d.profile.pending, &x.kernelEvents)
	return nil
}

// profiledGraph returns the least recently launched graph with events for the current
// addresses. The host time to make one is that of the profile, not of the program.
func (p *program) profiledGraph(c *trace.Collector) (*graphInstance, error) {
	d, h := p.device, p.held
	if i := slices.IndexFunc(h.measured, p.fits); i >= 0 {
		return h.measured[i], nil
	}
	begin := c.Now()
	defer func() { c.Event(trace.Profiling, "graph with events", begin, 0) }()
	for len(h.measured) > maxProfiled-ahead {
		oldest := h.measured[0]
		h.measured = slices.Delete(h.measured, 0, 1)
		if err := d.closeInstance(oldest); err != nil {
			return nil, d.failed("close a graph", err)
		}
	}
	launches, err := p.allLaunches()
	if err != nil {
		return nil, err
	}
	var x *graphInstance
	for range ahead {
		if x, err = p.newInstance(launches, true); err != nil {
			return nil, err
		}
		h.measured = append(h.measured, x)
	}
	return x, nil
}
