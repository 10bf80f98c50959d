package tensor

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Add returns t + o, elementwise. The shapes broadcast: aligned at the right, each
// pair of dimensions is equal or one of them is 1. Like Sub, Mul, Neg, Abs, Square, Maximum, Minimum, AddScalar, MulScalar,
// Clamp and Where it also takes int32 or uint8: the result has that type and wraps around if it is too large, as
// in Go and PyTorch.
func (t *Tensor) Add(o *Tensor) *Tensor { return record(ir.Add{}, t, o) }

// Sub returns t - o, elementwise with broadcasting.
func (t *Tensor) Sub(o *Tensor) *Tensor { return record(ir.Sub{}, t, o) }

// Mul returns t·o, elementwise with broadcasting.
func (t *Tensor) Mul(o *Tensor) *Tensor { return record(ir.Mul{}, t, o) }

// Div returns t/o, elementwise with broadcasting.
func (t *Tensor) Div(o *Tensor) *Tensor { return record(ir.Div{}, t, o) }

// Maximum returns the larger of t and o, elementwise with broadcasting; NaN if
// either is NaN.
func (t *Tensor) Maximum(o *Tensor) *Tensor { return record(ir.Maximum{}, t, o) }

// Minimum returns the smaller of t and o, elementwise with broadcasting; NaN if
// either is NaN.
func (t *Tensor) Minimum(o *Tensor) *Tensor { return record(ir.Minimum{}, t, o) }

// Pow returns tᵒ, elementwise with broadcasting, as math.Pow.
func (t *Tensor) Pow(o *Tensor) *Tensor { return record(ir.Pow{}, t, o) }

// AddScalar returns t + s. The scalar is not part of the plan: it may change each step at no cost.
func (t *Tensor) AddScalar(s float64) *Tensor { return record(ir.AddScalar{Scalar: s}, t) }

// MulScalar returns s·t. The scalar is not part of the plan: it may change each step at no cost.
func (t *Tensor) MulScalar(s float64) *Tensor { return record(ir.MulScalar{Scalar: s}, t) }

// PowScalar returns tˢ, elementwise, as math.Pow.
func (t *Tensor) PowScalar(s float64) *Tensor { return record(ir.PowScalar{Scalar: s}, t) }

// Neg returns -t.
func (t *Tensor) Neg() *Tensor { return record(ir.Neg{}, t) }

// Exp returns eᵗ, elementwise.
func (t *Tensor) Exp() *Tensor { return record(ir.Exp{}, t) }

// Log returns the natural logarithm of t, elementwise.
func (t *Tensor) Log() *Tensor { return record(ir.Log{}, t) }

// Expm1 returns eᵗ - 1, elementwise, with all digits also near 0, where Exp().AddScalar(-1) has none.
func (t *Tensor) Expm1() *Tensor { return record(ir.Expm1{}, t) }

// Log1p returns ln(1 + t), elementwise, with all digits also near 0; -Inf at -1, NaN below.
func (t *Tensor) Log1p() *Tensor { return record(ir.Log1p{}, t) }

// Erf returns the error function of t, 2/√π·∫₀ᵗ e^(-x²) dx, elementwise.
func (t *Tensor) Erf() *Tensor { return record(ir.Erf{}, t) }

// Sqrt returns the square root of t, elementwise.
func (t *Tensor) Sqrt() *Tensor { return record(ir.Sqrt{}, t) }

// Square returns t², elementwise.
func (t *Tensor) Square() *Tensor { return record(ir.Square{}, t) }

// Abs returns |t|, elementwise.
func (t *Tensor) Abs() *Tensor { return record(ir.Abs{}, t) }

// Sign returns 1 where t is positive, -1 where it is negative, and 0 where it is 0 or NaN. Its
// gradient is 0.
func (t *Tensor) Sign() *Tensor { return record(ir.Sign{}, t) }

// Tanh returns the hyperbolic tangent of t, elementwise.
func (t *Tensor) Tanh() *Tensor { return record(ir.Tanh{}, t) }

// Sigmoid returns 1/(1+e⁻ᵗ), elementwise.
func (t *Tensor) Sigmoid() *Tensor { return record(ir.Sigmoid{}, t) }

// ReLU returns max(t, 0), elementwise.
func (t *Tensor) ReLU() *Tensor { return record(ir.ReLU{}, t) }

// GELU returns t·Φ(t), elementwise, where Φ is the standard normal distribution function (the exact
// form, not the tanh approximation).
func (t *Tensor) GELU() *Tensor { return record(ir.GELU{}, t) }

// GELUTanh approximates [Tensor.GELU] by t/2·(1 + tanh(√(2/π)·(t + 0.044715·t³))), elementwise, as
// torch's gelu with approximate="tanh".
func (t *Tensor) GELUTanh() *Tensor { return record(ir.GELUTanh{}, t) }

// SiLU returns t·σ(t), elementwise, where σ is the logistic function.
func (t *Tensor) SiLU() *Tensor { return record(ir.SiLU{}, t) }

// HardSwish returns t·min(max(t+3, 0), 6)/6, elementwise, as torch's hardswish.
func (t *Tensor) HardSwish() *Tensor { return record(ir.HardSwish{}, t) }

// Softplus returns ln(1 + eᵗ), elementwise, without overflow: torch's softplus with beta 1.
func (t *Tensor) Softplus() *Tensor { return record(ir.Softplus{}, t) }

// LeakyReLU returns t where it is positive, else slope·t, elementwise.
func (t *Tensor) LeakyReLU(slope float64) *Tensor { return record(ir.LeakyReLU{Scalar: slope}, t) }

// ELU returns t where it is positive, else scale·(eᵗ - 1), elementwise.
func (t *Tensor) ELU(scale float64) *Tensor { return record(ir.ELU{Scalar: scale}, t) }

// Sin returns the sine of t in radians, elementwise.
func (t *Tensor) Sin() *Tensor { return record(ir.Sin{}, t) }

// Cos returns the cosine of t in radians, elementwise.
func (t *Tensor) Cos() *Tensor { return record(ir.Cos{}, t) }

// Floor returns the largest integer that is not above t, elementwise. Its gradient is 0.
func (t *Tensor) Floor() *Tensor { return record(ir.Floor{}, t) }

// Ceil returns the smallest integer that is not below t, elementwise. Its gradient is 0.
func (t *Tensor) Ceil() *Tensor { return record(ir.Ceil{}, t) }

// Round returns the integer nearest to t, elementwise; of two equally near ones the even one: 0.5 and 2.5
// become 0 and 2. Its gradient is 0.
func (t *Tensor) Round() *Tensor { return record(ir.Round{}, t) }

// Clamp limits t to [low, high], elementwise; an infinite bound does not limit. The gradient flows
// where t is strictly within the bounds, as in PyTorch.
func (t *Tensor) Clamp(low, high float64) *Tensor {
	if !(low <= high) {
		panic(&ShapeError{Op: "Clamp", Hint: fmt.Sprintf("the lower bound %v is above the upper bound %v", low, high)})
	}
	if d := t.DType(); d == Int32 || d == Uint8 {
		for _, bound := range []float64{low, high} {
			if !math.IsInf(bound, 0) {
				wantWhole("Clamp", bound, d)
			}
		}
	}
	return compute(composite{name: "Clamp"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return r.Record(ir.AtMost{Scalar: high}, r.Record(ir.AtLeast{Scalar: low}, v[0]))
	}, t)
}

// IsNaN returns 1 where t is NaN, else 0, as float32. t has any element type; integers are never NaN.
func (t *Tensor) IsNaN() *Tensor {
	return t.classified("IsNaN", func(r *ir.Recorder, x *ir.Value) *ir.Value {
		return r.Record(ir.Not{}, r.Record(ir.Eq{}, x, x))
	})
}

// IsInf returns 1 where t is infinite, else 0, as float32. t has any element type; integers are finite.
func (t *Tensor) IsInf() *Tensor {
	return t.classified("IsInf", func(r *ir.Recorder, x *ir.Value) *ir.Value {
		return r.Record(ir.Eq{}, r.Record(ir.Abs{}, x), fill(r, math.Inf(1), x.DType()))
	})
}

// IsFinite returns 1 where t is neither infinite nor NaN, else 0, as float32. t has any element type;
// integers are finite.
func (t *Tensor) IsFinite() *Tensor {
	return t.classified("IsFinite", func(r *ir.Recorder, x *ir.Value) *ir.Value {
		return r.Record(ir.Greater{}, fill(r, math.Inf(1), x.DType()), r.Record(ir.Abs{}, x))
	})
}

// classified applies f to t as float32 or float64. Every other type fits into float32: large integers
// are rounded, but stay finite.
func (t *Tensor) classified(op string, f func(r *ir.Recorder, x *ir.Value) *ir.Value) *Tensor {
	return arrange(composite{name: op}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		if v[0].DType() == Float64 {
			return f(r, v[0])
		}
		return f(r, cast(r, v[0], Float32))
	}, t)
}

// Eq returns 1 where t and o are equal, else 0, as float32, with broadcasting. Both must have the
// same element type, which may be any.
func (t *Tensor) Eq(o *Tensor) *Tensor { return record(ir.Eq{}, t, o) }

// Greater returns 1 where t > o, else 0, as float32, with broadcasting. Both must have the same
// element type, which may be any.
func (t *Tensor) Greater(o *Tensor) *Tensor { return record(ir.Greater{}, t, o) }

// Less returns 1 where t < o, else 0, as float32, with broadcasting. Both must have the same
// element type, which may be any.
func (t *Tensor) Less(o *Tensor) *Tensor { return record(ir.Greater{}, o, t) }

// EqScalar is [Tensor.Eq] with a number, such as the label of padding. Floats are compared in their own
// type, integers exactly, but for int64 beyond 2⁵³.
func (t *Tensor) EqScalar(s float64) *Tensor { return t.withScalar(s, (*Tensor).Eq) }

// GreaterScalar is [Tensor.Greater] with a number, as [Tensor.EqScalar] compares.
func (t *Tensor) GreaterScalar(s float64) *Tensor { return t.withScalar(s, (*Tensor).Greater) }

// LessScalar is [Tensor.Less] with a number, as [Tensor.EqScalar] compares.
func (t *Tensor) LessScalar(s float64) *Tensor { return t.withScalar(s, (*Tensor).Less) }

// withScalar compares t with a number. Integers become float64, which has all int32, so that a number
// that is no integer, or outside of their range, is compared as it is.
func (t *Tensor) withScalar(s float64, compare func(t, o *Tensor) *Tensor) *Tensor {
	if !t.DType().IsFloat() {
		t = t.Cast(Float64)
		defer t.Release()
	}
	o := FromFloat64s([]float64{s})
	if d := t.DType(); d != Float64 {
		exact := o
		o = exact.Cast(d)
		exact.Release()
	}
	defer o.Release()
	return compare(t, o)
}

// And returns 1 where both t and o are not 0, else 0, with broadcasting.
func (t *Tensor) And(o *Tensor) *Tensor { return record(ir.And{}, t, o) }

// Or returns 1 where t or o is not 0, else 0, with broadcasting.
func (t *Tensor) Or(o *Tensor) *Tensor { return record(ir.Or{}, t, o) }

// Not returns 1 where t is 0, else 0.
func (t *Tensor) Not() *Tensor { return record(ir.Not{}, t) }

// Where returns a where mask is not 0, else b, with broadcasting of all three.
func Where(mask, a, b *Tensor) *Tensor { return record(ir.Where{}, mask, a, b) }

// MaskedFill returns value where mask is not 0, else t, with broadcasting: Where with a number. The mask
// is float32, as comparisons return it, and t has floats. The gradient flows where mask is 0.
func (t *Tensor) MaskedFill(mask *Tensor, value float64) *Tensor {
	return arrange(composite{name: "MaskedFill"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		d := v[1].DType()
		x := v[1]
		if d.Is16Bit() {
			x = cast(r, x, Float32)
		}
		wantFloat("MaskedFill", x)
		return cast(r, r.Record(ir.Where{}, v[0], fill(r, value, x.DType()), x), d)
	}, mask, t)
}

// wantFloat panics with a *DTypeError if an op that computes with floats gets other elements.
func wantFloat(op string, v *ir.Value) {
	if d := v.DType(); d != Float32 && d != Float64 {
		panic(&DTypeError{Op: op, DTypes: []DType{d}, Hint: "the input must have floats; convert with Cast(tensor.Float32)"})
	}
}

// Cast returns t converted to another element type. Floats are truncated when they become integers;
// Bool is t ≠ 0.
func (t *Tensor) Cast(d DType) *Tensor {
	if !d.Known() {
		panic(&DTypeError{Op: "Cast", DTypes: []DType{d}, Hint: "tensors cannot have this element type"})
	}
	return record(ir.Cast{To: d}, t)
}

// Dropout sets each element to zero with probability p and scales the others by 1/(1-p), so that
// the mean stays the same. It returns t itself if training is false or p is 0. A nil generator
// means the default one.
func (t *Tensor) Dropout(p float64, g *Generator, training bool) *Tensor {
	if !(p >= 0 && p < 1) {
		panic(&ShapeError{Op: "Dropout", Hint: fmt.Sprintf("the probability %v is not in [0, 1)", p)})
	}
	if !training || p == 0 {
		return t
	}
	return compute(composite{name: "Dropout"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		key, counter := g.orDefault().take((v[0].Len() + 3) / 4)
		mask := r.Record(ir.Bernoulli{Keep: 1 - p, Scale: 1 / (1 - p), Key: key, Counter: counter, Shape: v[0].Shape()})
		return r.Mul(v[0], cast(r, mask, v[0].DType()))
	}, t)
}
