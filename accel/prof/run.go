package prof

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/engine/trace"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/prof/internal/nvtx"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// ErrBusy is returned while another profile is being taken.
var ErrBusy = errors.New("prof: another profile is being taken: wait until it has ended")

// Option configures [Run] or [Serving], which fail for options of the other; String returns it as a Go
// expression.
type Option struct{ setting }

type setting = option.Of[settings]

type settings struct {
	warmup, active int // of Run

	sizes    []int // of Serving
	requests int
	limit    time.Duration
}

// Warmup sets the number of steps of [Run] before the measured ones; the default is 3. The first step
// compiles plans and is much slower than the others.
func Warmup(steps int) Option {
	return Option{option.Count("Warmup", steps, 0, func(s *settings) *int { return &s.warmup })}
}

// Active sets the number of measured steps of [Run]; the default is 5.
func Active(steps int) Option {
	return Option{option.Count("Active", steps, 1, func(s *settings) *int { return &s.active })}
}

// Run calls step first to warm up and then with a profile. A panic of the tensor package in
// step is returned as an error, as in accel.Fit. Tensors that a step has recorded but not
// computed are computed at its end.
func Run(ctx context.Context, step func() error, options ...Option) (*Report, error) {
	if err := interrupt.RequireContext(ctx, "prof: Run"); err != nil {
		return &Report{}, err
	}
	s := &settings{warmup: 3, active: 5}
	if err := option.Apply("prof.Run", s, options, "Warmup", "Active"); err != nil {
		return &Report{}, err
	}
	if step == nil {
		return &Report{}, errors.New("prof: Run: step is nil")
	}
	meter, ctx := display.Measure(ctx, "steps", float64(s.warmup+s.active))
	defer meter.End()
	peak := 0
	for k := range s.warmup {
		// The last warm-up step has a profile that is discarded, so that the plans get their
		// descriptions, and measures the memory.
		warm := func() error {
			_, err := runSteps(ctx, step, k == s.warmup-1, 1, func(int) { meter.Set(float64(k+1), "warm-up") })
			return err
		}
		if err := measurePeak(k == s.warmup-1, &peak, warm); err != nil {
			return &Report{}, fmt.Errorf("prof: warm-up step %d of %d: %w", k+1, s.warmup, err)
		}
	}
	c, err := runSteps(ctx, step, true, s.active, func(done int) { meter.Set(float64(s.warmup+done), "") })
	if c == nil {
		return &Report{}, err
	}
	c.flushes = c.Flushes()
	c.use.Peak = peak
	c.finish()
	r := newReport(c)
	if err != nil {
		return r, fmt.Errorf("prof: step %d of %d: %w", len(r.Steps)+1, s.active, err)
	}
	return r, nil
}

// measurePeak runs steps and, if on, measures the most memory of tensors meanwhile.
func measurePeak(on bool, bytes *int, steps func() error) (err error) {
	if !on {
		return steps()
	}
	defer nn.Catch(&err)
	var failed error
	*bytes = tensors.PeakBytes(func() { failed = steps() })
	return failed
}

// recording is what was collected in some steps, and the times of these steps.
type recording struct {
	*trace.Collector
	steps   []Interval
	flushes []trace.Flush
	// prefixes are the paths of the outermost nn.Sequential in the model, such as "look."; see
	// findChains.
	prefixes map[any]string
	stats    ir.Stats  // of the steps
	use      MemoryUse // after the steps
}

// runSteps runs steps, with or without a profile, and calls done after each.
func runSteps(ctx context.Context, step func() error, on bool, steps int, done func(steps int)) (p *recording, err error) {
	p = &recording{}
	if on {
		c, ok := trace.Start()
		if !ok {
			return nil, ErrBusy
		}
		defer c.Stop()
		p.Collector = c
	}
	if err := synchronize(); err != nil { // work recorded before is not part of the step
		return p, err
	}
	if on {
		defer func() {
			if e := synchronize(); err == nil { // the device reports its times only after that
				err = e
			}
		}()
	}
	before := tensors.Stats()
	for k := range steps {
		if ctx.Err() != nil {
			return p, ctx.Err()
		}
		var s Interval
		if on {
			s.Begin = p.Now()
		}
		if err := runStep(step); err != nil {
			return p, err
		}
		if on {
			s.End = p.Now()
			p.steps = append(p.steps, s)
			after := tensors.Stats()
			p.stats = ir.Stats{
				Flushes: after.Flushes - before.Flushes, PlansMade: after.PlansMade - before.PlansMade, Syncs: after.Syncs - before.Syncs,
				Ops: after.Ops - before.Ops, Steps: after.Steps - before.Steps, PeakBytes: after.PeakBytes, PlanBytes: after.PlanBytes, LiveBytes: after.LiveBytes,
				Device: after.Device.Minus(before.Device),
			}
		}
		done(k + 1)
	}
	if on {
		m := tensors.MemoryUse()
		p.use.Allocated, p.use.Reserved = m.Allocated, m.Reserved
	}
	return p, nil
}

// synchronize waits for the device.
func synchronize() (err error) {
	defer nn.Catch(&err)
	tensor.Synchronize()
	return nil
}

// runStep runs one step and computes what it recorded.
func runStep(step func() error) (err error) {
	defer nn.Catch(&err)
	if err := step(); err != nil {
		return err
	}
	tensor.Flush()
	return nil
}

// Span names a part of a step. The function that it returns ends the part:
//
//	defer prof.Span("forward")()
//
// Without a profile, Span does nothing.
func Span(name string) (end func()) {
	c := trace.Profile()
	if c == nil {
		return trace.Range(func() string { return name })
	}
	begin := c.Now()
	return func() { c.Event(trace.UserSpan, name, begin, 0) }
}

// ErrNoTool is returned by [NVTX] if no profiling tool has started the process.
var ErrNoTool = nvtx.ErrNoTool

// NVTX emits ranges for NVIDIA's tools until stop is called: each step of accel.Fit, inside it
// the forward pass, the backward pass and the update, inside these the layers by their names in
// the model, and inside these the operations. A [Span] is a range too.
//
//	nsys profile quern run training.ipynb
//
// accel.Fit calls it if such a tool has started the program. Kernels are then launched one by
// one instead of as a graph, because a tool could not assign the kernels of a graph to ranges,
// so a step takes longer than normally. No ranges are emitted while [Run] takes a profile.
//
// The error wraps [ErrNoTool] if no tool has started the program. It is [ErrBusy] while a
// profile is being taken, or if ranges are already being emitted.
func NVTX() (stop func(), err error) {
	if err := nvtx.Open(); err != nil {
		return func() {}, err
	}
	names := &rangeNames{cache: map[*trace.Program][][3]string{}}
	c, ok := trace.StartRanges(trace.Ranges{Begin: nvtx.Begin, Names: names.of})
	if !ok {
		return func() {}, ErrBusy
	}
	return c.Stop, nil
}

// ToolAttached reports whether a tool that uses NVTX ranges has started the program.
func ToolAttached() bool { return os.Getenv("NVTX_INJECTION64_PATH") != "" && nvtx.Open() == nil }

// rangeNames caches the names of the steps of lists.
type rangeNames struct {
	mu    sync.Mutex
	cache map[*trace.Program][][3]string // guarded by mu
}

// maxLists is the number of lists whose names are cached.
const maxLists = 1000

// of returns the phase, the layer and the op of a step.
func (n *rangeNames) of(c *trace.Collector, f *trace.Flush, step int) [3]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all, ok := n.cache[f.Program]
	if !ok {
		if len(n.cache) >= maxLists {
			clear(n.cache)
		}
		p := &recording{Collector: c, flushes: []trace.Flush{*f}}
		p.findChains()
		for _, s := range f.Program.Steps {
			name := [3]string{string(Forward), "", opName(s.Ops)}
			if note := mainNote(f.Notes, s.Nodes); note != nil {
				name[0], name[1] = string(phases[note.Phase]), p.layer(note)
			}
			all = append(all, name)
		}
		n.cache[f.Program] = all
	}
	return all[step]
}
