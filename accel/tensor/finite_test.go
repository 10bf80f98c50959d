package tensor

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// TestRequireFinite trains with and without the check: a valid step gives the same result, and a
// step with a non-finite loss changes nothing, including running statistics.
func TestRequireFinite(t *testing.T) {
	type model struct{ w, b, mean, variance, first *Tensor }
	build := func() *model {
		g := NewGenerator(4)
		return &model{w: Parameter(Randn(g, 3, 3)), b: Parameter(Zeros(3)), mean: Zeros(3), variance: Ones(3), first: Zeros(3, 3)}
	}
	step := func(m *model, x *Tensor, watch bool) error {
		return catch(func() {
			y := releaseAfter(BatchNorm(Linear(x, m.w, m.b), nil, nil, m.mean, m.variance, 0.1, 1e-5, true), (*Tensor).ReLU)
			loss := y.MatMul(m.w).Log().Mean()
			if watch {
				loss = loss.RequireFinite("the loss")
			}
			m.w.ZeroGrad()
			m.b.ZeroGrad()
			loss.Backward()
			NoGrad(func() {
				m.first.Assign(m.first.MulScalar(0.9).Add(m.w.Grad()))
				m.w.Assign(m.w.Sub(m.first.MulScalar(0.01)))
				m.b.Assign(m.b.Sub(m.b.Grad().MulScalar(0.01)))
			})
			Flush()
		})
	}
	all := func(m *model) []float32 {
		return slices.Concat(m.w.Data(), m.b.Data(), m.mean.Data(), m.variance.Data(), m.first.Data())
	}
	watched, plain := build(), build()
	for _, m := range []*model{watched, plain} { // weights for which the arguments of the logarithm are positive
		NoGrad(func() { m.w.Assign(m.w.Abs().AddScalar(0.1)) })
	}
	good := Randn(NewGenerator(5), 20, 3)
	good = Concat(0, good, good.Neg()) // each column has positive elements
	for range 3 {
		if a, b := step(watched, good, true), step(plain, good, false); (a == nil) != (b == nil) {
			t.Fatalf("%v, without a watch %v", a, b)
		}
	}
	before := all(watched)
	bad := New(append([]float32{float32(math.Inf(1))}, make([]float32, 11)...), 4, 3)
	for range 2 { // the second time with the cached plan
		err := step(watched, bad, true)
		var number *NonFiniteError
		if !errors.As(err, &number) || number.What != "the loss" || !strings.HasPrefix(err.Error(), "the loss is ") {
			t.Fatalf("got %v", err)
		}
		if got := all(watched); !slices.Equal(got, before) {
			t.Errorf("a failed step has changed\n%v to\n%v", before, got)
		}
	}
	if g := watched.b.Grad(); g != nil {
		t.Errorf("the gradient of a step that failed is %v", g)
	}
}

// TestRequireFiniteIsTheTensor compares values, gradients and types with the tensor's own.
func TestRequireFiniteIsTheTensor(t *testing.T) {
	for _, d := range []DType{Float32, Float64, BFloat16} {
		p := Parameter(New([]float32{1, 2, 3, 4}, 2, 2).Cast(d))
		y := p.T().RequireFinite("x")
		y.Square().Sum().Backward()
		if !slices.Equal(y.Data(), []float32{1, 3, 2, 4}) || !slices.Equal(p.Grad().Data(), []float32{2, 4, 6, 8}) || y.DType() != d {
			t.Errorf("%v: %v with gradient %v", d, y, p.Grad())
		}
	}
	err := catch(func() { New([]float32{1, float32(math.Inf(-1))}, 2).RequireFinite("x").Data() })
	if err == nil || err.Error() != "x: element 1 is -Inf" {
		t.Errorf("got %v", err)
	}
	if err := catch(func() { FromInts([]int{1}, 1).RequireFinite("x") }); err == nil {
		t.Error("RequireFinite accepted an int32 tensor")
	}
}

// TestFindNonFiniteNamesTheLayer records ops within NameScope.
func TestFindNonFiniteNamesTheLayer(t *testing.T) {
	w := Parameter(Zeros(2))
	in := func(path, kind string, f func()) { tensors.NameScope(func() (string, string) { return path, kind }, f) }
	for _, row := range []struct {
		f    func()
		want string
	}{
		{func() {
			in("0", "Outer", func() { in("3", "Inner", func() { w.Log().Data() }) })
		}, "Log in layer 0.3, Inner: element 0 of [2] is -Inf"},
		{func() {
			var y *Tensor
			in("1", "Root", func() { y = w.Sqrt() })
			y.Sum().Backward()
			w.Grad().Data()
		}, "the gradient of Sqrt in layer 1, Root: element 0 of [2] is +Inf"},
	} {
		if found := FindNonFinite(row.f); found == nil || found.String() != row.want {
			t.Errorf("got %v, want %s", found, row.want)
		}
	}
}
