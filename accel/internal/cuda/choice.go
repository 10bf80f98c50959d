package cuda

import (
	"errors"
	"log/slog"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/ir"
)

// choice is a step that own kernels do, or a library in one of several ways. The
// first way is the kernels'. Which is taken is decided when a program is compiled,
// once for all steps of a kind.
type choice struct {
	step  ir.Step
	kind  any // comparable: steps of one kind take equally long
	label string
	ways  []step
	taken int // -1 before it is decided
}

// roomy is a way of a library, which wants room while it runs. What own kernels want
// the program has.
type roomy interface{ room() int }

// checked is a way of a library of which something is tried before it is taken.
type checked interface{ check(p *program) error }

func roomOf(way step) int {
	if r, ok := way.(roomy); ok {
		return r.room()
	}
	return 0
}

func (c *choice) launches(p *program) ([]launch, error) { return c.ways[max(c.taken, 0)].launches(p) }

// decide chooses for the steps of a program. What a library refuses is told, and done
// in another way.
func (p *program) decide() error {
	d := p.device
	measured := false
	for _, s := range p.steps {
		c, ok := s.(*choice)
		if !ok {
			continue
		}
		taken, known := d.decided[c.kind]
		if !known {
			var err error
			if taken, err = p.tried(c); err != nil {
				return d.failed(c.label, err)
			}
			d.decided[c.kind] = taken
			if d.libraries.Measure {
				d.remembered().put(c.kind, taken, c.ways[taken])
				measured = true
			}
		}
		c.taken = taken
		p.room(roomOf(c.ways[taken]))
	}
	if measured {
		d.remembered().save()
	}
	return nil
}

// remembered are the choices of the machine.
func (d *Device) remembered() *choices {
	if d.choices == nil {
		d.choices = openChoices(d.libraries.Choices, d.ctx.Info().Name)
	}
	return d.choices
}

// tried tries the ways of a choice on memory of their own and gives the best.
func (p *program) tried(c *choice) (best int, err error) {
	d := p.device
	scratch, free, err := p.scratch(c)
	if errors.Is(err, driver.OutOfMemory) {
		return 0, nil // a program that leaves no room is not the one to try libraries in
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, free()) }()
	if !d.libraries.Measure {
		return d.first(scratch, c, 1)
	}
	if i, ok := d.remembered().get(c.kind, c.ways); ok {
		if best, err = d.first(scratch, c, i); err != nil || best == i {
			return best, err
		}
	}
	fastest := math.Inf(1)
	for i := range c.ways {
		took, err := d.trial(scratch, c, i, true)
		if err != nil {
			return 0, err
		}
		if took < fastest {
			best, fastest = i, took
		}
	}
	slog.Debug("cuda: the way to compute is chosen", "device", d.name, "op", c.label, "way", named(best, c.ways[best]), "of", len(c.ways), "milliseconds", fastest)
	return best, nil
}

// first is the first way from a number on that works. Own kernels, the way 0, always
// do.
func (d *Device) first(scratch *program, c *choice, from int) (int, error) {
	for i := from; i > 0 && i < len(c.ways); i++ {
		took, err := d.trial(scratch, c, i, false)
		if err != nil {
			return 0, err
		}
		if !math.IsInf(took, 1) {
			return i, nil
		}
	}
	return 0, nil
}

// lost tells an error after which nothing runs on the device.
func (d *Device) lost(err error) bool {
	var e *driver.Error
	return errors.As(err, &e) && e.Code.Sticky()
}

// Trials of a way to do a step.
const (
	trialTime = 1.0 // milliseconds that are measured together, about
	mostRuns  = 16
	trials    = 3 // of which the fastest counts
)

// trial runs a step in one way, and measures in milliseconds how long that takes. What
// a library refuses is told, and takes for ever.
func (d *Device) trial(p *program, c *choice, number int, measured bool) (took float64, err error) {
	took, err = d.run(p, c.ways[number], measured)
	if w, ok := c.ways[number].(checked); ok && err == nil {
		err = w.check(p)
	}
	if err != nil && number > 0 && !d.lost(err) {
		unused(d, named(number, c.ways[number]), err)
		return math.Inf(1), nil
	}
	return took, err
}

// run runs a step, launched and as part of a graph, as it is when a program comes
// again: what the host takes to launch it is not in the time.
func (d *Device) run(p *program, way step, measured bool) (took float64, err error) {
	launches, err := way.launches(p)
	if err != nil {
		return 0, err
	}
	for _, l := range launches { // which may load code
		if err := d.launch(l); err != nil {
			return 0, err
		}
	}
	if !measured {
		_, err := d.repeated(launches, 1, 0)
		return 0, err
	}
	once, err := d.repeated(launches, 1, trials)
	if err != nil {
		return 0, err
	}
	runs := int(min(trialTime/max(once, 1e-3), mostRuns))
	if runs <= 1 {
		return once, nil
	}
	all, err := d.repeated(launches, runs, trials)
	return all / float64(runs), err
}

// repeated makes a graph that does work several times, and measures in milliseconds
// how long it takes: the fastest of some trials, of which there may be none.
func (d *Device) repeated(launches []launch, times, trials int) (took float64, err error) {
	g, err := d.ctx.NewGraph()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.ctx.CloseGraph(g)) }()
	var before []driver.Node
	for range times {
		for _, l := range launches {
			n, err := d.add(g, before, l)
			if err != nil {
				return 0, err
			}
			before = []driver.Node{n}
		}
	}
	x, err := d.ctx.Instantiate(g)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.ctx.CloseExecutable(x)) }()
	took = math.Inf(1)
	for range trials {
		ms, err := d.timed(func() error { return d.ctx.LaunchGraph(x, d.stream) })
		if err != nil {
			return 0, err
		}
		took = min(took, ms)
	}
	return took, nil
}

// timed is how long the device is at some work, in milliseconds.
func (d *Device) timed(work func() error) (ms float64, err error) {
	var events [2]driver.Event
	for i := range events {
		if events[i], err = d.ctx.NewEvent(true); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, d.ctx.CloseEvent(events[i])) }()
	}
	if err := d.ctx.Record(events[0], d.stream); err != nil {
		return 0, err
	}
	if err := work(); err != nil {
		return 0, err
	}
	if err := d.ctx.Record(events[1], d.stream); err != nil {
		return 0, err
	}
	if err := d.ctx.SyncEvent(events[1]); err != nil {
		return 0, err
	}
	return d.ctx.Elapsed(events[0], events[1])
}

// scratch is the program with memory for one step, which holds zeros.
func (p *program) scratch(c *choice) (q *program, free func() error, err error) {
	d := p.device
	q = &program{device: d, slots: p.slots, arena: p.arena, at: make([]driver.Pointer, len(p.slots)), held: &held{}}
	var taken []driver.Pointer
	free = func() error {
		var failed error
		for _, at := range taken {
			failed = errors.Join(failed, d.ctx.Free(at, d.stream))
		}
		taken = nil
		return failed
	}
	take := func(bytes int) (driver.Pointer, error) {
		at, err := d.ctx.Alloc(bytes, d.stream)
		if err == nil {
			taken = append(taken, at)
		}
		return at, err
	}
	room := p.workspace
	for _, way := range c.ways {
		room = max(room, roomOf(way))
	}
	if q.scratchWork, err = take(roundUp(max(room, 1))); err != nil {
		return nil, nil, err
	}
	for _, o := range slices.Concat(c.step.In, c.step.Out) {
		if q.at[o.Slot] != 0 {
			continue
		}
		bytes := roundUp(max(p.slots[o.Slot].Bytes, 1))
		at, err := take(bytes)
		if err == nil {
			err = d.ctx.Fill(at, 0, 4, bytes/4, d.stream)
		}
		if err != nil {
			return nil, nil, errors.Join(err, free())
		}
		// An arena's slot may be less aligned than memory of its own.
		q.at[o.Slot] = at
	}
	return q, free, nil
}
