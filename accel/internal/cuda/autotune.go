package cuda

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/ir"
)

// selection is a step with several candidates: our own kernels, which come first, and
// algorithms of a library. One is selected when a program is compiled, once for all
// steps with the same key.
type selection struct {
	step       ir.Step
	key        any // comparable: steps with equal keys take equally long
	label      string
	candidates []candidate
	selected   int // index into candidates; -1 before Compile selects one
}

// candidate is an algorithm for a step: our own kernels, or a plan of a library.
type candidate interface {
	step
	// name is the same in other processes. Other candidates may have it too.
	name() string
	// workspace is how many bytes of scratch memory the algorithm needs, without those that
	// the program has for our own kernels.
	workspace() int
	// verify returns why the algorithm must not be selected.
	verify(p *program) error
}

func (c *selection) launches(p *program) ([]launch, error) {
	return c.candidates[max(c.selected, 0)].launches(p)
}

// name returns the name of a candidate. Algorithms with the same name differ in their
// index.
func (c *selection) name(index int) string {
	return fmt.Sprintf("%d %s", index, c.candidates[index].name())
}

// find returns the index of the candidate with a name, -1 if there is none.
func (c *selection) find(name string) int {
	for i := range c.candidates {
		if c.name(i) == name {
			return i
		}
	}
	return -1
}

// selectCandidates selects a candidate for each step of the program that has several.
func (p *program) selectCandidates() error {
	d := p.device
	measured := false
	for _, s := range p.steps {
		c, ok := s.(*selection)
		if !ok {
			continue
		}
		best, known := d.selected[c.key]
		if !known {
			var err error
			if best, err = p.autotune(c); err != nil {
				return d.failed(c.label, err)
			}
			d.selected[c.key] = best
			if d.libraries.Autotune {
				d.tuningCache().put(c.key, c.name(best))
				measured = true
			}
		}
		c.selected = best
		p.NeedWorkspace(c.candidates[best].workspace())
	}
	if measured {
		d.tuningCache().save()
	}
	return nil
}

// tuningCache holds the selections of this machine.
func (d *Device) tuningCache() *tuningCache {
	if d.tuned == nil {
		d.tuned = openTuningCache(d.libraries.TuningCache, d.ctx.Info().Name)
	}
	return d.tuned
}

// autotune runs the candidates of a step on scratch memory and returns the fastest, or
// the first that works if the device does not measure.
func (p *program) autotune(c *selection) (best int, err error) {
	d := p.device
	scratch, free, err := p.scratch(c)
	if errors.Is(err, driver.OutOfMemory) {
		return 0, nil // our own kernels need no scratch memory; try the libraries with another program
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, free()) }()
	if !d.libraries.Autotune {
		return d.firstWorking(scratch, c, 1)
	}
	if i := c.find(d.tuningCache().get(c.key)); i >= 0 {
		if best, err = d.firstWorking(scratch, c, i); err != nil || best == i {
			return best, err
		}
	}
	fastest := math.Inf(1)
	for i := range c.candidates {
		took, err := d.try(scratch, c, i, true)
		if err != nil {
			return 0, err
		}
		if took < fastest {
			best, fastest = i, took
		}
	}
	slog.Debug("cuda: selected an algorithm", "device", d.name, "op", c.label, "algorithm", c.name(best), "of", len(c.candidates), "milliseconds", fastest)
	return best, nil
}

// firstWorking returns the first candidate from index from on that works. Our own
// kernels, candidate 0, always do.
func (d *Device) firstWorking(scratch *program, c *selection, from int) (int, error) {
	for i := from; i > 0 && i < len(c.candidates); i++ {
		took, err := d.try(scratch, c, i, false)
		if err != nil {
			return 0, err
		}
		if !math.IsInf(took, 1) {
			return i, nil
		}
	}
	return 0, nil
}

// How a candidate is timed.
const (
	trialMillis = 1.0 // milliseconds of runs in one graph, approximately
	maxRuns     = 16
	trials      = 3 // launches of the graph, of which the fastest counts
)

// try runs a candidate and returns its time in milliseconds. An algorithm that the
// library rejects is logged and given an infinite time, so it is never selected.
func (d *Device) try(p *program, c *selection, number int, measured bool) (took float64, err error) {
	took, err = d.measureCandidate(p, c.candidates[number], measured)
	if err == nil {
		err = c.candidates[number].verify(p)
	}
	if err != nil && number > 0 && !driver.Lost(err) {
		d.libraries.logRejected(c.name(number), err)
		return math.Inf(1), nil
	}
	return took, err
}

// measureCandidate runs a candidate once kernel by kernel and then as part of a graph,
// as later runs of a program do, so that its time in milliseconds does not include the
// launch overhead of the host.
func (d *Device) measureCandidate(p *program, candidate step, measured bool) (took float64, err error) {
	launches, err := candidate.launches(p)
	if err != nil {
		return 0, err
	}
	for _, l := range launches { // the first launch may load code
		if err := d.launch(l); err != nil {
			return 0, err
		}
	}
	if !measured {
		_, err := d.timeGraph(launches, 1, 0)
		return 0, err
	}
	once, err := d.timeGraph(launches, 1, trials)
	if err != nil {
		return 0, err
	}
	runs := int(min(trialMillis/max(once, 1e-3), maxRuns))
	if runs <= 1 {
		return once, nil
	}
	all, err := d.timeGraph(launches, runs, trials)
	return all / float64(runs), err
}

// timeGraph makes a graph that repeats the launches, launches it trials times and
// returns the shortest time in milliseconds. Without trials it only makes the graph.
func (d *Device) timeGraph(launches []launch, times, trials int) (took float64, err error) {
	x, err := d.instantiate(slices.Repeat(launches, times), 0, 0, false)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.closeInstance(x)) }()
	took = math.Inf(1)
	for range trials {
		ms, err := d.elapsed(func() error { return d.ctx.LaunchGraph(x.run, d.stream) })
		if err != nil {
			return 0, err
		}
		took = min(took, ms)
	}
	return took, nil
}

// elapsed returns how long the device takes for work, in milliseconds.
func (d *Device) elapsed(work func() error) (ms float64, err error) {
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

// scratch returns a copy of the program with zeroed memory of its own for one step.
func (p *program) scratch(c *selection) (q *program, free func() error, err error) {
	d := p.device
	q = &program{device: d, slots: p.slots, arena: p.arena, at: make([]driver.Pointer, len(p.slots)), held: &held{}}
	var allocated []driver.Pointer
	free = func() error {
		var failed error
		for _, at := range allocated {
			failed = errors.Join(failed, d.ctx.Free(at, d.stream))
		}
		allocated = nil
		return failed
	}
	alloc := func(bytes int) (driver.Pointer, error) {
		at, err := d.ctx.Alloc(bytes, d.stream)
		if err == nil {
			allocated = append(allocated, at)
		}
		return at, err
	}
	workspace := p.workspace
	for _, x := range c.candidates {
		workspace = max(workspace, x.workspace())
	}
	if q.scratchWork, err = alloc(roundUp(max(workspace, 1))); err != nil {
		return nil, nil, err
	}
	for _, o := range slices.Concat(c.step.In, c.step.Out) {
		if q.at[o.Slot] != 0 {
			continue
		}
		bytes := roundUp(max(p.slots[o.Slot].Bytes, 1))
		at, err := alloc(bytes)
		if err == nil {
			err = d.ctx.Fill(at, 0, 4, bytes/4, d.stream)
		}
		if err != nil {
			return nil, nil, errors.Join(err, free())
		}
		// Memory of its own is aligned at least as well as the arena's slot.
		q.at[o.Slot] = at
	}
	return q, free, nil
}
