package ir

import (
	"fmt"
	"math"
	"unsafe"
)

// NonFinite describes the first NaN or infinity.
type NonFinite struct {
	Op       string     // the op that computed it; empty for a tensor from before the list
	Layer    string     // path of the layer, such as "2" or "1.0"; empty if unknown
	Kind     string     // the layer, such as "Dense(10)"
	Gradient bool       // the op belongs to the gradient of Op
	Shape    []int      // shape of the tensor
	Element  int        // index of the first such element, in row-major order
	Value    float64    // NaN, +Inf or -Inf
	Before   *NonFinite // for NaN: the first infinity before it, or nil
}

// String returns the op, shape, element and value, and the infinity before.
func (n *NonFinite) String() string {
	what := n.Op
	switch {
	case n.Op == "":
		what = "an input"
	case n.Gradient:
		what = "the gradient of " + n.Op
	}
	if n.Layer != "" {
		what += " in layer " + n.Layer + ", " + n.Kind
	}
	s := fmt.Sprintf("%s: element %d of %s is %v", what, n.Element, FormatShape(n.Shape), n.Value)
	if n.Before != nil {
		s += "; before, " + n.Before.String()
	}
	return s
}

// Watch makes every op its own step and checks all results until it is called again with
// false. Then it returns the first NaN, or otherwise the first infinity, or nil. It is slow
// and keeps all values of a list in memory.
func (r *Recorder) Watch(on bool) *NonFinite {
	r.Flush()
	found := r.nan
	if found == nil {
		found = r.infinite
	} else {
		found.Before = r.infinite
	}
	r.watching, r.nan, r.infinite = on, nil, nil
	r.plans = newPlanCache()
	if r.layers = nil; on {
		r.layers = map[*Value]layer{}
	}
	return found
}

// look checks the values of the list that has just run, inputs first.
func (r *Recorder) look() {
	for _, x := range r.externals {
		r.inspect(x, "", "")
	}
	for i, v := range r.nodes {
		if _, constant := v.op.(Fill); !constant {
			r.inspect(v, v.op.Name(), r.phases[i])
		}
	}
}

// inspect checks the elements of a float32 or float64 value, unless a NaN was already
// found.
func (r *Recorder) inspect(v *Value, op, phase string) {
	if r.nan != nil || v.buf == nil || v.dtype != Float32 && v.dtype != Float64 {
		return
	}
	raw := r.download(v)
	for i := range v.Len() {
		var f float64
		if v.dtype == Float32 {
			f = float64(*(*float32)(unsafe.Pointer(&raw[i*4])))
		} else {
			f = *(*float64)(unsafe.Pointer(&raw[i*8]))
		}
		if !math.IsNaN(f) && !math.IsInf(f, 0) {
			continue
		}
		n := &NonFinite{Op: op, Layer: r.layers[v].path, Kind: r.layers[v].kind, Shape: append([]int{}, v.shape...), Element: i, Value: f}
		if phase != "" {
			n.Op, n.Gradient = phase, true
		}
		if math.IsNaN(f) {
			r.nan = n
			return
		}
		if r.infinite == nil {
			r.infinite = n
		}
	}
}
