package ir

// Formula is how an elementwise op is computed from others, which every device implements: an
// input, the op's scalar, a constant, or an op without parameters of other formulas. Devices
// generate code from it for an op without code of its own:
//
//	func (Sign) Formula() Formula { return Apply(Sub{}, Apply(Greater{}, X, Constant(0)), Apply(Greater{}, Constant(0), X)) }
type Formula struct {
	op    Op
	args  []Formula
	kind  formulaKind
	index int
	value float64
}

type formulaKind uint8

const (
	formulaOp formulaKind = iota
	formulaInput
	formulaScalar
	formulaConstant
)

// The inputs and the scalar of an op.
var (
	X      = Formula{kind: formulaInput}
	Y      = Formula{kind: formulaInput, index: 1}
	Scalar = Formula{kind: formulaScalar}
)

// Constant returns the formula of a number.
func Constant(value float64) Formula { return Formula{kind: formulaConstant, value: value} }

// Apply returns the formula of an elementwise op of args.
func Apply(op Op, args ...Formula) Formula { return Formula{op: op, args: args} }

// FormulaOf returns the formula of an op, if it states one.
func FormulaOf(op Op) (f Formula, ok bool) {
	o, ok := op.(interface{ Formula() Formula })
	if ok {
		f = o.Formula()
	}
	return f, ok
}

// Arithmetic is how a device computes the parts of a formula.
type Arithmetic[T any] struct {
	Inputs   []T
	Scalar   func() T
	Constant func(float64) T
	Apply    func(op Op, args []T) T
}

// Evaluate computes a formula.
func (a *Arithmetic[T]) Evaluate(f Formula) T {
	switch f.kind {
	case formulaInput:
		return a.Inputs[f.index]
	case formulaScalar:
		return a.Scalar()
	case formulaConstant:
		return a.Constant(f.value)
	}
	args := make([]T, len(f.args))
	for i, x := range f.args {
		args[i] = a.Evaluate(x)
	}
	return a.Apply(f.op, args)
}
