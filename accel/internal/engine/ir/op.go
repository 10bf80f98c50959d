package ir

import (
	"math"

	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// Class is how an op accesses memory, for fusion and planning.
type Class uint8

const (
	// Elementwise ops compute each float32 output element from the elements at the same
	// (broadcast) position of their inputs; they are fused.
	Elementwise Class = iota
	// View ops copy no data: they only change the layout.
	View
	// Whole ops read and write whole tensors; each is one step.
	Whole
)

// Type is the shape and element type of a tensor.
type Type struct {
	Shape []int
	DType DType
}

// Op is a row of the op table: a struct that holds all static parameters.
type Op interface {
	// Name returns the op's name in errors, keys and device tables.
	Name() string
	// Class returns the op's class for these inputs.
	Class(in []*Value) Class
	// Infer returns the result's shape and element type. It fails with a *ShapeError or
	// *DTypeError; the recorder fills in op name and shapes.
	Infer(in []*Value) (Type, error)
	// AppendKey appends all static parameters, so that two ops with equal names and keys
	// compute the same function.
	AppendKey(key []byte) []byte
	// Gradient records the gradient of each input given dy, the gradient of out; nil for
	// inputs without a gradient. wants says which gradients are needed.
	Gradient(r *Recorder, in []*Value, out, dy *Value, wants []bool) []*Value
}

// Dynamic is an op with parameters that may change from one run of a plan to the next (a
// scalar factor, a random counter) and so are not part of the key.
type Dynamic interface {
	Op
	AppendWords(words []uint64) []uint64
}

// viewer is a View op.
type viewer interface {
	Op
	// view returns the layout of the output in the input's buffer; false if the input's
	// layout needs a copy.
	view(in Layout) (Layout, bool)
}

// strided is implemented by Whole ops whose device code accepts inputs of any layout. All
// others get row-major inputs.
type strided interface{ strided() }

// contracting is implemented by strided ops that multiply matrices and add the products along one axis of each input.
type contracting interface {
	// contracted returns that axis of an input with so many axes; -1 if the input is added.
	contracted(input, axes int) int
}

// partlyStrided is implemented by Whole ops whose float32 device code accepts any layout of
// the first few inputs.
type partlyStrided interface{ stridedInputs() int }

func scalarWord(v float64) uint64 { return math.Float64bits(v) }

// unaryOp is embedded by elementwise ops with one input.
type unaryOp struct{}

func (unaryOp) Class(in []*Value) Class     { return floatClass(in[0].dtype) }
func (unaryOp) AppendKey(key []byte) []byte { return key }
func (unaryOp) strided()                    {}
func (unaryOp) Infer(in []*Value) (Type, error) {
	if err := wantFloat(in...); err != nil {
		return Type{}, err
	}
	return Type{in[0].shape, in[0].dtype}, nil
}

// viewOp is embedded by ops that only change the layout. An op with parameters that are not part of the result's shape, which is in
// every key, has an AppendKey of its own.
type viewOp struct{}

func (viewOp) Class([]*Value) Class        { return View }
func (viewOp) AppendKey(key []byte) []byte { return key }

// sameOp is embedded by ops whose result is their first input.
type sameOp struct{ viewOp }

func (sameOp) view(in Layout) (Layout, bool)   { return in, true }
func (sameOp) Infer(in []*Value) (Type, error) { return Type{in[0].shape, in[0].dtype}, nil }

// wholeOp is embedded by ops that are a step of their own.
type wholeOp struct{}

func (wholeOp) whole()                      {}
func (wholeOp) Class([]*Value) Class        { return Whole }
func (wholeOp) AppendKey(key []byte) []byte { return key } // an op with parameters has its own

// binaryOp is embedded by elementwise ops with two inputs that broadcast.
type binaryOp struct{}

func (binaryOp) Class(in []*Value) Class     { return floatClass(in[0].dtype) }
func (binaryOp) AppendKey(key []byte) []byte { return key }
func (binaryOp) strided()                    {}
func (binaryOp) Infer(in []*Value) (Type, error) {
	if err := wantFloat(in...); err != nil {
		return Type{}, err
	}
	return inferBroadcast(in, in[0].dtype)
}

// floatClass returns the class of an elementwise op: ops on float64 are not fused.
func floatClass(d DType) Class {
	if d == Float64 {
		return Whole
	}
	return Elementwise
}

// eachGradient returns the gradients of inputs that broadcast. each records that of one that is wanted, which is then summed over the
// broadcast dimensions.
func (r *Recorder) eachGradient(in []*Value, wants []bool, each func(i int) *Value) []*Value {
	out := make([]*Value, len(in))
	for i, v := range in {
		if wants[i] {
			out[i] = r.sumTo(each(i), v.shape)
		}
	}
	return out
}

func inferBroadcast(in []*Value, d DType) (Type, error) {
	shape := in[0].shape
	for _, v := range in[1:] {
		if sameShape(shape, v.shape) {
			continue
		}
		s, ok := Broadcast(shape, v.shape)
		if !ok {
			return Type{}, &ShapeError{Hint: "the shapes do not broadcast: aligned at the right, each pair of dimensions must be equal or one of them 1"}
		}
		shape = s
	}
	return Type{shape, d}, nil
}

func wantFloat32(in ...*Value) error {
	for _, v := range in {
		if v.dtype != Float32 {
			return &DTypeError{Hint: "the input must be float32; convert with Cast(tensor.Float32)"}
		}
	}
	return nil
}

// wantFloat requires all inputs to be float32, or all float64.
func wantFloat(in ...*Value) error {
	for _, v := range in {
		if v.dtype != in[0].dtype {
			return &DTypeError{Hint: "all inputs must have one element type; convert with Cast"}
		}
		if v.dtype != Float32 && v.dtype != Float64 {
			hint := "the input must be float32 or float64; convert with Cast(tensor.Float32)"
			if v.dtype == Int32 || v.dtype == Int64 {
				hint += ", or with Cast(tensor.Float64), which has all integers up to 2⁵³"
			}
			return &DTypeError{Hint: hint}
		}
	}
	return nil
}

// wantIndex requires an index of rows.
func wantIndex(v *Value) error {
	if v.dtype != Int32 {
		return &DTypeError{Hint: "the index must be int32: index.Cast(tensor.Int32) converts it, tensor.FromInts(list, n) creates one of n elements"}
	}
	return nil
}

// noGradient is embedded by ops without a gradient.
type noGradient struct{}

func (noGradient) Gradient(*Recorder, []*Value, *Value, *Value, []bool) []*Value { return nil }

// zeroGradient is embedded by elementwise ops with one input that are constant almost everywhere.
type zeroGradient struct{}

func (zeroGradient) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(Expand{Shape: in[0].shape}, r.scalar(0, dy.dtype))}
}

func appendFlag(key []byte, on bool) []byte {
	if on {
		return append(key, 1)
	}
	return append(key, 0)
}

func appendInts(key []byte, n ...int) []byte {
	for _, v := range n {
		u := uint64(v)
		key = append(key, byte(u), byte(u>>8), byte(u>>16), byte(u>>24), byte(u>>32), byte(u>>40), byte(u>>48), byte(u>>56))
	}
	return key
}

// Types shared with the public package.
type (
	DType            = tensortype.DType
	ShapeError       = tensortype.ShapeError
	DTypeError       = tensortype.DTypeError
	IndexError       = tensortype.IndexError
	StateError       = tensortype.StateError
	NonFiniteError   = tensortype.NonFiniteError
	OutOfMemoryError = tensortype.OutOfMemoryError
	TraceError       = tensortype.TraceError
	DeviceError      = tensortype.DeviceError
)

// The element types.
const (
	Float32 = tensortype.Float32
	Float64 = tensortype.Float64
	Int32   = tensortype.Int32
	Int64   = tensortype.Int64
	Uint8   = tensortype.Uint8
	Bool    = tensortype.Bool

	Float16  = tensortype.Float16
	BFloat16 = tensortype.BFloat16

	Float8E4M3 = tensortype.Float8E4M3
	Float8E5M2 = tensortype.Float8E5M2
)

// FormatShape writes a shape as [2 3].
func FormatShape(shape []int) string { return tensortype.FormatShape(shape) }

// Facts about ops that the packages above need. An op states a fact with a method in its own
// file; without the method, the default holds.

// Autocast says in which type an op computes under automatic mixed precision.
type Autocast uint8

// The policies: PyTorch's lists for CUDA (ATen/autocast_mode.h).
const (
	CastNothing Autocast = iota // computes in the types of its inputs
	Cast16Bit                   // in the 16-bit type of Autocast
	CastFloat32                 // in float32
	CastWidest                  // in the widest type of the inputs
)

// AutocastOf returns the policy of an op, which may be one of package tensor that consists of
// several ops. The default is CastNothing.
func AutocastOf(op any) Autocast {
	if o, ok := op.(interface{ Autocast() Autocast }); ok {
		return o.Autocast()
	}
	return CastNothing
}

// Moves reports whether an op only moves or converts elements, in any element type.
func Moves(op Op) bool {
	_, ok := op.(interface{ moves() })
	return ok
}

// TypedBy returns the inputs that determine the element type of an op's result, in from:to.
// The default is all n inputs. If there are none, the result is float32.
func TypedBy(op any, n int) (from, to int) {
	if o, ok := op.(interface{ typedBy(n int) (from, to int) }); ok {
		return o.typedBy(n)
	}
	return 0, n
}

// Operator is an operator of ONNX.
type Operator struct {
	Name       string
	Attributes []Attribute
	Constants  []any // inputs behind those of the op, int64: an int is a scalar, []int a vector
}

// Attribute is an attribute of an operator, an int or a float64.
type Attribute struct {
	Name  string
	Value any
}

// ONNX returns the operator of ONNX that computes an op from its inputs; without a name, there is
// none.
func ONNX(op Op) Operator {
	switch o := op.(type) {
	case interface{ onnx() string }:
		return Operator{Name: o.onnx()}
	case interface{ onnx() Operator }:
		return o.onnx()
	}
	return Operator{}
}

// NoONNX returns the reason why an op cannot be exported, or "".
func NoONNX(op Op) string {
	if o, ok := op.(interface{ noONNX() string }); ok {
		return o.noONNX()
	}
	if OnlyInGradients(op) {
		return "it is part of a gradient; export the forward pass only"
	}
	return ""
}

// OnlyInGradients reports whether an op is recorded only by the gradients of other ops.
func OnlyInGradients(op Op) bool {
	_, ok := op.(interface{ onlyInGradients() })
	return ok
}

// gradientOp is embedded by ops that are recorded only by the gradients of other ops. They have no
// gradient themselves, also if they embed an op that has one.
type gradientOp struct{ noGradient }

func (gradientOp) onlyInGradients() {}

// movement is embedded by ops that only move elements.
type movement struct{}

func (movement) moves()          {}
func (movement) perElement() int { return 0 }

// MultiplyAdds returns the number of multiply-adds of an op that multiplies matrices, given the
// shapes of its inputs and of its result; 0 for all other ops.
func MultiplyAdds(op any, in [][]int, out []int) int {
	if o, ok := op.(interface {
		multiplyAdds(in [][]int, out []int) int
	}); ok {
		return o.multiplyAdds(in, out)
	}
	return 0
}

// FLOPs returns the floating-point operations of a step: two for each multiply-add of a matrix
// multiplication, otherwise perElement for each element and op; the default is 1.
func (s Step) FLOPs() float64 {
	if s.Op == nil {
		n := 0
		for _, x := range s.Loop {
			n += perElement(x.Op)
		}
		elements := Len(s.Shape)
		for _, p := range s.Parts[min(1, len(s.Parts)):] {
			elements += Len(p.Shape)
		}
		return float64(n * elements)
	}
	if len(s.Out) == 0 {
		return 0
	}
	in := make([][]int, len(s.In))
	for i, o := range s.In {
		in[i] = o.Shape
	}
	out := Len(s.Out[0].Shape)
	epilogue := 0
	if s.Epilogue != nil {
		epilogue = out
	}
	if n := MultiplyAdds(s.Op, in, s.Out[0].Shape); n > 0 {
		return float64(2*n + epilogue)
	}
	most := out
	if len(in) > 0 {
		most = max(most, Len(in[0]))
	}
	return float64(most*perElement(s.Op) + epilogue)
}

func perElement(op Op) int {
	if o, ok := op.(interface{ perElement() int }); ok {
		return o.perElement()
	}
	return 1
}

func last(shape []int) int { return shape[len(shape)-1] }
