package prof

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
)

// Report is the result of [Run]. Notebooks display it. The fields are the raw data, and the methods
// summarize them.
type Report struct {
	Device string      // device of the ops
	Began  time.Time   // start of the profile
	Steps  []Interval  // one for each step
	Ops    []Op        // all ops in the order in which they ran
	Host   []HostEvent // work of the program on the host, in order
	Counts Counts      // means over the steps
	// EventCost is how much longer a GPU takes for each kernel, because the profile records an
	// event after it. The times of kernels contain it.
	EventCost time.Duration

	tf32         bool       // float32 matrices may be multiplied in TF32
	asynchronous bool       // the device worked while the host continued
	host         []Interval // the steps as measured on the host
	exchanges    []Interval // times in which a device waited for other ranks

	memory   []MemoryPoint
	use      MemoryUse // without the phases
	ceilings *Ceilings
}

// Interval is the time from Begin to End of one step, both since the start of the profile. On a GPU,
// which works asynchronously, a step ends when its last op ends.
type Interval struct{ Begin, End time.Duration }

// Counts are means over the steps.
type Counts struct {
	Launches float64 // launches by the host: of graphs on a GPU, of ops on the CPU
	Ops      float64 // ops run
	Kernels  float64 // GPU kernels; 0 on the CPU
	Allocs   float64 // allocations by the GPU driver
	Recorded float64 // operations before fusion
	Lists    float64 // runs of a list
	Planned  float64 // lists with a new structure, which had to be compiled
	Syncs    float64 // waits of the program for results
	FLOPs    float64 // floating-point operations
	Bytes    float64 // read and written by ops
	ToDevice float64 // bytes copied
	ToHost   float64 // bytes copied
}

// newReport evaluates what was collected.
func newReport(p *recording) *Report {
	r := &Report{Began: p.Begun(), Device: "cpu", Ops: p.ops(), Host: p.hosts(), use: p.use, tf32: tensors.TF32()}
	r.Steps, r.host = p.steps, p.steps
	// Leave out events of a step that was not completed.
	r.Ops = slices.DeleteFunc(r.Ops, func(o Op) bool { return o.Step >= len(r.Steps) })
	r.Host = slices.DeleteFunc(r.Host, func(h HostEvent) bool { return h.Step >= len(r.Steps) || h.End <= r.host[0].Begin })
	for _, f := range p.flushes {
		r.Device = f.Program.Device
		if f.Work != nil {
			r.EventCost = f.Work.EventCost
		}
	}
	if len(r.Steps) == 0 {
		return r
	}
	if r.asynchronous = p.asynchronous(); r.asynchronous {
		r.Steps = r.onDevice(p.steps)
		for _, h := range r.Host {
			if h.Kind == Communicating {
				r.exchanges = append(r.exchanges, Interval{h.Begin, h.End})
			}
		}
		r.exchanges = mergeIntervals(r.exchanges)
	}
	r.memory = p.memory(r.median())
	n := float64(len(r.Steps))
	c := &r.Counts
	c.Launches, c.Ops, c.Recorded, c.Lists = float64(len(r.Ops))/n, float64(len(r.Ops))/n, float64(p.stats.Ops)/n, float64(p.stats.Flushes)/n
	if r.asynchronous {
		c.Launches, c.Allocs = float64(p.stats.Device.Launches)/n, float64(p.stats.Device.Allocs)/n
		for _, o := range r.Ops {
			c.Kernels += float64(len(o.Kernels)) / n
		}
	}
	c.Planned, c.Syncs = float64(p.stats.PlansMade)/n, float64(p.stats.Syncs)/n
	for _, o := range r.Ops {
		c.FLOPs += o.FLOPs / n
		c.Bytes += o.Bytes / n
	}
	for _, h := range r.Host {
		switch h.Kind {
		case Reading:
			c.ToHost += float64(h.Bytes) / n
		case Writing:
			c.ToDevice += float64(h.Bytes) / n
		}
	}
	return r
}

// median returns the step with the median duration.
func (r *Report) median() int {
	order := make([]int, len(r.Steps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(r.Steps[a].length() - r.Steps[b].length()) })
	return order[len(order)/2]
}

func (s Interval) length() time.Duration { return s.End - s.Begin }

// exists panics with a clear error if the report is nil.
func (r *Report) exists(method string) {
	if r == nil {
		panic(fmt.Errorf("prof: %s: the report is nil: check the error returned by Run", method))
	}
}

// total returns the time of all steps.
func (r *Report) total() time.Duration { return length(r.Steps) }

func length(all []Interval) time.Duration {
	var sum time.Duration
	for _, s := range all {
		sum += s.length()
	}
	return sum
}

// StepTime returns the mean time of a step, or 0 without steps.
func (r *Report) StepTime() time.Duration {
	r.exists("StepTime")
	if len(r.Steps) == 0 {
		return 0
	}
	return r.total() / time.Duration(len(r.Steps))
}

// Breakdown divides the time of a step, as means over the steps. The parts add up to StepTime.
type Breakdown struct {
	Forward, Backward, Update time.Duration // ops
	Waiting                   time.Duration // for data
	Planning                  time.Duration // compiling lists with a new structure
	Copying                   time.Duration // to and from the device
	Synchronizing             time.Duration // the device is idle, and the host is still waking up from a wait for it
	CommunicationWait         time.Duration // waiting for other ranks of a data-parallel training
	Profiling                 time.Duration // work of the profile itself
	Host                      time.Duration // the rest: the program itself, recording and launching
}

// Breakdown returns the parts of the time of a step.
func (r *Report) Breakdown() Breakdown {
	r.exists("Breakdown")
	var b Breakdown
	if len(r.Steps) == 0 {
		return b
	}
	spent := map[string]time.Duration{} // by part
	for _, o := range r.Ops {
		spent[string(o.Phase)] += o.End - o.Begin
	}
	for _, g := range r.Gaps() { // host work only counts while the device is idle
		part := g.Reason
		if kind := HostKind(part); kind == Reading || kind == Writing {
			part = copying
		}
		spent[part] += g.End - g.Begin
	}
	rest := r.StepTime()
	for _, p := range b.parts() {
		*p.time = spent[p.name] / time.Duration(len(r.Steps))
		rest -= *p.time
	}
	b.Host = max(0, rest+b.Host)
	return b
}

// The names of the parts that are neither a Phase nor a HostKind.
const (
	copying  = "copying"
	hostPart = "host"
)

// parts returns the parts of a breakdown with their names.
func (b *Breakdown) parts() []part {
	return []part{
		{string(Forward), &b.Forward}, {string(Backward), &b.Backward}, {string(Update), &b.Update}, {string(Waiting), &b.Waiting}, {string(Planning), &b.Planning},
		{copying, &b.Copying}, {string(Synchronizing), &b.Synchronizing}, {string(CommunicationWait), &b.CommunicationWait}, {string(Profiling), &b.Profiling}, {hostPart, &b.Host},
	}
}

type part struct {
	name string
	time *time.Duration
}

// String returns the profile in a few lines.
func (r *Report) String() string {
	if r == nil || len(r.Steps) == 0 {
		return "no steps"
	}
	text := fmt.Sprintf("%s a step, mean of %d, on %s: ", duration(r.StepTime()), len(r.Steps), r.Device)
	separator := ""
	b := r.Breakdown()
	for _, p := range b.parts() {
		if share := r.share(*p.time); share >= 0.005 {
			text += fmt.Sprintf("%s%s %.0f %%", separator, p.name, 100*share)
			separator = ", "
		}
	}
	c := r.Counts
	what := fmt.Sprintf("%.0f launches of %.0f operations", c.Launches, c.Recorded)
	if r.asynchronous {
		what = fmt.Sprintf("%s launches of %.0f kernels for %.0f operations, %s allocations", quantity.Rate(c.Launches), c.Kernels, c.Recorded, quantity.Rate(c.Allocs))
	}
	text += fmt.Sprintf("\na step: %s, %s waits for results, %s read and written, %s to the device, %s from it, %s GFLOP/s",
		what, quantity.Rate(c.Syncs), quantity.Bytes(int(c.Bytes)), quantity.Bytes(int(c.ToDevice)), quantity.Bytes(int(c.ToHost)), quantity.Rate(c.FLOPs/r.StepTime().Seconds()/1e9))
	if cost := r.EventCost; cost > 0 {
		text += fmt.Sprintf("\nprofile: its events add about %s to each kernel, %s to a step", duration(cost), duration(time.Duration(float64(cost)*c.Kernels)))
	}
	text += "\nmemory: " + r.MemoryUse().String()
	if x := r.Communication(); x.Busy > 0 {
		text += fmt.Sprintf("\nranks: %s per step of communication, %.0f %% of it overlapping with computation, %s",
			duration(x.Busy), 100*x.Hidden(), quantity.Bytes(int(x.Bytes)))
	}
	return text
}

// share returns d as a fraction of a step.
func (r *Report) share(d time.Duration) float64 {
	return d.Seconds() / max(r.StepTime().Seconds(), 1e-12)
}

// duration formats a time with three significant digits.
func duration(d time.Duration) string { return quantity.Seconds(d.Seconds()) }

// errNoSteps is returned if there is nothing to write.
var errNoSteps = errors.New("prof: no step was measured")

// displayedRows is the number of table rows in the display of a report.
const displayedRows = 12

// Report returns what is displayed: the breakdown, the timeline, the memory, the table, that of the GPU's kernels and the hints.
func (r *Report) Report() *display.Report {
	out := new(display.Report).Text(r.String())
	if r == nil || len(r.Steps) == 0 {
		return out
	}
	out.Figure(r.Timeline())
	if len(r.memory) > 0 {
		out.Figure(r.MemoryFigure())
	}
	r.Table(SelfCUDA, displayedRows).rows(out)
	r.kernels(out, displayedRows)
	for _, hint := range r.Hints() {
		out.Text("• " + hint)
	}
	return out
}

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
		say("The program waits %s times per step for results (Item, Data, String). Each wait splits a list that could be compiled as a whole: read results after the step, or in every tenth step.", quantity.Rate(c.Syncs))
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
