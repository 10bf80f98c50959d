package cuda

import (
	"fmt"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/trace"
)

// profile converts times of the device to those of a collector.
type profile struct {
	collector *trace.Collector
	origin    driver.Event
	at        time.Duration    // time of the origin event on the collector's clock
	pending   []*graphInstance // graphs whose events have not been read, the oldest first
	sums      []profiledSum    // over ranks, whose events have not been read
}

// ahead is how many graphs a program has for the same addresses, so that the host can
// launch again before it reads the events of the last launch.
const ahead = 2

// maxProfiled is the maximum number of graphs with events of a program.
const maxProfiled = ahead * maxInstances

// tries is how often the time of the origin is measured: the first tries are slower.
const tries = 3

// began returns the profile of a collector. Its origin is an event whose time is known on
// both clocks, with an error of half the time that the host takes to record it and to wait
// for it: a few microseconds.
func (d *Device) began(c *trace.Collector) (*profile, error) {
	if d.profile != nil && d.profile.collector == c {
		return d.profile, nil
	}
	if d.profile == nil {
		e, err := d.ctx.NewEvent(true)
		if err != nil {
			return nil, err
		}
		d.profile = &profile{origin: e}
	}
	p := d.profile
	p.collector, p.pending, p.sums = c, nil, nil
	if err := d.ctx.SyncStream(d.stream); err != nil {
		return nil, err
	}
	for range tries {
		before := c.Now()
		if err := d.ctx.Record(p.origin, d.stream); err != nil {
			return nil, err
		}
		if err := d.ctx.SyncEvent(p.origin); err != nil {
			return nil, err
		}
		p.at = (before + c.Now()) / 2
	}
	return p, nil
}

// measure reads the events of all launches, which must have run, and begins a profile if
// one was requested.
func (d *Device) measure() error {
	if p := d.profile; p != nil {
		for len(p.pending) > 0 {
			if err := p.settle(d.ctx, p.pending[0]); err != nil {
				return err
			}
		}
		if err := p.settleSums(d.ctx); err != nil {
			return err
		}
	}
	if c := trace.Profile(); c != nil {
		_, err := d.began(c)
		return err
	}
	return nil
}

// settle reads from the events of a graph when its kernels ran.
func (p *profile) settle(ctx driver.Context, x *graphInstance) error {
	w := x.works
	if w == nil {
		return nil
	}
	x.works = nil
	p.pending = slices.DeleteFunc(p.pending, func(y *graphInstance) bool { return x == y })
	if err := ctx.SyncEvent(x.events[len(x.events)-1]); err != nil {
		return err
	}
	since := func(from, to driver.Event) (time.Duration, error) {
		ms, err := ctx.Elapsed(from, to)
		return time.Duration(ms * float64(time.Millisecond)), err
	}
	at, err := since(p.origin, x.events[0])
	if err != nil {
		return err
	}
	at += p.at
	// The host time of the origin is known to within a few microseconds. No kernel begins before
	// its launch, so one that seems to do so shows by how much the origin is later.
	if early := w.Launched - at; early > 0 {
		p.at += early
		at += early
	}
	for i := range w.Kernels {
		took, err := since(x.events[i], x.events[i+1])
		if err != nil {
			return err
		}
		w.Kernels[i].Begin, w.Kernels[i].End = at, at+took
		at += took
	}
	return nil
}

// launchProfiled launches the program as a graph with events, from which w gets the times
// of the kernels.
func (p *program) launchProfiled(c *trace.Collector, w *trace.Work) error {
	d, h := p.device, p.held
	profile, err := d.began(c)
	if err != nil {
		return d.failed("profile", err)
	}
	x, err := p.profiledGraph(c)
	if err != nil {
		return err
	}
	h.measured = append(slices.DeleteFunc(h.measured, func(y *graphInstance) bool { return x == y }), x)
	if err := profile.settle(d.ctx, x); err != nil { // of the launch before
		return d.failed("profile", err)
	}
	w.Kernels = make([]trace.Kernel, 0, len(x.launches))
	for i, s := range p.steps {
		launches, err := s.launches(p)
		if err != nil {
			return err
		}
		for _, l := range launches {
			w.Kernels = append(w.Kernels, trace.Kernel{Name: d.nameOf(l), Step: i, Blocks: l.Grid.Count(), Threads: l.Block.Count()})
		}
	}
	w.Launched = c.Now()
	if err := d.ctx.LaunchGraph(x.run, d.stream); err != nil {
		return d.failed("launch", err)
	}
	c.Event(trace.Launching, fmt.Sprintf("graph of %d kernels", len(x.launches)), w.Launched, 0)
	x.works = w
	profile.pending = append(profile.pending, x)
	return nil
}

// measurable returns the least recently launched graph with events for the current
// addresses. The host time to make one is recorded as planning.
func (p *program) profiledGraph(c *trace.Collector) (*graphInstance, error) {
	d, h := p.device, p.held
	fits := func(x *graphInstance) bool { return x.arena == d.arena && slices.Equal(x.at, p.at) }
	if i := slices.IndexFunc(h.measured, fits); i >= 0 {
		return h.measured[i], nil
	}
	begin := c.Now()
	defer func() { c.Event(trace.Planning, "graph with events", begin, 0) }()
	for len(h.measured) > maxProfiled-ahead {
		if err := d.closeInstance(h.measured[0]); err != nil {
			return nil, d.failed("close a graph", err)
		}
		h.measured = slices.Delete(h.measured, 0, 1)
	}
	launches, err := p.allLaunches()
	if err != nil {
		return nil, err
	}
	var x *graphInstance
	for range ahead {
		x, err = d.instantiate(launches, h.faults, p.records(), true)
		if err != nil {
			return nil, d.failed("make a graph", err)
		}
		x.at, x.arena = slices.Clone(p.at), d.arena
		h.measured = append(h.measured, x)
	}
	return x, nil
}
