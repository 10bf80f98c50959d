package ir

import (
	"errors"
	"slices"
)

// Parameters that are rounded to 16 bits, before → after:
//
//	s = bfloat16(w); y = f(s)                       s = bfloat16(w); y = f(rounded(s, w))
//	w = w - rate·g                                  w = w - rate·g; s = bfloat16(w)
//	s = bfloat16(w); y = f(s), in the next step     y = f(rounded(s, w))
//
// So an update writes both, in one pass, and the next step reads s. Nothing updates a frozen parameter, whose s
// serves all steps. The values that a parameter has one after the other share a [rounded] with s and the value of
// which s is the rounding. A value never changes: whatever replaces the parameter's makes s invalid, unless it is
// rounded with the replacement. What changes the memory of a value drops s; see forgetRounded.

// Rounded is y = s, where s is the rounding of a parameter w to 16 bits. Its gradient is that of the cast of
// w.
type Rounded struct{ sameOp }

func (Rounded) Name() string   { return "Rounded" }
func (Rounded) noONNX() string { return "a trace records the cast" }

// Gradient returns dy in w's type.
func (Rounded) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{nil, r.as(dy, in[1].dtype)}
}

// rounded is the rounding of a parameter. All its values have it: the next one gets it from the last.
type rounded struct {
	short *Value // nil if there is none
	of    *Value
	read  bool // whether anything has read it
}

// Freeze makes a value that of a parameter without a gradient, unless it is the result of ops with one.
func (v *Value) Freeze() {
	if v.rounded == nil && !v.requires {
		v.rounded = &rounded{}
	}
}

// Round returns v rounded to 16 bits. The rounding of a parameter is kept for later lists.
func (r *Recorder) Round(v *Value, to DType) *Value {
	w, views := parameterOf(v)
	if w == nil || w.dtype != Float32 || r.recast || len(r.tracers) > 0 || w.buf != nil && w.buf.exposed {
		return r.as(v, to)
	}
	k := w.rounded
	if k.short == nil || k.of != w || k.short.dtype != to || k.short.gone != "" {
		r.setRounded(w, to)
	}
	k.read = true
	y := r.Record(Rounded{}, k.short, w)
	for i := len(views) - 1; i >= 0; i-- {
		y = r.Record(views[i], y)
	}
	return y
}

// parameterOf returns the parameter of which v is a view, and the ops between them, the last first. It returns
// nil if v is no view of a parameter, or not of all of it.
func parameterOf(v *Value) (w *Value, views []Op) {
	for v.rounded == nil && v.op != nil {
		switch v.op.(type) {
		case Permute, Reshape:
			views = append(views, v.op)
			v = v.in[0]
		default:
			return nil, nil
		}
	}
	if v.rounded == nil {
		return nil, nil
	}
	return v, views
}

// setRounded makes the rounding of w that of its parameter.
func (r *Recorder) setRounded(w *Value, to DType) {
	r.noGrad++
	defer func() { r.noGrad-- }()
	k := w.rounded
	s := r.Record(Cast{To: to}, w).Hold()
	switch {
	case k.short == nil:
		k.short = s
	case w.buf == nil:
		r.replace(&k.short, s)
	default: // w is what it is even if the list fails, so nothing that a GPU may skip may round it; see errRounded
		r.Release(k.short)
		k.short = s
	}
	k.of, k.read = w, false
}

// roundNext rounds the next value of a parameter, if anything has read the rounding of its last one.
func (r *Recorder) roundNext(last, next *Value) {
	k := next.rounded
	switch computed := last.buf != nil; {
	case k.short == nil:
	case k.of != last || computed && (!k.read || last.buf.exposed) || len(r.tracers) > 0:
		r.forgetRounded(next)
	default: // a value that is replaced in the list that computes it was there to be read by nothing else
		r.setRounded(next, k.short.dtype)
	}
}

// forgetRounded drops the rounding of a parameter, if v is one and has one.
func (r *Recorder) forgetRounded(v *Value) {
	if k := v.rounded; k != nil && k.short != nil {
		r.Release(k.short)
		*k = rounded{}
	}
}

// errRounded is the error of a plan in which the next value of a parameter and its rounding do not both
// overwrite the last ones. A GPU skips kernels that would overwrite values after a fault, which the host may
// notice much later: then both are the old ones. Otherwise the rounding is computed apart, from what the
// parameter is after the fault, and overwrites nothing.
var errRounded = errors.New("ir: the rounding of a parameter does not replace the last one")

// roundsUpdate reports whether a node rounds the next value of a parameter.
func (n *planned) roundsUpdate() bool {
	c, ok := n.node.op.(Cast)
	return ok && c.To.Is16Bit() && n.kept && n.node.in[0].rounded != nil && n.node.in[0].index >= 0
}

// losesRounding reports whether the plan is wrong as errRounded says.
func (b *builder) losesRounding() bool {
	replaced := func(n *planned) bool {
		return slices.ContainsFunc(b.donated, func(d donation) bool { return d.slot == n.slot })
	}
	for _, n := range b.planner.nodes {
		if !n.live || n.class != Elementwise || !n.roundsUpdate() {
			continue
		}
		w := b.planner.nodes[n.node.in[0].index]
		if w.class == View && w.base != nil {
			w = w.base
		}
		if !replaced(n) || !replaced(w) {
			return true
		}
	}
	return false
}
