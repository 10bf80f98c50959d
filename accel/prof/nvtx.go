package prof

import (
	"os"
	"sync"

	"github.com/quernlab/quern/accel/internal/engine/trace"
	"github.com/quernlab/quern/accel/prof/internal/nvtx"
)

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
