package prof

import (
	"fmt"
	"time"
)

// From which share of a step on a hint says something, and what else it takes.
const (
	muchWaiting  = 0.10
	muchPlanning = 0.02
	muchExchange = 0.10
	muchHost     = 0.25
	muchCopying  = 0.10
	muchUpdate   = 0.30
	muchOneOp    = 0.25
	farBelow     = 0.35 // of what the device can do
	nearTop      = 0.70
	manySyncs    = 1.5 // a step
	muchMemory   = 256 << 20
	mostlyKept   = 0.5 // of the memory
)

// Hints says in sentences what to change, each with the number behind it. There is
// always one. It measures the ceilings of the device, if nobody has; see Ceilings.
func (r *Report) Hints() []string {
	if r == nil || len(r.Steps) == 0 {
		return []string{"No step was measured."}
	}
	var hints []string
	say := func(format string, values ...any) { hints = append(hints, fmt.Sprintf(format, values...)) }
	if len(r.Ops) == 0 {
		return []string{"No op was run: the step computes nothing that a parameter, or somebody who reads it, needs."}
	}
	b, c := r.Breakdown(), r.Counts
	part := func(d time.Duration) string {
		return fmt.Sprintf("%.0f %% of a step (%s of %s)", 100*r.share(d), duration(d), duration(r.StepTime()))
	}
	if r.share(b.Waiting) >= muchWaiting {
		say("%s waits for data: have more batches made ahead, data.Workers(4) for instance, or make each example cheaper to load.", part(b.Waiting))
	}
	if r.share(b.Exchanging) >= muchExchange {
		say("%s waits for other ranks, with %.0f %% of their exchange beside what is computed: a larger batch or accel.Accumulate(4) computes more for each exchange of %s; where one rank is slower than the others, they wait for it.",
			part(b.Exchanging), 100*r.Communication().Hidden(), size(r.Communication().Bytes))
	}
	if r.share(b.Planning) >= muchPlanning {
		say("%s makes plans, for %.2g lists a step of a structure that was not seen before: keep shapes and operations the same from step to step; data.DropLast() leaves out a smaller last batch.", part(b.Planning), c.Planned)
	}
	computing := b.Forward + b.Backward + b.Update
	if r.share(b.Host) >= muchHost {
		say("%s is the program itself and the recording of %.0f operations, while an op takes %s on average: give the device more to do at once, by a larger batch.",
			part(b.Host), c.Recorded, duration(time.Duration(computing.Seconds()/max(c.Ops, 1)*1e9)))
	}
	if r.share(b.Synchronising) >= muchHost {
		say("%s is the host waking up after it has waited for the device, which has nothing to do then: read results after the step, or every tenth one, so that the host stays ahead.", part(b.Synchronising))
	}
	if r.share(b.Copying) >= muchCopying {
		say("%s copies %s to the device and %s from it: keep on the device what is used again, and read less often.", part(b.Copying), size(c.ToDevice), size(c.ToHost))
	}
	if c.Syncs >= manySyncs {
		say("The program waits %.3g times a step for results (Item, Data, String), each of which ends a list that could be planned as a whole: read them after the step, or every tenth one.", c.Syncs)
	}
	if r.share(b.Update) >= muchUpdate {
		say("%s updates parameters, which takes as long for a small batch as for a large one: a larger batch makes fewer updates.", part(b.Update))
	}
	r.sayOfOps(say)
	if most := peakOf(r.memory); most.Total() >= muchMemory {
		if kept := most.Bytes[Activations]; float64(kept) >= mostlyKept*float64(most.Total()) {
			say("%s of %s at the peak are activations kept for the backward pass: nn.Recompute keeps only the input of its layers, for the time of their forward pass.", size(float64(kept)), size(float64(most.Total())))
		}
	}
	if len(hints) == 0 {
		say("Nothing stands out: %s is computing.", part(computing))
	}
	return hints
}

// sayOfOps says something of the op that takes most of the time.
func (r *Report) sayOfOps(say func(format string, values ...any)) {
	ops := r.heaviest()
	if len(ops) == 0 {
		return
	}
	w := ops[0]
	share := w.time.Seconds() / max(r.total().Seconds(), 1e-12)
	if share < muchOneOp || w.flops == 0 {
		return
	}
	if w.random { // FLOPs and bytes say nothing of what that takes
		say("%q takes %.0f %% of a step to draw a random number for each of its elements: Dropout behind a smaller layer, or less of it, draws fewer.", w.name, 100*share)
		return
	}
	ceilings := r.Ceilings()
	if !(ceilings.FLOPs > 0) {
		return
	}
	bound := "arithmetic"
	if w.bytes/ceilings.Bytes > w.flops/ceilings.arithmetic(w.half) {
		bound = "memory"
	}
	switch reached := w.reached(ceilings); {
	case reached < farBelow:
		say("%q takes %.0f %% of a step at %.0f %% of what %s's %s allows: unless the machine is busy with something else, its sizes are too small or odd; try a larger batch and sizes that are multiples of 16.",
			w.name, 100*share, 100*reached, r.Device, bound)
	case reached >= nearTop:
		say("%q takes %.0f %% of a step and is at %.0f %% of what %s's %s allows: only less of it is faster, a smaller layer or 16-bit floats (accel.AMP) where the device has them.",
			w.name, 100*share, 100*min(reached, 1), r.Device, bound)
	}
}
