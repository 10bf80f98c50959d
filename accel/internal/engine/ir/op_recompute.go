package ir

// Recompute is y = f(x…), the first input. No intermediate results of f are kept: the
// gradient runs f again on the other inputs, x (Chen et al., arXiv:1604.06174).
type Recompute struct {
	sameOp // what Replay records is in the list itself, and in its key
	// Replay records f for substitutes of the inputs.
	Replay func(in []*Value) *Value
	// Sources are the parameters that f uses besides its inputs.
	Sources []Source
}

func (Recompute) Name() string   { return "Recompute" }
func (Recompute) noONNX() string { return "it is recorded only for gradients" }

// Gradient records f again and then its gradient. The gradients of parameters that f uses
// are added to them at once.
func (o Recompute) Gradient(r *Recorder, in []*Value, _, dy *Value, wants []bool) []*Value {
	inputs := r.stand(in[1:])
	y := r.suspend(dy, func() *Value { return o.Replay(inputs) })
	grads := make([]*Value, len(in))
	if !y.requires {
		return grads
	}
	r.backwardFrom(y, dy)
	for i, x := range inputs {
		if wants[i+1] && x.leaf != nil && x.leaf.Grad != nil {
			grads[i+1] = x.leaf.Grad
			grads[i+1].Drop()
		}
	}
	return grads
}

// Recompute records f(in…) and, if a gradient flows into it, forgets what f computed on the
// way.
func (r *Recorder) Recompute(f func(in []*Value) *Value, in []*Value) *Value {
	inputs := r.stand(in)
	y := f(inputs)
	if !y.requires || r.noGrad > 0 {
		return r.Alias(y)
	}
	own := make([]*Leaf, len(inputs))
	for i, x := range inputs {
		own[i] = x.leaf
	}
	sources := r.Sources(y, own)
	r.forgetTape(y)
	y.requires = true // through the op, whether or not one of its inputs does
	out := r.Record(Recompute{Replay: f, Sources: sources}, append([]*Value{y}, in...)...)
	y.requires = y.leaf != nil
	return out
}

// stand returns substitutes: values with the same content where gradients end.
func (r *Recorder) stand(in []*Value) []*Value {
	r.noGrad++
	defer func() { r.noGrad-- }()
	out := make([]*Value, len(in))
	for i, x := range in {
		out[i] = r.Record(Alias{}, x)
		if x.requires {
			out[i].leaf, out[i].requires = &Leaf{}, true
		}
	}
	return out
}

// forgetTape removes the ops through which gradients flow into y.
func (r *Recorder) forgetTape(y *Value) {
	r.marks++
	for _, v := range r.ancestors(y, nil) {
		if v.leaf != nil {
			continue
		}
		v.requires = false
		r.offTape(v)
	}
}

// suspend runs f, which records with gradients, during Backward.
func (r *Recorder) suspend(dy *Value, f func() *Value) (y *Value) {
	dy.Hold()
	off, phase := r.noGrad, r.phase
	r.noGrad -= off
	r.replays++
	defer func() {
		r.replays--
		r.noGrad += off
		r.phase = phase
		dy.Drop()
	}()
	r.aside(func() { y = f() })
	return y
}

// Replaying reports whether a Recompute is running its function again.
func (r *Recorder) Replaying() bool { return r.replays > 0 }
