package kernel

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// gap is what an allocation may take more than its size.
const gap = 4096

// simulation is a run of a launch on a simulated GPU of its own.
type simulation struct {
	launch *launch
	watch  *ptxsim.Watch
	record []byte // that faults are written to; nil for none
	output strings.Builder

	blocks [][2]uint64 // where the tensors are: address, size
}

// run runs the kernel on copies of the elements of the tensors.
func (s *simulation) run(ctx context.Context, text, entry string, data [][]byte) error {
	total := len(s.record) + gap
	for _, d := range data {
		total += len(d) + gap
	}
	module, err := ptxsim.Parse(text, entry)
	if err != nil {
		return err
	}
	memory := ptxsim.NewMemory(total + maxVariableBytes)
	loaded, err := memory.Load(module)
	if err != nil {
		return err
	}
	addresses := make([]uint64, len(data)+1)
	for i, d := range append(data, s.record) {
		if addresses[i], err = memory.Alloc(max(len(d), 1)); err != nil {
			return err
		}
		if err := memory.Write(addresses[i], d); err != nil {
			return err
		}
		s.blocks = append(s.blocks, [2]uint64{addresses[i], uint64(len(d))})
	}
	s.blocks = s.blocks[:len(data)]
	at := addresses[len(data)]
	s.watch.Ignored = [2]uint64{at, at + uint64(len(s.record))}
	run := s.launch.simulated(addresses[:len(data)], at)
	run.Races, run.Watch, run.Output = true, s.watch, &s.output
	err = runSimulated(ctx, loaded.Kernel(entry), run)
	return errors.Join(err, memory.Read(s.record, at))
}

// runSimulated runs a kernel on a simulated GPU, whose blocks have the shared memory of those of the GPUs that have the most.
func runSimulated(ctx context.Context, k *ptxsim.LoadedKernel, run ptxsim.Launch) error {
	if n := k.Shared() + run.Shared; n > program.MaxBlockSharedBytes {
		return fmt.Errorf("a block needs %d bytes of shared memory, %d of them of SharedBytes and %d of arrays with a size: a GPU has at most %d",
			n, run.Shared, k.Shared(), program.MaxBlockSharedBytes)
	}
	_, err := k.Run(ctx, run)
	return err
}

// maxVariableBytes is the maximum size of a module's variables.
const maxVariableBytes = 1 << 28

// simulated returns the launch for the simulator.
func (l *launch) simulated(addresses []uint64, record uint64) ptxsim.Launch {
	grid, block := l.Shape()
	dim := func(n [3]int) ptxsim.Dim { return ptxsim.Dim{X: uint32(n[0]), Y: uint32(n[1]), Z: uint32(n[2])} }
	return ptxsim.Launch{Grid: dim(grid), Block: dim(block), Shared: l.shape.SharedBytes, Params: l.Params(addresses, record)}
}

// found returns the fault that the simulator has found.
func (s *simulation) found(f *ptxsim.Fault) *Fault {
	p := s.launch.kernel.found(f)
	if f.Kind != ptxsim.OutOfBounds || f.Space != "global" || s.launch.kernel.foreign == nil {
		return p
	}
	// The tensor that is the nearest one, and the index in it.
	for i, b := range s.blocks {
		low, high := b[0]-min(b[0], gap/2), b[0]+b[1]+gap/2
		size := s.launch.sizes[i]
		if f.Address < low || f.Address >= high || size == 0 {
			continue
		}
		distance := int64(f.Address - b[0])
		p.Index, p.Length = int(distance)/size, s.launch.lengths[i]
		if distance < 0 {
			p.Index = -(int(-distance) + size - 1) / size
		}
		p.Reason = fmt.Sprintf("index %d is out of range of %s with length %d", p.Index, s.launch.names[i], p.Length)
		break
	}
	return p
}

// found returns the fault that the simulator has found.
func (k *Kernel) found(f *ptxsim.Fault) *Fault {
	p := &Fault{Kernel: k.Name(), File: f.Source.File, Line: f.Source.Line, Block: f.Block, Thread: f.Thread, Reason: f.Error()}
	if k.foreign != nil {
		p.Reason = k.foreign.reason(f)
	}
	switch {
	case f.Kind == ptxsim.Race:
		p.Reason = "race for an element of a " + map[bool]string{true: "shared array", false: "slice"}[f.Space == "shared"]
		if o := f.Other; o != nil {
			p.Other = &Access{o.Block, o.Thread, o.Source.File, o.Source.Line, o.Write}
			did := "reads"
			if o.Write {
				did = "writes"
			}
			p.Reason += fmt.Sprintf(": thread %v of block %v %s it at %s:%d, and no barrier is in between", o.Thread, o.Block, did, o.Source.File, o.Source.Line)
			if o.Block != f.Block {
				p.Reason = strings.TrimSuffix(p.Reason, ", and no barrier is in between") + ", and blocks run in any order"
			}
		}
	case f.Kind == ptxsim.Uninitialized && f.Space == "shared":
		p.Reason = "read of shared memory that no thread of the block has written yet: perhaps a barrier is missing"
	case f.Kind == ptxsim.DivergentBarrier:
		p.Reason = "not all threads of the block that have not returned reach this barrier"
	case f.Kind == ptxsim.InactiveLane:
		p.Reason = "not all threads of the warp are here: all of them must call this"
	}
	return p
}
