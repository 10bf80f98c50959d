package ir

import "slices"

// Tracer records which ops are recorded while it is set, and their values. It sees the ops
// of all goroutines: a function may compute on several of them, and ops of unrelated
// goroutines do not lead to its results.
//
// It holds the values from before that the ops read, so that they can be read until LetGo.
type Tracer struct {
	met   map[*Value]int // ID of a value
	all   []*Value
	made  []int  // by ID: the index in ops of the op that computes the value, -1 for none
	taint []bool // by ID: whether it depends on an input
	fresh map[*Value]bool
	held  []*Value
	ops   []TracedOp
}

// TracedOp is an op that a [Tracer] has recorded; values are named by their IDs.
type TracedOp struct {
	Op         Op
	In         []int
	Out        int
	Path, Kind string // of the layer
}

// Trace sets a tracer; the given values are its inputs.
func (r *Recorder) Trace(inputs []*Value) *Tracer {
	t := &Tracer{met: map[*Value]int{}, fresh: map[*Value]bool{}}
	for _, v := range inputs {
		t.taint[t.add(v, -1)] = true
	}
	r.tracers = append(r.tracers, t)
	return t
}

// Tracing reports whether a tracer is set.
func (r *Recorder) Tracing() bool { return len(r.tracers) > 0 }

// EndTrace stops the trace. The tracer still holds its values.
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

// Number returns the ID of a value, and assigns one if it has none.
func (t *Tracer) Number(v *Value) int {
	if i, ok := t.met[v]; ok {
		return i
	}
	t.held = append(t.held, v.Hold())
	return t.add(v, -1)
}

// Value returns the value with an ID.
func (t *Tracer) Value(number int) *Value { return t.all[number] }

// Leading returns the ops that the values with some IDs depend on, in order.
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

// Depends reports whether an input leads to the value of a number.
func (t *Tracer) Depends(number int) bool { return t.taint[number] }

func (t *Tracer) add(v *Value, made int) int {
	n := len(t.all)
	t.met[v] = n
	t.all, t.made, t.taint = append(t.all, v), append(t.made, made), append(t.taint, false)
	return n
}

// recorded is called for each op that is recorded.
func (t *Tracer) recorded(v *Value, p layer) {
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

// aliased is called for a value that shares the memory of another.
func (t *Tracer) aliased(v, of *Value, p layer) {
	n := t.Number(of)
	out := t.add(v, len(t.ops))
	t.taint[out] = t.taint[n]
	t.ops = append(t.ops, TracedOp{Op: Alias{}, In: []int{n}, Out: out, Path: p.path, Kind: p.kind})
}

// depends reports whether a value depends on an input of the trace.
func (t *Tracer) depends(v *Value) bool {
	n, ok := t.met[v]
	return ok && t.taint[n]
}

// reading panics if the program reads a value that depends on an input: what it computes
// in Go from that value would be exported as a constant.
func (t *Tracer) reading(op string, v *Value, p layer) {
	if t.depends(v) {
		panic(&TraceError{Op: op, Path: p.path, Layer: p.kind, Reading: true,
			Hint: "the model reads elements that depend on its input, and computations in Go are not recorded; use tensor ops instead, such as Where instead of an if"})
	}
}

// assigning panics if a value that depends on an input is stored in a tensor that existed
// before the trace: the result of the next run would depend on it.
func (t *Tracer) assigning(old, src *Value, p layer) {
	if !t.depends(src) || t.depends(old) || t.fresh[old] {
		return
	}
	if n, ok := t.met[old]; ok && t.made[n] >= 0 {
		return
	}
	panic(&TraceError{Op: "Assign", Path: p.path, Layer: p.kind, Assigning: true,
		Hint: "the model stores a value that depends on its input in one of its own tensors, so the next run would compute something different; keep state outside of Forward"})
}
