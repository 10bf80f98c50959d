package cuda

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
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
			var times []candidateTime
			var err error
			if best, times, err = p.autotune(c); err != nil {
				return d.failed(c.label, err)
			}
			d.selected[c.key] = best
			if times != nil {
				d.tuningCache().put(c.key, tuned{Op: c.label, Selected: c.name(best), Candidates: times})
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
// the first that works if the device does not measure. times has what was measured, nil
// if nothing was.
func (p *program) autotune(c *selection) (best int, times []candidateTime, err error) {
	d := p.device
	scratch, free, err := p.scratch(c)
	if errors.Is(err, driver.OutOfMemory) {
		return 0, nil, nil // our own kernels need no scratch memory; try the libraries with another program
	}
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, free()) }()
	if !d.libraries.autotunes() {
		best, err = d.firstWorking(scratch, c, 1)
		return best, nil, err
	}
	if i := c.find(d.tuningCache().get(c.key).Selected); i >= 0 {
		if best, err = d.firstWorking(scratch, c, i); err != nil || best == i {
			return best, nil, err
		}
	}
	times, err = d.timeCandidates(scratch, c)
	if err != nil {
		return 0, nil, err
	}
	for i, t := range times {
		if t.Rejected == "" && (times[best].Rejected != "" || t.Milliseconds < times[best].Milliseconds) {
			best = i
		}
	}
	slog.Debug("cuda: selected an algorithm", "device", d.name, "op", c.label, "algorithm", c.name(best), "of", len(c.candidates), "milliseconds", times[best].Milliseconds)
	return best, times, nil
}

// firstWorking returns the first candidate from index from on that works. Our own
// kernels, candidate 0, always do.
func (d *Device) firstWorking(scratch *program, c *selection, from int) (int, error) {
	for i := from; i > 0 && i < len(c.candidates); i++ {
		_, rejected, err := d.try(scratch, c, i)
		if err != nil {
			return 0, err
		}
		if rejected == nil {
			return i, nil
		}
	}
	return 0, nil
}

// try runs a candidate once, kernel by kernel and captured in a graph, and verifies it. It
// returns its launches. An algorithm that the library rejects is logged and never selected.
func (d *Device) try(p *program, c *selection, number int) (launches []launch, rejected, err error) {
	candidate := c.candidates[number]
	launches, err = d.runOnce(p, candidate)
	if err == nil {
		err = candidate.verify(p)
	}
	if err != nil && number > 0 && !driver.Lost(err) {
		d.libraries.logRejected(c.name(number), err)
		return nil, err, nil
	}
	return launches, nil, err
}

// runOnce runs a candidate; the first launch may load code.
func (d *Device) runOnce(p *program, candidate step) ([]launch, error) {
	launches, err := candidate.launches(p)
	if err != nil {
		return nil, err
	}
	for _, l := range launches {
		if err := d.launch(l); err != nil {
			return nil, err
		}
	}
	x, err := d.instantiate(launches, 0, 0, false)
	if err != nil {
		return nil, err
	}
	return launches, d.closeInstance(x)
}

// How candidates are timed.
const (
	trialMillis = 1.0 // milliseconds of runs in one graph, approximately
	maxRuns     = 16
	rounds      = 5 // the fastest launch of a graph counts
	// warmUp is how long the GPU works before the first measurement: an idle GPU has low
	// clocks, which rise within some ten milliseconds.
	warmUp = 50 * time.Millisecond
)

// trial is a candidate while it is timed.
type trial struct {
	launches []launch
	graph    *graphInstance
	runs     int     // in the graph
	best     float64 // milliseconds of a run
	rejected error
}

// timeCandidates measures how long the candidates of a step take. They run in graphs, as
// in a program, so that their times do not include the launch overhead of the host, on
// random data, because the GPU uses less power for zeros and is faster, and in interleaved
// rounds, because its clocks change.
func (d *Device) timeCandidates(p *program, c *selection) (times []candidateTime, err error) {
	all := make([]trial, len(c.candidates))
	defer func() {
		for _, t := range all {
			err = errors.Join(err, d.closeTrial(&t))
		}
	}()
	for i := range all {
		if all[i].launches, all[i].rejected, err = d.try(p, c, i); err != nil {
			return nil, err
		}
	}
	if err := p.randomize(c); err != nil {
		return nil, err
	}
	// measure calls f for each candidate that works.
	measure := func(f func(t *trial) error) error {
		for i := range all {
			t := &all[i]
			if t.rejected != nil {
				continue
			}
			if err := f(t); err != nil && (i == 0 || driver.Lost(err)) {
				return err
			} else if err != nil {
				t.rejected = err
				d.libraries.logRejected(c.name(i), err)
			}
		}
		return nil
	}
	if err := measure(func(t *trial) error { return d.repeat(t, 1) }); err != nil {
		return nil, err
	}
	if err := d.warm(&all[0]); err != nil {
		return nil, err
	}
	err = measure(func(t *trial) error {
		once, err := d.launchTrial(t)
		if err != nil {
			return err
		}
		if runs := int(min(trialMillis/max(once, 1e-3), maxRuns)); runs > 1 {
			return d.repeat(t, runs)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for range rounds {
		err := measure(func(t *trial) error {
			took, err := d.launchTrial(t)
			t.best = min(t.best, took/float64(t.runs))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for i, t := range all {
		times = append(times, candidateTime{Name: c.name(i), Milliseconds: t.best})
		if t.rejected != nil {
			times[i] = candidateTime{Name: c.name(i), Rejected: t.rejected.Error()}
		}
	}
	return times, nil
}

// repeat makes a graph that runs a candidate some times.
func (d *Device) repeat(t *trial, runs int) (err error) {
	if err := d.closeTrial(t); err != nil {
		return err
	}
	t.runs, t.best = runs, math.Inf(1)
	t.graph, err = d.instantiate(slices.Repeat(t.launches, runs), 0, 0, false)
	return err
}

func (d *Device) closeTrial(t *trial) error {
	x := t.graph
	if t.graph = nil; x == nil {
		return nil
	}
	return d.closeInstance(x)
}

// launchTrial launches the graph of a candidate and returns its time in milliseconds.
func (d *Device) launchTrial(t *trial) (float64, error) {
	return d.elapsed(func() error { return d.ctx.LaunchGraph(t.graph.run, d.stream) })
}

// warm launches the graph of a candidate until the clocks of the GPU are high, unless they
// are from an earlier measurement.
func (d *Device) warm(t *trial) error {
	if time.Since(d.warmed) > warmUp {
		for begin := time.Now(); time.Since(begin) < warmUp; {
			if _, err := d.launchTrial(t); err != nil {
				return err
			}
		}
	}
	d.warmed = time.Now()
	return nil
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

// randomize fills the inputs of a step in scratch memory with random values.
func (p *program) randomize(c *selection) error {
	filled := map[int]bool{}
	for _, o := range c.step.In {
		if filled[o.Slot] || !o.DType.IsFloat() && !o.DType.IsFP8() {
			continue
		}
		filled[o.Slot] = true
		if err := p.device.fillRandom(p.at[o.Slot], roundUp(max(p.slots[o.Slot].Bytes, 1)), o); err != nil {
			return err
		}
	}
	return nil
}

// randomBlock is how many bytes of random values come from the host; a tensor repeats them.
const randomBlock = 1 << 20

// fillRandom fills the memory of an operand.
func (d *Device) fillRandom(at driver.Pointer, bytes int, o ir.Operand) error {
	if o.DType.IsFP8() { // in front of the elements are the scale and its inverse
		head := min(o.Offset, bytes) / 4 * 4
		if err := d.ctx.Fill(at, math.Float32bits(1), 4, head/4, d.stream); err != nil || head == bytes {
			return err
		}
		at, bytes = at+driver.Pointer(head), bytes-head
	}
	block := randomValues(o.DType, min(bytes, randomBlock))
	if err := d.ctx.CopyToDevice(at, block, d.stream); err != nil {
		return err
	}
	for done := len(block); done < bytes; {
		n := min(done, bytes-done)
		if err := d.ctx.Copy(at+driver.Pointer(done), at, n, d.stream); err != nil {
			return err
		}
		done += n
	}
	return nil
}

// randomValues returns values from -1 to 1, the same in every call.
func randomValues(t ir.DType, bytes int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 0, bytes+8)
	for len(b) < bytes {
		v := 2*r.Float32() - 1
		switch t {
		case ir.Float64:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(v)))
		case ir.Float32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		case ir.Float16:
			b = binary.LittleEndian.AppendUint16(b, tensortype.Float16Bits(v))
		case ir.BFloat16:
			b = binary.LittleEndian.AppendUint16(b, tensortype.BFloat16Bits(v))
		default:
			b = append(b, tensortype.Float8Bits(t, v))
		}
	}
	return b[:bytes]
}
