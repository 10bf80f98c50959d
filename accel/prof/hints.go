package prof

import (
	"fmt"
	"time"

	"github.com/quernlab/quern/internal/quantity"
)

// Thresholds of the hints, mostly as fractions of a step.
const (
	muchWaiting    = 0.10
	muchPlanning   = 0.02
	muchExchange   = 0.10
	muchHost       = 0.25
	muchCopying    = 0.10
	muchUpdate     = 0.30
	muchOneOp      = 0.25
	muchMisaligned = 0.10
	farBelow       = 0.35 // of the device's peak
	nearTop        = 0.70
	manySyncs      = 1.5 // per step
	muchMemory     = 256 << 20
	mostlyKept     = 0.5 // of the memory is for activations
)

// Hints returns sentences about what to change, each with its measurement. There is always at
// least one. Hints measures the ceilings of the device if that has not been done; see Ceilings.
func (r *Report) Hints() []string {
	r.exists("Hints")
	if r == nil || len(r.Steps) == 0 {
		return []string{"No step was measured."}
	}
	var hints []string
	say := func(format string, values ...any) { hints = append(hints, fmt.Sprintf(format, values...)) }
	if len(r.Ops) == 0 {
		return []string{"No op was run: the step neither updates a parameter nor reads a result."}
	}
	b, c := r.Breakdown(), r.Counts
	part := func(d time.Duration) string {
		return fmt.Sprintf("%.0f %% of a step (%s of %s)", 100*r.share(d), duration(d), duration(r.StepTime()))
	}
	if r.share(b.Waiting) >= muchWaiting {
		say("%s waits for data: prepare more batches in advance, for instance with data.Workers(4), or make each example cheaper to load.", part(b.Waiting))
	}
	if r.share(b.CommunicationWait) >= muchExchange {
		say("%s waits for other ranks, with %.0f %% of the exchange overlapping with computation: a larger batch or accel.Accumulate(4) computes more for each exchange of %s. If one rank is slower, all others wait for it.",
			part(b.CommunicationWait), 100*r.Communication().Hidden(), quantity.Bytes(int(r.Communication().Bytes)))
	}
	if r.share(b.Planning) >= muchPlanning {
		say("%s compiles plans for %.2g lists per step with a new structure: use the same shapes and operations in each step; data.DropLast() leaves out a smaller last batch.", part(b.Planning), c.Planned)
	}
	computing := b.Forward + b.Backward + b.Update
	if r.share(b.Host) >= muchHost {
		say("%s is the program itself and the recording of %.0f operations, while an op takes %s on average: use a larger batch, so that each op computes more.",
			part(b.Host), c.Recorded, duration(time.Duration(computing.Seconds()/max(c.Ops, 1)*1e9)))
	}
	if r.share(b.Synchronizing) >= muchHost {
		say("%s is the host waking up from waiting for the device, which is idle meanwhile: read results after the step, or in every tenth step, so that the host stays ahead.", part(b.Synchronizing))
	}
	if r.share(b.Copying) >= muchCopying {
		say("%s copies %s to the device and %s from it: keep tensors that are used again on the device, and read results less often.", part(b.Copying), quantity.Bytes(int(c.ToDevice)), quantity.Bytes(int(c.ToHost)))
	}
	if c.Syncs >= manySyncs {
		say("The program waits %.3g times per step for results (Item, Data, String). Each wait splits a list that could be compiled as a whole: read results after the step, or in every tenth step.", c.Syncs)
	}
	if r.share(b.Update) >= muchUpdate {
		say("%s updates parameters, which takes the same time for any batch size: a larger batch needs fewer updates.", part(b.Update))
	}
	r.opHint(say)
	r.alignmentHint(say)
	if most := peakOf(r.memory); most.Total() >= muchMemory {
		if kept := most.Bytes[Activations]; float64(kept) >= mostlyKept*float64(most.Total()) {
			say("%s of %s at the peak are activations stored for the backward pass: nn.Recompute stores only the input of its layers and repeats their forward pass.", quantity.Bytes(kept), quantity.Bytes(most.Total()))
		}
	}
	if len(hints) == 0 {
		say("Nothing stands out: %s is computing.", part(computing))
	}
	return hints
}

// opHint adds a hint about the op that takes most of the time.
func (r *Report) opHint(say func(format string, values ...any)) {
	ops := r.opsByTime()
	if len(ops) == 0 {
		return
	}
	w := ops[0]
	share := w.time.Seconds() / max(r.total().Seconds(), 1e-12)
	if share < muchOneOp || w.flops == 0 {
		return
	}
	if w.random { // FLOPs and bytes do not include the random numbers
		say("%q takes %.0f %% of a step to draw a random number for each of its elements: use fewer Dropout layers, or put them after smaller layers.", w.name, 100*share)
		return
	}
	ceilings := r.Ceilings()
	if !(ceilings.FLOPs > 0) {
		return
	}
	bound := "arithmetic"
	if w.bytes/ceilings.Bytes > w.flops/ceilings.arithmetic(w.float16) {
		bound = "memory"
	}
	switch peakFraction := w.peakFraction(ceilings); {
	case peakFraction < farBelow:
		say("%q takes %.0f %% of a step at %.0f %% of the peak of %s's %s: unless the machine is busy with something else, its sizes are too small or unsuitable; try a larger batch and sizes that are multiples of 16.",
			w.name, 100*share, 100*peakFraction, r.Device, bound)
	case peakFraction >= nearTop:
		say("%q takes %.0f %% of a step and reaches %.0f %% of the peak of %s's %s: only less work is faster, with a smaller layer or with 16-bit floats (accel.AMP) if the device supports them.",
			w.name, 100*share, 100*min(peakFraction, 1), r.Device, bound)
	}
}
