package ir

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
