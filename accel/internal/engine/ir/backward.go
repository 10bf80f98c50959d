package ir

import "slices"

// Backward appends the gradient ops of every value that loss depends on, and adds the
// results to the leaves. Each value's gradient is computed once; a second Backward through
// it panics with a *StateError.
func (r *Recorder) Backward(loss *Value) {
	loss.check("Backward")
	if loss.Len() != 1 {
		panic(&ShapeError{Op: "Backward", Shapes: [][]int{loss.shape}, Hint: "the loss must be a scalar; call Mean() or Sum() first"})
	}
	if !loss.requires {
		panic(&StateError{Op: "Backward", Hint: "the loss does not depend on any parameter that requires a gradient"})
	}
	r.noGrad++
	outer := r.backward
	r.backward = true
	defer func() { r.noGrad--; r.backward = outer }()
	defer func() { r.completed = r.completed[:0] }()
	seed := Float32
	if loss.dtype == Float64 {
		seed = Float64
	}
	r.backwardFrom(loss, r.as(r.Record(Fill{Value: 1, Shape: loss.shape, DType: seed}), loss.dtype))
	for _, l := range r.completed {
		l.After()
	}
}

// backwardFrom computes the gradients of y's ancestors, given that of y.
func (r *Recorder) backwardFrom(y, dy *Value) {
	r.marks++
	order := r.ancestors(y, nil)
	y.grad = dy
	outer := len(r.inProgress)
	r.inProgress = append(r.inProgress, order...)
	defer func() {
		clear(r.inProgress[outer:])
		r.inProgress = r.inProgress[:outer]
	}()
	// A Recompute that runs again may add to a gradient that is otherwise complete.
	early := outer == 0 && !slices.ContainsFunc(order, func(v *Value) bool { return v.leaf == nil && v.op.Name() == Recompute{}.Name() })
	for i := len(order) - 1; i >= 0; i-- {
		l := order[i].leaf
		r.backwardOne(order[i])
		switch {
		case l == nil || l.After == nil || l.Grad == nil || slices.Contains(r.completed, l):
		case early:
			r.aside(l.After)
		default:
			r.completed = append(r.completed, l)
		}
	}
}

// aside runs f, which may record and run lists, during Backward. It holds the gradients in
// progress meanwhile.
func (r *Recorder) aside(f func()) {
	var held []*Value
	for _, v := range r.inProgress {
		if v.grad != nil {
			held = append(held, v.grad.Hold())
		}
	}
	defer func() {
		for _, v := range held {
			v.Drop()
		}
	}()
	f()
}

// ancestors returns the values with gradients that v depends on, inputs first.
func (r *Recorder) ancestors(v *Value, order []*Value) []*Value {
	if v.mark == r.marks {
		return order
	}
	v.mark = r.marks
	if v.consumed {
		panic(&StateError{Op: "Backward", Hint: "an earlier Backward has already used the graph; add the losses and call Backward once"})
	}
	if v.leaf == nil {
		for _, x := range v.in {
			if x.requires {
				order = r.ancestors(x, order)
			}
		}
	}
	return append(order, v)
}

func (r *Recorder) backwardOne(v *Value) {
	dy := v.grad
	v.grad = nil
	outer := r.origin
	r.origin = v.note
	defer func() { r.origin = outer }()
	if v.leaf != nil {
		if dy != nil {
			r.accumulate(v.leaf, dy)
		}
		return
	}
	if dy != nil {
		wants := make([]bool, len(v.in))
		for i, x := range v.in {
			wants[i] = x.requires
		}
		before := r.layer
		if r.phase = v.op.Name(); r.watching {
			r.layer = r.layers[v]
		}
		grads := v.op.Gradient(r, v.in, v, dy, wants)
		r.phase, r.layer = "", before
		for i, g := range grads {
			x := v.in[i]
			if g == nil || !x.requires {
				continue
			}
			if x.grad != nil {
				g = r.join(x.grad, g)
			}
			x.grad = g
		}
	}
	v.consumed = true // now, because a Recompute may run the list meanwhile
	r.offTape(v)
	if v.buf != nil { // computed, so the list does not need the inputs either
		v.forget()
	}
}

// offTape records that no gradient will read v and its inputs any more. Those that nothing else
// holds are freed with the list.
func (r *Recorder) offTape(v *Value) {
	drop := func(x *Value) {
		if x.tape--; x.tape == 0 && x.handles == 0 && x.buf != nil {
			r.released = append(r.released, x)
		}
	}
	drop(v)
	for _, x := range v.in {
		drop(x)
	}
}

// prune takes a value off the tape that Backward can no longer reach, and its inputs if the same is
// true of them then. It must not be called during Backward, which may have reached it.
func (r *Recorder) prune(v *Value) {
	for todo := []*Value{v}; len(todo) > 0; {
		v, todo = todo[len(todo)-1], todo[:len(todo)-1]
		if !v.requires || v.consumed || v.leaf != nil || v.handles > 0 || v.tape != 1 { // a value counts itself
			continue
		}
		v.consumed = true
		r.offTape(v)
		todo = append(todo, v.in...)
	}
}

func (v *Value) forget() {
	v.in, v.op = nil, nil
	v.args = [3]*Value{}
}

func (r *Recorder) accumulate(l *Leaf, g *Value) {
	r.leaves = append(r.leaves, l)
	if l.Grad == nil {
		l.Grad = g.Hold()
		return
	}
	l.Stale = l.Stale || l.Used
	sum := r.Add(l.Grad, g)
	sum.Hold()
	r.replace(&l.Grad, sum)
}

// sumTo sums the gradient of a broadcast result to the shape of an input.
func (r *Recorder) sumTo(g *Value, shape []int) *Value {
	if sameShape(g.shape, shape) {
		return g
	}
	if g.dtype.Is16Bit() {
		return r.as(r.sumTo(r.as(g, Float32), shape), g.dtype)
	}
	skip := len(g.shape) - len(shape)
	if skip > 0 {
		g = r.Record(Sum{From: 0, To: skip}, g)
	}
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] == 1 && g.shape[i] != 1 {
			from := i
			for from > 0 && shape[from-1] == 1 && g.shape[from-1] != 1 {
				from--
			}
			g = r.Record(Sum{From: from, To: i + 1}, g)
			g = r.Reshape(g, append(append(append([]int{}, g.shape[:from]...), ones(i+1-from)...), g.shape[from:]...))
			i = from
		}
	}
	return g
}

func ones(n int) []int { return slices.Repeat([]int{1}, n) }

// Sums of gradients of slices, before → after:
//
//	pad(a) + pad(b), side by side       pad(concat(a, b))
//	  … that fill the whole             concat(a, b)
//	concat of neighboring parts of v   the part of v, a view
//
// So the gradient of a value that is split into slices is computed in one pass or without
// copies.

// join returns the sum of two gradients of one value.
func (r *Recorder) join(a, b *Value) *Value {
	first, ok := a.op.(Pad)
	second, too := b.op.(Pad)
	if !ok || !too || first.Axis != second.Axis || a.dtype != b.dtype {
		return r.Add(a, b)
	}
	if second.Before < first.Before {
		a, b, first, second = b, a, second, first
	}
	axis := first.Axis
	x, y := a.in[0], b.in[0]
	if first.Before+x.shape[axis] != second.Before {
		return r.Add(a, b)
	}
	joined := r.concat(axis, x, y)
	if joined.shape[axis] == first.Size {
		return joined
	}
	return r.Record(Pad{Axis: axis, Before: first.Before, Size: first.Size}, joined)
}

// concat concatenates two values, which may be concatenations themselves.
func (r *Recorder) concat(axis int, x, y *Value) *Value {
	var parts []*Value
	for _, v := range []*Value{x, y} {
		if c, ok := v.op.(Concat); ok && c.Axis == axis {
			parts = append(parts, v.in...)
		} else {
			parts = append(parts, v)
		}
	}
	if v := r.neighbors(axis, parts); v != nil {
		return v
	}
	return r.Record(Concat{Axis: axis}, parts...)
}

// neighbors returns the concatenation of values that together are a range of another, maybe with
// the dimensions in another order, as a view; and nil for others. Casts of them become one of
// the whole.
func (r *Recorder) neighbors(axis int, parts []*Value) *Value {
	base, all, casts := viewed(parts[0])
	all = Layout{Shape: slices.Clone(all.Shape), Stride: slices.Clone(all.Stride), Offset: all.Offset}
	for _, v := range parts[1:] {
		from, l, other := viewed(v)
		if from != base || !slices.Equal(other, casts) {
			return nil
		}
		if all.Shape[axis] == 1 { // its stride did not matter
			all.Stride[axis] = l.Offset - all.Offset
		}
		if l.Offset != all.Offset+all.Shape[axis]*all.Stride[axis] {
			return nil
		}
		for d, n := range l.Shape {
			if n != 1 && l.Stride[d] != all.Stride[d] {
				return nil
			}
		}
		all.Shape[axis] += l.Shape[axis]
	}
	order, ok := all.inMemoryOrder()
	if !ok && !all.Contiguous() || Len(all.Shape) == 0 {
		return nil
	}
	flat := r.Reshape(base, []int{base.Len()})
	for _, d := range casts {
		flat = r.as(flat, d)
	}
	if !ok {
		return r.part(flat, all.Offset, all.Shape)
	}
	return r.Record(Permute{Perm: inverse(order)}, r.part(flat, all.Offset, all.permuted(order).Shape))
}

// viewed returns the value of which v is a view, and where its elements are in that value, if it were
// row-major. casts are the types between them, the last that of v.
func viewed(v *Value) (base *Value, l Layout, casts []DType) {
	if v.op == nil || len(v.in) != 1 {
		return v, RowMajor(v.shape), nil
	}
	switch op := v.op.(type) {
	case Cast:
		base, l, casts = viewed(v.in[0])
		return base, l, append(casts, op.To)
	case viewer:
		base, l, casts = viewed(v.in[0])
		if out, ok := op.view(l); ok {
			return base, out, casts
		}
	}
	return v, RowMajor(v.shape), nil
}

// Source is a parameter that a value depends on.
type Source struct {
	Leaf  *Leaf
	Shape []int
}

// Sources returns the parameters where gradients of y end, except those in without, each
// once.
func (r *Recorder) Sources(y *Value, without []*Leaf) []Source {
	if !y.requires {
		return nil
	}
	var found []Source
	add := func(s Source) {
		if !slices.Contains(without, s.Leaf) && !slices.ContainsFunc(found, func(f Source) bool { return f.Leaf == s.Leaf }) {
			found = append(found, s)
		}
	}
	r.marks++
	for _, v := range r.ancestors(y, nil) {
		if v.leaf != nil {
			add(Source{v.leaf, v.shape})
			continue
		}
		if c, ok := v.op.(Recompute); ok {
			for _, s := range c.Sources {
				add(s)
			}
		}
	}
	return found
}
