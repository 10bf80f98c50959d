package tensor

import (
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// cumMax is an op that has no kernel on any device: the largest element so far along one axis.
type cumMax struct{ axis int }

func (cumMax) Name() string                  { return "CumMax" }
func (cumMax) Class([]*ir.Value) ir.Class    { return ir.Whole }
func (o cumMax) AppendKey(key []byte) []byte { return append(key, byte(o.axis)) }
func (cumMax) Infer(in []*ir.Value) (ir.Type, error) {
	return ir.Type{Shape: in[0].Shape(), DType: in[0].DType()}, nil
}

func (o cumMax) Compose(r *ir.Recorder, in []*ir.Value) *ir.Value {
	if in[0].Shape()[o.axis] == 1 {
		return in[0]
	}
	return r.Scan(ir.Maximum{}, r.MulScalar(in[0], 1), o.axis, false) // the scalar is dynamic, and not of the list
}

func (cumMax) Gradient(r *ir.Recorder, in []*ir.Value, out, dy *ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{r.Mul(dy, r.Record(ir.Cast{To: dy.DType()}, r.Record(ir.Eq{}, in[0], out)))}
}

// TestOpWithoutKernels runs an op whose composition is all there is, between ops with dynamic scalars, whose plan is
// replayed with other scalars.
func TestOpWithoutKernels(t *testing.T) {
	for _, d := range []DType{Float32, Float64} {
		x := Parameter(New([]float32{1, 3, 2, 5, 4, 0}, 2, 3).Cast(d))
		for _, scale := range []float64{2, 3, 4} {
			x.ZeroGrad()
			y := record(cumMax{1}, x.MulScalar(scale)).AddScalar(1)
			y.Sum().Backward()
			want := []float64{scale + 1, 3*scale + 1, 3*scale + 1, 5*scale + 1, 5*scale + 1, 5*scale + 1}
			if got := y.Float64s(); !slices.Equal(got, want) {
				t.Errorf("%s, scale %v: %v, want %v", d, scale, got, want)
			}
			if got, want := x.Grad().Float64s(), []float64{scale, scale, 0, scale, 0, 0}; !slices.Equal(got, want) {
				t.Errorf("%s, scale %v: the gradient is %v, want %v", d, scale, got, want)
			}
		}
		a := record(cumMax{0}, New([]float32{2, 1, 1, 7}, 2, 2).Cast(d))
		if got := a.Float64s(); !slices.Equal(got, []float64{2, 1, 2, 7}) {
			t.Errorf("%s, along axis 0: %v", d, got)
		}
		one := New([]float32{4}, 1).Cast(d)
		if got := record(cumMax{0}, one).Float64s(); !slices.Equal(got, []float64{4}) { // the composition is its input
			t.Errorf("%s, one element: %v", d, got)
		}
	}
}
