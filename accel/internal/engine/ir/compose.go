package ir

// A composition is a whole-tensor op written as others: elementwise ops, Sum, Max, ArgMax, CumSum, MatMul,
// IndexSelect, IndexAdd, Concat, Pad and views. It is what a device computes that has no kernel for the
// op, or none in the element type, and what a kernel is tested against. So a new op needs no code for any
// device, and a kernel is written where a measurement says that it is worth it:
//
//	func (RMSNorm) Compose(r *Recorder, in []*Value) *Value { … }
//
// The planner replaces an op by its composition before it plans, so that elementwise parts fuse with
// others. The gradient remains that of the op.

// Composer is an op that states a composition.
type Composer interface {
	Op
	// Compose records ops that compute the op from its inputs, and returns their result. They depend on
	// the op's key and the types of the inputs alone.
	Compose(r *Recorder, in []*Value) *Value
}

// KernelLister is implemented by a device that has no kernel for some ops that state a composition. A device
// that does not implement it has kernels for all.
type KernelLister interface {
	// HasKernel reports whether there is a kernel for an op whose first input has an element type.
	HasKernel(op Op, d DType) bool
}

// composes returns a function that reports whether the device computes an op by its composition.
func (r *Recorder) composes() func(op Op, in []*Value) bool {
	kernels, lists := r.device.(KernelLister)
	return func(op Op, in []*Value) bool {
		switch op.(type) {
		case Composite:
			return true
		case Composer:
			return op.Class(in) == Whole && (r.composed || lists && !kernels.HasKernel(op, in[0].dtype))
		}
		return false
	}
}

// expansion is a list in which compositions have replaced ops.
type expansion struct {
	list    []*Value
	of      []int  // of each value of list: the index of the recorded one that it computes, alone or with others
	made    []made // of each value of list
	assigns []assignment
}

// made says how a value came into a list.
type made uint8

const (
	recorded made = iota
	composed      // as a part of a composition
	dynamic       // as a part of a Composite, whose dynamic words are recorded
)

// expand returns the recorded list with compositions, or nil if it remains as it is. The recorded values do not
// change: list consists of copies, since the indices differ.
func (r *Recorder) expand() *expansion {
	lacks, first := r.composes(), 0
	for ; first < len(r.nodes) && !lacks(r.nodes[first].op, r.nodes[first].in); first++ {
	}
	if first == len(r.nodes) {
		return nil
	}
	c := &Recorder{epoch: r.epoch, noGrad: 1, lacks: lacks}
	e := &expansion{}
	at := make([]*Value, len(r.nodes)) // the copy of each recorded value
	for i, v := range r.nodes {
		next := *v
		next.in = make([]*Value, len(v.in))
		for k, x := range v.in {
			if next.in[k] = x; x.index >= 0 {
				next.in[k] = at[x.index]
			}
		}
		if lacks(v.op, v.in) {
			y := v.op.(Composer).Compose(c, next.in)
			if y.dtype != v.dtype || !sameShape(y.shape, v.shape) {
				panic("ir: the composition of " + v.op.Name() + " has the type " + y.dtype.String() + " " + FormatShape(y.shape) +
					" instead of " + v.dtype.String() + " " + FormatShape(v.shape))
			}
			next.op, next.in = Alias{}, []*Value{y}
		}
		how := composed
		if _, ok := v.op.(Composite); ok { // its last op takes its place, and so fuses with what reads it
			last := len(c.nodes) - 1
			how, next.op, next.in, c.nodes = dynamic, c.nodes[last].op, c.nodes[last].in, c.nodes[:last]
		}
		for len(e.of) < len(c.nodes) {
			e.of, e.made = append(e.of, i), append(e.made, how)
		}
		next.index = len(c.nodes)
		at[i] = &next
		c.nodes, e.of, e.made = append(c.nodes, &next), append(e.of, i), append(e.made, recorded)
	}
	for _, a := range r.assigns {
		if a.new.epoch == r.epoch && a.new.index >= 0 {
			a.new = at[a.new.index]
		}
		e.assigns = append(e.assigns, a)
	}
	e.list = c.nodes
	return e
}

// restore makes a plan of the list one of the recorded values.
func (e *expansion) restore(p *plan) {
	for i := range p.results {
		p.results[i].node = e.of[p.results[i].node]
	}
	for _, s := range p.program.Steps {
		for i, n := range s.Nodes {
			s.Nodes[i] = e.of[n]
		}
	}
}

// Composition returns the ops of an op's composition, in order, for inputs of some types.
func Composition(op Composer, in ...Type) (c Composed) {
	r := &Recorder{epoch: 1, noGrad: 1}
	args := make([]*Value, len(in))
	number := map[*Value]int{}
	for i, t := range in {
		args[i] = &Value{}
		r.setType(args[i], t)
		args[i].layout = RowMajor(args[i].shape)
		number[args[i]] = i
	}
	y := op.Compose(r, args)
	for i, v := range r.nodes {
		number[v] = len(in) + i
		one := ComposedOp{Op: v.op, Type: Type{v.shape, v.dtype}}
		for _, x := range v.in {
			one.In = append(one.In, number[x])
		}
		c.Ops = append(c.Ops, one)
	}
	c.Out = number[y]
	return c
}

// Composed is a composition. Values are named by numbers: the inputs come first, then the results of the ops.
type Composed struct {
	Ops []ComposedOp
	Out int
}

// ComposedOp is an op of a composition, with the type of its result.
type ComposedOp struct {
	Op   Op
	In   []int
	Type Type
}

// Composed makes every op that states a composition run as it from now on, for tests that compare the two. It
// drops the plans.
func (r *Recorder) Composed(on bool) {
	r.Flush()
	r.composed = on
	r.plans = newPlanCache()
}

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
