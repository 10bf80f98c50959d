package prof

import (
	"os"
	"sync"

	"github.com/quernlab/quern/accel/internal/nvtx"
	"github.com/quernlab/quern/accel/internal/trace"
)

// ErrNoTool says that no tool watches the process, to which [NVTX] could tell ranges.
var ErrNoTool = nvtx.ErrNoTool

// NVTX tells NVIDIA's tools what the program does, from now until stop is called: each
// step of accel.Fit, in it the forward pass, the backward pass and the update, in these
// the layers as the model calls them, and in these the operations; a [Span] too.
//
//	nsys profile quern run training.ipynb
//
// accel.Fit does it by itself where such a tool watches. Kernels are then launched one
// by one, since of a graph a tool could not tell which range a kernel belongs to, and
// so a step takes longer than without. While [Run] takes a profile nothing is told.
//
// The error wraps [ErrNoTool] where no tool has started the program, and is [ErrBusy]
// while a profile is being taken, or ranges are told already.
func NVTX() (stop func(), err error) {
	if err := nvtx.Open(); err != nil {
		return func() {}, err
	}
	names := &rangeNames{known: map[*trace.Program][][3]string{}}
	c, ok := trace.StartRanges(trace.Ranges{Begin: nvtx.Begin, Names: names.of})
	if !ok {
		return func() {}, ErrBusy
	}
	return c.Stop, nil
}

// Watched tells whether a tool has started the program that wants to know what it
// does.
func Watched() bool { return os.Getenv("NVTX_INJECTION64_PATH") != "" && nvtx.Open() == nil }

// rangeNames are what the steps of lists are called.
type rangeNames struct {
	mu    sync.Mutex
	known map[*trace.Program][][3]string // guarded by mu
}

// mostLists is the number of lists whose names are kept.
const mostLists = 1000

// of is the phase, the layer and the op of a step.
func (n *rangeNames) of(c *trace.Collector, f *trace.Flush, step int) [3]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all, ok := n.known[f.Program]
	if !ok {
		if len(n.known) >= mostLists {
			clear(n.known)
		}
		p := &recording{Collector: c, flushes: []trace.Flush{*f}}
		p.place()
		for _, s := range f.Program.Steps {
			name := [3]string{string(Forward), "", opName(s.Ops)}
			if note := leading(f.Notes, s.Nodes); note != nil {
				name[0], name[1] = string(phases[note.Phase]), p.layer(note)
			}
			all = append(all, name)
		}
		n.known[f.Program] = all
	}
	return all[step]
}
