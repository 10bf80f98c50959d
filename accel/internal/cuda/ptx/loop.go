package ptx

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/ir"
)

// Entry is the name of every kernel that this package writes.
const Entry = "loop"

// The launch shape: threads of a block, elements that a thread takes at once, and
// the blocks that fill any device a few times over.
const (
	threads   = 256
	together  = 4
	maxBlocks = 4096
)

// How many bytes of parameters a kernel has: at most, and by PTX 7.0.
const (
	mostParams = 32764
	fewParams  = 4352
)

// Loop is the kernel of a fused loop.
type Loop struct {
	// PTX is the module. Loops that differ only in sizes, strides and addresses
	// have the same.
	PTX string

	step   ir.Step
	inputs []input
	width  int // elements that a thread takes at once
}

// input is how an operand is read.
type input struct {
	ir.Operand
	walk walk
	rest ir.Layout // what the strided walk goes along
}

type walk uint8

const (
	inOrder walk = iota // row-major, of the loop's own type or 16-bit floats
	once                // one element for the whole loop
	strided             // by an index for each dimension
)

// NewLoop writes the kernel of a step: a fused loop, whose results are float32 or
// rounded to 16-bit floats, or one elementwise op of float64. Before it writes anything
// the kernel looks at so many guards, and does nothing where one of them has reported a
// fault. The error is of an op that there is no code for, or of more elements than the
// kernel counts.
func NewLoop(s ir.Step, guards int) (*Loop, error) {
	if s.Op != nil { // an op by itself
		s = whole(s)
	}
	l := &Loop{step: s, width: together}
	if n := ir.Len(s.Shape); n > math.MaxUint32 {
		return nil, fmt.Errorf("cuda: %d elements in one loop are more than the kernels count", n)
	}
	double := s.Out[0].DType == ir.Float64
	own := ir.Float32
	if double {
		own, l.width = ir.Float64, 1
	}
	for _, o := range s.Out {
		if o.DType != own && (double || !o.DType.Half()) {
			return nil, fmt.Errorf("cuda: a loop of %s does not write %s", own, o.DType)
		}
	}
	for _, o := range s.In {
		in := input{Operand: o, walk: strided, rest: o.Squeeze()}
		switch {
		case len(in.rest.Shape) == 0, allZero(in.rest.Stride):
			in.walk = once
		case (o.DType == own || !double && o.DType.Half()) && o.Contiguous():
			in.walk = inOrder
			if o.Offset%together != 0 {
				l.width = 1
			}
		}
		l.inputs = append(l.inputs, in)
	}
	w := &writer{builder: newBuilder(), loop: l, double: double, halves: map[reg]reg{}}
	if err := w.write(guards); err != nil {
		return nil, err
	}
	if 8*w.params > mostParams {
		return nil, fmt.Errorf("cuda: a loop over %d inputs has %d bytes of parameters, a kernel has at most %d", len(s.In), 8*w.params, mostParams)
	}
	l.PTX = w.module()
	return l, nil
}

// whole is a step of one op as a loop of it.
func whole(s ir.Step) ir.Step {
	out := s.Out[0]
	loop := ir.Step{Shape: out.Shape, Out: s.Out, Nodes: s.Nodes}
	instr := ir.Instr{Op: s.Op, Word: s.Word}
	for i, o := range s.In {
		o.Layout = o.BroadcastTo(out.Shape)
		loop.In = append(loop.In, o)
		instr.Args = append(instr.Args, i)
	}
	loop.Loop = []ir.Instr{instr}
	return loop
}

func allZero(s []int) bool {
	for _, v := range s {
		if v != 0 {
			return false
		}
	}
	return true
}

// Launch is the kernel's grid and parameters. at gives the address of the first
// element of an operand; words is where the program's words are.
func (l *Loop) Launch(at func(ir.Operand) driver.Pointer, words driver.Pointer, guards []driver.Pointer) driver.Launch {
	n := ir.Len(l.step.Shape)
	params := binary.LittleEndian.AppendUint64(nil, uint64(n))
	add := func(v uint64) { params = binary.LittleEndian.AppendUint64(params, v) }
	for _, g := range guards {
		add(uint64(g))
	}
	for _, x := range l.step.Loop {
		if dynamic(x) {
			add(uint64(words) + 8*uint64(x.Word))
		}
	}
	for _, in := range l.inputs {
		add(uint64(at(in.Operand)))
		if in.walk == strided {
			for i, stride := range in.rest.Stride {
				add(uint64(in.rest.Shape[i]))
				add(uint64(stride * in.DType.Size()))
			}
		}
	}
	for _, o := range l.step.Out {
		add(uint64(at(o)))
	}
	blocks := min((n+threads*l.width-1)/(threads*l.width), maxBlocks)
	return driver.Launch{Grid: driver.Dim{X: uint32(blocks), Y: 1, Z: 1}, Block: driver.Dim{X: threads, Y: 1, Z: 1}, Params: params, Label: l.Label()}
}

// Empty tells whether there is nothing to run.
func (l *Loop) Empty() bool { return ir.Len(l.step.Shape) == 0 }

// Label is the ops and the shape.
func (l *Loop) Label() string {
	names := make([]string, len(l.step.Loop))
	for i, x := range l.step.Loop {
		names[i] = x.Op.Name()
	}
	return strings.Join(names, ", ") + " " + ir.FormatShape(l.step.Shape)
}

func dynamic(x ir.Instr) bool {
	_, ok := x.Op.(ir.Dynamic)
	return ok
}
