package ir

import "slices"

// Tracer keeps which ops are recorded while it is set, and of which values. It
// listens to all goroutines: a function may compute on several of them, and what
// others do meanwhile leads to none of its results.
//
// It holds what the ops read from before, so that the values can be looked at
// until it is let go.
type Tracer struct {
	met   map[*Value]int // number of a value
	all   []*Value
	made  []int  // by number: the op of ops that makes the value, -1 without
	taint []bool // by number: an input leads to it
	fresh map[*Value]bool
	held  []*Value
	ops   []TracedOp
}

// TracedOp is an op that a [Tracer] has met; values go by their numbers.
type TracedOp struct {
	Op         Op
	In         []int
	Out        int
	Path, Kind string // of the layer
}

// Trace sets a tracer, to which an input is what is given.
func (r *Recorder) Trace(inputs []*Value) *Tracer {
	t := &Tracer{met: map[*Value]int{}, fresh: map[*Value]bool{}}
	for _, v := range inputs {
		t.taint[t.add(v, -1)] = true
	}
	r.tracers = append(r.tracers, t)
	return t
}

// EndTrace ends what Trace began. The tracer still holds its values.
func (r *Recorder) EndTrace(t *Tracer) {
	r.tracers = slices.DeleteFunc(r.tracers, func(o *Tracer) bool { return o == t })
}

// LetGo drops the values that a tracer holds.
func (r *Recorder) LetGo(t *Tracer) {
	for _, v := range t.held {
		r.Release(v)
	}
	t.held = nil
}

// Number is the number of a value, which is given one if it has none.
func (t *Tracer) Number(v *Value) int {
	if i, ok := t.met[v]; ok {
		return i
	}
	t.held = append(t.held, v.Hold())
	return t.add(v, -1)
}

// Value has a number.
func (t *Tracer) Value(number int) *Value { return t.all[number] }

// Leading are the ops that lead to the values of some numbers, in order.
func (t *Tracer) Leading(to []int) []TracedOp {
	needed := make([]bool, len(t.all))
	for _, n := range to {
		needed[n] = true
	}
	var ops []TracedOp
	for i := len(t.ops) - 1; i >= 0; i-- {
		o := t.ops[i]
		if !needed[o.Out] {
			continue
		}
		ops = append(ops, o)
		for _, n := range o.In {
			needed[n] = true
		}
	}
	slices.Reverse(ops)
	return ops
}

// Depends tells whether an input leads to the value of a number.
func (t *Tracer) Depends(number int) bool { return t.taint[number] }

func (t *Tracer) add(v *Value, made int) int {
	n := len(t.all)
	t.met[v] = n
	t.all, t.made, t.taint = append(t.all, v), append(t.made, made), append(t.taint, false)
	return n
}

// recorded is told of an op.
func (t *Tracer) recorded(v *Value, p place) {
	o := TracedOp{Op: v.op, In: make([]int, len(v.in)), Path: p.path, Kind: p.kind}
	depends := false
	for i, x := range v.in {
		o.In[i] = t.Number(x)
		depends = depends || t.taint[o.In[i]]
	}
	o.Out = t.add(v, len(t.ops))
	t.taint[o.Out] = depends
	t.ops = append(t.ops, o)
}

// aliased is told of a value that lies where another does.
func (t *Tracer) aliased(v, of *Value, p place) {
	n := t.Number(of)
	out := t.add(v, len(t.ops))
	t.taint[out] = t.taint[n]
	t.ops = append(t.ops, TracedOp{Op: Alias{}, In: []int{n}, Out: out, Path: p.path, Kind: p.kind})
}

// depends tells whether an input leads to a value.
func (t *Tracer) depends(v *Value) bool {
	n, ok := t.met[v]
	return ok && t.taint[n]
}

// reading refuses that the program looks at what depends on an input: what it
// does then would be as it is for the input of the trace.
func (t *Tracer) reading(op string, v *Value, p place) {
	if t.depends(v) {
		panic(&TraceError{Op: op, Path: p.path, Layer: p.kind, Reading: true,
			Hint: "the model reads numbers that depend on its input, and what it does with them in Go is not recorded; write it with ops, such as Where in place of an if"})
	}
}

// assigning refuses that what depends on an input is kept in a tensor from before:
// the next run would begin with it.
func (t *Tracer) assigning(old, src *Value, p place) {
	if !t.depends(src) || t.depends(old) || t.fresh[old] {
		return
	}
	if n, ok := t.met[old]; ok && t.made[n] >= 0 {
		return
	}
	panic(&TraceError{Op: "Assign", Path: p.path, Layer: p.kind, Assigning: true,
		Hint: "the model keeps something of its input in a tensor of its own, so that it would compute something else next time"})
}
