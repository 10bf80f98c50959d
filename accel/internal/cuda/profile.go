package cuda

import (
	"fmt"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/trace"
)

// profile brings the times of the device to those of a collector.
type profile struct {
	collector *trace.Collector
	origin    driver.Event
	at        time.Duration // of the origin
	pending   []*instance   // whose events have not been asked, the oldest first
	sums      []measuredSum // over ranks, whose events have not been asked
}

// ahead is how many graphs there are of one program and its addresses, so that the
// host need not wait for the events of the last launch before it launches again.
const ahead = 2

// mostMeasured is how many graphs with events a program has.
const mostMeasured = ahead * mostInstances

// tries is how often the moment of an event is measured: the first are slower.
const tries = 3

// began is the profile of a collector: an event whose moment both clocks know, to
// half the time that the host takes to record it and to wait for it, which is some
// microseconds.
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

// measure asks the events of all launches, which have run, and begins the profile
// that is about to be taken, if one is.
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

// settle asks the events of an instance when its kernels ran.
func (p *profile) settle(ctx driver.Context, x *instance) error {
	w := x.works
	if w == nil {
		return nil
	}
	x.works = nil
	p.pending = slices.DeleteFunc(p.pending, func(y *instance) bool { return x == y })
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

// launchMeasured runs the program as one launch whose events will tell w when each
// kernel ran.
func (p *program) launchMeasured(c *trace.Collector, w *trace.Work) error {
	d, h := p.device, p.held
	profile, err := d.began(c)
	if err != nil {
		return d.failed("profile", err)
	}
	x, err := p.measurable(c)
	if err != nil {
		return err
	}
	h.measured = append(slices.DeleteFunc(h.measured, func(y *instance) bool { return x == y }), x)
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

// measurable is the graph with events that was launched longest ago for the present
// addresses. Its host time is planning.
func (p *program) measurable(c *trace.Collector) (*instance, error) {
	d, h := p.device, p.held
	fits := func(x *instance) bool { return x.arena == d.arena && slices.Equal(x.at, p.at) }
	if i := slices.IndexFunc(h.measured, fits); i >= 0 {
		return h.measured[i], nil
	}
	begin := c.Now()
	defer func() { c.Event(trace.Planning, "graph with events", begin, 0) }()
	for len(h.measured) > mostMeasured-ahead {
		if err := d.closeInstance(h.measured[0]); err != nil {
			return nil, d.failed("close a graph", err)
		}
		h.measured = slices.Delete(h.measured, 0, 1)
	}
	launches, err := p.all()
	if err != nil {
		return nil, err
	}
	var x *instance
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
