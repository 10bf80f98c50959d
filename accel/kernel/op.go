package kernel

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/kernel/internal/program"
	"github.com/quernlab/quern/accel/tensor"
)

// Operation is a kernel as an operation on tensors; [Op] returns it. It is recorded like those of package tensor: it runs with
// the ops around it, on a GPU in the same CUDA graph, and gradients flow through it. In a profile it has the name of the kernel.
type Operation struct {
	own       *part
	output    func(in ...[]int) ([]int, error)
	gradients []*part // by tensor of Apply; nil for those without
	contexts  []func() context.Context
}

// part is a kernel of an operation: its own, or that of a gradient.
type part struct {
	kernel  *Kernel
	threads func(shape []int) Shape
	key     []byte
	result  int      // the parameter that is the result
	from    []source // by parameter: what it gets
}

// source is what a parameter of a kernel gets in a call of an operation.
type source struct {
	kind  sourceKind
	index int // of a scalar: the parameter of the own kernel; of an input: its number
}

type sourceKind int

const (
	scalarSource   sourceKind = iota
	inputSource               // a tensor of Apply
	outputSource              // the result of Apply
	gradientSource            // the gradient of the result of Apply
	resultSource              // what the kernel computes
)

// Op makes a kernel an operation. The kernel writes to one slice, which is the result; its elements are 0 when the kernel begins. The other
// slices are its inputs, which it only reads. For each input through which a gradient shall flow, give a kernel with [Gradient].
//
//	gelu, err := kernel.Op(forward, kernel.Gradient(backward))
//	y := gelu.Apply(x)
//	model, err := nn.Sequential(nn.Dense(64), gelu, nn.Dense(10)) // as a layer
//
// Inputs must have the element types of the slices. There is one exception: tensors of 16-bit floats are converted to float32 for a
// slice of float32, and the result is rounded to their type if no input is of float32, as in the ops of package tensor that have no rule for
// [tensor.Autocast].
func Op(k *Kernel, options ...Option) (*Operation, error) {
	var s settings
	if err := option.Apply("kernel.Op", &s, options, "Threads", "Output", "Gradient", "Context"); err != nil {
		return nil, err
	}
	if err := k.valid("Op"); err != nil {
		return nil, err
	}
	if k.foreign != nil {
		return nil, fmt.Errorf("kernel: Op: %w", k.notAnOp())
	}
	o := &Operation{own: &part{kernel: k, result: -1}}
	inputs := 0
	for i, p := range k.program.Params {
		switch {
		case p.Scalar != nil:
			o.own.from = append(o.own.from, source{scalarSource, i})
		case !p.Slice.Written:
			o.own.from = append(o.own.from, source{inputSource, inputs})
			inputs++
		case o.own.result >= 0:
			return nil, fmt.Errorf("kernel: Op: %s writes to %s and %s, and an operation has one result: make one of each", k.Name(), k.program.Params[o.own.result].Name, p.Name)
		default:
			o.own.from = append(o.own.from, source{kind: resultSource})
			o.own.result = i
		}
	}
	if o.own.result < 0 {
		return nil, fmt.Errorf("kernel: Op: %s writes to no slice, so it has no result", k.Name())
	}
	o.gradients = make([]*part, inputs)
	o.own.key = newKey()
	o.own.threads, o.output, o.contexts = s.threads, s.output, s.contexts
	for _, g := range s.gradients {
		if err := o.addGradient(&part{kernel: g.kernel, threads: g.threads}); err != nil {
			return nil, fmt.Errorf("kernel: Op: %w", err)
		}
	}
	return o, nil
}

var keys atomic.Uint64

// newKey returns a key that no other kernel of an operation has.
func newKey() []byte { return binary.LittleEndian.AppendUint64(nil, keys.Add(1)) }

// addGradient finds what the parameters of a gradient's kernel get, by their names.
func (o *Operation) addGradient(p *part) error {
	own := o.own.kernel.program
	result := own.Params[o.own.result]
	named := map[string]source{result.Name: {kind: outputSource}, "d" + result.Name: {kind: gradientSource}}
	of := map[string]program.Param{result.Name: result, "d" + result.Name: result}
	results := map[string]int{} // by name: the input whose gradient it is
	for i, q := range own.Params {
		s := o.own.from[i]
		if s.kind == resultSource {
			continue
		}
		if _, taken := named[q.Name]; taken || q.Name == "_" || results[q.Name] != 0 {
			return fmt.Errorf("the name of the parameter %s of %s must differ from the others and from the names of gradients", q.Name, own.Name)
		}
		named[q.Name], of[q.Name] = s, q
		if s.kind == inputSource {
			if _, taken := named["d"+q.Name]; taken {
				return fmt.Errorf("the parameter d%s of %s has the name of a gradient: rename it", q.Name, own.Name)
			}
			results["d"+q.Name], of["d"+q.Name] = i+1, q
		}
	}
	kernel := p.kernel.program
	p.result, p.key = -1, newKey()
	for i, q := range kernel.Params {
		like, known := of[q.Name]
		if !known {
			return fmt.Errorf("%s has a parameter %s, which is none of %s, of its result, or of their gradients, such as d%s", kernel.Name, q.Name, own.Name, result.Name)
		}
		if typeOf(q) != typeOf(like) {
			return fmt.Errorf("the parameter %s of %s is a %s, and that of %s a %s", q.Name, kernel.Name, typeOf(q), own.Name, typeOf(like))
		}
		s, given := named[q.Name]
		written := q.Slice != nil && q.Slice.Written
		switch {
		case given && written:
			return fmt.Errorf("%s writes to %s, which other kernels read: it may write to a gradient of an input only", kernel.Name, q.Name)
		case given:
			p.from = append(p.from, s)
		case !written:
			return fmt.Errorf("%s does not write to %s", kernel.Name, q.Name)
		case p.result >= 0:
			return fmt.Errorf("%s writes to %s and %s: the gradient of each input has a kernel of its own", kernel.Name, kernel.Params[p.result].Name, q.Name)
		default:
			p.from = append(p.from, source{kind: resultSource})
			p.result = i
		}
	}
	if p.result < 0 {
		return fmt.Errorf("%s writes no gradient of an input, such as d%s", kernel.Name, firstInput(own))
	}
	if !dtypeOf(kernel.Params[p.result].Slice).IsFloat() {
		q := kernel.Params[p.result]
		return fmt.Errorf("%s computes %s: only floats have gradients", kernel.Name, q.Name)
	}
	input := o.own.from[results[kernel.Params[p.result].Name]-1].index
	if o.gradients[input] != nil {
		return fmt.Errorf("%s and %s both compute %s", o.gradients[input].kernel.Name(), kernel.Name, kernel.Params[p.result].Name)
	}
	o.gradients[input] = p
	return nil
}

// typeOf returns the type of a parameter.
func typeOf(p program.Param) string {
	if p.Scalar != nil {
		return p.Scalar.Type.String()
	}
	return "[]" + dtypeOf(p.Slice).String()
}

// firstInput returns the name of a kernel's first input.
func firstInput(p *program.Program) string {
	for _, q := range p.Params {
		if q.Slice != nil && !q.Slice.Written {
			return q.Name
		}
	}
	return "x"
}

// Name returns the name of the kernel. It panics if o is nil.
func (o *Operation) Name() string {
	o.must("Name")
	return o.own.kernel.Name()
}

// must panics if the operation is none.
func (o *Operation) must(call string) {
	if o == nil || o.own == nil {
		panic(&tensor.StateError{Op: "kernel.Operation." + call, Hint: "the operation is nil: check the error of kernel.Op"})
	}
}

// String returns the name of the operation as a layer.
func (o *Operation) String() string { return "kernel " + o.Name() }

// Forward is Apply for a kernel whose parameters are one input and the result, so that it is a module of package nn. For others
// use a function that calls Apply.
func (o *Operation) Forward(x *tensor.Tensor) *tensor.Tensor { return o.Apply(x) }

// Apply returns the result of the kernel for arguments for its parameters except for the thread and the result, as those of [Kernel.Launch]. A
// number is part of the recorded op: an op with another number is planned once more.
//
// If the arguments are not valid, it panics with a *tensor.ShapeError, *tensor.DTypeError or *tensor.StateError, as the functions of package tensor
// do. A [*Fault] of the kernel appears, in a *tensor.DeviceError, where the result is used, like an index out of range: in the panic of a function that reads
// elements, or in the error of accel.Fit. If several threads have a fault, it is any of them on a GPU and on a simulated one.
func (o *Operation) Apply(args ...any) *tensor.Tensor {
	o.must("Apply")
	c := &opCall{of: o, scalars: make([]uint64, len(o.own.from))}
	in := o.bind(c, args)
	return tensors.RecordKernel(o.String(), c.record, in...)
}

// opCall is a call of Apply.
type opCall struct {
	of      *Operation
	scalars []uint64 // by parameter of the own kernel
	shapes  [][]int  // of the inputs
	shape   []int    // of the result
}

// fail panics with an error of a call of Apply.
func (o *Operation) fail(format string, args ...any) {
	panic(&tensor.StateError{Op: o.String(), Hint: fmt.Sprintf(format, args...)})
}

// bind compares arguments with the parameters and returns the tensors among them.
func (o *Operation) bind(c *opCall, args []any) (in []*tensor.Tensor) {
	params := o.own.kernel.program.Params
	if len(args) != len(params)-1 {
		o.fail("%d arguments for %d parameters besides the thread and %s", len(args), len(params)-1, params[o.own.result].Name)
	}
	for i, p := range params {
		if i == o.own.result {
			continue
		}
		arg := args[0]
		args = args[1:]
		if p.Scalar != nil {
			bits, ok := scalarBits(arg, p.Scalar.Type)
			if !ok {
				o.fail("the argument for %s is a %T, not a %s", p.Name, arg, p.Scalar.Type)
			}
			c.scalars[i] = bits
			continue
		}
		t, ok := arg.(*tensor.Tensor)
		if !ok || t == nil {
			o.fail("the argument for %s is a %T, not a tensor", p.Name, arg)
		}
		in, c.shapes = append(in, t), append(c.shapes, t.Shape())
	}
	var err error
	switch {
	case o.output != nil:
		c.shape, err = o.output(c.shapes...)
	case len(c.shapes) == 0:
		err = errors.New("the kernel has no inputs, so its result needs the option kernel.Output")
	default:
		c.shape = c.shapes[0]
	}
	if err == nil && slices.ContainsFunc(c.shape, func(n int) bool { return n < 0 }) {
		err = fmt.Errorf("the result would be %v", c.shape)
	}
	if err != nil {
		panic(&tensor.ShapeError{Op: o.String(), Shapes: c.shapes, Hint: err.Error()})
	}
	return in
}

// record records the op.
func (c *opCall) record(r *ir.Recorder, in []*ir.Value) *ir.Value {
	o := c.of
	in, narrow := o.convert(r, in)
	for i, v := range in {
		if r.GradEnabled() && v.RequiresGrad() && v.DType().IsFloat() && o.gradients[i] == nil {
			o.fail("its argument %d requires a gradient, and there is no kernel for it: add one with kernel.Gradient, or Detach the argument", i+1)
		}
	}
	return as(r, r.Record(c.op(o.own, in, c.shape, c.back), in...), narrow)
}

// convert checks the element types. It converts 16-bit floats to float32 for slices of float32, and returns the type of the op's result.
func (o *Operation) convert(r *ir.Recorder, in []*ir.Value) (out []*ir.Value, result tensor.DType) {
	out = slices.Clone(in)
	params := o.own.kernel.program.Params
	result = dtypeOf(params[o.own.result].Slice)
	narrow, float32s := tensor.Float32, false
	for i, s := range o.own.from {
		if s.kind != inputSource {
			continue
		}
		got := in[s.index].DType()
		want := dtypeOf(params[i].Slice)
		switch {
		case got == want && want == tensor.Float32:
			float32s = true
		case got == want:
		case want == tensor.Float32 && got.Is16Bit():
			float32s = float32s || narrow != tensor.Float32 && narrow != got
			narrow, out[s.index] = got, as(r, in[s.index], want)
		default:
			panic(&tensor.DTypeError{Op: o.String(), DTypes: []tensor.DType{got}, Hint: fmt.Sprintf("%s of the kernel needs %s: convert with Cast", params[i].Name, want)})
		}
	}
	if result == tensor.Float32 && !float32s {
		result = narrow
	}
	return out, result
}

// op returns the op of a kernel with a result of a shape.
func (c *opCall) op(p *part, in []*ir.Value, shape []int, back func(r *ir.Recorder, in []*ir.Value, out, dy *ir.Value, wants []bool) []*ir.Value) ir.KernelOp {
	params := p.kernel.program.Params
	l := &opLaunch{launch{contexts: c.of.contexts, kernel: p.kernel, scalars: make([]uint64, len(params))}}
	threads := p.threads
	if threads == nil {
		threads = c.of.own.threads
	}
	if l.shape = Grid(ir.Len(shape), 256); threads != nil {
		l.shape = threads(slices.Clone(shape))
	}
	if err := l.shape.check(); err != nil {
		panic(&tensor.ShapeError{Op: "kernel " + p.kernel.Name(), Shapes: [][]int{shape}, Hint: err.Error()})
	}
	out := ir.KernelOp{Kernel: l, Back: back}
	key := slices.Clone(p.key)
	for i, s := range p.from {
		switch s.kind {
		case scalarSource:
			l.scalars[i] = c.scalars[s.index]
			key = binary.LittleEndian.AppendUint64(key, l.scalars[i])
		case resultSource:
			out.At = len(l.lengths)
			l.lengths = append(l.lengths, ir.Len(shape))
			out.Result = ir.Type{Shape: shape, DType: dtypeOf(params[i].Slice)}
		default:
			l.lengths = append(l.lengths, in[0].Len())
			in = in[1:]
		}
	}
	grid, block := l.Shape()
	for _, n := range append(grid[:], block[:]...) {
		key = binary.LittleEndian.AppendUint64(key, uint64(n))
	}
	out.Key = key
	return out
}

// back records the gradients.
func (c *opCall) back(r *ir.Recorder, in []*ir.Value, out, dy *ir.Value, wants []bool) []*ir.Value {
	gradients := make([]*ir.Value, len(in))
	for i, p := range c.of.gradients {
		if !wants[i] || p == nil {
			continue
		}
		var args []*ir.Value
		for _, s := range p.from {
			switch s.kind {
			case inputSource:
				args = append(args, in[s.index])
			case outputSource:
				args = append(args, out)
			case gradientSource:
				args = append(args, as(r, dy, out.DType()))
			}
		}
		gradients[i] = r.Record(c.op(p, args, in[i].Shape(), nil), args...)
	}
	return gradients
}

// opLaunch is a launch of an op's kernel. It implements ir.Kernel.
type opLaunch struct{ launch }

// Host implements ir.Kernel.
func (l *opLaunch) Host(memory [][]byte) error { return public(l.launch.Host(memory)) }

// Check implements ir.Kernel.
func (l *opLaunch) Check(record []byte) error { return public(l.launch.Check(record)) }

// as returns a value in an element type.
func as(r *ir.Recorder, v *ir.Value, d tensor.DType) *ir.Value {
	if v.DType() == d {
		return v
	}
	return r.Record(ir.Cast{To: d}, v)
}
