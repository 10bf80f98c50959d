package ptx

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Entry is the name of every kernel that this package writes.
const Entry = "loop"

// The launch shape: threads per block, elements that a thread processes at once, so that it
// loads 16 bytes of the smallest operand by one instruction, and the number of blocks, which
// fills any GPU several times.
const (
	threads     = 256
	vectorWidth = 4 // for float32
	vectorBytes = 16
	maxBlocks   = 4096
)

// maxWide is the number of operands up to which a kernel on 16-bit floats processes eight
// elements at once; more would need too many registers.
const maxWide = 8

// The maximum size of a kernel's parameters, in bytes, in any PTX version and in PTX 7.0.
const (
	maxParamBytes      = 32764
	maxParamBytesPTX70 = 4352
)

// Kernel is the kernel of a fused group of elementwise ops.
type Kernel struct {
	// PTX is the module. Kernels that differ only in sizes, strides and addresses have the
	// same PTX.
	PTX string

	step    ir.Step
	inputs  []input
	results []output
	width   int // elements that a thread processes at once
	parts   int // that one launch of a batch may have; 0 if the step is no batch
}

// output is a result of the loop.
type output struct {
	ir.DType
	optional bool // whether some parts of a batch lack it
}

// input is an operand and how the kernel accesses it.
type input struct {
	ir.Operand
	access access
	rest   ir.Layout // the dimensions and strides of strided access
	row    inRow
	mixed  []ir.DType // its types in the parts of a batch, if there are several
}

type access uint8

const (
	contiguous access = iota // row-major, of the kernel's element type or 16-bit floats
	broadcast                // the same element for all
	strided                  // an index for each dimension
)

// inRow tells where the elements of a strided operand are that a thread processes at once. If they
// are in one row of the last dimension, which the kernel assumes from its first element, a division
// for each dimension serves all of them.
type inRow uint8

const (
	apart    inRow = iota // in several rows
	spread                // in one row, a stride apart
	same                  // in one row with stride 0
	adjacent              // in one row with stride 1, aligned to their size
)

// New generates the kernel of a step: a fused group of ops whose results are float32 or are
// rounded to 16-bit floats, or one elementwise op on float64. The kernel first checks the
// given number of guards and does nothing if one of them has reported a fault. New returns an
// error for an op without an elementwise kernel and for more elements than a kernel counts.
func New(s ir.Step, guards int) (*Kernel, error) {
	if s.Op != nil { // a single op
		s = singleOp(s)
	}
	k := &Kernel{step: s, width: vectorWidth}
	for i := range max(1, len(s.Parts)) {
		if n := ir.Len(s.Part(i).Shape); n > math.MaxUint32 {
			return nil, fmt.Errorf("cuda: an elementwise kernel for %d elements: the maximum is %d", n, uint32(math.MaxUint32))
		}
	}
	double := s.Out[0].DType == ir.Float64
	own := ir.Float32
	if double {
		own, k.width = ir.Float64, 1
	}
	for _, o := range s.Out {
		if o.DType != own && (double || !o.DType.Is16Bit()) {
			return nil, fmt.Errorf("cuda: an elementwise kernel that computes in %s cannot write %s", own, o.DType)
		}
	}
	k.results = resultsOf(s)
	is16Bit := func(o ir.Operand) bool { return o.DType.Is16Bit() }
	inputs := len(s.In) / max(1, len(s.Parts))
	if !double && inputs+len(k.results) <= maxWide && (slices.ContainsFunc(s.In, is16Bit) || slices.ContainsFunc(s.Out, is16Bit)) {
		k.width = 2 * vectorWidth
	}
	for i, o := range s.In[:inputs] {
		if len(s.Parts) > 0 {
			in, err := k.batchInput(i)
			if err != nil {
				return nil, err
			}
			k.inputs = append(k.inputs, in)
			continue
		}
		in := input{Operand: o, access: strided, rest: o.Squeeze()}
		switch {
		case len(in.rest.Shape) == 0, allZero(in.rest.Stride):
			in.access = broadcast
		case (o.DType == own || !double && o.DType.Is16Bit()) && o.Contiguous():
			in.access = contiguous
			if !aligned(o.Offset, o.DType, k.width) {
				k.width = 1
			}
		}
		k.inputs = append(k.inputs, in)
	}
	for i := range k.inputs {
		k.inputs[i].row = k.inputs[i].rowOf(k.width)
	}
	w := &writer{builder: newBuilder(double), kernel: k, float16Of: map[reg]reg{}}
	write := w.write
	if len(s.Parts) > 0 {
		for _, p := range s.Parts {
			if p.Word < -1<<(wordBits-1) || p.Word >= 1<<(wordBits-1) {
				return nil, fmt.Errorf("cuda: the dynamic scalars of a batch of kernels are %d apart; its parts have %d bits for that", p.Word, wordBits)
			}
		}
		k.parts = min(len(s.Parts), (maxParamBytesPTX70-8*(2+guards))/k.partBytes())
		write = w.writeBatch
	}
	if err := write(guards); err != nil {
		return nil, err
	}
	if 8*w.params > maxParamBytes {
		return nil, fmt.Errorf("cuda: a fused kernel with %d inputs has %d bytes of parameters, the maximum is %d", len(s.In), 8*w.params, maxParamBytes)
	}
	k.PTX = w.module()
	return k, nil
}

// resultsOf returns the results of a step's loop, in the order of their indices.
func resultsOf(s ir.Step) (out []output) {
	if len(s.Parts) == 0 {
		for _, o := range s.Out {
			out = append(out, output{DType: o.DType})
		}
		return out
	}
	out = make([]output, len(s.Parts[0].Out))
	for _, p := range s.Parts {
		for i, at := range p.Out {
			if at < 0 {
				out[i].optional = true
			} else {
				out[i].DType = s.Out[at].DType
			}
		}
	}
	return out
}

// aligned reports whether a number of elements is a multiple of what is loaded at once of width of them.
func aligned(n int, d ir.DType, width int) bool { return n%min(width, vectorBytes/d.Size()) == 0 }

func (in input) rowOf(width int) inRow {
	if in.access != strided || in.rest.Shape[len(in.rest.Shape)-1]%width != 0 {
		return apart
	}
	outer, last := in.rest.Stride[:len(in.rest.Stride)-1], in.rest.Stride[len(in.rest.Stride)-1]
	switch unaligned := func(n int) bool { return !aligned(n, in.DType, width) }; {
	case last == 0:
		return same
	case last == 1 && !unaligned(in.Offset) && !slices.ContainsFunc(outer, unaligned):
		return adjacent
	}
	return spread
}

// singleOp wraps a step of one op as a fused group of that op.
func singleOp(s ir.Step) ir.Step {
	out := s.Out[0]
	fused := ir.Step{Shape: out.Shape, Out: s.Out, Nodes: s.Nodes}
	instr := ir.Instr{Op: s.Op, Word: s.Word}
	for i, o := range s.In {
		o.Layout = o.BroadcastTo(out.Shape)
		fused.In = append(fused.In, o)
		instr.Args = append(instr.Args, i)
	}
	fused.Loop = []ir.Instr{instr}
	return fused
}

func allZero(s []int) bool {
	for _, v := range s {
		if v != 0 {
			return false
		}
	}
	return true
}

// Launches returns the launches of the kernel: one, except for a batch of many parts.
func (k *Kernel) Launches(at func(ir.Operand) driver.Pointer, words driver.Pointer, guards []driver.Pointer) []driver.Launch {
	if k.parts == 0 {
		return []driver.Launch{k.Launch(at, words, guards)}
	}
	return k.batches(at, words, guards)
}

// Launch returns the kernel's grid and parameters. at returns the address of an operand's
// first element; words is the address of the program's dynamic scalars.
func (k *Kernel) Launch(at func(ir.Operand) driver.Pointer, words driver.Pointer, guards []driver.Pointer) driver.Launch {
	n := ir.Len(k.step.Shape)
	params := binary.LittleEndian.AppendUint64(nil, uint64(n))
	add := func(v uint64) { params = binary.LittleEndian.AppendUint64(params, v) }
	for _, g := range guards {
		add(uint64(g))
	}
	for _, x := range k.step.Loop {
		if dynamic(x) {
			add(uint64(words) + 8*uint64(x.Word))
		}
	}
	for _, in := range k.inputs {
		add(uint64(at(in.Operand)))
		if in.access == strided {
			for i, stride := range in.rest.Stride {
				add(uint64(in.rest.Shape[i]))
				add(uint64(stride * in.DType.Size()))
			}
		}
	}
	for _, o := range k.step.Out {
		add(uint64(at(o)))
	}
	blocks := min((n+threads*k.width-1)/(threads*k.width), maxBlocks)
	return driver.Launch{Grid: driver.Dim{X: uint32(blocks), Y: 1, Z: 1}, Block: driver.Dim{X: threads, Y: 1, Z: 1}, Params: params, Label: k.Label()}
}

// Empty reports whether there is nothing to run.
func (k *Kernel) Empty() bool { return k.parts == 0 && ir.Len(k.step.Shape) == 0 }

// Label lists the ops and the shape.
func (k *Kernel) Label() string {
	names := make([]string, len(k.step.Loop))
	for i, x := range k.step.Loop {
		names[i] = x.Op.Name()
	}
	if k.parts > 0 {
		return fmt.Sprintf("%s for %d tensors", strings.Join(names, ", "), len(k.step.Parts))
	}
	return strings.Join(names, ", ") + " " + ir.FormatShape(k.step.Shape)
}

func dynamic(x ir.Instr) bool {
	_, ok := x.Op.(ir.Dynamic)
	return ok
}
