package tensor

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Prod multiplies the elements along the axes, which are removed, or all elements if no axis is given. The
// product of no elements is 1. The gradient is right also where elements are 0: it is the product of the
// others. Elements are multiplied in pairs, then the products in pairs, and so on.
func (t *Tensor) Prod(axes ...int) *Tensor {
	return compute(composite{name: "Prod", cast: ir.CastFloat32}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		x := v[0]
		wantFloat("Prod", x)
		if len(axes) == 0 {
			return product(r, r.Reshape(x, []int{x.Len()}), 0)
		}
		named := namedAxes("Prod", x.Shape(), axes)
		for a := len(named) - 1; a >= 0; a-- {
			if named[a] {
				x = product(r, x, a)
			}
		}
		return x
	}, t)
}

// product multiplies along one axis, the first half by the second until one element is left.
func product(r *ir.Recorder, x *ir.Value, a int) *ir.Value {
	n := x.Shape()[a]
	if n == 0 { // ones that depend on x, as the results of other sizes do
		return r.Record(ir.AddScalar{Scalar: 1}, r.Record(ir.Sum{From: a, To: a + 1}, x))
	}
	part := func(from, to int) *ir.Value { return r.Record(ir.Slice{Axis: a, From: from, To: to}, x) }
	var odd *ir.Value // the product of the elements that had no partner
	for n > 1 {
		switch {
		case n%2 == 0:
		case odd == nil:
			odd = part(n-1, n)
		default:
			odd = r.Mul(odd, part(n-1, n))
		}
		n /= 2
		x = r.Mul(part(0, n), part(n, 2*n))
	}
	if odd != nil {
		x = r.Mul(x, odd)
	}
	return r.Reshape(x, slices.Delete(slices.Clone(x.Shape()), a, a+1))
}

// CumProd returns the cumulative product along an axis. Its gradient is right also where elements are 0. It
// takes ⌈log₂ n⌉ multiplications of all n elements along the axis.
func (t *Tensor) CumProd(along int) *Tensor {
	return compute(composite{name: "CumProd", cast: ir.CastFloat32}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		x := v[0]
		wantFloat("CumProd", x)
		return r.Scan(ir.Mul{}, x, axis("CumProd", x.Shape(), along), false)
	}, t)
}
